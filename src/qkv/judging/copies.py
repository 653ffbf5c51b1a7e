"""Workings: which of their numbers are copies of something known, and what follows from that.

A working puts numbers into a formula: [..] [..] for Q Kᵀ, 0.187 [2, 2] + 0.045 [0, 6] for a weighted sum. A number that copies
a print stands on that print: who copies a false one carries it on, who copies the right one does not. A whole
matrix that was put in is a claim of its own. Nothing is accused that is no copy of anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from qkv.check.cells import Grid, fitted, shape_of, shown_grid
from qkv.check.compare import meets
from qkv.check.loose import Loose
from qkv.check.model import Verdict
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.cells import NEG_INF
from qkv.interpret.certified import Certified, Value
from qkv.interpret.loop import evaluate
from qkv.judging.fit import Fit, How, Meaning, fit
from qkv.judging.operands import as_softmax, decimals, is_claim, is_stochastic, operands, rivals, versions
from qkv.reading.align import aligned
from qkv.reading.choose import printed_grid
from qkv.reading.bits import cell_bits, grid_bits
from qkv.reading.equations import Equation, Item, Kind
from qkv.reading.system import Spot
from qkv.reading.values import Print

if TYPE_CHECKING:
    from qkv.judging.walk import Walk

COPY = "¶copy"  # the base of a symbol that stands for a copied number
POOL = 40  # earlier prints that a number may be a copy of
SURE = 9.0  # bits of a number that are no coincidence
CERTAIN = 40.0  # bits of a matrix that agree, so that the rest of it must be slips
MATRIX = 7.0  # bits of a matrix that are no coincidence


@dataclass(frozen=True, slots=True)
class Seen:
    """A print, as something that may be copied."""

    expr: n.Expr
    grid: Grid
    printed: Print


@dataclass(frozen=True, slots=True)
class Copied:
    """What a number or a matrix in a working is a copy of.

    own     what the author holds of it              mended  the same with false cells put right
    claims  the claims that it comes from            part    how to say what it is
    """

    part: n.Expr
    true: Value | None
    own: Value
    mended: Value
    claims: frozenset[int]


class Copies:
    """What was printed on a page so far, and which numbers of workings are copies of it."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._seen: list[Seen] = []
        self._copied: dict[int, Copied] = {}
        self._kept: list[n.Expr] = []  # so that no other object takes the id of one that is copied
        self._written: dict[int, n.Expr] = {}
        self._products: list[n.Expr] = []

    def note(self, expr: n.Expr, grid: Grid, printed: Print) -> None:
        """Remember a print."""
        if printed.true is None and printed.claim is None:
            printed = replace(printed, true=_exactly(grid))
        self._seen.append(Seen(expr, grid, printed))

    # — operands —

    def look(self, equation: Equation, item: Item) -> None:
        """Find out what the numbers of a working copy; a matrix that was put in is judged."""
        spot = Spot(equation.scope, equation.line)
        if item.kind is Kind.WORKING and isinstance(item.expr, n.Product):
            self._products.append(item.expr)
        expr = self._written[id(item.expr)] = as_softmax(item.expr)
        self._kept += [item.expr, expr]
        parts = {
            id(numbers): part for formula in equation.of(Kind.FORMULA) for part, numbers in aligned(formula.expr, expr)
        }
        beside: Fit | None = None
        doubles = rivals(expr) if self._is_doubled(equation, expr) else set()
        for operand in operands(expr):
            grid = shown_grid(operand, False)
            if grid is not None:
                made = self._operand(grid, parts.get(id(operand)), spot) or self._new(operand, grid, equation, spot)
                if made is None and beside is not None and id(operand) in doubles:
                    made = fit(
                        grid,
                        beside.meaning,
                        beside.true,
                        beside.own,
                        beside.used,
                        self._walk.is_false(beside.used),
                        None,
                    )
                if made is not None:
                    self._judge(equation, item, operand, grid, made, is_claim(operand, expr))
                beside = made
        self._numbers(expr, spot)

    def _is_doubled(self, equation: Equation, expr: n.Expr) -> bool:
        """Whether a product holds two versions of a factor: the whole is none of the results, and with one left out it is."""
        grids = [grid for item in equation.of(Kind.VALUE) if (grid := printed_grid(item)) is not None]
        without = [value for version in versions(expr) if (value := _worth(version, {}, Loose())) is not None]
        whole = _worth(expr, {}, Loose()) if without else None
        if whole is None or any(_agreeing(grid, whole) for grid in grids):
            return False
        return any(2 * _agreeing(grid, value) >= len(grid) * len(grid[0]) for grid in grids for value in without)

    def _new(self, operand: n.Matrix, grid: Grid, equation: Equation, spot: Spot) -> Fit | None:
        """An operand that was not printed before, but is the softmax of something that was."""
        if not is_stochastic(grid):
            return None
        scores = [seen.expr for seen in self._recent(spot) if shape_of(seen.grid) == shape_of(grid)]
        scores += [
            expr
            for expr in self._products[::-1]
            if (v := self._walk.values.own(expr, spot, self._walk.prints)[0]) and v.shape == shape_of(grid)
        ]
        for expr in scores:
            for size in (1, *self._walk.sizes(equation, spot)):
                scaled = expr if size == 1 else n.Quotient(expr, n.Root(n.number(size)))
                made = self._walk.fit(grid, Meaning(How.SEARCHED, n.Softmax(scaled), spot))
                if made is not None and made.slips == 0 and made.agreed >= MATRIX:
                    return made
        return None

    def nearly(self, grid: Grid, spot: Spot) -> Fit | None:
        """Two prints that stand side by side or are multiplied, with all but very few cells agreeing: then those are slips."""
        a, b = n.Name(Symbol(COPY, (), ("0",))), n.Name(Symbol(COPY, (), ("1",)))
        recent = self._recent(spot)
        for right in recent:
            for left in (seen for seen in recent if len(seen.grid) == len(grid)):
                (_, inner), (below, width) = shape_of(left.grid), shape_of(right.grid)
                beside = below == len(grid) and inner + width == len(grid[0])
                if beside or (inner == below and width == len(grid[0])):
                    expr = n.Concat((a, b), 1) if beside else n.Product(a, b)
                    put = {a.symbol: self._whole(left), b.symbol: self._whole(right)}
                    made = self._put(
                        grid,
                        Meaning(How.SEARCHED, expr, spot),
                        expr,
                        put,
                        _worth(expr, {s: c.own for s, c in put.items()}, Loose()),
                    )
                    if made is not None and is_near(made, grid) and made.agreed >= CERTAIN:
                        return made
        return None

    def _whole(self, seen: Seen) -> Copied:
        printed = seen.printed
        return Copied(seen.expr, self._truth(seen), printed.held, printed.mended or printed.held, _claims(seen))

    def _judge(self, equation: Equation, item: Item, operand: n.Matrix, grid: Grid, made: Fit, claims: bool) -> None:
        used = made.used
        if claims:
            line = operand.at.line if operand.at is not None else item.line
            place = replace(
                item, kind=Kind.VALUE, expr=operand, line=line, column=operand.at.column if operand.at else item.column
            )
            said = replace(equation, items=(place,), line=line, end_line=line, label=_say(made.meaning.expr))
            number = self._walk.claim(said, place, grid, made)
            used = frozenset({number}) if made.worst is Verdict.WRONG else used
            if made.meaning.how is How.SEARCHED and made.worst is not Verdict.WRONG:
                self._walk.remember(said, place, grid, made, number, made.meaning.spot)
        own = made.own if made.own is not None and made.worst is not Verdict.WRONG else _exactly(grid)
        right = made.true if made.true is not None else own
        if own is not None and right is not None:
            mended = own if made.worst not in (Verdict.WRONG, Verdict.CARRIED) else _mixed(own, right, made)
            self._copied[id(operand)] = Copied(made.meaning.expr, made.true, own, mended, used)

    def _operand(self, grid: Grid, part: n.Expr | None, spot: Spot) -> Fit | None:
        """What an operand is a copy of: what its formula says, or something printed before; or nearly what its formula says."""
        near: Fit | None = None
        if part is not None:
            near = self._walk.fit(grid, Meaning(How.COPY, part, spot))
            if near is not None and near.is_clean:
                return near
        exact = self._printed(grid, spot)
        if exact is not None or near is not None:
            return exact if exact is not None or near is None or not is_near(near, grid) else near
        return self.nearly(grid, spot)

    def _printed(self, grid: Grid, spot: Spot) -> Fit | None:
        """The print that a matrix is a copy of: a right one before a false one, the last one first."""
        if sum(map(sum, grid_bits(grid))) < MATRIX:
            return None
        false: Fit | None = None
        for seen in self._recent(spot):
            for part, variant in _variants(seen, grid):
                made = self._held_against(grid, part, variant, spot)
                if made is not None and made.is_clean:
                    if made.worst is not Verdict.CARRIED:
                        return made
                    false = false or made
        return false

    def _held_against(self, grid: Grid, part: n.Expr, printed: Print, spot: Spot) -> Fit | None:
        used = frozenset() if printed.claim is None else frozenset({printed.claim})
        return fit(
            grid,
            Meaning(How.COPY, part, spot),
            printed.true,
            printed.held,
            used,
            self._walk.is_false(used),
            printed.mended,
        )

    def _recent(self, spot: Spot) -> list[Seen]:
        return [seen for seen in self._seen[::-1] if seen.printed.spot.scope == spot.scope][:POOL]

    # — single numbers —

    def _numbers(self, expr: n.Expr, spot: Spot) -> None:
        """Decimals of a working that are cells of earlier prints; of several, the print that most of them come from."""
        wanted = [(x, grid[0][0]) for x in decimals(expr) if (grid := shown_grid(n.Matrix(((x,),)), False)) is not None]
        options = {id(x): list(self._cells(shown.value, spot)) for x, shown in wanted}
        common = Counter(k for found in options.values() for k in {k for k, *_ in found})
        for x, shown in wanted:
            found = options[id(x)]
            if not found or (cell_bits(shown) < SURE and max(common[k] for k, *_ in found) < 2):
                continue
            k, seen, i, j = max(found, key=lambda f: (common[f[0]], not self._walk.is_false(_claims(f[1])), -f[0]))
            self._kept.append(x)
            self._copied[id(x)] = _cell(seen, i, j)

    def _cells(self, value: object, spot: Spot) -> Iterator[tuple[int, Seen, int, int]]:
        for k, seen in enumerate(self._recent(spot)):
            for i, row in enumerate(seen.grid):
                for j, shown in enumerate(row):
                    if shown.value is not None and shown.value == value:
                        yield k, seen, i, j

    # — what a working gives —

    def fit(self, grid: Grid, meaning: Meaning) -> Fit | None:
        """A printed value against a working, with what its numbers are copies of; None where nothing is known of them."""
        expr = self._written.get(id(meaning.expr), meaning.expr)
        whole = self._fit(grid, meaning, expr)
        if whole is None or not whole.is_clean:
            for version in versions(expr):
                made = self._fit(grid, meaning, version)
                if made is not None and made.is_clean:
                    return made
        return whole

    def _fit(self, grid: Grid, meaning: Meaning, expr: n.Expr) -> Fit | None:
        put: dict[Symbol, Copied] = {}

        def change(node: n.Expr) -> n.Expr:
            copied = self._copied.get(id(node))
            if copied is None:
                return node
            symbol = Symbol(COPY, (), (str(len(put)),))
            put[symbol] = copied
            return n.Name(symbol)

        lifted = n.rewrite(expr, change)
        if not put and (decimals(expr) or not operands(expr)):
            return None
        own, _ = self._walk.values.own(expr, meaning.spot, self._walk.prints)
        return self._put(grid, meaning, lifted, put, own)

    def _put(
        self, grid: Grid, meaning: Meaning, lifted: n.Expr, put: dict[Symbol, Copied], own: Value | None
    ) -> Fit | None:
        """A printed value against an expression over copies."""
        trues = {symbol: copied.true for symbol, copied in put.items() if copied.true is not None}
        true = _worth(lifted, trues, Certified()) if len(trues) == len(put) else None
        mended = _worth(lifted, {symbol: copied.mended for symbol, copied in put.items()}, Loose())
        used = frozenset(claim for copied in put.values() for claim in copied.claims)
        said = n.rewrite(lifted, lambda x: put[x.symbol].part if isinstance(x, n.Name) and x.symbol in put else x)
        return fit(grid, replace(meaning, expr=said), true, own, used, self._walk.is_false(used), mended)

    def assembled(self, grid: Grid, spot: Spot) -> Iterator[Fit]:
        """A matrix made of the rows that were printed right above it."""
        rows, columns = shape_of(grid)
        last = self._seen[-rows:]
        if rows < 2 or columns < 2 or len(last) < rows or any(s.printed.spot.scope != spot.scope for s in last):
            return
        lines = [_line(seen) for seen in last]
        if any(shape_of(line.grid) != (1, columns) for line in lines) or any(
            a.value != b.value for x, y in zip(grid, lines, strict=True) for a, b in zip(x, y.grid[0], strict=True)
        ):
            return
        trues = [self._truth(line) for line in lines]
        true = Value(tuple(t.rows[0] for t in trues if t is not None)) if all(t is not None for t in trues) else None
        own = Value(tuple(line.printed.held.rows[0] for line in lines))
        mended = Value(tuple((line.printed.mended or line.printed.held).rows[0] for line in lines))
        used = frozenset(claim for line in lines for claim in _claims(line))
        expr = n.Concat(tuple(line.expr for line in lines), 0)
        made = fit(grid, Meaning(How.COPY, expr, spot), true, own, used, self._walk.is_false(used), mended)
        if made is not None:
            yield made

    def _truth(self, seen: Seen) -> Value | None:
        """What a print should have been; where nothing says so and nothing in it is false, what it is."""
        return seen.printed.true or (seen.printed.held if not self._walk.is_false(_claims(seen)) else None)


