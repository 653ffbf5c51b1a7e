"""What is printed, cell by cell: what a decimal may stand for, and a value in the shape that is shown."""

from __future__ import annotations

from collections.abc import Container
from fractions import Fraction
from itertools import chain

from flint import arb

from qkv.check.compare import HIDDEN, Shown, agree, loosened, may_be_same, shown_cell, shown_number
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.show import plain
from qkv.interpret.cells import NEG_INF, Cell, precision, rational
from qkv.interpret.certified import Certified, Value, bounded
from qkv.interpret.fit import Shape
from qkv.interpret.loop import evaluate

Grid = tuple[tuple[Shown, ...], ...]
ENOUGH_BITS = 1536  # for a printed expression: its digits are compared, so that they have to be known


def shown_grid(matrix: n.Matrix, approximate: bool) -> Grid | None:
    """A printed matrix, cell by cell; None where it is ragged or a cell has no value."""
    if matrix.is_ragged or not matrix.rows or not matrix.rows[0]:
        return None
    grid = tuple(
        [
            tuple([shown_number(x, approximate) if type(x) is n.Number else _shown(x, approximate) for x in row])
            for row in matrix.rows
        ]
    )
    return grid if all(map(all, grid)) else None  # type: ignore[return-value]


def _shown(cell: n.Expr, approximate: bool) -> Shown | None:
    """A cell that is no decimal."""
    if isinstance(cell, n.Absolute) and isinstance(cell.arg, n.Number) and cell.arg.value >= 0:
        return shown_number(cell.arg, approximate)  # | 18.1 |: bars as brackets around one number
    if isinstance(cell, n.Infinite):
        return shown_cell("-∞" if cell.printed else HIDDEN, NEG_INF) if cell.sign < 0 else None
    try:
        with precision(ENOUGH_BITS):
            value = bounded(evaluate(cell, {}, Certified()))
    except QkvError:
        return None
    return shown_cell(plain(cell), value.cell) if value.shape == (1, 1) else None


def shape_of(grid: Grid) -> tuple[int, int]:
    """Rows and columns."""
    return len(grid), len(grid[0])


def fits(shape: Shape, shown: Shape) -> bool:
    """Whether a value of a shape can be brought into the shape that is shown; see fitted."""
    return shape == shown or (1 in shape and shape[0] * shape[1] == shown[0] * shown[1])


def fitted(value: Value, shape: tuple[int, int]) -> Value | None:
    """The value in the shape that is shown: as it is, a vector turned, or a vector cut into rows (heads)."""
    if value.shape == shape:
        return value
    if not fits(value.shape, shape):
        return None
    rows, columns = shape
    cells = list(chain.from_iterable(value.rows))
    return Value(tuple([tuple(cells[i * columns : (i + 1) * columns]) for i in range(rows)]))


def shows(grid: Grid, value: Value) -> bool:
    """Whether a value gives all digits that are printed."""
    made = fitted(value, shape_of(grid))
    return made is not None and all(map(agree, grid, made.rows))


def may_agree(a: Value, b: Value) -> bool:
    """Whether two computed values may be the same."""
    return a.shape == b.shape and all(map(may_be_same, chain.from_iterable(a.rows), chain.from_iterable(b.rows)))


def covers(own: Value, true: Value) -> bool:
    """Whether what an author holds includes what is true, cell by cell."""
    if own is true or own.shape != true.shape:
        return own is true
    for row, line in zip(own.rows, true.rows, strict=True):
        for x, y in zip(row, line, strict=True):
            if not (x == y if type(x) is not arb else y is not NEG_INF and y in x):
                return False
    return True


class Loose(Certified):
    """Certified arithmetic in which a printed decimal stands for everything that rounds to it; those of the `inputs`
    are meant exactly, unless the same number was printed as a `rounded` one."""

    def __init__(self, inputs: Container[Fraction] = (), rounded: Container[Fraction] = ()) -> None:
        self.inputs, self.rounded = inputs, rounded

    def cell(self, node: n.Number) -> Cell:
        whole = node.places == 0 and "." not in node.text and node.value.denominator == 1
        exact = whole or (node.value in self.inputs and node.value not in self.rounded)
        return rational(node.value) if exact else loosened(shown_number(node))
