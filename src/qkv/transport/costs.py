"""What a unit of mass costs to move: exactly where it is asked for, and as arrays where there are many cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from flint import fmpq

from qkv.errors import ShapeError, ValueRefused
from qkv.transport.distribution import Distribution, Point
from qkv.transport.exact import Exact, Surd, rational, root

if TYPE_CHECKING:
    from qkv.transport.arrays import Arrays, Floats


@dataclass(frozen=True)
class Costs:
    """The cost of every cell: `exact` for one of them, `arrays` for all."""

    name: str
    formula: str
    shape: tuple[int, int]  # how many points the mass leaves, and how many it reaches
    exact: Callable[[int, int], Exact]
    zero: Exact
    power: int  # W_p is the p-th root of the least cost
    as_arrays: Callable[[], Arrays]

    @cached_property
    def arrays(self) -> Arrays:
        """All costs at once; NumPy is loaded for them."""
        return self.as_arrays()

    @property
    def floats(self) -> Floats:
        """All costs, rounded."""
        return self.arrays.floats


def _manhattan(x: Point, y: Point) -> Exact:
    return sum((abs(a - b) for a, b in zip(x, y, strict=True)), fmpq(0))


def _squared(x: Point, y: Point) -> Exact:
    return sum(((a - b) * (a - b) for a, b in zip(x, y, strict=True)), fmpq(0))


def _euclidean(x: Point, y: Point) -> Exact:
    return root(_squared(x, y))


@dataclass(frozen=True, slots=True)
class Metric:
    """A named cost of moving from x to y."""

    formula: str
    exact: Callable[[Point, Point], Exact]
    zero: Exact
    power: int
    whole_power: int | None  # of the integer differences; None where the cost is a root


METRICS = {
    "distance": Metric("‖x − y‖", _euclidean, Surd(), 1, None),
    "manhattan": Metric("Σ |x − y|", _manhattan, fmpq(0), 1, 1),
    "squared": Metric("‖x − y‖²", _squared, fmpq(0), 2, 2),
}
# On a line no root is needed, and the notation is simpler.
ON_A_LINE = {
    "distance": Metric("|x − y|", _manhattan, fmpq(0), 1, 1),
    "manhattan": Metric("|x − y|", _manhattan, fmpq(0), 1, 1),
    "squared": Metric("(x − y)²", _squared, fmpq(0), 2, 2),
}


def between(source: Distribution, target: Distribution, metric: str) -> Costs:
    """The costs of a named metric; `distance` is Euclidean, and plain |x − y| on a line."""
    if metric not in METRICS:
        raise ValueRefused(f"The cost {metric!r} is unknown; choose {', '.join(METRICS)} or give a cost matrix.")
    if source.dimension != target.dimension:
        raise ShapeError(f"Points of {source.dimension} coordinates cannot go to points of {target.dimension}.")
    rule = (ON_A_LINE if source.dimension == 1 else METRICS)[metric]
    x, y = source.points, target.points

    def as_arrays() -> Arrays:
        from qkv.transport.arrays import of_distances

        return of_distances(x, y, rule.whole_power)

    shape = len(x), len(y)
    return Costs(metric, rule.formula, shape, lambda i, j: rule.exact(x[i], y[j]), rule.zero, rule.power, as_arrays)


def given(matrix: Sequence[Sequence[object]], rows: int, columns: int) -> Costs:
    """The costs of a matrix, one row for each point that mass leaves."""
    cells = [[rational(cell) for cell in row] for row in matrix]
    widths = {len(row) for row in cells}
    if len(cells) != rows or widths != {columns}:
        found = f"{len(cells)}×{'/'.join(map(str, sorted(widths)))}"
        raise ShapeError(f"The cost matrix is {found}; {rows} points to {columns} points need {rows}×{columns}.")

    def as_arrays() -> Arrays:
        from qkv.transport.arrays import of_matrix

        return of_matrix(cells)

    return Costs("matrix", "C", (rows, columns), lambda i, j: cells[i][j], fmpq(0), 1, as_arrays)
