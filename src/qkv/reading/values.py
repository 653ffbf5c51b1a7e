"""What names and expressions of a page are worth: truly, and by the numbers that the author printed.

Working out is a pure function of the system and of what was printed so far; nothing is decided here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from operator import is_not
from typing import Any

from flint import fmpq

from qkv.check.loose import Loose
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.functions import BY_KEY
from qkv.expr.names import Role, Symbol
from qkv.interpret.cells import NEG_INF, same_cell
from qkv.interpret.certified import Certified, Value, scalar
from qkv.interpret.loop import evaluate, unrolled
from qkv.library.defined import defined
from qkv.reading.choices import Choices
from qkv.reading.definitions import Source
from qkv.reading.naming import SIZED, role_symbol
from qkv.reading.page import Page
from qkv.reading.remembering import Memory, Remembering
from qkv.reading.system import FAMILY, HEAD, IDENTITY, LINE, PATTERN, Spot, System

PRINTED = "¶="  # the base of a symbol for a formula that was printed with a value
MOST_NESTED = 40


@dataclass(frozen=True, slots=True)
class Print:
    """A value as its author printed it.

    held     what the author may go on with            mended  the same with its false cells put right
    true     what it should have been, if known        meant   the same with the slips made right here undone
    claim    the number of the claim that judged it
    """

    held: Value
    true: Value | None
    claim: int | None
    spot: Spot
    mended: Value | None = None
    meant: Value | None = None


class Mending(Enum):
    """What is put right in the author's numbers: nothing, what was only written down wrongly, or all that is false."""

    NOTHING, TYPOS, ALL = range(3)


class _Own(Remembering, Loose):
    """The author's arithmetic: decimals as printed, and roots as the author printed them (√2 ≈ 1.414)."""

    def __init__(self, memory: Memory | None = None) -> None:
        Loose.__init__(self)
        Remembering.__init__(self, memory)
        self.roots: list[tuple[Value, Value]] = []  # true ones, and what the author goes on with

    def root(self, a: Value) -> Value:
        made = super().root(a)
        return next((held for true, held in self.roots if a.shape == (1, 1) and same(true, made)), made)


Key = tuple[Symbol, int, int]  # a name, the scope and the epoch in which it is looked up
Known = dict[Key, tuple[Value | None, frozenset[int]]]  # what it is worth, and the claims that this comes from


@dataclass
class Prints:
    """What an author has printed so far on a page, by name and by formula; the walk over the page adds to it."""

    names: dict[Symbol, Print] = field(default_factory=dict)
    formulas: dict[n.Expr, Symbol] = field(default_factory=dict)
    mending: Mending = Mending.NOTHING
    algebra: _Own = field(default_factory=_Own)
    kinds: set[type] = field(default_factory=set)  # of the formulas
    known: dict[Mending, Known] = field(
        default_factory=lambda: {mending: {} for mending in Mending}
    )  # what names are worth by all this

    def add(self, symbol: Symbol, printed: Print) -> None:
        """Note the value that was printed for a name."""
        self.names[symbol] = printed
        for known in self.known.values():
            known.clear()

    def add_formula(self, expr: n.Expr, printed: Print) -> Symbol:
        """Note the value that was printed for a formula; what uses the formula later may go on from it."""
        symbol = self.formulas.setdefault(expr, Symbol(PRINTED, (), (str(len(self.formulas)),)))
        true = evaluate(expr, {}, Certified()) if isinstance(expr, n.Root) and n.is_literal(expr) else printed.true
        if isinstance(expr, n.Root) and true is not None and true.shape == (1, 1):
            self.algebra.roots.append((true, printed.held))
        self.kinds.add(type(expr))
        self.add(symbol, printed)
        return symbol

    def value(self, printed: Print) -> Value:
        """What the author goes on with."""
        put_right = {Mending.NOTHING: None, Mending.TYPOS: printed.meant, Mending.ALL: printed.mended}[self.mending]
        return put_right if put_right is not None else printed.held


