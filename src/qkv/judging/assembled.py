"""Arrays that are put together from what was printed before: rows, single numbers, one print cut anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from qkv.check.cells import Grid, Loose, shape_of
from qkv.check.compare import Shown, meets
from qkv.check.model import Verdict
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.cells import NEG_INF, Cell, bounds
from qkv.interpret.certified import Value
from qkv.judging.fit import Fit, How, Meaning, fit
from qkv.judging.seen import COPY, SURE, Copied, Seen, as_row, cell_of, claims_of, worth
from qkv.reading.bits import cell_bits
from qkv.reading.equation import Equation
from qkv.reading.page import Spot

if TYPE_CHECKING:
    from qkv.judging.copies import Copies


def assembled(copies: Copies, grid: Grid, spot: Spot) -> Iterator[Fit]:
    """An array made of the rows, or the single numbers, that were printed right above it."""
    rows, columns = shape_of(grid)
    yield from _of_rows(copies, grid, copies.recent(spot)[:rows][::-1], spot) if min(rows, columns) > 1 else ()
    if rows * columns > 1:
        yield from _of_cells(copies, grid, copies.recent(spot)[: rows * columns][::-1], spot)


def _of_rows(copies: Copies, grid: Grid, last: list[Seen], spot: Spot) -> Iterator[Fit]:
    lines = [as_row(seen) for seen in last]
    fitting = len(last) == len(grid) and all(shape_of(line.grid) == (1, len(grid[0])) for line in lines)
    if fitting and _reads_alike(grid, [shown for line in lines for shown in line.grid[0]]):
        yield from _made(copies, grid, n.Concat(tuple(line.expr for line in lines), 0), lines, spot)


def _of_cells(copies: Copies, grid: Grid, last: list[Seen], spot: Spot) -> Iterator[Fit]:
    rows, columns = shape_of(grid)
    singles = len(last) == rows * columns and all(shape_of(seen.grid) == (1, 1) for seen in last)
    if singles and _reads_alike(grid, [seen.grid[0][0] for seen in last]):
        exprs = [seen.expr for seen in last]
        matrix = n.Matrix(tuple(tuple(exprs[i * columns : (i + 1) * columns]) for i in range(rows)))
        yield from _made(copies, grid, matrix, last, spot)


def _reads_alike(grid: Grid, cells: list[Shown]) -> bool:
    return all(a.value == b.value for a, b in zip((shown for row in grid for shown in row), cells, strict=True))


def laid_anew(copies: Copies, equation: Equation, grid: Grid, spot: Spot) -> Iterator[Fit]:
    """A name whose cells were printed before in another shape: a vector cut into heads."""
    names = {n.Name(symbol) for symbol in equation.names}
    before = [seen for seen in copies.recent(spot) if seen.expr in names] if min(shape_of(grid)) > 1 else []
    for seen in before[:1]:
        cells = [shown for row in seen.grid for shown in row]
        if (
            shape_of(seen.grid) != shape_of(grid)
            and len(cells) == len(grid) * len(grid[0])
            and _reads_alike(grid, cells)
        ):
            yield from _made(copies, grid, seen.expr, [seen], spot)


def _made(copies: Copies, grid: Grid, expr: n.Expr, parts: list[Seen], spot: Spot) -> Iterator[Fit]:
    """An array against the prints that it is made of, in order."""
    columns = len(grid[0])
    trues = [copies.truth(part) for part in parts]
    true = _laid([t for t in trues if t is not None], columns) if all(t is not None for t in trues) else None
    own = _laid([part.printed.held for part in parts], columns)
    mended = _laid([part.printed.mended or part.printed.held for part in parts], columns)
    used = frozenset(claim for part in parts for claim in claims_of(part))
    made = fit(grid, Meaning(How.COPY, expr, spot), true, own, used, copies.is_false(used), mended)
    if made is not None:
        yield made


def _laid(values: list[Value], columns: int) -> Value:
    """Rows or cells one after the other, as a matrix with so many columns."""
    cells = [cell for value in values for row in value.rows for cell in row]
    return Value(tuple(tuple(cells[i : i + columns]) for i in range(0, len(cells), columns)))


def gathered(copies: Copies, grid: Grid, spot: Spot) -> Fit | None:
    """A vector whose cells were printed one by one: softmax(1.790, 2.586, 1.424) after e_1, e_2 and e_3."""
    if len(grid) != 1 or any(cell_bits(shown) < SURE for shown in grid[0]):
        return None
    cells, sources = [], []
    for shown in grid[0]:
        found = [(cell_of(seen, i, j), seen) for _, seen, i, j in copies.cells(shown.value, spot)]
        if not found:
            return None
        copied, seen = min(found, key=lambda option: copies.is_false(option[0].claims))
        cells.append(copied)
        sources.append(seen)
    picked = any(shape_of(seen.grid) != (1, 1) and seen is not sources[0] for seen in sources)
    if picked and any(copies.is_false(copied.claims) for copied in cells):
        return None  # numbers of several arrays that happen to read alike
    symbols = [Symbol(COPY, (), (str(i),)) for i in range(len(cells))]
    row = n.Matrix((tuple(map(n.Name, symbols)),))
    put = dict(zip(symbols, cells, strict=True))
    own = worth(row, {symbol: copied.own for symbol, copied in put.items()}, Loose())
    made = copies.put(grid, Meaning(How.COPY, row, spot), row, put, own)
    return made if made is not None and made.is_clean else None


def repeated(copies: Copies, grid: Grid, chosen: Fit | None, spot: Spot) -> Fit | None:
    """An array of numbers that were all printed above, where some of its false cells repeat a number that is false
    and should have been the same: those are carried."""
    if chosen is None or chosen.true is None or chosen.is_clean or chosen.meaning.how is How.WORKING:
        return chosen
    if not all(any(copies.cells(shown.value, spot)) for row in grid for shown in row):
        return chosen
    verdicts, used = [list(row) for row in chosen.verdicts], set(chosen.used)
    for i, row in enumerate(grid):
        for j, shown in enumerate(row):
            wrong = verdicts[i][j] is Verdict.WRONG
            again = _false_before(copies, grid, shown, chosen.true.rows[i][j], spot) if wrong else None
            if again is not None:
                verdicts[i][j] = Verdict.CARRIED
                used |= again.claims
    return replace(chosen, verdicts=tuple(map(tuple, verdicts)), used=frozenset(used))


def _false_before(copies: Copies, grid: Grid, shown: Shown, true: Cell, spot: Spot) -> Copied | None:
    """The print above that reads like a number, is false, and should be what that number should be.

    Another array of the same size is one of its own, and the mistake in it another; one that reads alike is a copy."""
    for _, seen, i, j in copies.cells(shown.value, spot):
        alike = min(shape_of(grid)) > 1 and _values(seen.grid) == _values(grid)
        if not alike and (shape_of(seen.grid) == shape_of(grid) != (1, 1) or cell_bits(shown) < SURE):
            continue
        copied = cell_of(seen, i, j)
        right = (copied.true or copied.mended).cell
        if copies.is_false(copied.claims) and not meets(shown, right) and _is_same(true, right, shown):
            return copied
    return None


def _values(grid: Grid) -> list[list[object]]:
    return [[shown.value for shown in row] for row in grid]


def _is_same(a: Cell, b: Cell, shown: Shown) -> bool:
    """Whether two cells differ by no more than a unit in the last place that is shown."""
    if NEG_INF in (a, b):
        return a is b
    (low, high), (bottom, top) = bounds(a), bounds(b)
    return bool(low <= top + 2 * shown.half and bottom <= high + 2 * shown.half)
