"""What names and expressions of a page are worth: truly, and by the numbers that the author printed.

Working out is a pure function of the system and of what was printed so far; nothing is decided here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace
from operator import is_not
from typing import Any

from flint import fmpq

from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.certified import Value, bounded, same, scalar
from qkv.interpret.fit import Shape
from qkv.interpret.loop import evaluate
from qkv.reading.choices import Choices
from qkv.reading.definitions import Source
from qkv.reading.naming import SIZED, role_symbol
from qkv.reading.page import Page, Spot, found_once
from qkv.reading.preparation import Preparation
from qkv.reading.prints import Key, Known, Print, Prints
from qkv.reading.remembering import Remembering
from qkv.reading.slopes import slope
from qkv.reading.system import System

MOST_NESTED = 40


class Values:
    """Values of names and expressions under one system; true ones are kept."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.algebra = Remembering(system.page.memory)
        self._true: Known = {}
        self._worked: dict[tuple[n.Expr, Spot], Value | None] = {}
        self._slopes: dict[Key, n.Expr | None] = {}
        self._sought: set[Key] = set()
        self._sources: dict[Key, tuple[n.Expr, Spot, Source | None]] = {}

    def true(self, expr: n.Expr, spot: Spot) -> Value | None:
        """The true value of an expression at a spot; None where it has none."""
        if isinstance(expr, n.Name):
            return _Look(self, None).of(expr, spot)  # what names are worth is kept for a whole problem
        if (expr, spot) not in self._worked:
            self._worked[expr, spot] = _Look(self, None).of(expr, spot)
        return self._worked[expr, spot]

    def source(self, symbol: Symbol, spot: Spot) -> tuple[n.Expr, Spot, Source | None] | None:
        """The expression that gives a name its true value, and where it is worked out; None for sizes and unknowns."""
        self.true(n.Name(symbol), spot)
        return self._sources.get((symbol, spot.scope, self.epoch(spot)))

    def own(self, expr: n.Expr, spot: Spot, prints: Prints) -> tuple[Value | None, frozenset[int]]:
        """What the author's own numbers give, and the claims that these numbers come from."""
        look = _Look(self, prints)
        value = look.of(expr, spot)
        return value, frozenset(look.used)

    def held(self, expr: n.Expr, spot: Spot, prints: Prints) -> tuple[Value | None, frozenset[int]]:
        """The same for an expression that is taken as printed, if it was printed itself."""
        look = _Look(self, prints)
        value = look.of(expr, spot, top=False)
        return value, frozenset(look.used)

    def prepared(self, expr: n.Expr, spot: Spot) -> n.Expr | None:
        """An expression with the blocks of heads, the bounds of sums and the kinds of masks that only values tell."""
        return Preparation(_Look(self, None), spot).of(expr)

    def owner(self, spot: Spot, prints: Prints) -> Callable[[n.Expr], tuple[Value | None, frozenset[int]]]:
        """The same for one expression after the other; what names led to in circles is found out once."""
        look = _Look(self, prints)

        def own(expr: n.Expr) -> tuple[Value | None, frozenset[int]]:
            look.used = set()
            return look.of(expr, spot), frozenset(look.used)

        return own

    def epoch(self, spot: Spot) -> int:
        """How often names of a scope were given anew before a spot."""
        lines = self.system.page.renewals.get(spot.scope)
        return bisect_right(lines, spot.line) if lines else 0

    def role(self, role: Role, head: str | None, spot: Spot) -> Value | None:
        """The true value of what plays a role."""
        return self.true(n.Name(role_symbol(role, head)), spot)


@found_once
def values_of(page: Page, choices: Choices) -> Values:
    """Values under some choices, the same for all who ask."""
    return Values(System(page, choices))