class Values:
    """Values of names and expressions under one system; true ones are kept."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.algebra = Remembering(system.page.memory)
        self._true: Known = {}
        self._sources: dict[Key, tuple[n.Expr, Spot, Source | None]] = {}

    def true(self, expr: n.Expr, spot: Spot) -> Value | None:
        """The true value of an expression at a spot; None where it has none."""
        return _Look(self, None).of(expr, spot)

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
        return _Look(self, None)._prepared(expr, spot)

    def owner(self, spot: Spot, prints: Prints) -> Callable[[n.Expr], Value | None]:
        """What the author's own numbers give for one expression after the other; names are looked up once."""
        look = _Look(self, prints)
        return lambda expr: look.of(expr, spot)

    def epoch(self, spot: Spot) -> int:
        """How often names of a scope were given anew before a spot."""
        lines = self.system.page.renewals.get(spot.scope)
        return bisect_right(lines, spot.line) if lines else 0

    def role(self, role: Role, head: str | None, spot: Spot) -> Value | None:
        """The true value of what plays a role."""
        return self.true(n.Name(role_symbol(role, head)), spot)


def values_of(page: Page, choices: Choices) -> Values:
    """Values under some choices, the same for all who ask."""
    kept: dict[Choices, Values] = page.__dict__.setdefault("_values", {})
    if choices not in kept:
        kept[choices] = Values(System(page, choices))
    return kept[choices]


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
            ready = self._prepared(expr, spot)
            if ready is None:
                return None
            if self.prints is not None:
                ready = self._with_printed(ready, top)
            if any(self.name(symbol, spot) is None for symbol in n.names_in(ready)):
                return None
            return evaluate(
                ready, _Names(self, spot), self.values.algebra if self.prints is None else self.prints.algebra
            )
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
                return value
        return self._size(symbol, spot)

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
            return evaluate(expr, {}, self.values.algebra)
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

    # — expressions that need values before they can be worked out —

    def _prepared(self, expr: n.Expr, spot: Spot) -> n.Expr | None:
        if not n.kinds_in(expr) & {n.Call, n.Mask, n.Series, n.Absolute}:
            return expr
        failed = False

        def change(node: n.Expr) -> n.Expr:
            nonlocal failed
            if isinstance(node, n.Call) and node.function in _RESOLVED:
                made = _RESOLVED[node.function](self, node, spot)
                failed |= made is None
                return made or node
            if isinstance(node, n.Call) and node.function not in BY_KEY:
                made = self._called(node, spot)
                failed |= made is None
                return made or node
            if isinstance(node, n.Mask) and node.pattern is not None and not node.truth:
                pattern = self.of(node.pattern, spot, False)
                if pattern is not None:
                    return replace(node, pattern=self._spread(node, pattern, spot), truth=_is_truth(pattern))
            if isinstance(node, n.Series) and not (isinstance(node.low, n.Number) and isinstance(node.high, n.Number)):
                node = self._bounded(node, spot)
            if isinstance(node, n.Series) and isinstance(node.low, n.Number) and isinstance(node.high, n.Number):
                return unrolled(node)
            if isinstance(node, n.Absolute):
                return self._norm(node, spot)
            return node

        made = n.rewrite(expr, change)
        return None if failed else made

    def _called(self, call: n.Call, spot: Spot) -> n.Expr | None:
        """A function that the page defines, or that the library says what it is, for its arguments."""
        for function in (*self.system.functions.get(call.function, ()), *defined(call.function)):
            made = function.of(call.args)
            if made is not None and all(self.name(symbol, spot) is not None for symbol in n.names_in(made)):
                return self._prepared(made, spot)
        return None

    def _cut(self, call: n.Call, spot: Spot) -> n.Expr | None:
        """The block of a head: head(Q, 2, 4) is the second quarter of Q."""
        whole, which, count = call.args
        value = self.of(whole, spot, False)
        if value is None or not isinstance(which, n.Number) or not isinstance(count, n.Number):
            return None
        columns = "columns" in self.system.choices.conventions[spot.scope]
        size, i, parts = value.shape[0 if columns else 1], int(which.value), int(count.value)
        if size % parts:
            return None
        width = size // parts
        span = (i - 1) * width + 1, i * width
        return n.Transpose(n.Entry(n.Transpose(whole), columns=span)) if columns else n.Entry(whole, columns=span)

    def _line(self, call: n.Call, spot: Spot) -> n.Expr | None:
        """line(A, 2): the second cell of a vector, or the second row of a matrix (column, where tokens are columns)."""
        whole, which = call.args
        value = self.of(whole, spot, False)
        if value is None or not isinstance(which, n.Number):
            return None
        i = int(which.value)
        if 1 in value.shape and value.shape != (1, 1):
            return n.Entry(whole, row=1, column=i) if value.shape[0] == 1 else n.Entry(whole, row=i, column=1)
        return (
            n.Entry(whole, column=i)
            if "columns" in self.system.choices.conventions[spot.scope]
            else n.Entry(whole, row=i)
        )

    def _identity(self, call: n.Call, spot: Spot) -> n.Expr | None:
        """identity(): the matrix I, as large as tokens are wide where its size is not said."""
        if call.args and isinstance(call.args[0], n.Number):
            size = int(call.args[0].value)
        else:
            roles = (Role.X, Role.STATES, Role.Q, Role.K)
            tokens = next((v for role in roles if (v := self.name(role_symbol(role), spot)) is not None), None)
            columns = "columns" in self.system.choices.conventions[spot.scope]
            size = 0 if tokens is None else tokens.shape[0 if columns else 1]
        rows = tuple(tuple(n.number(int(i == j)) for j in range(size)) for i in range(size))
        return n.Matrix(rows) if 0 < size <= 64 else None

    def _family(self, call: n.Call, spot: Spot) -> n.Expr | None:
        """family(a_ij): the matrix of all a_ij, as far as what they are made of goes."""
        if not isinstance(call.args[0], n.Name):
            return None
        symbol = call.args[0].symbol
        bodies = [d.expr for d in self.system.page.definitions.get(symbol, ())]
        sizes = [
            max((k for body in bodies for k in self._lengths(body, letter, spot)), default=0)
            for letter in symbol.indices
        ]
        first = 0 if self.system.choices.zero_based else 1
        if not all(sizes) or len(sizes) > 2:
            return None
        runs = [[str(k + first) for k in range(size)] for size in sizes]
        if len(runs) == 1 and "keys" in self.system.choices.conventions[spot.scope]:
            return n.Matrix(tuple((n.Name(symbol._replace(indices=(j,))),) for j in runs[0]))
        rows = runs[0] if len(runs) == 2 else [""]
        cells = tuple(tuple(n.Name(symbol._replace(indices=(i, j) if i else (j,))) for j in runs[-1]) for i in rows)
        return n.Matrix(cells)

    def _norm(self, node: n.Absolute, spot: Spot) -> n.Expr:
        """‖q‖ of a vector is its length."""
        value = self.of(node.arg, spot, False)
        if value is None or value.shape == (1, 1) or 1 not in value.shape:
            return node
        turned = n.Transpose(node.arg)
        return n.Root(n.Product(node.arg, turned) if value.shape[0] == 1 else n.Product(turned, node.arg))

    def _spread(self, mask: n.Mask, pattern: Value, spot: Spot) -> n.Expr | None:
        """A list of keys that may be seen, said of every query."""
        scores = self.of(mask.arg, spot, False) if 1 in pattern.shape else None
        if scores is None or scores.shape == pattern.shape or mask.pattern is None:
            return mask.pattern
        row = mask.pattern if pattern.shape[0] == 1 else n.Transpose(mask.pattern)
        return n.Concat((row,) * scores.shape[0], 0) if scores.shape[1] == max(pattern.shape) else mask.pattern

    def _seen(self, call: n.Call, spot: Spot) -> n.Expr | None:
        """pattern(S, P): who sees whom, as words say it, for scores of this shape."""
        sight = self.system.sight(spot.scope)
        scores = next((value for arg in call.args if (value := self.of(arg, spot, False)) is not None), None)
        if scores is None or sight is None:
            return None
        conventions = self.system.choices.conventions[spot.scope]
        if "keys" in conventions:
            return n.Transpose(sight.pattern(scores.shape[1], scores.shape[0], "causal" in conventions))
        return sight.pattern(*scores.shape, "causal" in conventions)

    def _bounded(self, series: n.Series, spot: Spot) -> n.Series:
        """A Σ without numbers as bounds runs over what its names run over."""
        low = series.low if isinstance(series.low, n.Number) else n.number(0 if self.system.choices.zero_based else 1)
        if (
            isinstance(series.high, n.Name)
            and (high := self.name(series.high.symbol, spot)) is not None
            and high.shape == (1, 1)
        ):
            last = high.cell
            if type(last) is fmpq and last.q == 1:
                return replace(series, low=low, high=n.number(int(last.p)))
        size = max(self._lengths(series.body, series.index, spot), default=0)
        return replace(series, low=low, high=n.number(int(low.value) + size - 1)) if size else series

    def _lengths(self, body: n.Expr, index: str, spot: Spot) -> Iterator[int]:
        """How far an index runs, by the names that carry it."""
        for symbol in n.names_in(body):
            if index not in symbol.indices:
                continue
            where = symbol.indices.index(index)
            alike = [
                s
                for s in self.system.page.symbols
                if s.base == symbol.base and s.labels == symbol.labels and len(s.indices) == len(symbol.indices)
            ]
            numbers = {s.indices[where] for s in alike if s.indices[where].isdecimal()}
            if numbers:
                yield len(numbers)
                continue
            whole = self._whole(symbol, spot)
            if whole is not None:
                yield max(whole.shape) if 1 in whole.shape else whole.shape[where]

    def _whole(self, symbol: Symbol, spot: Spot) -> Value | None:
        """What an indexed name is a part of."""
        for base in (symbol.base.upper(), symbol.base):
            value = self.name(symbol._replace(base=base, indices=()), spot)
            if value is not None:
                return value
        place = self.system.place(symbol)
        return self.name(role_symbol(place.role, place.head), spot) if place is not None else None

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


