"""Whether two certified values are the same, worked out in different ways; and where one is a part of another."""

from __future__ import annotations

from collections.abc import Iterator

from qkv.interpret.cells import NEG_INF, Cell, bounds
from qkv.interpret.certified import Value

Cells = tuple[tuple[int, int], ...]  # row and column, from 1, in the order of the part that is shown


def same_values(a: Value, b: Value) -> bool:
    """Whether two values have the same shape and may be the same in every cell."""
    return a.shape == b.shape and all(
        same_cells(x, y) for r, q in zip(a.rows, b.rows, strict=True) for x, y in zip(r, q, strict=True)
    )


def same_cells(a: Cell, b: Cell) -> bool:
    """Whether two cells may be the same number: their enclosures meet."""
    if a is NEG_INF or b is NEG_INF:
        return a is b
    (low, high), (other_low, other_high) = bounds(a), bounds(b)
    return bool(low <= other_high and other_low <= high)


def parts_of(part: Value, whole: Value) -> Iterator[Cells]:
    """The places where a part may stand in a whole: all of it, turned round, or a block such as a row or a cell."""
    turned = Value(tuple(zip(*part.rows, strict=True)))
    yield from _blocks(part, whole)
    if turned.shape != part.shape and (1 in part.shape or turned.shape == whole.shape):
        for cells in _blocks(turned, whole):
            rows, columns = turned.shape  # in the order of the part that is shown
            yield tuple(cells[i * columns + j] for j in range(columns) for i in range(rows))


def _blocks(part: Value, whole: Value) -> Iterator[Cells]:
    (rows, columns), (height, width) = part.shape, whole.shape
    for down in range(height - rows + 1):
        for right in range(width - columns + 1):
            spots = tuple((down + i + 1, right + j + 1) for i in range(rows) for j in range(columns))
            cells = (cell for row in part.rows for cell in row)
            if all(same_cells(cell, whole.rows[i - 1][j - 1]) for cell, (i, j) in zip(cells, spots, strict=True)):
                yield spots
