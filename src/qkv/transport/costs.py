"""What a unit of mass costs to move: exactly where it is asked for, and as floats with a proven error everywhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from qkv.errors import ShapeError, ValueRefused
from qkv.records import dataclass
from qkv.transport.distribution import Distribution, Point
from qkv.transport.exact import Exact, Surd, rational, root, to_float

Floats = NDArray[np.float64]
ROOM = 2**60  # three of these add up within 64 bits
ULP = 2.0**-51  # twice the spacing of floats at 1: room for a rounded input and a rounded result


@dataclass(frozen=True, slots=True)
class Whole:
    """Costs times a common denominator, in 64 bits with room for three of them: exact and fast."""

    integers: NDArray[np.int64]
    denominator: int


@dataclass(frozen=True, slots=True)
class Costs:
    """The cost of every cell; `exact` is asked for few cells, `floats` ± `errors` decide the others."""

    name: str
    formula: str
    floats: Floats
    errors: Floats
    exact: Callable[[int, int], Exact]
    zero: Exact
    power: int  # W_p is the p-th root of the least cost
    whole: Whole | None  # the same as integers, where they fit

    @property
    def shape(self) -> tuple[int, int]:
        """How many points the mass leaves, and how many it reaches."""
        rows, columns = self.floats.shape
        return rows, columns


def _differences(source: Distribution, target: Distribution) -> tuple[Floats, Floats]:
    """|x − y| for each pair and coordinate, and how far off it may be."""
    x, y = (np.array([[to_float(c) for c in point] for point in d.points]) for d in (source, target))
    with np.errstate(invalid="ignore"):
        return np.abs(x[:, None] - y[None]), ULP * (np.abs(x)[:, None] + np.abs(y)[None])


def _manhattan(x: Point, y: Point) -> Exact:
    return sum((abs(a - b) for a, b in zip(x, y, strict=True)), fmpq(0))


def _squared(x: Point, y: Point) -> Exact:
    return sum(((a - b) * (a - b) for a, b in zip(x, y, strict=True)), fmpq(0))


def _euclidean(x: Point, y: Point) -> Exact:
    return root(_squared(x, y))


def _sum_floats(gap: Floats, error: Floats) -> tuple[Floats, Floats]:
    value = gap.sum(axis=2)
    return value, error.sum(axis=2) + gap.shape[2] * ULP * value


def _square_floats(gap: Floats, error: Floats) -> tuple[Floats, Floats]:
    return _sum_floats(gap * gap, 2 * gap * error + error * error + ULP * gap * gap)


def _root_floats(gap: Floats, error: Floats) -> tuple[Floats, Floats]:
    square, off = _square_floats(gap, error)
    value = np.sqrt(square)
    # |√(s + e) − √s| ≤ e / √s, and never more than √e
    return value, off / np.maximum(value, np.sqrt(off) + np.finfo(float).tiny) + ULP * value


@dataclass(frozen=True, slots=True)
class Metric:
    """A named cost of moving from x to y."""

    formula: str
    exact: Callable[[Point, Point], Exact]
    floats: Callable[[Floats, Floats], tuple[Floats, Floats]]
    zero: Exact
    power: int
    whole_power: int | None  # of the integer differences; None where the cost is a root


METRICS = {
    "distance": Metric("‖x − y‖", _euclidean, _root_floats, Surd(), 1, None),
    "manhattan": Metric("Σ |x − y|", _manhattan, _sum_floats, fmpq(0), 1, 1),
    "squared": Metric("‖x − y‖²", _squared, _square_floats, fmpq(0), 2, 2),
}
# On a line no root is needed, and the notation is simpler.
ON_A_LINE = {
    "distance": Metric("|x − y|", _manhattan, _sum_floats, fmpq(0), 1, 1),
    "manhattan": Metric("|x − y|", _manhattan, _sum_floats, fmpq(0), 1, 1),
    "squared": Metric("(x − y)²", _squared, _square_floats, fmpq(0), 2, 2),
}


def _whole_distances(x: Sequence[Point], y: Sequence[Point], power: int) -> Whole | None:
    denominator = math.lcm(*(int(c.q) for point in (*x, *y) for c in point))
    scaled = [[[int(c * denominator) for c in point] for point in side] for side in (x, y)]
    largest = max(abs(c) for side in scaled for point in side for c in point)
    if len(x[0]) * (2 * largest) ** power > ROOM:
        return None
    left, right = (np.array(side, dtype=np.int64) for side in scaled)
    total = np.zeros((len(x), len(y)), dtype=np.int64)
    for a, b in zip(left.T, right.T, strict=True):
        total += np.abs(a[:, None] - b[None]) ** power
    return Whole(total, denominator**power)


def _whole_matrix(cells: list[list[fmpq]]) -> Whole | None:
    denominator = math.lcm(*(int(cell.q) for row in cells for cell in row))
    scaled = [[int(cell * denominator) for cell in row] for row in cells]
    if max(abs(cell) for row in scaled for cell in row) > ROOM:
        return None
    return Whole(np.array(scaled, dtype=np.int64), denominator)


def between(source: Distribution, target: Distribution, metric: str) -> Costs:
    """The costs of a named metric; `distance` is Euclidean, and plain |x − y| on a line."""
    if metric not in METRICS:
        raise ValueRefused(f"The cost {metric!r} is unknown; choose {', '.join(METRICS)} or give a cost matrix.")
    if source.dimension != target.dimension:
        raise ShapeError(f"Points of {source.dimension} coordinates cannot go to points of {target.dimension}.")
    rule = (ON_A_LINE if source.dimension == 1 else METRICS)[metric]
    with np.errstate(over="ignore", invalid="ignore"):
        floats, errors = rule.floats(*_differences(source, target))
    x, y = source.points, target.points
    whole = _whole_distances(x, y, rule.whole_power) if rule.whole_power else None
    return Costs(
        metric, rule.formula, floats, errors, lambda i, j: rule.exact(x[i], y[j]), rule.zero, rule.power, whole
    )


def given(matrix: Sequence[Sequence[object]], rows: int, columns: int) -> Costs:
    """The costs of a matrix, one row for each point that mass leaves."""
    cells = [[rational(cell) for cell in row] for row in matrix]
    widths = {len(row) for row in cells}
    if len(cells) != rows or widths != {columns}:
        found = f"{len(cells)}×{'/'.join(map(str, sorted(widths)))}"
        raise ShapeError(f"The cost matrix is {found}; {rows} points to {columns} points need {rows}×{columns}.")
    floats = np.array([[to_float(cell) for cell in row] for row in cells])
    return Costs(
        "matrix", "C", floats, ULP * np.abs(floats), lambda i, j: cells[i][j], fmpq(0), 1, _whole_matrix(cells)
    )
