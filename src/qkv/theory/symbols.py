"""The interpretation in symbols: every cell of a matrix an exact quotient of polynomials (see ring.py)."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import chain
from operator import add, mul, neg, truediv

from flint import fmpq

from qkv.errors import MaskedRowError, ShapeError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.functions import Function
from qkv.interpret import fit
from qkv.interpret.fit import Shape, Way, product_way, quotient_shape, say, sum_shape
from qkv.theory.ring import Ratio, Ring, lowest

Cells = tuple[tuple[Ratio, ...], ...]  # by rows; NumPy, which takes long to load, would be no faster at adding objects


class Symbolic:
    """The algebra of symbolic matrices."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring

    def matrix(self, name: str, rows: int, columns: int) -> Cells:
        """A matrix of free symbols, written name_ij; a single row or column needs one index."""
        return tuple(
            [tuple([self._symbol(name, i, j, 1 in (rows, columns)) for j in range(columns)]) for i in range(rows)]
        )

    def _symbol(self, name: str, i: int, j: int, of_vector: bool) -> Ratio:
        index = str(max(i, j) + 1) if of_vector else _index(i + 1, j + 1)
        return self.ring.symbol((name, i, j), f"{name}_{index}")

    def number(self, node: n.Number) -> Cells:
        return ((self.ring.constant(fmpq(node.value.numerator, node.value.denominator)),),)

    def infinite(self, sign: int) -> Cells:
        if sign > 0:
            raise ValueRefused("+∞ has no place in attention scores")
        return ((self.ring.minus_infinity(),),)

    def table(self, matrix: n.Matrix) -> Cells:
        return self.stack(
            [
                [self.number(x) if isinstance(x, n.Number) else self.infinite(x.sign) for x in row]  # type: ignore[union-attr]
                for row in matrix.rows
            ]
        )

    def stack(self, rows: list[list[Cells]]) -> Cells:
        fit.stack_shape([list(map(shape_of, row)) for row in rows])
        return tuple(chain.from_iterable([_beside(row) for row in rows if row]))

    def add(self, a: Cells, b: Cells) -> Cells:
        if shape_of(a) != shape_of(b):
            shape = sum_shape(shape_of(a), shape_of(b))
            turned = shape_of(b) == shape[::-1] and 1 in shape
            a, b = _spread(a, shape), self.transpose(b) if turned else _spread(b, shape)
        return tuple([tuple(map(add, x, y)) for x, y in zip(a, b, strict=True)])

    def negate(self, a: Cells) -> Cells:
        return _each(a, neg)

    def multiply(self, a: Cells, b: Cells) -> Cells:
        match product_way(shape_of(a), shape_of(b)):
            case Way.SCALE_RIGHT if len(b) == 1 == len(b[0]):
                return ((a[0][0] * b[0][0],),)
            case Way.SCALE_RIGHT:
                return _each(b, a[0][0].__mul__)
            case Way.SCALE_LEFT:
                return _each(a, b[0][0].__mul__)
            case Way.DOT if len(a) == 1:
                return _product(a, self.transpose(b))
            case Way.DOT | Way.ROW:
                return _product(self.transpose(a), b)
            case Way.COLUMN:
                return _product(a, self.transpose(b))
            case _:
                return _product(a, b)

    def divide(self, a: Cells, b: Cells) -> Cells:
        shape = quotient_shape(shape_of(a), shape_of(b))
        return tuple([tuple(map(truediv, x, y)) for x, y in zip(a, _spread(b, shape), strict=True)])

    def power(self, a: Cells, b: Cells) -> Cells:
        if shape_of(a) != (1, 1) or shape_of(b) != (1, 1):
            raise ShapeError(f"a power needs numbers, not a {say(shape_of(a))} matrix")
        exponent = b[0][0]
        if not exponent.top.is_constant() or not exponent.bottom.is_one():
            raise ValueRefused("a symbol can only be raised to a whole power")
        times = exponent.top.coefficient(0) if exponent.top else fmpq(0)
        if times.q != 1 or not 0 <= times <= 64:
            raise ValueRefused("a symbol can only be raised to a whole power from 0 to 64")
        base = a[0][0]
        return ((lowest(base.top ** int(times), base.bottom ** int(times)),),)

    def root(self, a: Cells) -> Cells:
        return _each(a, lambda x: self.ring.opaque("√", x))

    def absolute(self, a: Cells) -> Cells:
        return _each(a, lambda x: self.ring.opaque("abs", x))

    def exp(self, a: Cells) -> Cells:
        return _each(a, self.ring.exp)

    def apply(self, function: Function, args: list[Cells]) -> Cells:
        if function.key == "tanh":
            return _each(args[0], lambda x: self.ring.opaque("tanh", x))
        raise ValueRefused(f"{function.key} is not worked out in symbols")

    def transpose(self, a: Cells) -> Cells:
        return tuple(zip(*a, strict=True))

    def softmax(self, a: Cells, axis: int | None) -> Cells:
        lines = a if fit.along(shape_of(a), axis) else self.transpose(a)
        if any(all(cell.is_minus_infinity for cell in line) for line in lines):
            raise MaskedRowError("a row is masked everywhere, so it has no softmax: let it see at least one key")
        return self.normalise(self.exp(a), axis)

    def normalise(self, a: Cells, axis: int | None) -> Cells:
        if fit.along(shape_of(a), axis) == 0:
            return self.transpose(self.normalise(self.transpose(a), 1))
        return tuple([_over_their_sum(row) for row in a])

    def concat(self, parts: list[Cells], axis: int) -> Cells:
        shapes = [shape_of(part) for part in parts]
        if len({shape[1 - axis] for shape in shapes}) > 1:
            said = ", ".join(map(say, shapes))
            raise ShapeError(f"matrices of shapes {said} cannot be put {'side by side' if axis else 'in a stack'}")
        return _beside(parts) if axis else tuple(chain.from_iterable(parts))

    def mask(self, a: Cells, pattern: Cells | None, truth: bool) -> Cells:
        shape = shape_of(a)
        if pattern is not None and shape_of(pattern) != shape:
            raise ShapeError(f"a {say(shape_of(pattern))} mask does not fit {say(shape)} scores")
        if pattern is not None and not truth:
            return self.add(a, pattern)
        hidden, offset = self.ring.minus_infinity(), max(shape[1] - shape[0], 0)

        def seen(i: int, j: int) -> bool:
            return j <= i + offset if pattern is None else bool(pattern[i][j].top)

        return tuple([tuple([x if seen(i, j) else hidden for j, x in enumerate(row)]) for i, row in enumerate(a)])

    def entry(self, a: Cells, node: n.Entry) -> Cells:
        rows, columns = shape_of(a)
        first, last = fit.span(node, columns)
        if (node.row or 1) > rows or not first <= last <= columns:
            raise ShapeError(f"a {say((rows, columns))} matrix has no such entry")
        picked = a if node.row is None else a[node.row - 1 : node.row]
        return tuple([row[first - 1 : last] for row in picked])


def shape_of(a: Cells) -> Shape:
    """Rows and columns."""
    return len(a), len(a[0])


def _each(a: Cells, change: Callable[[Ratio], Ratio]) -> Cells:
    return tuple([tuple(map(change, row)) for row in a])


def _beside(parts: list[Cells]) -> Cells:
    """Matrices of as many rows, side by side."""
    return tuple([tuple(chain.from_iterable(rows)) for rows in zip(*parts, strict=True)])


def _spread(a: Cells, shape: Shape) -> Cells:
    """A row, a column or a number, as often as the shape asks for it."""
    rows = a if len(a) == shape[0] else a * shape[0]
    return rows if len(a[0]) == shape[1] else tuple([row * shape[1] for row in rows])


def _product(a: Cells, b: Cells) -> Cells:
    columns = tuple(zip(*b, strict=True))
    return tuple([tuple([reduce(add, map(mul, row, column)) for column in columns]) for row in a])


def _over_their_sum(row: tuple[Ratio, ...]) -> tuple[Ratio, ...]:
    total = reduce(add, row)
    return tuple([cell / total for cell in row])


def _index(i: int, j: int) -> str:
    return f"{i}{j}" if i < 10 and j < 10 else f"{i},{j}"
