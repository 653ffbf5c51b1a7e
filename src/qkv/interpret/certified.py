"""Certified arithmetic: exact rationals, then balls that provably contain the true value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import chain
from operator import add, mul
from types import NoneType
from typing import Any, NamedTuple

from flint import fmpq, fmpq_mat

from qkv.errors import MaskedRowError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.functions import Function, Kind
from qkv.interpret import cells as c
from qkv.interpret import fit
from qkv.interpret.cells import MASKED, NEG_INF, RATIONAL, Cell
from qkv.interpret.fit import Shape, Way, product_way, quotient_shape, sum_shape


@dataclass(frozen=True, slots=True)
class Value:
    """A matrix of certified cells."""

    rows: tuple[tuple[Cell, ...], ...]

    @property
    def shape(self) -> Shape:
        """Rows and columns."""
        return len(self.rows), len(self.rows[0]) if self.rows else 0

    @property
    def exact(self) -> bool:
        """Whether every cell is a known rational."""
        return all(c.is_exact(cell) for row in self.rows for cell in row)

    @property
    def cell(self) -> Cell:
        """The one cell of a 1×1 value."""
        return self.rows[0][0]


def same(a: Value, b: Value) -> bool:
    """Whether two values are one and the same."""
    if a is b:
        return True
    pairs = zip(a.rows, b.rows, strict=False)
    return a.shape == b.shape and all(c.same_cell(x, y) for r, q in pairs for x, y in zip(r, q, strict=True))


def bounded(value: Value) -> Value:
    """The same value; one with a cell that is too large to be compared, or that may be anything, is refused."""
    for row in value.rows:
        for cell in row:
            c.held(cell)
    return value


def scalar(cell: Cell) -> Value:
    """A 1×1 value."""
    return Value(((cell,),))


class Certified:
    """The algebra of certified matrices; balls have the precision in force (see cells.precision)."""

    def number(self, node: n.Number) -> Value:
        return scalar(self.cell(node))

    def cell(self, node: n.Number) -> Cell:
        """What a printed number stands for."""
        return fmpq(*node.value.as_integer_ratio())  # as cells.rational: most calls of a table are these

    def infinite(self, sign: int) -> Value:
        if sign > 0:
            raise ValueRefused("+∞ has no place in attention scores")
        return scalar(NEG_INF)

    def table(self, matrix: n.Matrix) -> Value:
        cell, infinite = self.cell, self.infinite
        return Value(
            tuple(
                [
                    tuple([cell(x) if isinstance(x, n.Number) else infinite(x.sign).cell for x in row])  # type: ignore[union-attr]
                    for row in matrix.rows
                ]
            )
        )

    def stack(self, rows: list[list[Value]]) -> Value:
        if rows and len({len(row) for row in rows}) == 1 and all(v.shape == (1, 1) for row in rows for v in row):
            return Value(tuple(tuple(v.cell for v in row) for row in rows))
        blocks = [self.concat(row, 1) if len(row) > 1 else row[0] for row in rows if row]
        if not blocks:
            raise ValueRefused("a matrix without cells")
        return self.concat(blocks, 0) if len(blocks) > 1 else blocks[0]

    def add(self, a: Value, b: Value) -> Value:
        shape = sum_shape(a.shape, b.shape)
        left, right = _spread(a, shape), _spread(b, shape)
        return Value(tuple([tuple(map(add, x, y)) for x, y in zip(left, right, strict=True)]))

    def negate(self, a: Value) -> Value:
        return _each(a, c.negate)

    def multiply(self, a: Value, b: Value) -> Value:
        match product_way(a.shape, b.shape):
            case Way.MATRIX:
                return _matrix_product(a, b)
            case Way.SCALE_RIGHT:
                return _each(b, lambda x: c.multiply(a.cell, x))
            case Way.SCALE_LEFT:
                return _each(a, lambda x: c.multiply(x, b.cell))
            case Way.DOT if a.shape[0] == 1:
                return _matrix_product(a, self.transpose(b))
            case Way.DOT | Way.ROW:
                return _matrix_product(self.transpose(a), b)
            case Way.COLUMN:
                return _matrix_product(a, self.transpose(b))

    def divide(self, a: Value, b: Value) -> Value:
        shape = quotient_shape(a.shape, b.shape)
        right = _spread(b, shape) if b.shape != (1, 1) else ((b.cell,) * shape[1],) * shape[0]
        return Value(tuple([tuple(map(c.divide, x, y)) for x, y in zip(a.rows, right, strict=True)]))

    def power(self, a: Value, b: Value) -> Value:
        fit.power_shape(a.shape, b.shape)
        return _each(a, lambda x: c.power(x, b.cell))

    def root(self, a: Value) -> Value:
        return _each(a, c.root)

    def absolute(self, a: Value) -> Value:
        return _each(a, c.absolute)

    def exp(self, a: Value) -> Value:
        return _each(a, lambda cell: c.held(c.exponential(cell)))

    def transpose(self, a: Value) -> Value:
        return Value(tuple(zip(*a.rows, strict=True)))

    def softmax(self, a: Value, axis: int | None) -> Value:
        return self._along(a, axis, c.softmax)

    def normalise(self, a: Value, axis: int | None) -> Value:
        return self._along(a, axis, c.normalise)

    def concat(self, parts: list[Value], axis: int) -> Value:
        fit.concat_shape([part.shape for part in parts], axis)
        if axis == 0:
            return Value(tuple([row for part in parts for row in part.rows]))
        return Value(tuple([sum(rows, ()) for rows in zip(*[part.rows for part in parts], strict=True)]))

    def mask(self, a: Value, pattern: Value | None, truth: bool) -> Value:
        rows, columns = fit.mask_shape(a.shape, pattern.shape if pattern else None)
        if pattern is not None and not truth:
            return self.add(a, pattern)
        allowed = [[_allowed(pattern, i, j, columns - rows) for j in range(columns)] for i in range(rows)]
        return Value(
            tuple(
                tuple(x if ok else NEG_INF for x, ok in zip(row, oks, strict=True))
                for row, oks in zip(a.rows, allowed, strict=True)
            )
        )

    def entry(self, a: Value, node: n.Entry) -> Value:
        fit.entry_shape(a.shape, node)
        picked = a.rows if node.row is None else (a.rows[node.row - 1],)
        if node.column is not None:
            return Value(tuple([(row[node.column - 1],) for row in picked]))
        if node.columns is not None:
            first, last = fit.span(node, a.shape[1])
            return Value(tuple([row[first - 1 : last] for row in picked]))
        return Value(picked)

    def apply(self, function: Function, args: list[Value]) -> Value:
        work, shape = partial(function.certified, c), fit.function_shape(function.kind, [arg.shape for arg in args])
        cells = [cell for arg in args for row in arg.rows for cell in row]
        if function.key not in TAKES_INFINITY and any(cell is NEG_INF for cell in cells):
            raise ValueRefused(f"{function.key} of −∞ has no value")
        match function.kind:
            case Kind.ALL:
                return scalar(work(cells))
            case Kind.ROW:
                return Value(tuple([(work(row),) for row in _in_rows(args[0])]))
            case Kind.PAIR:
                left, right = (
                    _spread(arg, shape) if arg.shape != (1, 1) else ((arg.cell,) * shape[1],) * shape[0] for arg in args
                )
                return Value(tuple([tuple(map(work, x, y)) for x, y in zip(left, right, strict=True)]))
            case Kind.EACH:
                return _each(args[0], work)
            case Kind.ROWS:
                return Value(tuple([tuple(work(row)) for row in _in_rows(args[0])]))
            case Kind.SQUARE:
                return Value(work(*_in_rows(args[0])))

    def _along(self, a: Value, axis: int | None, work: object) -> Value:
        if fit.along(a.shape, axis) == 0:
            return self.transpose(_rowwise(self.transpose(a), work))
        return _rowwise(a, work)


TAKES_INFINITY = frozenset(
    {"relu", "max", "rowmax", "argmax", "ranking", "descending", "larger", "hadamard", "sigmoid", "tanh"}
)


def _in_rows(a: Value) -> tuple[tuple[Cell, ...], ...]:
    """The rows that a function takes one by one; a column counts as one row."""
    return tuple(zip(*a.rows, strict=True)) if a.shape[1] == 1 else a.rows


def _rowwise(a: Value, work: object) -> Value:
    out = []
    for i, row in enumerate(a.rows, 1):
        if MASKED.issuperset(map(type, row)):
            raise MaskedRowError(f"row {i} is masked everywhere, so it has no softmax: let it see at least one key")
        out.append(work(row))  # type: ignore[operator]
    return Value(tuple(out))


def _each(a: Value, change: Callable[[Cell], Cell]) -> Value:
    return Value(tuple([tuple(map(change, row)) for row in a.rows]))


def _spread(a: Value, shape: Shape) -> tuple[tuple[Cell, ...], ...]:
    """The rows of `a`, repeated or turned to fill a shape."""
    if a.shape == shape:
        return a.rows
    if a.shape == (1, shape[1]):
        return a.rows * shape[0]
    if a.shape == (shape[0], 1):
        return tuple([row * shape[1] for row in a.rows])
    return tuple(zip(*a.rows, strict=True))


def _matrix_product(a: Value, b: Value) -> Value:
    columns = list(zip(*b.rows, strict=True))
    if _is_rational(a) and _is_rational(b):
        if len(a.rows) * len(b.rows) * len(columns) > FEW:
            return _rational_product(a, b)
        return Value(tuple([tuple([sum(map(mul, row, column), ZERO) for column in columns]) for row in a.rows]))
    lines = list(map(_line, columns))
    return Value(tuple([tuple([_dot(row, line) for line in lines]) for row in map(_line, a.rows)]))


ZERO = fmpq(0)
FEW = 9  # up to so many products of two cells, FLINT's matrices take longer to fill than these to add up


def _rational_product(a: Value, b: Value) -> Value:
    """FLINT multiplies whole rational matrices many times faster than cell by cell."""
    left, right = (fmpq_mat(*x.shape, list(chain.from_iterable(x.rows))) for x in (a, b))
    cells, width = (left * right).entries(), b.shape[1]
    return Value(tuple([tuple(cells[i : i + width]) for i in range(0, len(cells), width)]))


class _Line(NamedTuple):
    """A row or a column of a product. `nonzero` has None for exact zeros, which hide whatever stands beside them;
    plain arithmetic will do if it `is_full`, and if it `is_finite` but for the pairs with a zero."""

    cells: tuple[Cell, ...]
    nonzero: tuple[Any, ...]
    is_full: bool
    is_finite: bool


def _line(cells: tuple[Cell, ...]) -> _Line:
    kinds = set(map(type, cells))
    is_finite = kinds.isdisjoint(MASKED)
    if fmpq not in kinds:
        return _Line(cells, cells, is_finite, is_finite)
    nonzero = tuple([None if type(cell) is fmpq and not cell else cell for cell in cells])
    return _Line(cells, nonzero, is_finite and NoneType not in map(type, nonzero), is_finite)


def _dot(row: _Line, column: _Line) -> Cell:
    if row.is_full and column.is_full:
        return sum(map(mul, row.cells, column.cells), ZERO)
    if row.is_finite and column.is_finite:
        pairs = zip(row.nonzero, column.nonzero, strict=True)
        return sum([x * y for x, y in pairs if x is not None and y is not None], ZERO)
    total: Cell = ZERO
    for x, y in zip(row.cells, column.cells, strict=True):
        total = total + c.multiply(x, y)
    return total


def _is_rational(a: Value) -> bool:
    return RATIONAL.issuperset(map(type, chain.from_iterable(a.rows)))


def _allowed(pattern: Value | None, i: int, j: int, offset: int) -> bool:
    return j <= i + max(offset, 0) if pattern is None else pattern.rows[i][j] != 0
