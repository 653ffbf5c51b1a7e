"""A page under some choices: for every name, the expressions that may give it, the page's own first.

    1  what the page states or gives at the place          4  what the library says of its role
    2  an equation that the page states for every index    5  a formula with rounded numbers put in
    3  a row, a cell or a stack of something known

All of them are expressions over names, so that one evaluator serves truth, the author's numbers, shapes and mistakes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from functools import cached_property, lru_cache
from typing import NamedTuple

from qkv.expr import nodes as n
from qkv.expr.functions import BY_KEY
from qkv.expr.names import Role, Symbol
from qkv.library.defined import Defined
from qkv.library.attention import role_in, rows_for
from qkv.library.roles import SCORE_LIKE, Place, places, roles_in_words
from qkv.library.said import Sight
from qkv.reading.choices import Choices
from qkv.reading.equations import Kind
from qkv.reading.page import NAMELESS, Definition, Page, Source
from qkv.reading.unify import Unifier

LINE, FAMILY, HEAD, PATTERN = "line", "family", "head", "pattern"  # calls that only values can resolve, see values.py
ROLE = "§"  # the base of a symbol for what plays a role, whatever the page calls it
SHARED = frozenset({Role.X, Role.Y, Role.STATES, Role.SOURCE, Role.MASK, Role.W_A, Role.W_O, Role.B_O})
PROJECTED = {Role.Q: Role.W_Q, Role.K: Role.W_K, Role.V: Role.W_V}
SIZED = {Role.D_K: (Role.K, Role.Q), Role.D_V: (Role.V,), Role.D_MODEL: (Role.X,)}
OF_A_HEAD = frozenset(
    {Role.Q, Role.K, Role.V, Role.W_Q, Role.W_K, Role.W_V, Role.SCORES, Role.SCALED, Role.MASKED, Role.WEIGHTS, Role.HEAD}
)
ATTENDING = frozenset({Role.X, Role.Q, Role.K, Role.V, *PROJECTED.values(), Role.STATES, Role.SOURCE})
SIZING = ATTENDING - {Role.V, Role.W_V} | {Role.Y, Role.D_K}
AFTER_Q = frozenset({Role.SCORES, Role.SCALED, Role.MASKED, Role.WEIGHTS, Role.HEAD, Role.OUTPUT})
_LETTER = re.compile(r"[a-z]$")


class Known(Enum):
    """How one knows what a name stands for, the strongest first."""

    LAID_OUT = "by how the page sets it out"
    STATED = "by its formula"
    NUMBERS = "by the numbers that it explains"
    WORDS = "by the words beside it"
    NAME = "by its name"
    NOTHING = ""


class Spot(NamedTuple):
    """A place on a page: what was said later does not hold here yet."""

    scope: int
    line: int


def role_symbol(role: Role, head: str | None = None) -> Symbol:
    """The symbol for what plays a role (in a head)."""
    return Symbol(ROLE, (role.value,), (head,) if head else ())


class System:
    """The equations of a page and, where it is silent, of the library."""

    def __init__(self, page: Page, choices: Choices) -> None:
        self.page, self.choices = page, choices
        self._places: dict[Symbol, tuple[Place | None, Known]] = {}
        self._unifier = Unifier(self.place)

    # — what names stand for —

    def place(self, symbol: Symbol) -> Place | None:
        """What a name stands for: as the page sets it out, as its formulas say, as its words say, as letters suggest."""
        return self._known_place(symbol)[0]

    def known_by(self, symbol: Symbol) -> Known:
        """How one knows what a name stands for."""
        return self._known_place(symbol)[1]

    def _known_place(self, symbol: Symbol) -> tuple[Place | None, Known]:
        if symbol not in self._places:
            self._places[symbol] = self._first_place(symbol), Known.NAME  # while its formulas are looked at
            self._places[symbol] = self._found_place(symbol)
        return self._places[symbol]

    def _first_place(self, symbol: Symbol) -> Place | None:
        if symbol.base == ROLE:
            return Place(Role(symbol.labels[0]), symbol.indices[0] if symbol.indices else None)
        if symbol in self.page.fixed:
            return self.page.fixed[symbol]
        if symbol.base == NAMELESS:
            role = dict(self.choices.arrays).get(int(symbol.indices[0]))
            return Place(role) if role is not None else None
        usual = self._by_letters(symbol)
        return usual[0] if usual else None

    def _by_letters(self, symbol: Symbol) -> tuple[Place, ...]:
        found = places(symbol)
        if self.choices.capitals_index:
            found = tuple(p._replace(head=None, row=p.head) if p.head and p.row is None and p.role not in PROJECTED.values() else p for p in found)
        return found

    def _found_place(self, symbol: Symbol) -> tuple[Place | None, Known]:
        if symbol.base in (ROLE, NAMELESS) or symbol in self.page.fixed:
            return self._first_place(symbol), Known.WORDS if symbol.base == NAMELESS else Known.LAID_OUT
        usual = self._by_letters(symbol)
        if symbol in self._additive:
            return Place(Role.V_A), Known.STATED
        if self._is_count(symbol):
            return next((p for p in usual if p.role in SIZED), None), Known.NAME
        chosen = dict(self.choices.roles)
        family = symbol.base, symbol.labels
        if family in chosen:
            role = chosen[family]
            return next((p for p in usual if p.role is role), Place(role) if role else None), Known.NUMBERS
        stated = self._stated_roles(symbol)
        if stated:
            fitting = next((p for role in stated for p in usual if p.role is role), None)
            place = usual[0]._replace(role=stated[0]) if usual else _scripted(symbol, stated[0])
            return fitting or place, Known.STATED
        if len(usual) > 1 and (worded := self._worded_place(symbol, usual)) is not None:
            return worded, Known.WORDS
        return (self._as_input(symbol, usual), Known.NAME) if usual else (None, Known.NOTHING)

    @cached_property
    def _additive(self) -> frozenset[Symbol]:
        """The names that multiply a tanh: v in vᵀ tanh(W s + U h) makes scores, it is no value."""
        formulas = (d.expr for definitions in self.page.definitions.values() for d in definitions if d.source is Source.STATED)
        products = (part for formula in formulas for part in n.walk(formula) if isinstance(part, n.Product) and isinstance(part.right, n.Tanh))
        sides = (product.left.arg if isinstance(product.left, n.Transpose) else product.left for product in products)
        return frozenset(side.symbol for side in sides if isinstance(side, n.Name))

    def _is_count(self, symbol: Symbol) -> bool:
        """Whether a name without an index is given as one number: h = 2 counts heads, it is no state."""
        found = self.page.definitions.get(symbol, ())
        return bool(found) and not symbol.indices and not symbol.labels and all(isinstance(d.expr, n.Number) for d in found)

    def role_of(self, expr: n.Expr) -> Symbol | None:
        """The symbol of what a formula works out, by the equations of the library: Q Kᵀ / √d_k are the scaled scores."""
        roles = self._unifier.roles(expr)
        heads = {place.head for symbol in n.names_in(expr) if (place := self.place(symbol)) is not None and place.head}
        rows = any(place.row for symbol in n.names_in(expr) if (place := self.place(symbol)) is not None)
        return role_symbol(roles[0], min(heads, default=None)) if roles and len(heads) < 2 and not rows else None

    def roles(self, expr: n.Expr) -> list[Role]:
        """The roles that a formula has by the equations of the library, likeliest first."""
        return self._unifier.roles(expr)

    def _stated_roles(self, symbol: Symbol) -> list[Role]:
        stated = (
            d for d in self.page.definitions.get(symbol, ())
            if d.source is Source.STATED and not (isinstance(d.expr, n.Name) and self._by_letters(symbol))
        )  # fmt: skip
        return [role for definition in stated for role in self._unifier.roles(definition.expr)]

    def _worded_place(self, symbol: Symbol, usual: tuple[Place, ...]) -> Place | None:
        """Of several roles the one that the words beside the name speak of."""
        alike = self._family(symbol) if symbol.indices else [symbol]  # what is said of h_1 holds for h_2
        for definition in (d for other in alike if len(other.indices) == len(symbol.indices) for d in self.page.definitions.get(other, ())):
            said = roles_in_words(self.page.equations[definition.equation].words[-80:])
            for role in said:
                for option in usual:
                    if option.role is role:
                        return option
        return None

    def _as_input(self, symbol: Symbol, usual: tuple[Place, ...]) -> Place:
        """A name that is only given with a vector is an input: s = [1, 2] is a state that attends, not a score."""
        given = self.page.definitions.get(symbol, ())
        vectors = [d for d in given if d.source is Source.GIVEN and isinstance(d.expr, n.Matrix) and d.expr.shape != (1, 1)]
        if given and len(vectors) == len(given) and usual[0].role in (Role.SCORES, Role.HEAD):
            second = next((p for p in usual if p.role in (Role.SOURCE, Role.Y)), None)
            if second is not None and (second.role is Role.SOURCE or self._before_weights(given[0])):
                return second
        return usual[0]

    def _before_weights(self, given: Definition) -> bool:
        weights = [
            d.line for s, ds in self.page.definitions.items() for d in ds
            if any(p.role in (Role.W_K, Role.W_V) for p in places(s)) and d.source is Source.GIVEN
        ]  # fmt: skip
        return bool(weights) and given.line < max(weights)

    @cached_property
    def _by_place(self) -> dict[tuple[Role, str | None], list[tuple[Symbol, Place]]]:
        """The names of the page by the role and head that they stand for."""
        found: dict[tuple[Role, str | None], list[tuple[Symbol, Place]]] = {}
        for symbol in self.page.symbols:
            place = self.place(symbol)
            if place is not None:
                found.setdefault((place.role, place.head), []).append((symbol, place))
        return found

    def holders(self, role: Role, head: str | None = None, scope: int | None = None) -> list[Symbol]:
        """The names of the page (of one problem) for all of what plays a role: what is given before what is stated."""
        found = [symbol for symbol, place in self._by_place.get((role, head), ()) if place.row is None]
        return sorted((symbol for symbol in found if scope is None or self.is_own(symbol, scope)), key=self._precedence)

    def is_own(self, symbol: Symbol, scope: int) -> bool:
        """Whether a problem says itself what a name is."""
        return any(d.scope == scope for d in self.page.definitions.get(symbol, ()))

    @cached_property
    def _fresh(self) -> frozenset[int]:
        """The problems that give inputs of their own: what was worked out in another problem is not theirs."""
        return frozenset(
            d.scope for (role, _), found in self._by_place.items() if role in ATTENDING
            for symbol, _ in found for d in self.page.definitions[symbol] if d.source is Source.GIVEN
        )  # fmt: skip

    def _precedence(self, symbol: Symbol) -> tuple[bool, int]:
        first = self.page.definitions[symbol][0]
        return first.source is not Source.GIVEN, first.equation

    def called(self, symbol: Symbol) -> list[Symbol]:
        """What the page calls that which plays a role."""
        return self.holders(Role(symbol.labels[0]), symbol.indices[0] if symbol.indices else None) if symbol.base == ROLE else []

    def members(self, role: Role, head: str | None = None) -> list[tuple[Symbol, Place]]:
        """The names of the page for rows and cells of what plays a role."""
        return [(symbol, place) for symbol, place in self._by_place.get((role, head), ()) if place.row is not None]

    def heads_in(self, scope: int) -> tuple[str, ...]:
        """The heads of one problem: those of its own names; those of the page, if none of its names attends."""
        if len(self.page.scopes) == 1 or len(self.heads) < 2:
            return self.heads
        own = {(role, head) for (role, head), found in self._by_place.items() if role in OF_A_HEAD and any(self.is_own(s, scope) for s, _ in found)}
        heads = tuple(head for head in self.heads if any(head == other for _, other in own))
        return heads if heads or own else self.heads

    @cached_property
    def heads(self) -> tuple[str, ...]:
        """The heads that names of the page speak of, in order."""
        found = dict.fromkeys(head for (role, head) in self._by_place if head and role in OF_A_HEAD and _is_number(head))
        if len(found) < 2:
            found = dict.fromkeys(self._counted_heads()) or dict.fromkeys(map(str, range(1, (self.page.heads_said or 0) + 1))) or found
        return tuple(sorted(found, key=int))

    def _counted_heads(self) -> Iterator[str]:
        """Heads that are only counted: h = 2, with one big set of weights."""
        for symbol, definitions in self.page.definitions.items():
            value = definitions[0].expr
            counts = symbol.base in ("h", "H", "heads", "numheads", "n") and (symbol.base not in ("n", "H") or set(symbol.labels) & {"heads", "h", "head"})
            if counts and not symbol.indices and isinstance(value, n.Number) and value.value.denominator == 1 and 1 < value.value <= 64:
                yield from (str(i) for i in range(1, int(value.value) + 1))

    def conventions(self, scope: int) -> frozenset[str]:
        """What holds in a scope: the choices made, and what the names of the page leave no doubt about."""
        made = set(self.choices.conventions[scope])
        if self.holders(Role.MASK) or self.sight(scope) is not None:
            made |= {"patterned"}
        if not self.heads_in(scope):
            made |= {"single"}
        if not any(role in ATTENDING and role is not Role.X for role, _ in self._by_place):
            made |= {"plain"}
        if not any(role in SIZING for role, _ in self._by_place):
            given = any(role is Role.SCALED for role, _ in self._by_place)
            made = made - {"scaled", "unscaled"} | {"scaled" if given else "unscaled"}  # nothing tells what to divide by
        return frozenset(made)

    def attends_to_states(self, scope: int) -> bool:
        """Whether a problem attends to states of an encoder, and has neither queries nor keys of its own."""
        roles = {role for (role, _), found in self._by_place.items() if any(self.is_own(symbol, scope) for symbol, _ in found)}
        page = {role for role, _ in self._by_place}
        return Role.STATES in (roles & ATTENDING or page) and not (roles & ATTENDING or page) & {Role.Q, Role.K, Role.W_Q, Role.W_K}

    def _is_elsewhere(self, role: Role, scope: int) -> bool:
        """Whether what plays a role in problems before is none of this one's business: it has inputs of its own."""
        if scope not in self._fresh:
            return False
        states = (Role.STATES, Role.SOURCE)
        return role in AFTER_Q or (role in states and not any(self._own_role(other, scope) for other in states))

    def _own_role(self, role: Role, scope: int) -> bool:
        return any(self.is_own(symbol, scope) for symbol, _ in self._by_place.get((role, None), ()))

    def sight(self, scope: int) -> Sight | None:
        """Which keys the queries of a problem may see, as words say it."""
        return self.choices.sight or (None if self.choices.supposed else self.page.sights.get(scope))

    @cached_property
    def functions(self) -> dict[str, tuple[Defined, ...]]:
        """The functions that the page defines: FFN(x) = relu(x W_1) W_2."""
        found: dict[str, tuple[Defined, ...]] = {}
        for equation in self.page.equations:
            sides = [item.expr for item in equation.of(Kind.FORMULA)]
            call = sides[0] if sides and isinstance(sides[0], n.Call) and sides[0].function not in BY_KEY else None
            if call is not None and len(sides) > 1 and all(isinstance(arg, n.Name) for arg in call.args):
                parameters = tuple(arg.symbol for arg in call.args if isinstance(arg, n.Name))
                found[call.function] = (*found.get(call.function, ()), Defined(parameters, sides[-1]))
        return found

    # — expressions for names —

    def expressions(self, symbol: Symbol, spot: Spot) -> Iterator[tuple[n.Expr, Spot, Source | None]]:
        """What may give a name at a spot, the strongest first, each with the spot at which to work it out."""
        if symbol.base == ROLE:
            for expr in self._of_role(Role(symbol.labels[0]), symbol.indices[0] if symbol.indices else None, spot):
                yield expr, spot, None
            return
        place, late = self.place(symbol), list[tuple[n.Expr, Spot, Source | None]]()
        given = place is not None and place.role in (Role.X, Role.Y, Role.STATES, Role.SOURCE)  # nothing works these out
        for definition in self._visible(self.page.definitions.get(symbol, ()), spot):
            here = definition.scope == spot.scope and definition.line <= spot.line
            where = Spot(spot.scope, definition.line - (symbol in n.names_in(definition.expr))) if here else spot
            if definition.equation in self.choices.answered:
                continue
            if definition.source is Source.GIVEN and definition.equation in self.choices.claimed:
                continue
            if (definition.source is Source.WORKING and not given) or (definition.scope > spot.scope and late):
                late.append((definition.expr, where, definition.source))
            else:
                yield definition.expr, where, definition.source
                if not here:
                    late.append((definition.expr, Spot(definition.scope, definition.line), definition.source))
        for expr in (*self.schema(symbol, spot), *self.structure(symbol, spot), *self.library(symbol, spot)):
            yield expr, spot, None
        yield from late
        later = (d for d in self.page.definitions.get(symbol, ()) if d.scope > spot.scope)
        yield from ((d.expr, spot, d.source) for d in later)
        yield from ((n.Name(array), spot, None) for array in self._captioned(symbol, spot))
        if symbol.primes:
            yield n.Transpose(n.Name(symbol._replace(primes=symbol.primes - 1))), spot, None

    @staticmethod
    def _visible(definitions: tuple[Definition, ...], spot: Spot) -> list[Definition]:
        """The last one above, then those below in the same problem, then those of problems before."""
        here = [d for d in definitions if d.scope == spot.scope]
        above = sorted((d for d in here if d.line <= spot.line), key=lambda d: -d.line)
        below = [d for d in here if d.line > spot.line]
        before = sorted((d for d in definitions if d.scope < spot.scope), key=lambda d: (-d.scope, -d.line))
        return [*above, *below, *before]

    def schema(self, symbol: Symbol, spot: Spot) -> Iterator[n.Expr]:
        """e_1 by e_i = v · tanh(W s + U h_i): an equation that holds for every index."""
        if not symbol.indices:
            return
        for other in self._family(symbol):
            if other == symbol or len(other.indices) != len(symbol.indices):
                continue
            put = {b: a for a, b in zip(symbol.indices, other.indices, strict=True) if a != b}
            if put and all(map(_LETTER.match, put)):
                for definition in self._visible(self.page.definitions[other], spot):
                    if definition.source is not Source.GIVEN:
                        yield at_indices(definition.expr, put)

    def _family(self, symbol: Symbol) -> list[Symbol]:
        return [s for s in self.page.symbols if s.base == symbol.base and s.labels == symbol.labels and s.primes == symbol.primes]

    def structure(self, symbol: Symbol, spot: Spot) -> Iterator[n.Expr]:
        """A row or a cell of something that has a name, or the stack of rows that have names."""
        if symbol.indices and (symbol.base[:1].islower() or self.choices.capitals_index):
            base = symbol.base.upper() if len(symbol.base) == 1 else symbol.base
            for whole in (symbol._replace(base=base, indices=symbol.indices[:-1]), symbol._replace(base=base, indices=())):
                if whole != symbol and whole in self.page.definitions:
                    cut = symbol.indices[len(whole.indices) :]
                    yield from self.part(n.Name(whole), cut[0], cut[1] if len(cut) > 1 else None, spot)
        yield from self._stack([(s, s.indices[-1]) for s in self.page.symbols if _is_row_of(s, symbol)], spot)
        for other in self.page.symbols:
            if not symbol.indices and _runs_over(other, symbol) and self._is_stated(other):
                yield n.Call(FAMILY, (n.Name(other),))

    def part(self, whole: n.Expr, row: str, column: str | None, spot: Spot) -> Iterator[n.Expr]:
        """A row or a cell of something: of a vector an index picks a cell, of a matrix the line of a token."""
        i = self.position(row, spot.scope)
        j = self.position(column, spot.scope) if column else None
        if i is None or (column and j is None):
            return
        yield n.Entry(whole, row=i, column=j) if j is not None else n.Call(LINE, (whole, n.number(i)))

    def position(self, index: str, scope: int) -> int | None:
        """The row that an index or a word stands for, from 1."""
        if _is_number(index):
            at = int(index) + self.choices.zero_based
            return at if at > 0 else None
        words = [word.lower() for s in (scope, *self.page.scopes) for word in self.page.tokens.get(s, ())]
        words = words or [p.row.lower() for _, p in self.members(Role.X) if p.row]
        return words.index(index.lower()) + 1 if index.lower() in words else self._order(index)

    def _order(self, word: str) -> int | None:
        """Where a word comes among the rows that names of one role speak of."""
        for members in ([p.row for _, p in self.members(role)] for role in (Role.X, Role.K, Role.STATES, Role.Q, Role.V)):
            ordered = list(dict.fromkeys(row.lower() for row in members if row))
            if word.lower() in ordered:
                return ordered.index(word.lower()) + 1
        return None

    def _stack(self, rows: list[tuple[Symbol, str]], spot: Spot) -> Iterator[n.Expr]:
        """Rows with names, on top of each other in the order of their tokens."""
        here = [(s, i) for s, row in rows if (i := self.position(row, spot.scope)) is not None]
        ordered = sorted({i: s for s, i in reversed(here)}.items())
        if len(ordered) > 1 and [i for i, _ in ordered] == list(range(1, len(ordered) + 1)):
            columns = "columns" in self.choices.conventions[spot.scope]
            yield n.Concat(tuple(self._as_line(s, columns) for _, s in ordered), 1 if columns else 0)

    def _as_line(self, symbol: Symbol, column: bool) -> n.Expr:
        """A vector laid the way that tokens lie."""
        shapes = [d.expr.shape for d in self.page.definitions.get(symbol, ()) if isinstance(d.expr, n.Matrix)]
        turned = bool(shapes) and 1 in shapes[0] and shapes[0] != (1, 1) and (shapes[0][1] == 1) != column
        return n.Transpose(n.Name(symbol)) if turned else n.Name(symbol)

    def _captioned(self, symbol: Symbol, spot: Spot) -> Iterator[Symbol]:
        """The array without a name that the words above it call so: 'Decoder rows:', then 'H = decoder + Z'."""
        word = symbol.base.lower()
        if len(word) < 4 or symbol in self.page.definitions:
            return
        for equation in reversed(self.page.equations):
            array = Symbol(NAMELESS, (), (str(equation.index),))
            if equation.line < spot.line and word in equation.words.lower() and array in self.page.definitions:
                yield array

    # — the library —

    def library(self, symbol: Symbol, spot: Spot) -> Iterator[n.Expr]:
        place = self.place(symbol)
        if place is None or symbol.base == NAMELESS:
            return
        if place.row is not None:
            whole = n.Name(role_symbol(place.role, place.head))
            asking = [p.row for _, p in self.members(Role.Q, place.head)]
            if asking == [place.row] and place.column is None and place.role in AFTER_Q:
                yield whole  # one token asks, and this is its line
            else:
                yield from self.part(whole, place.row, place.column, spot)
        else:
            if symbol not in self.page.definitions:
                yield from map(n.Name, self.holders(place.role, place.head))
            elif self.page.task is not None:  # Wq is what the assignment calls W_Q
                holders = (h for h in self.holders(place.role, place.head) if h != symbol)
                yield from (n.Name(h) for h in holders if h in self.page.task.definitions)
            yield from self._of_rows(place, spot)
            yield from self._library(place.role, place.head, spot)

    def _of_role(self, role: Role, head: str | None, spot: Spot) -> Iterator[n.Expr]:
        """What plays a role: a name of the page, rows of the page, or what the library says."""
        holders = [] if self.choices.supposed and role in AFTER_Q else self.holders(role, head)
        holders = holders or [holder for holder in self.holders(role, head) if self._is_given(holder)]
        own = [holder for holder in holders if self.is_own(holder, spot.scope)]
        before = [h for h in holders if h not in own and any(d.scope < spot.scope for d in self.page.definitions[h])]
        yield from map(n.Name, own)
        yield from self._of_rows(Place(role, head), spot)
        if not self._is_elsewhere(role, spot.scope) or role in AFTER_Q:  # its formula holds here too
            yield from (n.Name(holder) for holder in before if self._is_stated(holder))
        yield from self._library(role, head, spot)
        if not self._is_elsewhere(role, spot.scope):
            yield from (n.Name(holder) for holder in before if not self._is_stated(holder))

    def _of_rows(self, place: Place, spot: Spot) -> Iterator[n.Expr]:
        """What plays a role, put together from rows and cells that have names."""
        members = self._members_at(place, spot.scope)
        lines = [(s, p.row) for s, p in members if p.row and p.column is None]
        if place.role in SCORE_LIKE and lines and all(map(self._is_number, (s for s, _ in lines))):
            yield from self._list(lines, spot)
        else:
            yield from self._stack(lines, spot)
        cells = {(self.position(p.row, spot.scope), self.position(p.column, spot.scope)): s for s, p in members if p.row and p.column}
        rows = max((i for i, _ in cells if i), default=0)
        columns = max((j for _, j in cells if j), default=0)
        if rows and all((i, j) in cells for i in range(1, rows + 1) for j in range(1, columns + 1)):
            yield n.Matrix(tuple(tuple(n.Name(cells[i, j]) for j in range(1, columns + 1)) for i in range(1, rows + 1)))
        for symbol, _ in members:
            if symbol.indices and all(map(_LETTER.match, symbol.indices)) and self._is_stated(symbol):
                yield n.Call(FAMILY, (n.Name(symbol),))
        if place.role is Role.Q and len(lines) == 1:
            yield self._as_line(lines[0][0], "columns" in self.choices.conventions[spot.scope])  # one token asks

    def _members_at(self, place: Place, scope: int) -> list[tuple[Symbol, Place]]:
        """Rows and cells of what plays a role in one problem: its own, or those of the problems before."""
        found = [(s, p) for s, p in self.members(place.role, place.head) if any(d.scope <= scope for d in self.page.definitions[s])]
        own = [(symbol, p) for symbol, p in found if self.is_own(symbol, scope)]
        return own or ([] if self._is_elsewhere(place.role, scope) else found)

    def _is_number(self, symbol: Symbol) -> bool:
        """Whether a name is given as one number: a score, not a row of scores."""
        found = [d.expr for d in self.page.definitions.get(symbol, ())]
        return bool(found) and not any(isinstance(expr, n.Matrix) for expr in found)

    def _is_given(self, symbol: Symbol) -> bool:
        """Whether a name is given by numbers that nothing on the page works out."""
        found = self.page.definitions.get(symbol, ())
        return all(d.source is Source.GIVEN and d.equation not in self.choices.claimed for d in found)

    def _is_stated(self, symbol: Symbol) -> bool:
        return any(d.source is not Source.GIVEN for d in self.page.definitions.get(symbol, ()))

    def _list(self, rows: list[tuple[Symbol, str]], spot: Spot) -> Iterator[n.Expr]:
        """Single numbers with names, as one row."""
        for stack in self._stack(rows, spot):
            if isinstance(stack, n.Concat):
                yield n.Matrix((stack.parts,))

    def _library(self, role: Role, head: str | None, spot: Spot) -> Iterator[n.Expr]:
        if head is not None and (role in SHARED or role in SIZED):
            yield n.Name(role_symbol(role))
            return
        if head is not None and role in PROJECTED and not self._own_weights(role, head):
            yield from self._slice(role, head, spot.scope)
            return
        if role is Role.MASK and self.sight(spot.scope) is not None:
            yield n.Call(PATTERN, (n.Name(role_symbol(Role.SCORES, head)), n.Name(role_symbol(Role.SCALED, head))))
        if role is Role.SCALED and self.choices.scale is not None:
            yield n.Quotient(n.Name(role_symbol(Role.SCORES, head)), self.choices.scale)
        for row in rows_for(role, self.conventions(spot.scope)):
            if (expr := self._instance(row.expr, head, spot.scope)) is not None:
                yield expr
        if role is Role.OUTPUT and not self.holders(Role.W_O):
            yield n.Name(role_symbol(Role.CONCAT if self.heads_in(spot.scope) else Role.HEAD))

    def _own_weights(self, role: Role, head: str) -> bool:
        return bool(self.holders(PROJECTED[role], head))

    def _slice(self, role: Role, head: str, scope: int) -> Iterator[n.Expr]:
        """The columns of a head, where one big set of weights is cut."""
        if any(self._own_weights(other, head) for other in PROJECTED):
            yield n.Name(role_symbol(role))
        elif head in (heads := self.heads_in(scope)):
            yield n.Call(HEAD, (n.Name(role_symbol(role)), n.number(heads.index(head) + 1), n.number(len(heads))))

    def _instance(self, expr: n.Expr, head: str | None, scope: int) -> n.Expr | None:
        """An equation of the library for one head."""
        if isinstance(expr, n.Call) and expr.function == "heads":
            parts = tuple(n.Name(role_symbol(Role.HEAD, h)) for h in self.heads_in(scope))
            return n.Concat(parts, 1) if parts and head is None else None
        return _of_head(expr, head)


