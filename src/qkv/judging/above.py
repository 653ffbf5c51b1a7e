"""What was printed right above may be all that a value is: its rows, what adds up to it, what words do to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

from qkv.check.cells import Grid, shape_of
from qkv.check.loose import Loose
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.certified import Value
from qkv.judging.copies import COPY, Copies
from qkv.judging.fit import Fit, How, Meaning, fit
from qkv.judging.phrases import operation, statistics_said
from qkv.judging.seen import Copied, Seen, as_row, cell_of, claims_of, is_near, worth
from qkv.reading.equations import Equation, Kind
from qkv.reading.page import Spot

RUN = 12  # prints that a sum may be taken of


def from_above(copies: Copies, equation: Equation, grid: Grid, spot: Spot) -> Iterator[Fit]:
    """A printed value as what was printed right above it makes it."""
    yield from assembled(copies, grid, spot)
    yield from statistics(copies, equation, grid, spot)
    yield from _operated(copies, equation, grid, spot)
    if (gathered := copies.gathered(grid, spot)) is not None:
        yield gathered


def statistics(copies: Copies, equation: Equation, grid: Grid, spot: Spot) -> Iterator[Fit]:
    """A number that words call the sum, the mean or the largest, taken of what was printed right before it."""
    words = " ".join((equation.label, *(str(symbol) for symbol in equation.names))).lower()
    for function in statistics_said(words) if shape_of(grid) == (1, 1) else ():
        for whole, cells in _runs(copies, spot):
            row, put = _row(cells)
            expr = n.Sum(row.rows[0]) if function == "sum" else n.Call(function, (row,))
            made = _put(copies, grid, Meaning(How.CAPTION, expr, spot), put)
            if made is not None and made.is_clean:
                shown = n.Call(function, (whole,)) if whole is not None and function != "sum" else made.meaning.expr
                yield replace(made, meaning=replace(made.meaning, expr=shown))
                return


def _runs(copies: Copies, spot: Spot) -> Iterator[tuple[n.Expr | None, list[Copied]]]:
    """What a sum may be taken of: a row of the last array, all of it, or the last single numbers."""
    last = copies.recent(spot)[:RUN]
    for array in [seen for seen in last if max(shape_of(seen.grid)) > 1][:1]:
        rows, columns = shape_of(array.grid)
        for i in range(rows if columns > 1 else 0):
            line = array.expr if rows == 1 else n.Entry(array.expr, row=i + 1)
            yield line, [cell_of(array, i, j) for j in range(columns)]
        yield array.expr, [cell_of(array, i, j) for i in range(rows) for j in range(columns)]
    singles = _singles(last)
    for count in range(2, len(singles) + 1):
        yield None, [cell_of(seen, 0, 0) for seen in singles[-count:]]


def _operated(copies: Copies, equation: Equation, grid: Grid, spot: Spot) -> Iterator[Fit]:
    """What words do to the numbers right before them: 'divide by √2: 2.828, 5.657'."""
    if equation.of(Kind.FORMULA, Kind.WORKING):
        return
    made, after = operation(equation.label, copies.page), 0
    if made is None and not equation.label and equation.index:  # 'divide by √d_k = √2 ≈ 1.414:', then the numbers
        above = copies.page.equations[equation.index - 1]
        formula = next((item.text for item in above.of(Kind.FORMULA, Kind.WORKING)), "")
        made, after = operation(f"{above.label} {formula}", copies.page), len(above.of(Kind.VALUE))
    for operand, put in _before(copies, grid, spot, after) if made is not None else ():
        found = _put(copies, grid, Meaning(How.WORDED, made(operand), spot), put) if made is not None else None
        if found is not None and (found.is_clean or is_near(found, grid)):
            yield found
            return


def _before(copies: Copies, grid: Grid, spot: Spot, after: int) -> Iterator[tuple[n.Expr, dict[Symbol, Copied]]]:
    """What was printed last in the shape of a grid, but for a few: numbers one by one, or one thing."""
    shape, recent = shape_of(grid), copies.recent(spot)[after:]
    singles = _singles(recent)
    if min(shape) == 1 and 1 < max(shape) <= len(singles):
        yield _row([cell_of(seen, 0, 0) for seen in singles[-max(shape) :]])
    for seen in [seen for seen in recent if shape_of(seen.grid) == shape][:1]:
        name = n.Name(Symbol(COPY, (), ("0",)))
        yield name, {name.symbol: copies.whole(seen)}


def _singles(recent: list[Seen]) -> list[Seen]:
    """The single numbers that were printed last, in their order."""
    return list(takewhile(lambda seen: shape_of(seen.grid) == (1, 1), recent))[::-1]


def _row(cells: list[Copied]) -> tuple[n.Matrix, dict[Symbol, Copied]]:
    symbols = [Symbol(COPY, (), (str(i),)) for i in range(len(cells))]
    return n.Matrix((tuple(map(n.Name, symbols)),)), dict(zip(symbols, cells, strict=True))


def _put(copies: Copies, grid: Grid, meaning: Meaning, put: dict[Symbol, Copied]) -> Fit | None:
    own = worth(meaning.expr, {symbol: copied.own for symbol, copied in put.items()}, Loose())
    return copies.put(grid, meaning, meaning.expr, put, own)


def assembled(copies: Copies, grid: Grid, spot: Spot) -> Iterator[Fit]:
    """A matrix made of the rows that were printed right above it."""
    rows, columns = shape_of(grid)
    last = copies.seen[-rows:]
    if rows < 2 or columns < 2 or len(last) < rows or any(s.printed.spot.scope != spot.scope for s in last):
        return
    lines = [as_row(seen) for seen in last]
    if any(shape_of(line.grid) != (1, columns) for line in lines) or any(
        a.value != b.value for x, y in zip(grid, lines, strict=True) for a, b in zip(x, y.grid[0], strict=True)
    ):
        return
    trues = [copies.truth(line) for line in lines]
    true = Value(tuple(t.rows[0] for t in trues if t is not None)) if all(t is not None for t in trues) else None
    own = Value(tuple(line.printed.held.rows[0] for line in lines))
    mended = Value(tuple((line.printed.mended or line.printed.held).rows[0] for line in lines))
    used = frozenset(claim for line in lines for claim in claims_of(line))
    expr = n.Concat(tuple(line.expr for line in lines), 0)
    made = fit(grid, Meaning(How.COPY, expr, spot), true, own, used, copies.is_false(used), mended)
    if made is not None:
        yield made
