"""Floats: an ordinary array program, one NumPy matrix a step; the oracle that the fast kernel is tested against."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from qkv.errors import MaskedRowError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.functions import Function, Kind
from qkv.expr.names import Symbol
from qkv.interpret import fit
from qkv.interpret.fit import Way
from qkv.interpret.loop import run
from qkv.program.model import Program

Array: TypeAlias = npt.NDArray[Any]


class Floats:
    """The algebra of float matrices, always two-dimensional."""

    def __init__(self, dtype: npt.DTypeLike = np.float64) -> None:
        self.dtype = np.dtype(dtype)

    def number(self, node: n.Number) -> Array:
        try:
            return np.full((1, 1), float(node.value), self.dtype)
        except OverflowError:
            raise ValueRefused(f"{node.text or 'a number'} is too large for a float", node.at) from None

    def infinite(self, sign: int) -> Array:
        return np.full((1, 1), sign * np.inf, self.dtype)

    def table(self, matrix: n.Matrix) -> Array:
        return self.stack(
            [
                [self.number(x) if isinstance(x, n.Number) else self.infinite(x.sign) for x in row]  # type: ignore[union-attr]
                for row in matrix.rows
            ]
        )

    def stack(self, rows: list[list[Array]]) -> Array:
        fit.stack_shape([[cell.shape for cell in row] for row in rows])
        return np.concatenate([np.concatenate(row, axis=1) for row in rows if row], axis=0)

    def add(self, a: Array, b: Array) -> Array:
        shape = fit.sum_shape(a.shape, b.shape)
        return _spread(a, shape) + _spread(b, shape)

    def negate(self, a: Array) -> Array:
        return -a

    def multiply(self, a: Array, b: Array) -> Array:
        match fit.product_way(a.shape, b.shape):
            case Way.SCALE_RIGHT | Way.SCALE_LEFT:
                return a * b
            case Way.DOT if a.shape[0] == 1:
                return a @ b.T
            case Way.DOT | Way.ROW:
                return a.T @ b
            case Way.COLUMN:
                return a @ b.T
            case _:
                return a @ b

    def divide(self, a: Array, b: Array) -> Array:
        fit.quotient_shape(a.shape, b.shape)
        if not np.all(b):
            raise ValueRefused("division by zero")
        return a / b

    def power(self, a: Array, b: Array) -> Array:
        fit.power_shape(a.shape, b.shape)
        return np.power(a, b)

    def root(self, a: Array) -> Array:
        if np.any(a < 0):
            raise ValueRefused("the square root of a negative number")
        return np.sqrt(a)

    def absolute(self, a: Array) -> Array:
        return np.abs(a)

    def exp(self, a: Array) -> Array:
        with np.errstate(over="ignore"):  # e^1000 is inf in floats, and that is what an array program gives
            return np.exp(a)

    def transpose(self, a: Array) -> Array:
        return a.T

    def softmax(self, a: Array, axis: int | None) -> Array:
        return _along(a, axis, _softmax_rows)

    def normalise(self, a: Array, axis: int | None) -> Array:
        return _along(a, axis, _normalise_rows)

    def concat(self, parts: list[Array], axis: int) -> Array:
        fit.concat_shape([part.shape for part in parts], axis)
        return np.concatenate(parts, axis=axis)

    def mask(self, a: Array, pattern: Array | None, truth: bool) -> Array:
        rows, columns = fit.mask_shape(a.shape, None if pattern is None else pattern.shape)
        if pattern is not None and not truth:
            return a + pattern
        allowed = np.tri(rows, columns, max(columns - rows, 0), dtype=bool) if pattern is None else pattern != 0
        return np.where(allowed, a, -np.inf)

    def entry(self, a: Array, node: n.Entry) -> Array:
        fit.entry_shape(a.shape, node)
        first, last = fit.span(node, a.shape[1])
        rows = slice(None) if node.row is None else slice(node.row - 1, node.row)
        return a[rows, first - 1 : last]

    def apply(self, function: Function, args: list[Array]) -> Array:
        work, shape = function.floats, fit.function_shape(function.kind, [arg.shape for arg in args])
        if function.kind is Kind.ALL:
            cells: list[Any] = [work([x for arg in args for x in arg.ravel().tolist()])]
        elif function.kind in (Kind.ROW, Kind.ROWS, Kind.SQUARE):
            rows = args[0].T if args[0].shape[1] == 1 else args[0]
            cells = [work(row) for row in rows.tolist()]
        else:
            spread = [_spread(arg, shape).ravel().tolist() for arg in args]
            cells = [work(*pair) for pair in zip(*spread, strict=True)]
        return np.array(cells, self.dtype).reshape(shape)


def floats(
    program: Program, known: Mapping[Symbol, Array] | None = None, dtype: npt.DTypeLike = np.float64
) -> dict[Symbol, Array]:
    """Every quantity of a program as a float matrix; `known` replaces givens by arrays."""
    return run(program, Floats(dtype), known)


def _along(a: Array, axis: int | None, rows: Callable[[Array], Array]) -> Array:
    return rows(a.T).T if fit.along(a.shape, axis) == 0 else rows(a)


def _softmax_rows(a: Array) -> Array:
    top = a.max(axis=1, keepdims=True)
    if np.any(np.isneginf(top)):
        row = int(np.argmax(np.isneginf(top[:, 0]))) + 1
        raise MaskedRowError(f"row {row} is masked everywhere, so it has no softmax: let it see at least one key")
    exps = np.exp(a - top)
    return np.asarray(exps / exps.sum(axis=1, keepdims=True))


def _normalise_rows(a: Array) -> Array:
    total = a.sum(axis=1, keepdims=True)
    if not np.all(total):
        raise ValueRefused("division by zero")
    return np.asarray(a / total)


def _spread(a: Array, shape: fit.Shape) -> Array:
    fills = all(size in (1, wanted) for size, wanted in zip(a.shape, shape, strict=True))
    return np.broadcast_to(a if fills else a.T, shape)
