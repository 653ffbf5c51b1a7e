"""How shapes combine; every interpretation asks here, so that they cannot disagree.

A size is a whole number, or anything else with +, −, * and == (a polynomial, say): nothing here orders sizes, except
where an index is looked up.
"""

from __future__ import annotations

from enum import Enum

from qkv.errors import ShapeError
from qkv.expr import nodes as n
from qkv.expr.functions import Kind

Shape = tuple[int, int]


class Misfit(ShapeError):
    """Two shapes that do not fit; the loop, which knows what the operands are called, says so with their names."""

    def __init__(self, a: Shape, b: Shape, why: str) -> None:
        super().__init__(f"{say(a)} and {say(b)} do not fit: {why}")
        self.a, self.b, self.why = a, b, why

    def named(self, left: str, right: str) -> ShapeError:
        """The same with the operands' names.

        >>> str(Misfit((3, 4), (3, 3), "4 columns meet 3 rows").named("X", "W_Q"))
        'X is 3×4 and W_Q is 3×3, so 4 columns meet 3 rows'
        """
        return ShapeError(f"{left} is {say(self.a)} and {right} is {say(self.b)}, so {self.why}")


class Way(Enum):
    """The ways in which a product can be meant."""

    SCALE_RIGHT = "scalar times anything"
    SCALE_LEFT = "anything times scalar"
    MATRIX = "matrix product"
    DOT = "two vectors of one orientation: their dot product"
    COLUMN = "a matrix times a row that is meant as a column"
    ROW = "a column that is meant as a row, times a matrix"


def product_way(a: Shape, b: Shape) -> Way:
    """How to multiply; raises where nothing fits.

    >>> product_way((2, 3), (3, 2)).name, product_way((1, 3), (1, 3)).name
    ('MATRIX', 'DOT')
    """
    if a == (1, 1):
        return Way.SCALE_RIGHT
    if b == (1, 1):
        return Way.SCALE_LEFT
    if a[1] == b[0]:
        return Way.MATRIX
    if a == b and 1 in a:
        return Way.DOT
    if b[0] == 1 and b[1] == a[1]:
        return Way.COLUMN
    if a[1] == 1 and a[0] == b[0]:
        return Way.ROW
    raise no_product(a, b)


def no_product(a: Shape, b: Shape) -> Misfit:
    """What to say where a product does not fit."""
    columns, rows = ("column" if a[1] == 1 else "columns"), ("row" if b[0] == 1 else "rows")
    return Misfit(a, b, f"{a[1]} {columns} {'meets' if a[1] == 1 else 'meet'} {b[0]} {rows}")


def product_shape(a: Shape, b: Shape) -> Shape:
    """The shape of the product."""
    match product_way(a, b):
        case Way.SCALE_RIGHT:
            return b
        case Way.SCALE_LEFT:
            return a
        case Way.MATRIX:
            return a[0], b[1]
        case Way.DOT:
            return 1, 1
        case Way.COLUMN:
            return a[0], 1
        case Way.ROW:
            return 1, b[1]


def inner_size(a: Shape, b: Shape) -> int:
    """How many products each cell of a (matrix or dot) product adds up."""
    match product_way(a, b):
        case Way.DOT:
            return a[1] if a[0] == 1 else a[0]
        case Way.ROW:
            return a[0]
        case _:
            return a[1]


def sum_shape(a: Shape, b: Shape) -> Shape:
    """The shape of a sum: equal shapes, a vector of the other orientation, or a bias added to every row or column."""
    if a == b or (b[0] == 1 and b[1] == a[1]) or (b[1] == 1 and b[0] == a[0]) or (1 in a and b == a[::-1]):
        return a
    if (a[0] == 1 and a[1] == b[1]) or (a[1] == 1 and a[0] == b[0]):
        return b
    raise Misfit(a, b, "they cannot be added")