# — prints as what may be copied —


def _variants(seen: Seen, grid: Grid) -> Iterator[tuple[n.Expr, Print]]:
    """A print as it is, turned, and its rows and columns, as far as the shape fits."""
    shape, wanted = shape_of(seen.grid), shape_of(grid)
    if shape == wanted or (1 in shape and shape[::-1] == wanted):
        yield seen.expr, seen.printed
    if shape[::-1] == wanted and 1 not in shape:
        yield n.Transpose(seen.expr), _cut(seen.printed, lambda v: Value(tuple(zip(*v.rows, strict=True))))
    if 1 in wanted and 1 not in shape:
        if max(wanted) == shape[1]:
            for i in range(shape[0]):
                yield n.Entry(seen.expr, row=i + 1), _cut(seen.printed, lambda v, i=i: Value((v.rows[i],)))
        if max(wanted) == shape[0]:
            for j in range(shape[1]):
                yield (
                    n.Entry(seen.expr, column=j + 1),
                    _cut(seen.printed, lambda v, j=j: Value(tuple((row[j],) for row in v.rows))),
                )


def _cut(printed: Print, part) -> Print:  # type: ignore[no-untyped-def]
    """A part of a print."""
    return replace(
        printed, held=part(printed.held), true=part(printed.true) if printed.true is not None else None,
        mended=part(printed.mended) if printed.mended is not None else None,
    )  # fmt: skip