class _Look:
    """One look-up, through as many definitions as it takes; names that are being looked up are not asked again."""

    def __init__(self, values: Values, prints: Prints | None) -> None:
        self.values, self.system, self.prints = values, values.system, prints
        self.busy: set[Key] = set()
        self.known: Known = {}  # what a circle led to holds for this look only
        self.used: set[int] = set()
        self.circle = False

    def of(self, expr: n.Expr, spot: Spot, top: bool = True) -> Value | None:
        """The value of an expression, None where it has none."""
        try:
            if isinstance(expr, n.Name):
                return self.name(expr.symbol, spot)
            ready = Preparation(self, spot).of(expr)
            if ready is None:
                return None
            if self.prints is not None:
                ready = self._with_printed(ready, top)
            named: dict[Symbol, Value] = {}
            for symbol in n.names_in(ready):
                value = self.name(symbol, spot)
                if value is None:
                    return None
                named[symbol] = value
            algebra = self.values.algebra if self.prints is None else self.prints.algebra
            return bounded(evaluate(ready, named, algebra))
        except (QkvError, ZeroDivisionError, OverflowError, ValueError, RecursionError):
            return None

    def name(self, symbol: Symbol, spot: Spot) -> Value | None:
        """The value of a name at a spot."""
        key = symbol, spot.scope, self.values.epoch(spot)
        kept = self.values._true if self.prints is None else self.prints.known[self.prints.mending]
        if (known := kept.get(key) or self.known.get(key)) is not None:
            self.used |= known[1]
            return known[0]
        if key in self.busy or len(self.busy) > MOST_NESTED:
            self.circle = True
            return None
        self.busy.add(key)
        before, self.circle = self.circle, False
        outer, self.used = self.used, set()
        try:
            value = self._found(symbol, spot)
        finally:
            self.busy.discard(key)
            used, self.used = self.used, outer | self.used
        clear = not self.circle or not self.busy
        (kept if clear else self.known)[key] = value, frozenset(used)
        self.circle = self.circle or before
        return value

    def slope(self, symbol: Symbol, spot: Spot) -> n.Expr | None:
        """A derivative by the formulas of the page, found once; nothing while it is being looked for."""
        kept, busy, key = self.values._slopes, self.values._sought, (symbol, spot.scope, self.values.epoch(spot))
        if key in kept:
            return kept[key]
        if key in busy:
            self.circle = True
            return None
        busy.add(key)
        made = slope(symbol, self.system.page.symbols, lambda of: self.formula(of, spot), self._sizes(spot))
        busy.discard(key)
        if made is not None:  # what is not found yet may be later, when what it stands on is known
            kept[key] = made
        return made

    def _sizes(self, spot: Spot) -> Callable[[Symbol], Shape | None]:
        def size(of: Symbol) -> Shape | None:
            value = self.name(of, spot)
            return value.shape if value is not None else None

        return size

    def formula(self, symbol: Symbol, spot: Spot) -> n.Expr | None:
        """The formula by which a name is truly worked out, ready; None for what is given and what has no value."""
        found = self.values.source(symbol, spot)
        if found is None or found[2] is Source.GIVEN:
            return None
        return self.values.prepared(found[0], found[1])

    def _found(self, symbol: Symbol, spot: Spot) -> Value | None:
        if (
            self.prints is not None
            and (printed := self.prints.names.get(symbol))
            and self._is_current(symbol, printed, spot)
        ):
            if printed.claim is not None:
                self.used.add(printed.claim)
            return self.prints.value(printed)
        if self.prints is not None and (rows := self._from_rows(symbol, spot)) is not None:
            return rows
        for expr, where, source in self.system.expressions(symbol, spot):
            before = self.circle
            value = self._given(expr) if source is Source.GIVEN else self.of(expr, where, False)
            if value is not None:
                self.circle = before  # a circle inside what has a value all the same does no harm
                if self.prints is None:
                    self.values._sources[symbol, spot.scope, self.values.epoch(spot)] = expr, where, source
                return self._with_cells(symbol, value, spot)
        return self._size(symbol, spot)

    def _with_cells(self, symbol: Symbol, value: Value, spot: Spot) -> Value:
        """What plays a role, with the cells that its author printed one by one: q_1 · k_2 = 4."""
        printed = self.prints.cells.get(symbol, {}) if self.prints is not None else {}
        rows = [list(row) for row in value.rows]
        for (i, j), cell in printed.items():
            if (
                cell.spot.scope == spot.scope
                and i <= value.shape[0]
                and j <= value.shape[1]
                and self.prints is not None
            ):
                rows[i - 1][j - 1] = self.prints.value(cell).cell
                self.used |= {cell.claim} if cell.claim is not None else set()
        return Value(tuple(map(tuple, rows))) if printed else value

    def _from_rows(self, symbol: Symbol, spot: Spot) -> Value | None:
        """What was printed row by row: an author goes on with those rows."""
        assert self.prints is not None
        given = (d for d in self.system.page.definitions.get(symbol, ()) if d.source is Source.GIVEN)
        if any(d.equation not in self.system.choices.claimed for d in given):
            return None
        for expr in self.system.assembled(symbol, spot):
            if all(name in self.prints.names for name in n.names_in(expr)):
                return self.of(expr, spot, False)
        return None

    def _is_current(self, symbol: Symbol, printed: Print, spot: Spot) -> bool:
        """Whether what was printed is still what the name means here: a name given anew is another quantity."""
        if printed.spot.scope == spot.scope and self.values.epoch(printed.spot) == self.values.epoch(spot):
            return True
        then, now = self.values.true(n.Name(symbol), printed.spot), self.values.true(n.Name(symbol), spot)
        return then is None or now is None or same(now, then)

    def _given(self, expr: n.Expr) -> Value | None:
        try:
            return bounded(evaluate(expr, {}, self.values.algebra))
        except (QkvError, ZeroDivisionError):
            return None

    def _size(self, symbol: Symbol, spot: Spot) -> Value | None:
        """d_k and its like, from what is known to be so large."""
        place = self.system.place(symbol)
        if place is None or place.role not in SIZED:
            return None
        heads = (place.head,) if place.head else self.system.heads_in(spot.scope)[:1]
        for role in SIZED[place.role]:
            for head in (*heads, None):
                value = self.name(role_symbol(role, head), spot)
                if value is not None:
                    columns = "columns" in self.system.choices.conventions[spot.scope]
                    return scalar(fmpq(value.shape[0] if columns else value.shape[1]))
        return None

    def _with_printed(self, expr: n.Expr, top: bool) -> n.Expr:
        """An expression with the parts replaced that the author printed a value for."""
        assert self.prints is not None
        formulas = self.prints.formulas
        if n.kinds_in(expr).isdisjoint(self.prints.kinds):
            return expr
        if not top and expr in formulas and not isinstance(expr, n.Name):
            return n.Name(formulas[expr])
        if not n.names_in(expr) and not n.holds(expr, n.Root):
            return expr
        changes: dict[str, Any] = {}
        for part in n.part_names(expr):
            value = getattr(expr, part)
            if isinstance(value, tuple):
                made = tuple(self._with_printed(x, False) if not isinstance(x, tuple) else x for x in value)
                if any(map(is_not, made, value)):
                    changes[part] = made
            elif value is not None and (whole := self._with_printed(value, False)) is not value:
                changes[part] = whole
        return replace(expr, **changes) if changes else expr