def quotient_shape(a: Shape, b: Shape) -> Shape:
    """The shape of a quotient: by a scalar, cell by cell, or each row by its own number."""
    if b in ((1, 1), a, (a[0], 1)):
        return a
    raise Misfit(a, b, "the one cannot be divided by the other")


def mask_shape(a: Shape, pattern: Shape | None) -> Shape:
    """The shape of masked scores: a pattern has the shape of the scores."""
    if pattern is not None and pattern != a:
        raise Misfit(a, pattern, "the mask does not cover the scores")
    return a


def concat_shape(parts: list[Shape], axis: int) -> Shape:
    """The shape of parts side by side (axis 1) or stacked (axis 0)."""
    widths = [part[1 - axis] for part in parts]
    if widths.count(widths[0]) != len(widths):
        shapes = ", ".join(say(part) for part in parts)
        raise ShapeError(f"matrices of shapes {shapes} cannot be put {'side by side' if axis else 'in a stack'}")
    length = sum([part[axis] for part in parts])
    return (parts[0][0], length) if axis else (length, parts[0][1])


def stack_shape(rows: list[list[Shape]]) -> Shape:
    """The shape of a matrix written out, its cells numbers or blocks."""
    if not any(rows):
        raise ShapeError("a matrix without cells")
    return concat_shape([concat_shape(row, 1) for row in rows if row], 0)


def entry_shape(a: Shape, node: n.Entry) -> Shape:
    """The shape of a row, a column, a cell or a block of columns."""
    _check_index("row", node.row, a[0], a)
    _check_index("column", node.column, a[1], a)
    rows = a[0] if node.row is None else 1
    if node.columns is None:
        return rows, a[1] if node.column is None else 1
    first, last = span(node, a[1])
    _check_index("column", last, a[1], a)
    if isinstance(last, int):
        _check_index("column", first, last, a)
    return rows, last - first + 1


def span(node: n.Entry, width: int) -> tuple[int, int]:
    """The first and last column that an entry picks from a matrix of this width."""
    if node.columns is None:
        return (node.column, node.column) if node.column else (1, width)
    first, last = node.columns
    return first, width if last is None else last


def _check_index(what: str, index: int | None, size: int, shape: Shape) -> None:
    # A symbolic size has no order, so there is nothing to check it against.
    if index is not None and isinstance(size, int) and not 1 <= index <= size:
        raise ShapeError(f"a {say(shape)} matrix has no {what} {index}")


def along(shape: Shape, axis: int | None) -> int:
    """The axis that a softmax runs along. Where none is said, a column of scores is one distribution."""
    if axis is None:
        return 0 if shape[1] == 1 and shape[0] != 1 else 1
    return axis


def function_shape(kind: Kind, shapes: list[Shape]) -> Shape:
    """The shape of what a function of the table gives."""
    if kind is Kind.ALL:
        return 1, 1
    if kind is Kind.PAIR:
        numbers = [shape for shape in shapes if shape == (1, 1)]
        return max(shapes, key=lambda shape: shape != (1, 1)) if numbers else sum_shape(*shapes)
    if kind is Kind.ROW:
        return (1, 1) if shapes[0][1] == 1 else (shapes[0][0], 1)
    if kind is Kind.ROWS:
        return (1, shapes[0][0]) if shapes[0][1] == 1 else shapes[0]
    if kind is Kind.SQUARE:
        if 1 not in shapes[0]:
            raise ShapeError(f"a diagonal is made of a vector, not of a {say(shapes[0])} matrix")
        size = shapes[0][0] if shapes[0][1] == 1 else shapes[0][1]
        return size, size
    return shapes[0]


def power_shape(base: Shape, exponent: Shape) -> Shape:
    """The shape of a power, taken cell by cell."""
    if exponent != (1, 1):
        raise ShapeError(f"an exponent is a number, not a {say(exponent)} matrix")
    return base


def say(shape: Shape) -> str:
    """A shape as people write it."""
    return f"{shape[0]}×{shape[1]}"