def _line(seen: Seen) -> Seen:
    """A vector as a row."""
    if shape_of(seen.grid)[1] != 1 or shape_of(seen.grid)[0] == 1:
        return seen
    grid = (tuple(row[0] for row in seen.grid),)
    return Seen(seen.expr, grid, _cut(seen.printed, lambda v: Value((tuple(row[0] for row in v.rows),))))


def _cell(seen: Seen, i: int, j: int) -> Copied:
    printed = seen.printed
    own = Value(((printed.held.rows[i][j],),))
    mended = Value(((printed.mended.rows[i][j],),)) if printed.mended is not None else own
    true = (
        Value(((printed.true.rows[i][j],),))
        if printed.true is not None and printed.true.shape == shape_of(seen.grid)
        else None
    )
    part = seen.expr if shape_of(seen.grid) == (1, 1) else n.Entry(seen.expr, row=i + 1, column=j + 1)
    return Copied(part, true, own, mended, _claims(seen))


def _claims(seen: Seen) -> frozenset[int]:
    return frozenset() if seen.printed.claim is None else frozenset({seen.printed.claim})


def _agreeing(grid: Grid, value: Value) -> int:
    """How many cells of a print a value gives."""
    made = fitted(value, shape_of(grid))
    pairs = zip(grid, made.rows, strict=True) if made is not None else ()
    return sum(meets(shown, cell) for row, cells in pairs for shown, cell in zip(row, cells, strict=True))


