"""How two shapes combine; every interpretation asks here, so that they cannot disagree."""

from __future__ import annotations

from enum import Enum

from qkv.errors import ShapeError

Shape = tuple[int, int]


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
    raise ShapeError(f"a {say(a)} and a {say(b)} matrix cannot be multiplied: {a[1]} columns meet {b[0]} rows")


def product_shape(a: Shape, b: Shape) -> Shape:
    """The shape of the product."""
    way = product_way(a, b)
    return {
        Way.SCALE_RIGHT: b,
        Way.SCALE_LEFT: a,
        Way.MATRIX: (a[0], b[1]),
        Way.DOT: (1, 1),
        Way.COLUMN: (a[0], 1),
        Way.ROW: (1, b[1]),
    }[way]


def sum_shape(a: Shape, b: Shape) -> Shape:
    """The shape of a sum: equal shapes, a vector of the other orientation, or a bias added to every row or column."""
    if a == b or (b[0] == 1 and b[1] == a[1]) or (b[1] == 1 and b[0] == a[0]) or (1 in a and b == a[::-1]):
        return a
    if (a[0] == 1 and a[1] == b[1]) or (a[1] == 1 and a[0] == b[0]):
        return b
    raise ShapeError(f"a {say(a)} and a {say(b)} matrix cannot be added")


def quotient_shape(a: Shape, b: Shape) -> Shape:
    """The shape of a quotient: by a scalar, cell by cell, or each row by its own number."""
    if b in ((1, 1), a, (a[0], 1)):
        return a
    raise ShapeError(f"a {say(a)} matrix cannot be divided by a {say(b)} one")


def say(shape: Shape) -> str:
    """A shape as people write it."""
    return f"{shape[0]}×{shape[1]}"