@lru_cache(maxsize=1024)  # the rows of the library, for as many heads as documents have
def _of_head(expr: n.Expr, head: str | None) -> n.Expr:
    def named(node: n.Expr) -> n.Expr:
        role = role_in(node.symbol) if isinstance(node, n.Name) else None
        return n.Name(role_symbol(role, head)) if role is not None else node

    return n.rewrite(expr, named)


def at_indices(expr: n.Expr, put: dict[str, str]) -> n.Expr:
    """An expression with index letters replaced by numbers or words."""

    def change(part: n.Expr) -> n.Expr:
        if isinstance(part, n.Name) and put.keys() & set(part.symbol.indices):
            indices = tuple(put.get(i, i) for i in part.symbol.indices)
            return n.Name(part.symbol._replace(indices=indices), part.spelled, at=part.at)
        if isinstance(part, n.Name) and not part.symbol.indices and str(part.symbol) in put and _is_number(put[str(part.symbol)]):
            return n.number(int(put[str(part.symbol)]))
        return part

    return n.rewrite(expr, change)


def _is_number(text: str) -> bool:
    return text.isdecimal()


def _is_row_of(row: Symbol, whole: Symbol) -> bool:
    """x_2 is a row of X."""
    return (
        len(row.indices) == len(whole.indices) + 1
        and row.indices[:-1] == whole.indices
        and row.labels == whole.labels
        and row.base != whole.base
        and row.base.upper() == whole.base
        and _is_number(row.indices[-1])
    )


def _runs_over(family: Symbol, whole: Symbol) -> bool:
    """s_i says what all of s is, a_ij what all of A is."""
    return (
        bool(family.indices)
        and family.base.lower() == whole.base.lower()
        and family.labels == whole.labels
        and all(map(_LETTER.match, family.indices))
    )


def _scripted(symbol: Symbol, role: Role) -> Place:
    """The place of a name of which only the role is known: its index is a head or a token, as its letter is large."""
    if len(symbol.indices) == 1 and _is_number(symbol.indices[0]):
        return Place(role, symbol.indices[0]) if symbol.base[:1].isupper() else Place(role, None, symbol.indices[0])
    return Place(role)