def is_near(made: Fit, grid: Grid) -> bool:
    """Whether an operand is a miscopied one: most of its cells agree, and the others are plain numbers too."""
    cells = [
        (shown, v)
        for row, verdicts in zip(grid, made.verdicts, strict=True)
        for shown, v in zip(row, verdicts, strict=True)
    ]
    off = [shown for shown, verdict in cells if verdict is Verdict.WRONG]
    misses = [shown for shown in off if shown.cell is NEG_INF or shown.value is None]
    return not misses and len(cells) >= 4 and len(off) <= 1 + len(cells) // 8 and made.agreed >= MATRIX


def _mixed(own: Value, right: Value, made: Fit) -> Value:
    """What was put in, with its false cells put right."""
    false = (Verdict.WRONG, Verdict.CARRIED)
    return Value(
        tuple(
            tuple(r if v in false else c for c, r, v in zip(cells, rights, verdicts, strict=True))
            for cells, rights, verdicts in zip(own.rows, right.rows, made.verdicts, strict=True)
        )
    )


def _exactly(grid: Grid) -> Value:
    return Value(tuple(tuple(shown.cell for shown in row) for row in grid))


def _worth(expr: n.Expr, env: dict[Symbol, Value], algebra: Certified) -> Value | None:
    try:
        return evaluate(expr, env, algebra)
    except (QkvError, ZeroDivisionError, OverflowError, ValueError):
        return None


def _say(expr: n.Expr) -> str:
    from qkv.expr.show import plain

    return plain(expr)
