"""Arrays that are put together from what was printed before: rows, single numbers, one print cut anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from qkv.check.cells import Grid, Loose, shape_of
from qkv.check.compare import Shown
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.certified import Value
from qkv.judging.fit import Fit, How, Meaning, fit
from qkv.judging.seen import COPY, SURE, Seen, as_row, cell_of, claims_of, worth
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
    cells = []
    for shown in grid[0]:
        found = [cell_of(seen, i, j) for _, seen, i, j in copies.cells(shown.value, spot)]
        if not found:
            return None
        cells.append(min(found, key=lambda copied: copies.is_false(copied.claims)))
    symbols = [Symbol(COPY, (), (str(i),)) for i in range(len(cells))]
    row = n.Matrix((tuple(map(n.Name, symbols)),))
    put = dict(zip(symbols, cells, strict=True))
    own = worth(row, {symbol: copied.own for symbol, copied in put.items()}, Loose())
    made = copies.put(grid, Meaning(How.COPY, row, spot), row, put, own)
    return made if made is not None and made.is_clean else None
