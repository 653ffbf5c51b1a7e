"""The interpretation in symbols: every cell of a matrix an exact quotient of polynomials (see ring.py)."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from qkv.errors import MaskedRowError, ShapeError, ValueRefused
from qkv.expr import nodes as n
from qkv.interpret import fit
from qkv.interpret.fit import Way, product_way, quotient_shape, say, sum_shape
from qkv.theory.ring import Ratio, Ring, lowest

Cells = NDArray[Any]  # two-dimensional, of Ratio


class Symbolic:
    """The algebra of symbolic matrices."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring

    def matrix(self, name: str, rows: int, columns: int) -> Cells:
        """A matrix of free symbols, written name_ij; a single row or column needs one index."""
        cells = np.empty((rows, columns), dtype=object)
        for i, j in product(range(rows), range(columns)):
            index = str(max(i, j) + 1) if 1 in (rows, columns) else _index(i + 1, j + 1)
            cells[i, j] = self.ring.symbol((name, i, j), f"{name}_{index}")
        return cells

    def number(self, node: n.Number) -> Cells:
        return _one(self.ring.constant(fmpq(node.value.numerator, node.value.denominator)))

    def infinite(self, sign: int) -> Cells:
        if sign > 0:
            raise ValueRefused("+∞ has no place in attention scores")
        return _one(self.ring.minus_infinity())

    def table(self, matrix: n.Matrix) -> Cells:
        return self.stack(
            [
                [self.number(x) if isinstance(x, n.Number) else self.infinite(x.sign) for x in row]  # type: ignore[union-attr]
                for row in matrix.rows
            ]
        )

    def stack(self, rows: list[list[Cells]]) -> Cells:
        fit.stack_shape([[_shape(cell) for cell in row] for row in rows])
        return np.concatenate([np.concatenate(row, axis=1) for row in rows if row], axis=0)

    def add(self, a: Cells, b: Cells) -> Cells:
        sum_shape(_shape(a), _shape(b))
        turned = b.T if a.shape == b.shape[::-1] and a.shape != b.shape and 1 in a.shape else b
        return a + turned

    def negate(self, a: Cells) -> Cells:
        return -a

    def multiply(self, a: Cells, b: Cells) -> Cells:
        match product_way(_shape(a), _shape(b)):
            case Way.SCALE_RIGHT | Way.SCALE_LEFT:
                return a * b
            case Way.DOT if a.shape[0] == 1:
                return _product(a, b.T)
            case Way.DOT | Way.ROW:
                return _product(a.T, b)
            case Way.COLUMN:
                return _product(a, b.T)
            case _:
                return _product(a, b)

    def divide(self, a: Cells, b: Cells) -> Cells:
        quotient_shape(_shape(a), _shape(b))
        return a / b

    def power(self, a: Cells, b: Cells) -> Cells:
        if a.shape != (1, 1) or b.shape != (1, 1):
            raise ShapeError(f"a power needs numbers, not a {say(_shape(a))} matrix")
        exponent = b[0, 0]
        if not exponent.top.is_constant() or not exponent.bottom.is_one():
            raise ValueRefused("a symbol can only be raised to a whole power")
        times = exponent.top.coefficient(0) if exponent.top else fmpq(0)
        if times.q != 1 or not 0 <= times <= 64:
            raise ValueRefused("a symbol can only be raised to a whole power from 0 to 64")
        base = a[0, 0]
        return _one(lowest(base.top ** int(times), base.bottom ** int(times)))

    def root(self, a: Cells) -> Cells:
        return self._each(a, lambda x: self.ring.opaque("√", x))

    def absolute(self, a: Cells) -> Cells:
        return self._each(a, lambda x: self.ring.opaque("abs", x))

    def exp(self, a: Cells) -> Cells:
        return self._each(a, self.ring.exp)

    def tanh(self, a: Cells) -> Cells:
        return self._each(a, lambda x: self.ring.opaque("tanh", x))

    def transpose(self, a: Cells) -> Cells:
        return a.T

    def softmax(self, a: Cells, axis: int | None) -> Cells:
        along = fit.along(_shape(a), axis)
        if (np.vectorize(lambda x: x.is_minus_infinity, otypes=[bool])(a)).all(axis=along).any():
            raise MaskedRowError("a row is masked everywhere, so it has no softmax: let it see at least one key")
        return self.normalise(self.exp(a), axis)

    def normalise(self, a: Cells, axis: int | None) -> Cells:
        total: Cells = a.sum(axis=fit.along(_shape(a), axis), keepdims=True)
        return a / total

    def concat(self, parts: list[Cells], axis: int) -> Cells:
        if len({part.shape[1 - axis] for part in parts}) > 1:
            shapes = ", ".join(say(_shape(part)) for part in parts)
            raise ShapeError(f"matrices of shapes {shapes} cannot be put {'side by side' if axis else 'in a stack'}")
        return np.concatenate(parts, axis=axis)

    def mask(self, a: Cells, pattern: Cells | None, truth: bool) -> Cells:
        if pattern is not None and pattern.shape != a.shape:
            raise ShapeError(f"a {say(_shape(pattern))} mask does not fit {say(_shape(a))} scores")
        if pattern is not None and not truth:
            return self.add(a, pattern)
        masked = a.copy()
        offset = max(a.shape[1] - a.shape[0], 0)
        for i, j in np.ndindex(a.shape):
            seen = j <= i + offset if pattern is None else bool(pattern.item(i, j).top)
            if not seen:
                masked[i, j] = self.ring.minus_infinity()
        return masked

    def entry(self, a: Cells, node: n.Entry) -> Cells:
        rows, columns = a.shape
        first, last = fit.span(node, columns)
        if (node.row or 1) > rows or last > columns:
            raise ShapeError(f"a {say((rows, columns))} matrix has no such entry")
        picked = a if node.row is None else a[node.row - 1 : node.row]
        return picked[:, first - 1 : last]

    def _each(self, a: Cells, change: Any) -> Cells:
        changed: Cells = np.frompyfunc(change, 1, 1)(a)
        return changed


def _one(cell: Ratio) -> Cells:
    cells = np.empty((1, 1), dtype=object)
    cells[0, 0] = cell
    return cells


def _shape(a: Cells) -> tuple[int, int]:
    rows, columns = a.shape
    return rows, columns


def _product(a: Cells, b: Cells) -> Cells:
    made: Cells = np.matmul(a, b)
    return made


def _index(i: int, j: int) -> str:
    return f"{i}{j}" if i < 10 and j < 10 else f"{i},{j}"
