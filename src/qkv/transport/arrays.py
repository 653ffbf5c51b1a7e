"""Costs as arrays, for problems of many cells: floats with a proven error, and whole numbers of 64 bits where they fit.

Together with HiGHS and Sinkhorn this is what needs NumPy; few cells are looked at without it (simplex.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from qkv.transport.distribution import Point
from qkv.transport.exact import Exact, to_float

Floats = NDArray[np.float64]
Sides = tuple[Sequence[Exact], Sequence[Exact]]  # the prices of the points that mass leaves, and of those it reaches
ROOM = 2**60  # three of these add up within 64 bits
ULP = 2.0**-51  # twice the spacing of floats at 1: room for a rounded input and a rounded result
ROUNDING = 2.0**-49  # more than four roundings of the largest of three terms
TINY = 1e-300  # what underflow may have swallowed


@dataclass(frozen=True, slots=True)
class Whole:
    """Costs times a common denominator, in 64 bits with room for three of them: exact and fast."""

    integers: NDArray[np.int64]
    denominator: int


@dataclass(frozen=True, slots=True)
class Arrays:
    """The cost of every cell: `floats` ± `errors`, and the same as integers, where they fit."""

    floats: Floats
    errors: Floats
    whole: Whole | None


def of_distances(x: Sequence[Point], y: Sequence[Point], whole_power: int | None) -> Arrays:
    """Σ |x − y|^power, or for None ‖x − y‖."""
    with np.errstate(over="ignore", invalid="ignore"):
        floats, errors = _RULES[whole_power](*_differences(x, y))
    return Arrays(floats, errors, _whole_distances(x, y, whole_power) if whole_power else None)


def of_matrix(cells: list[list[fmpq]]) -> Arrays:
    """The costs of a matrix."""
    floats = np.array([[to_float(cell) for cell in row] for row in cells])
    return Arrays(floats, ULP * np.abs(floats), _whole_matrix(cells))


def _differences(x: Sequence[Point], y: Sequence[Point]) -> tuple[Floats, Floats]:
    """|x − y| for each pair and coordinate, and how far off it may be."""
    left, right = (np.array([[to_float(c) for c in point] for point in points]) for points in (x, y))
    return np.abs(left[:, None] - right[None]), ULP * (np.abs(left)[:, None] + np.abs(right)[None])


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


_RULES = {None: _root_floats, 1: _sum_floats, 2: _square_floats}  # by power, None for a root


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


def reduced_floats(costs: Arrays, prices: Sides) -> tuple[Floats, Floats]:
    """c − u − v in floats, and how far off each entry may be."""
    u, v = (np.array([to_float(price) for price in side]) for side in prices)
    with np.errstate(invalid="ignore", over="ignore"):
        value = costs.floats - u[:, None] - v[None]
        size = np.abs(costs.floats) + np.abs(u)[:, None] + np.abs(v)[None]
        return value, costs.errors + ROUNDING * size + TINY


def undecided(costs: Arrays, prices: Sides) -> Iterator[tuple[int, int]]:
    """The cells where floats cannot call c − u − v positive; NaN decides nothing either."""
    value, error = reduced_floats(costs, prices)
    return ((int(i), int(j)) for i, j in np.argwhere(~(value > error)))


def steepest(costs: Arrays, prices: Sides) -> tuple[int, int] | None:
    """The cell with the lowest c − u − v, where floats are sure that it is negative."""
    value, error = reduced_floats(costs, prices)
    i, j = np.unravel_index(np.argmin(value), value.shape)
    return (int(i), int(j)) if value[i, j] < -error[i, j] else None  # false for NaN


def scan_whole(whole: Whole, prices: Sides) -> tuple[tuple[int, int] | None, list[tuple[int, int]]] | None:
    """The first cell with c < u + v, if any, and the cells with c = u + v, in 64-bit integers: exactly, where prices
    have the costs' denominator and fit; None where not."""
    scaled = [[price * fmpq(whole.denominator) for price in side] for side in prices]
    if any(not isinstance(p, fmpq) or p.q != 1 or abs(p.p) > ROOM for side in scaled for p in side):
        return None
    u, v = (np.array([int(price.p) for price in side], dtype=np.int64) for side in scaled)
    left = whole.integers - u[:, None] - v[None]
    if left.min() < 0:
        i, j = np.unravel_index(np.argmax(left < 0), left.shape)
        return (int(i), int(j)), []
    return None, [(i, j) for i, j in np.argwhere(left == 0).tolist()]