_RESOLVED = {
    HEAD: _Look._cut,
    LINE: _Look._line,
    FAMILY: _Look._family,
    PATTERN: _Look._seen,
    IDENTITY: _Look._identity,
}


class _Names(Mapping[Symbol, Value]):
    """The names of a page at a spot, as an evaluator asks for them."""

    def __init__(self, look: _Look, spot: Spot) -> None:
        self._look, self._spot = look, spot

    def __contains__(self, symbol: object) -> bool:
        return isinstance(symbol, Symbol) and self._look.name(symbol, self._spot) is not None

    def __getitem__(self, symbol: Symbol) -> Value:
        value = self._look.name(symbol, self._spot)
        if value is None:
            raise KeyError(symbol)
        return value

    def __iter__(self) -> Iterator[Symbol]:
        return iter(())

    def __len__(self) -> int:
        return 0


def _is_truth(pattern: Value) -> bool:
    """Whether a mask holds 1 for what is seen and 0 for what is not."""
    cells = [cell for row in pattern.rows for cell in row]
    return all(cell is not NEG_INF and cell in (0, 1) for cell in cells) and any(cell == 1 for cell in cells)


def same(a: Value, b: Value) -> bool:
    """Whether two values are one and the same."""
    if a is b:
        return True
    pairs = zip(a.rows, b.rows, strict=False)
    return a.shape == b.shape and all(same_cell(x, y) for r, q in pairs for x, y in zip(r, q, strict=True))
