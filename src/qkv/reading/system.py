"""A page under some choices: for every name, the expressions that may give it, the page's own first.

    1  what the page states or gives at the place          4  what the library says of its role
    2  an equation that the page states for every index    5  a formula with rounded numbers put in
    3  a row, a cell or a stack of something known

All of them are expressions over names, so that one evaluator serves truth, the author's numbers, shapes and mistakes.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.library.attention import rows_for
from qkv.library.defined import Defined
from qkv.library.roles import CACHED, SCORE_LIKE, Place
from qkv.reading.choices import Choices
from qkv.reading.definitions import Definition, Source
from qkv.reading.descended import descended
from qkv.reading.equation import Kind
from qkv.reading.holding import AFTER_Q, Holding, of_head
from qkv.reading.indexed import LETTER, at_indices, is_cell_of, is_for_places, is_row_of, put_in, runs_over
from qkv.reading.lettered import PROJECTED
from qkv.reading.nameless import INPUTS, NAMELESS
from qkv.reading.naming import ROLE, SIZED, Known, is_alike, is_number, naming_of, role_symbol
from qkv.reading.page import Page, Spot
from qkv.reading.slopes import SLOPE, derivative
from qkv.reading.statistics import statistics
from qkv.reading.targets import target
from qkv.reading.within import (
    called_in_words,
    comes_back,
    functions_of,
    gains_of,
    is_part_of_above,
    line_called,
    negligible,
    visible,
    wholes,
)

LINE, FAMILY, CELLS, PLACES = "line", "family", "cells", "places"  # calls that need values, see preparation.py
HEAD, PATTERN, IDENTITY, LIKE = "head", "pattern", "identity", "like"
UNSHARED = frozenset(SCORE_LIKE - {Role.WEIGHTS})  # a cell that nobody prints is not seen: a node that is no neighbour
SHARED = frozenset({Role.X, Role.Y, Role.STATES, Role.SOURCE, Role.MASK, Role.W_A, Role.W_O, Role.B_O})

CONSTANTS: dict[Symbol, n.Expr] = {  # the base of exponentials and π, where nothing else is said of them
    Symbol("e"): n.Exp(n.number(1)),
    Symbol("pi"): n.Call("pi", (n.number(1),)),
}


class System:
    """The equations of a page and, where it is silent, of the library."""

    def __init__(self, page: Page, choices: Choices) -> None:
        self.page, self.choices = page, choices
        names = self.naming = naming_of(page, choices)
        self.place, self.known_by, self.role_of, self.roles = names.place, names.known_by, names.role_of, names.roles
        self.holders, self.members, self.called, self.is_own = names.holders, names.members, names.called, names.is_own
        holding = self.holding = Holding(page, choices, names)
        problems = holding.problems
        self.heads_in, self._is_elsewhere = problems.heads_in, problems.is_elsewhere
        self.conventions, self.sight, self.meant = holding.conventions, holding.sight, holding.meant
        self.attends_to_states = problems.attends_to_states

    @property
    def fresh(self) -> frozenset[int]:
        """The problems that give inputs of their own."""
        return self.holding.problems.fresh

    @property
    def heads(self) -> tuple[str, ...]:
        """The heads that names of the page speak of, in order."""
        return self.naming.heads

    def is_derived(self, symbol: Symbol) -> bool:
        """Whether a name stands for something worked out, so that its decimals are rounded; so do tokens without a name
        that only the numbers below them show to be such."""
        place = self.place(symbol)
        shown = place is not None and symbol.base == NAMELESS and not self.page.suggested.get(int(symbol.indices[0]))
        return place is not None and (place.role in AFTER_Q or shown)

    @property
    def functions(self) -> dict[str, tuple[Defined, ...]]:
        """The functions that the page defines."""
        return functions_of(self.page)

    @property
    def gains(self) -> dict[Symbol, Symbol]:
        """What the page calls the γ and β of its norms."""
        return gains_of(self.page)

    @property
    def _statistics(self) -> dict[Symbol, n.Expr]:
        """The mean and the deviation that only a norm of the page uses."""
        return statistics(self.page)

    # — expressions for names —

    def expressions(self, symbol: Symbol, spot: Spot) -> Iterator[tuple[n.Expr, Spot, Source | None]]:
        """What may give a name at a spot, the strongest first, each with the spot at which to work it out."""
        if symbol.base == ROLE:
            for expr in self._of_role(Role(symbol.labels[0]), symbol.indices[0] if symbol.indices else None, spot):
                yield expr, spot, None
            return
        place, late = self.place(symbol), list[tuple[n.Expr, Spot, Source | None]]()
        inputs = (Role.X, Role.Y, Role.STATES, Role.SOURCE)  # nothing works these out
        given, worked = place is not None and place.role in inputs, False
        for definition in visible(self.page.definitions.get(symbol, ()), spot):
            here = definition.scope == spot.scope and definition.line <= spot.line
            where = Spot(spot.scope, definition.line - (symbol in n.names_in(definition.expr))) if here else spot
            if definition.equation in self.choices.answered:
                continue
            if definition.source is Source.GIVEN and definition.equation in self.choices.claimed:
                worked = worked or here  # numbers further down are of another version
                continue
            expr = self._alike(self.meant(definition.expr, spot.scope), definition)
            below = definition.source is Source.GIVEN and not here and definition.scope == spot.scope
            anew = below and (worked or is_part_of_above(self.page, self._wholes(symbol), spot))
            if (definition.source is Source.WORKING and not given) or anew or (definition.scope > spot.scope and late):
                late.append((expr, where, definition.source))
            elif definition.scope < spot.scope and comes_back(self.page, symbol, definition, spot.scope):
                yield expr, Spot(definition.scope, definition.line), definition.source
            else:
                yield expr, where, definition.source
                if not here:
                    late.append((expr, Spot(definition.scope, definition.line), definition.source))
        if symbol in CONSTANTS and not self.page.family(symbol):
            yield CONSTANTS[symbol], spot, None
        if symbol in negligible(self.page):
            yield n.Number(Fraction(0), 4, "0.0000"), spot, None  # 1e-5 rounds to it
        plain = symbol._replace(primes=symbol.primes - 1)
        known = plain in self.page.definitions and symbol not in self.page.definitions
        if symbol.primes and known and place is not None and place.role in INPUTS:
            yield n.Transpose(n.Name(plain)), spot, None
        own = self.schema(symbol, spot), self.structure(symbol, spot), self.followed(symbol)
        for expr in chain(*own, self.library(symbol, spot)):
            yield expr, spot, None
        yield from late
        later = (d for d in self.page.definitions.get(symbol, ()) if d.scope > spot.scope)
        yield from ((d.expr, spot, d.source) for d in later)
        lines = line_called(self.page, symbol, spot)
        yield from ((n.Call(LINE, (n.Name(array), n.number(i))), spot, None) for array, i in lines)
        yield from ((n.Name(array), spot, None) for array in called_in_words(self.page, symbol, spot))
        if symbol in self.page.came_to and self.page.came_to[symbol][0] <= spot:
            yield self.page.came_to[symbol][1], spot, Source.GIVEN
        if symbol.base in ("I", "Id") and not symbol.labels and symbol not in self.page.definitions:
            yield n.Call(IDENTITY, tuple(map(n.number, map(int, filter(str.isdecimal, symbol.indices))))), spot, None
        if symbol.primes and (place is None or place.role not in SCORE_LIKE):  # s'_1 is a score of another kind
            yield n.Transpose(n.Name(plain)), spot, None

    def followed(self, symbol: Symbol) -> Iterator[n.Expr]:
        """What the formulas of others make of a name: a statistic of a norm, a derivative, a step of descent."""
        if symbol in self._statistics:
            yield self._statistics[symbol]
        if derivative(symbol) is not None:
            yield n.Call(SLOPE, (n.Name(symbol),))
        yield from descended(symbol, self.page, self._formulas)
        yield from target(symbol, self.page)

    def _formulas(self, symbol: Symbol) -> list[n.Expr]:
        """The formulas of a name, or what it is for a norm."""
        stated = [d.expr for d in self.page.definitions.get(symbol, ()) if d.source is Source.STATED]
        return stated or [self._statistics[symbol]] if stated or symbol in self._statistics else []

    def _alike(self, expr: n.Expr, definition: Definition) -> n.Expr:
        """A formula with a product in it as large as it has to be: a derivative is like what it is taken by, and what a
        row is printed for is a row."""
        if definition.source is not Source.STATED or not n.holds(expr, n.Product):
            return expr
        slope = derivative(definition.symbol)
        printed = [item.expr for item in self.page.equations[definition.equation].of(Kind.VALUE)]
        vectors = [x for x in printed if isinstance(x, n.Matrix) and 1 in x.shape and x.shape != (1, 1)]
        if slope is not None and slope.over and slope.under in self.page.definitions:
            return n.Call(LIKE, (expr, n.Name(slope.under)))
        return n.Call(LIKE, (expr, vectors[-1])) if vectors and isinstance(expr, n.Product) else expr

    def schema(self, symbol: Symbol, spot: Spot) -> Iterator[n.Expr]:
        """e_1 by e_i = v · tanh(W s + U h_i): an equation that holds for every index."""
        if not symbol.indices:
            return
        for other in self.page.running(symbol):
            family = (other.base, other.primes) == (symbol.base, symbol.primes) and other != symbol
            if family and (put := put_in(other, symbol)):
                for definition in visible(self.page.definitions[other], spot):
                    if definition.source not in (Source.GIVEN, Source.WORKING):
                        yield at_indices(definition.expr, put)

    def _wholes(self, symbol: Symbol) -> list[tuple[Symbol, tuple[str, ...]]]:
        return wholes(self.page, symbol) if not symbol.base[:1].isupper() or self.choices.capitals_index else []

    def structure(self, symbol: Symbol, spot: Spot) -> Iterator[n.Expr]:
        """A row or a cell of something that has a name, or the stack of rows that have names."""
        for whole, cut in self._wholes(symbol):
            yield from self.part(n.Name(whole), cut[0], cut[1] if len(cut) > 1 else None, spot)
        parts = [s for s in self.page.same_letter(symbol) if is_row_of(s, symbol) or self._is_worked_cell(s, symbol)]
        rows = any(is_row_of(s, symbol) for s in parts)
        yield from self._stack([(s, s.indices[-1]) for s in parts], spot, not rows and self._is_row(symbol))
        for other in self.page.same_letter(symbol):
            if not symbol.indices and runs_over(other, symbol) and self._is_stated(other):
                yield n.Call(FAMILY, (n.Name(other),))
        cells = [s for s in self.page.family(symbol) if len(s.indices) == len(symbol.indices) + 1 > 1]
        if any(put_in(s._replace(indices=s.indices[:-1]), symbol) or s.indices[:-1] == symbol.indices for s in cells):
            yield n.Call(CELLS, (n.Name(symbol),))
        if not symbol.indices and self.codes_of_places(symbol):
            yield n.Call(PLACES, (n.Name(symbol),))

    def codes_of_places(self, symbol: Symbol) -> list[Symbol]:
        """The names with a running index that give the code of each position, PE_{pos,2i}, where a name is of all."""
        found = ((s, d) for s, ds in self.page.definitions.items() for d in ds if d.source is Source.STATED)
        alike = ((s, d) for s, d in found if s.base == symbol.base and s.labels == symbol.labels)
        return [s for s, d in alike if is_for_places(s, d.expr)]

    def _is_row(self, symbol: Symbol) -> bool:
        """Whether the page prints a name as one row: p = [0.7, 0.3]."""
        found = self.page.definitions.get(symbol, ())
        return any(isinstance(d.expr, n.Matrix) and len(d.expr.rows) == 1 for d in found)

    def _is_worked_cell(self, cell: Symbol, whole: Symbol) -> bool:
        """Whether a name is a cell of another, and is worked out: p_1 = 7.4 / 11.1 of p."""
        return is_cell_of(cell, whole) and not self._is_given(cell) and cell in self.page.definitions

    def assembled(self, symbol: Symbol, spot: Spot) -> Iterator[n.Expr]:
        """Something that has a name, put together from rows that have names."""
        yield from self._stack([(s, s.indices[-1]) for s in self.page.symbols if is_row_of(s, symbol)], spot)
        place = self.place(symbol)
        if place is not None and place.row is None and symbol.base != NAMELESS:
            yield from self._of_rows(place, spot)

    def part(self, whole: n.Expr, row: str, column: str | None, spot: Spot) -> Iterator[n.Expr]:
        """A row or a cell of something: of a vector an index picks a cell, of a matrix the line of a token."""
        i = self.position(row, spot.scope)
        j = self.position(column, spot.scope) if column else None
        if i is None or (column and j is None):
            return
        yield n.Entry(whole, row=i, column=j) if j is not None else n.Call(LINE, (whole, n.number(i)))

    def position(self, index: str, scope: int) -> int | None:
        """The row that an index or a word stands for, from 1."""
        if is_number(index):
            at = int(index) + self.choices.zero_based
            return at if at > 0 else None
        words = [word.lower() for s in (scope, *self.page.scopes) for word in self.page.tokens.get(s, ())]
        return words.index(index.lower()) + 1 if index.lower() in words else self._order(index)

    def _order(self, word: str) -> int | None:
        """Where a word comes among the rows that names of one role speak of. Where tokens are numbered, the i of x_i
        runs over them and is none."""
        roles = (Role.X, Role.K, Role.STATES, Role.Q, Role.V)
        named = [list(dict.fromkeys(p.row.lower() for _, p in self.members(role) if p.row)) for role in roles]
        if LETTER.match(word) and any(is_number(row) for rows in named for row in rows):
            return None
        return next((rows.index(word.lower()) + 1 for rows in named if word.lower() in rows), None)

    def _stack(self, rows: list[tuple[Symbol, str]], spot: Spot, across: bool = False) -> Iterator[n.Expr]:
        """Rows with names, on top of each other in the order of their tokens; numbers beside each other."""
        if len(rows) < 2:
            return
        here = [(s, i) for s, row in rows if (i := self.position(row, spot.scope)) is not None]
        ordered = sorted({i: s for s, i in reversed(here)}.items())
        if len(ordered) > 1 and [i for i, _ in ordered] == list(range(1, len(ordered) + 1)):
            columns = "columns" in self.choices.conventions[spot.scope]
            yield n.Concat(tuple(self._as_line(s, columns) for _, s in ordered), int(columns or across))

    def _as_line(self, symbol: Symbol, column: bool) -> n.Expr:
        """A vector laid the way that tokens lie."""
        shapes = [d.expr.shape for d in self.page.definitions.get(symbol, ()) if isinstance(d.expr, n.Matrix)]
        turned = bool(shapes) and 1 in shapes[0] and shapes[0] != (1, 1) and (shapes[0][1] == 1) != column
        return n.Transpose(n.Name(symbol)) if turned else n.Name(symbol)

    def cell_of(self, expr: n.Expr, scope: int) -> tuple[Symbol, int, int] | None:
        """The cell of the scores that the product of one query and one key is: q_1 · k_2."""
        sides = [x.arg if isinstance(x, n.Transpose) else x for x in n.factors(expr)]
        found = [self.place(x.symbol) for x in sides if isinstance(x, n.Name)] if len(sides) == 2 else []
        lines = {p.role: p for p in found if p is not None and p.row is not None and p.column is None}
        if len(found) != 2 or lines.keys() != {Role.Q, Role.K} or lines[Role.Q].head != lines[Role.K].head:
            return None
        i, j = (self.position(lines[role].row or "", scope) for role in (Role.Q, Role.K))
        down = "keys" in self.choices.conventions[scope]
        return (role_symbol(Role.SCORES, lines[Role.Q].head), *((j, i) if down else (i, j))) if i and j else None

    # — the library —

    def library(self, symbol: Symbol, spot: Spot) -> Iterator[n.Expr]:
        place = self.place(symbol)
        if place is None or symbol.base == NAMELESS or self.naming.is_sum(symbol):
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
            for expr in self._library(place.role, place.head, spot):
                yield from (alike for alike in [self._marked_alike(expr, symbol)] if alike != expr)
                yield expr
            if (
                place.role is Role.MASKED and self.known_by(symbol) is Known.STATED
            ):  # by the softmax that is taken of it
                scaled = "scaled" in self.conventions(spot.scope)
                yield n.Name(role_symbol(Role.SCALED if scaled else Role.SCORES, place.head))

    def _marked_alike(self, expr: n.Expr, symbol: Symbol) -> n.Expr:
        """An equation of the library with the names that are marked as another one is: Y_masked is A_masked V."""

        def named(node: n.Expr) -> n.Expr:
            holders = self.called(node.symbol) if isinstance(node, n.Name) else []
            alike = (h for h in holders if (h.labels, h.primes) == (symbol.labels, symbol.primes))
            return next(map(n.Name, alike), node)

        return n.rewrite(expr, named) if symbol.labels or symbol.primes else expr

    def _of_role(self, role: Role, head: str | None, spot: Spot) -> Iterator[n.Expr]:
        """What plays a role: a name of the page, rows of the page, or what the library says."""
        holders = [] if self.choices.supposed and role in AFTER_Q else self.holders(role, head)
        holders = holders or [holder for holder in self.holders(role, head) if self._is_given(holder)]
        own = [h for h in holders if self.is_own(h, spot.scope) and not self._is_outranked(h, Place(role, head))]
        before = [h for h in holders if h not in own and any(d.scope < spot.scope for d in self.page.definitions[h])]
        if role in (Role.K, Role.V):
            yield from self._cached(own, Place(role, head), spot)
            yield from self._of_group(role, head, spot.scope)
        yield from self._of_vectors(own)
        yield from map(n.Name, sorted(own, key=_is_cache))
        worked = role in AFTER_Q and self._is_worked(Place(role, head), spot.scope)
        if not worked:
            yield from self._of_rows(Place(role, head), spot)
        if not self._is_elsewhere(role, spot.scope) or role in AFTER_Q:  # its formula holds here too
            yield from (n.Name(holder) for holder in before if self._is_stated(holder))
        yield from self._library(role, head, spot)
        if worked:
            yield from self._of_rows(Place(role, head), spot)
        if not self._is_elsewhere(role, spot.scope):
            yield from (n.Name(holder) for holder in before if not self._is_stated(holder))

    def _is_outranked(self, holder: Symbol, place: Place) -> bool:
        """Whether only its letter makes a name the scores, though it is worked out of weights, l = A V; or what
        formulas say that rows of the page are: H = Q J beside tokens c_1."""
        if not self.naming.is_otherwise(holder):
            return False
        made_of = (self.place(s) for formula in self.page.stated.get(holder, ()) for s in n.names_in(formula))
        if place.role in UNSHARED and any(made is not None and made.role is Role.WEIGHTS for made in made_of):
            return True
        rows = (symbol for symbol, _ in self.members(place.role, place.head))
        return any(self.known_by(symbol) is Known.STATED for symbol in rows)

    def _cached(self, own: list[Symbol], place: Place, spot: Spot) -> Iterator[n.Expr]:
        """A cache of keys or values with the rows of new tokens below it."""
        cached = list(filter(_is_cache, own))
        rows = [symbol for symbol, p in self._members_at(place, spot.scope) if p.row and p.column is None]
        if cached and rows and len(own) == len(cached):
            columns = "columns" in self.choices.conventions[spot.scope]
            yield n.Concat((n.Name(cached[0]), *(self._as_line(row, columns) for row in rows)), int(columns))

    def _of_vectors(self, own: list[Symbol]) -> Iterator[n.Expr]:
        """Vectors without names that words call the same, 'token 1 has the key [1, 0], token 2 …', are rows of it."""
        shapes = {d.expr.shape for s in own for d in self.page.definitions[s] if isinstance(d.expr, n.Matrix)}
        if len(own) > 1 and all(s.base == NAMELESS for s in own) and len(shapes) == 1 and next(iter(shapes))[0] == 1:
            yield n.Concat(tuple(map(n.Name, own)), 0)

    def _of_group(self, role: Role, head: str | None, scope: int) -> Iterator[n.Expr]:
        """Keys and values that several heads share: of four heads and two keys the first two heads have the first."""
        heads = self.heads_in(scope)
        given = [h for h in heads if self.holders(role, h, scope)]
        if (
            head in heads
            and 0 < len(given) < len(heads)
            and len(heads) % len(given) == 0
            and self._asks_more(heads, scope)
        ):
            group = given[heads.index(head) * len(given) // len(heads)]
            yield from map(n.Name, self.holders(role, group, scope)[:1])

    def _is_worked(self, place: Place, scope: int) -> bool:
        """Whether rows of a role are known by workings only, in which numbers are rounded."""
        members = [symbol for symbol, _ in self._members_at(place, scope)]
        return bool(members) and all(d.source is Source.WORKING for s in members for d in self.page.definitions[s])

    def _asks_more(self, heads: tuple[str, ...], scope: int) -> bool:
        return all(self.holders(Role.Q, head, scope) for head in heads)

    def _cells(self, members: list[tuple[Symbol, Place]], scope: int) -> dict[tuple[int | None, int | None], Symbol]:
        """The names for cells among some, by row and column."""
        cells = ((s, p) for s, p in members if p.row and p.column)
        return {(self.position(p.row or "", scope), self.position(p.column or "", scope)): s for s, p in cells}

    def _of_rows(self, place: Place, spot: Spot) -> Iterator[n.Expr]:
        """What plays a role, put together from rows and cells that have names."""
        members = self._members_at(place, spot.scope)
        if not members:
            return
        lines = [(s, p.row) for s, p in members if p.row and p.column is None]
        if place.role in SCORE_LIKE and lines and all(map(self._is_number, (s for s, _ in lines))):
            yield from self._list(lines, spot)
        else:
            yield from self._stack(lines, spot)
        cells = self._cells(members, spot.scope)
        rows = max((i for i, _ in cells if i), default=0)
        columns = max((j for _, j in cells if j), default=0)
        wanted = {(i, j) for i in range(1, rows + 1) for j in range(1, columns + 1)}
        unseen = place.role in UNSHARED and cells.keys() == self._cells(self.members(Role.WEIGHTS), spot.scope).keys()
        if wanted and (wanted == cells.keys() or (unseen and {i for i, _ in cells} == set(range(1, rows + 1)))):
            line = [[cells.get((i, j)) for j in range(1, columns + 1)] for i in range(1, rows + 1)]
            yield n.Matrix(tuple(tuple(n.Name(s) if s else n.Infinite(-1) for s in row) for row in line))
        for symbol, _ in members:
            if symbol.indices and all(map(LETTER.match, symbol.indices)) and self._is_stated(symbol):
                yield n.Call(FAMILY, (n.Name(symbol),))
        if place.role is Role.Q and len(lines) == 1 and self.page.is_known_at(lines[0][0], spot):
            yield self._as_line(lines[0][0], "columns" in self.choices.conventions[spot.scope])  # one token asks

    def _members_at(self, place: Place, scope: int) -> list[tuple[Symbol, Place]]:
        """Rows and cells of what plays a role in one problem: its own, or those of the problems before."""
        stated = [h for h in self.holders(place.role, place.head) if self.known_by(h) is Known.STATED]
        members = self.members(place.role, place.head)
        if stated:  # ω_1 may be a score by its letter, but not where another name is stated to be the scores
            members = [m for m in members if self.known_by(m[0]) is not Known.NAME or is_alike(m[0], stated[0])]
        found = [(s, p) for s, p in members if any(d.scope <= scope for d in self.page.definitions[s])]
        own = [(symbol, p) for symbol, p in found if self.is_own(symbol, scope)]
        return own or ([] if self._is_elsewhere(place.role, scope) else found)

    def _is_number(self, symbol: Symbol) -> bool:
        """Whether a name is given as one number: a score, not a row of scores."""
        found = [d.expr for d in self.page.definitions.get(symbol, ())]
        return bool(found) and not any(isinstance(expr, (n.Matrix, n.Softmax, n.Normalise)) for expr in found)

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
                down = "keys" in self.choices.conventions[spot.scope]
                yield n.Matrix(tuple((part,) for part in stack.parts) if down else (stack.parts,))

    def _library(self, role: Role, head: str | None, spot: Spot) -> Iterator[n.Expr]:
        if head is not None and (role in SHARED or role in SIZED):
            yield n.Name(role_symbol(role))
            return
        if head is not None and role in PROJECTED and not self._own_weights(role, head):
            yield from self._slice(role, head, spot.scope)
            return
        if role is Role.HEAD and head is None and self.heads_in(spot.scope):
            yield n.Name(role_symbol(Role.OUTPUT))  # 'attention' as a whole, where several heads make it
        if role is Role.MASK and self.sight(spot.scope) is not None:
            yield n.Call(PATTERN, (n.Name(role_symbol(Role.SCORES, head)), n.Name(role_symbol(Role.SCALED, head))))
        if role is Role.SCALED and self.choices.scale is not None:
            yield n.Quotient(n.Name(role_symbol(Role.SCORES, head)), self.choices.scale)
        turned = role in (Role.K, Role.V) and self._asks_from(Role.Y, spot.scope)
        for row in rows_for(role, self.conventions(spot.scope)):
            if turned and role_symbol(Role.Y) in n.names_in(row.expr):
                continue  # the second sequence asks here: keys come from the first
            if (expr := self._instance(row.expr, head, spot.scope)) is not None:
                yield expr
        if role is Role.OUTPUT and not self.holders(Role.W_O):
            yield n.Name(role_symbol(Role.CONCAT if self.heads_in(spot.scope) else Role.HEAD))

    def _asks_from(self, role: Role, scope: int) -> bool:
        """Whether a problem states that its queries come from what plays a role: Q = Y W_Q."""
        stated = (d for q in self.holders(Role.Q, None, scope) for d in self.page.definitions[q] if d.scope == scope)
        names = (symbol for d in stated if d.source is Source.STATED for symbol in n.names_in(d.expr))
        return any((place := self.place(symbol)) is not None and place.role is role for symbol in names)

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
        return of_head(expr, head)


def _is_cache(symbol: Symbol) -> bool:
    """Whether a name stands for keys or values of the tokens before."""
    return bool(CACHED & {label.lower() for label in symbol.labels})
