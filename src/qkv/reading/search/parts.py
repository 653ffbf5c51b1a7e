"""Depth 0: a value, or a part of it."""

from __future__ import annotations

from qkv.expr import nodes as n
from qkv.reading.search.operands import Operand, Operands, Trial, Trials, operand_of
from qkv.reading.search.tables import Table
from qkv.reading.search.target import Target, agrees
from qkv.reading.search.written import block_expr


def parts_of(target: Target, sources: Operands) -> Trials:
    for a in sources:
        if a.shape == target.shape:
            yield _block(target, a, (0, 0))
    for a in sources:
        if a.shape != target.shape:
            yield from _blocks(target, a)


def _blocks(target: Target, a: Operand) -> Trials:
    """A contiguous block of a value, at any place."""
    (height, width), (r, c) = a.shape, target.shape
    for i in range(height - r + 1):
        for j in range(width - c + 1):
            yield _block(target, a, (i, j))


def _block(target: Target, a: Operand, at: tuple[int, int]) -> Trial:
    """One block of a value."""
    (i, j), (r, c), (p, q) = at, target.shape, target.probe
    if not abs(a.centre[i + p][j + q] - target.centre[p][q]) <= target.half[p][q] + a.radius[i + p][j + q]:
        return Trial(1)
    centre = tuple(row[j : j + c] for row in a.centre[i : i + r])
    radius = tuple(row[j : j + c] for row in a.radius[i : i + r])
    return held(target, 1, block_expr(a.expr, a.shape, at, (r, c)), centre, radius, a.uses)


def held(target: Target, count: int, expr: n.Expr, centre: Table, radius: Table, uses: tuple[int, ...]) -> Trial:
    """A whole candidate against the grid."""
    if not agrees(target, centre, radius):
        return Trial(count)
    return Trial(count, operand_of(expr, centre, radius, uses))


def tried(target: Target, made: Operand, count: int) -> Trial:
    """A value that was built, against the grid."""
    return Trial(count, made if agrees(target, made.centre, made.radius) else None)
