"""A page as the scene of a mistake: what its names stand for, what it calls them, and how each of them comes about."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from qkv.check.mistakes.scene import Scene, Thing
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import plain
from qkv.interpret.cells import NEG_INF
from qkv.interpret.certified import Value
from qkv.interpret.fit import Shape
from qkv.library.defined import defined
from qkv.library.roles import Place
from qkv.reading.assignment import OTHER
from qkv.reading.definitions import Source
from qkv.reading.nameless import NAMELESS
from qkv.reading.naming import ROLE, role_symbol
from qkv.reading.page import Spot
from qkv.reading.prints import Prints
from qkv.reading.slopes import SLOPE
from qkv.reading.system import CELLS, FAMILY, LIKE, LINE, PLACES, System
from qkv.reading.values import Values

_OF_INDICES = frozenset((CELLS, FAMILY, LIKE, PLACES))  # calls over a name with indices
MOST_ALIKE = 24  # quantities that are tried in the place of another


class PageScene(Scene):
    """The quantities of a page, as they are known at one spot of it."""

    def __init__(self, system: System, values: Values, spot: Spot, prints: Prints) -> None:
        self.system, self.values, self.spot, self.prints = system, values, spot, prints
        self._known: dict[n.Expr, Value | None] = {}
        self._formulas: dict[Symbol, n.Expr | None] = {}

    def named(self, symbol: Symbol) -> Thing | None:
        place = self.system.place(symbol)
        return Thing(n.Name(symbol), place.role, place.head, self.called(symbol)) if place is not None else None

    def called(self, symbol: Symbol) -> str:
        """What the page calls a quantity; where it has no name there, what its role is called."""
        if symbol.base == ROLE:
            return str(self._held_by(symbol) or Symbol(symbol.labels[0], (), symbol.indices))
        if symbol.base != NAMELESS:
            return str(symbol)
        place = self.system.place(symbol)
        line = self.system.page.equations[int(symbol.indices[0])].line
        return place.role.value if place is not None else f"[line {line}]"

    def things(self, roles: Container[Role], like: Thing) -> Iterator[Thing]:
        place = self.system.place(like.expr.symbol) if isinstance(like.expr, n.Name) else None
        for role in (role for role in Role if role in roles):
            for head in (None, *self.system.heads):
                symbol = self._held_by(role_symbol(role, head)) or role_symbol(role, head)
                if self.value(n.Name(symbol)) is not None:
                    for expr in self._alike(symbol, place):
                        yield Thing(expr, role, head, self.called(symbol))

    def _alike(self, symbol: Symbol, place: Place | None) -> Iterator[n.Expr]:
        """All of a quantity; where one row or cell of another is meant, that row or cell of it."""
        if place is None or place.row is None:
            yield n.Name(symbol)
        else:
            yield from self.system.part(n.Name(symbol), place.row, place.column, self.spot)

    def alike(self, name: n.Name) -> Iterator[tuple[n.Expr, str]]:
        """The last names and printed formulas of the page that are as long or as wide."""
        shape = self.shape(name)
        if shape is None or max(shape) == 1:
            return
        names = [n.Name(s) for s in self.system.page.symbols if s.base != NAMELESS and s != name.symbol]
        for other in [*names, *self.prints.formulas][-MOST_ALIKE:]:
            found = self.shape(other)
            if found is not None and max(found) > 1 and (found[0] == shape[0] or found[1] == shape[1]):
                yield other, plain(self.as_written(other))

    def sizes(self) -> Iterable[int]:
        shapes = [self.shape(n.Name(symbol)) for symbol in self.system.page.symbols[:MOST_ALIKE]]
        return dict.fromkeys(size for shape in shapes if shape is not None for size in shape if size > 1)

    def shape(self, expr: n.Expr) -> Shape | None:
        value = self.value(expr)
        if value is None:  # something in it has no value but what its author printed
            value, _ = self.values.own(expr, self.spot, self.prints)
        return value.shape if value is not None else None

    def value(self, expr: n.Expr) -> Value | None:
        if expr not in self._known:
            self._known[expr] = self.values.true(expr, self.spot)
        return self._known[expr]

    def size(self, role: Role, head: str | None) -> int | None:
        for which in dict.fromkeys((head, None)):
            shape = self.shape(n.Name(role_symbol(role, which)))
            if shape is not None:
                return shape[0 if "columns" in self.system.choices.conventions[self.spot.scope] else 1]
        return None

    def formula(self, symbol: Symbol) -> n.Expr | None:
        if symbol not in self._formulas:
            self._formulas[symbol] = None  # while it is looked for
            found = self._first(symbol)
            if isinstance(found, n.Name):
                found = self.formula(found.symbol)
            self._formulas[symbol] = self.in_names(found) if found is not None else None
        return self._formulas[symbol]

    def written_out(self, expr: n.Expr) -> n.Expr:
        def change(part: n.Expr) -> n.Expr:
            if isinstance(part, n.Call) and (part.function in self.system.functions or defined(part.function)):
                made = self.values.prepared(part, self.spot)
                return part if made is None or n.holds(made, n.Softmax) else made  # attention has steps of its own
            if isinstance(part, n.Sum) and len(part.terms) == 2 and self._hides(part.terms[1]):
                return n.Mask(*part.terms)
            return part

        return n.rewrite(expr, change)

    def _hides(self, term: n.Expr) -> bool:
        """Whether what is added is a mask: −∞ here and there, and 0 elsewhere."""
        value = self.value(term) if isinstance(term, (n.Name, n.Matrix)) else None
        cells = [cell for row in value.rows for cell in row] if value is not None else []
        return NEG_INF in cells and all(cell is NEG_INF or cell == 0 for cell in cells)

    def _first(self, symbol: Symbol) -> n.Expr | None:
        """The strongest expression for a name that has a value; None for one that is given in numbers."""
        for expr, where, source in self.system.expressions(symbol, self.spot):
            if source is Source.GIVEN:
                return None
            same_names = self.values.epoch(where) == self.values.epoch(self.spot)
            if same_names and not self._comes_back(symbol, expr) and self.value(expr) is not None:
                return expr
        return None

    def _comes_back(self, symbol: Symbol, expr: n.Expr) -> bool:
        """Whether an expression is made of a name, or of rows that are only said to be rows of it."""
        parts = n.names_in(expr)
        rows = (next(self.system.expressions(part, self.spot), None) for part in parts if n.holds(expr, n.Concat))
        return symbol in parts or any(row is not None and symbol in n.names_in(row[0]) for row in rows)

    def _held_by(self, symbol: Symbol) -> Symbol | None:
        """The name of the page for what plays a role (in a head, where all heads have the same)."""
        first = self._first(symbol)
        if not isinstance(first, n.Name) or first.symbol == symbol:
            return None
        return first.symbol if first.symbol.base != ROLE else self._held_by(first.symbol)

    def as_written(self, expr: n.Expr) -> n.Expr:
        """An expression as a person writes it: what has no name on the page is called by its role."""
        columns = "columns" in self.system.conventions(self.spot.scope)

        def change(part: n.Expr) -> n.Expr:
            if isinstance(part, n.Call) and part.function == LINE and isinstance(part.args[1], n.Number):
                at = int(part.args[1].value)
                return n.Entry(part.args[0], column=at) if columns else n.Entry(part.args[0], row=at)
            if isinstance(part, n.Call) and part.function == SLOPE:
                return self.values.prepared(part, self.spot) or part.args[0]
            if isinstance(part, n.Call) and part.function in _OF_INDICES:
                return part.args[0]  # B_{ij} says what B is
            if isinstance(part, n.Name) and part.symbol.base == NAMELESS:
                return n.Name(Symbol(self.called(part.symbol)))
            return _by_role(part) if isinstance(part, n.Name) else part

        return n.rewrite(self.in_names(expr), change)

    def in_names(self, expr: n.Expr) -> n.Expr:
        """An expression with the page's own names for what plays a role."""

        def change(part: n.Expr) -> n.Expr:
            if isinstance(part, n.Name) and part.symbol.base == ROLE:
                holder = self._held_by(part.symbol)
                return n.Name(holder) if holder is not None else part
            return part

        return n.rewrite(expr, change)


def _by_role(name: n.Name) -> n.Name:
    symbol = name.symbol
    if symbol.base == ROLE:
        return n.Name(Symbol(symbol.labels[0], (), symbol.indices))
    return n.Name(symbol._replace(base=symbol.base.removesuffix(OTHER))) if symbol.base.endswith(OTHER) else name
