"""Weights that are the softmax of no scores on the page, whatever their scale: who made them up is told so.

softmax(β s) has ln(p_i / p_j) = β (s_i − s_j) for every two keys, so that a row of weights tells β once for each pair.
Where no β ≥ 0 satisfies all pairs, to the digits that are shown, no temperature, √d or forgotten scale is an excuse.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from qkv.check.cells import Grid, shape_of
from qkv.check.compare import Shown
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.interpret.cells import NEG_INF, Cell, bounds
from qkv.interpret.certified import Value
from qkv.judging.fit import Fit, How
from qkv.judging.weighing import nearness
from qkv.reading.naming import role_symbol
from qkv.reading.page import Spot

if TYPE_CHECKING:
    from qkv.judging.walk import Walk

IMPOSSIBLE = 30.0  # bits for what a softmax at no scale gives
SLACK = 2  # units of the last place by which rounding on the way may change a weight
NEAR = 0.02  # by which the sum of rounded weights may miss one
_SCORES = (Role.SCORES, Role.SCALED, Role.MASKED)
Range = tuple[float, float]
ANY: Range = (0.0, math.inf)


def closeness(walk: Walk, grid: Grid, slip: Fit, spot: Spot) -> float:
    """The bits by which wrong cells are those of a meaning all the same: they come near it; of weights below their
    scores, no scale makes them of any. At a scale that nobody told they are another method, however near they come."""
    weights = slip.meaning.how in (How.NAMED, How.CAPTION, How.DEFINED) and _are_weights(walk, slip) and _tells(grid)
    if not weights or not _shows_scores(walk):
        return nearness(grid, slip)
    if all(_adds_up(row) for row in grid) and any(_is_reached(grid, rows) for rows in _scores(walk, grid, spot)):
        return 0.0
    return IMPOSSIBLE


def _shows_scores(walk: Walk) -> bool:
    """Whether the page has printed scores that are what they are called: then its weights are made of them."""
    clean = (j.fit.meaning.expr for j in walk.judged if j.fit is not None and j.fit.is_clean)
    return any(role in _SCORES for expr in clean for role in _roles(walk, expr))


def _are_weights(walk: Walk, slip: Fit) -> bool:
    return isinstance(slip.meaning.expr, n.Softmax) or Role.WEIGHTS in _roles(walk, slip.meaning.expr)


def _roles(walk: Walk, expr: n.Expr) -> list[Role]:
    """What a value plays by its formula, or a part of it by its name."""
    while isinstance(expr, n.Entry):
        expr = expr.arg
    place = walk.system.place(expr.symbol) if isinstance(expr, n.Name) else None
    return [place.role] if place is not None else walk.system.roles(expr)[:1]


def _tells(grid: Grid) -> bool:
    """Whether a grid shows shares, with digits that are more than noughts and ones."""
    cells = [shown for row in grid for shown in row]
    shares = all(shown.value is not None and 0 <= shown.value <= 1 for shown in cells)
    return shares and len(grid[0]) > 1 and len({shown.text for shown in cells if shown.value not in (0, 1)}) > 1


def _adds_up(row: tuple[Shown, ...]) -> bool:
    """Whether weights may add up to one but for their rounding."""
    total = sum(float(shown.value) for shown in row if shown.value is not None)
    return abs(total - 1) <= max(NEAR, sum(2 * float(shown.half) for shown in row))


def _scores(walk: Walk, grid: Grid, spot: Spot) -> Iterator[tuple[tuple[Cell, ...], ...]]:
    """All that weights of a shape may be the softmax of: what plays the scores, and every print above."""
    for role in _SCORES:
        for head in (None, *walk.system.heads):
            value = walk.values.true(n.Name(role_symbol(role, head)), spot)
            yield from _cuts(value, shape_of(grid)) if value is not None else ()
    for seen in walk.copies.recent(spot):
        yield from _cuts(seen.printed.held, shape_of(grid))


def _cuts(value: Value, shape: tuple[int, int]) -> Iterator[tuple[tuple[Cell, ...], ...]]:
    """A value as rows of a shape: whole, turned, or one row of it."""
    for rows in (value.rows, tuple(zip(*value.rows, strict=True))):
        if len(rows[0]) == shape[1]:
            yield from [rows] if len(rows) == shape[0] else [(row,) for row in rows] if shape[0] == 1 else []


def _is_reached(grid: Grid, scores: tuple[tuple[Cell, ...], ...]) -> bool:
    """Whether some scale makes every row of a grid the softmax of a row of scores."""
    low, high = ANY
    for row, cells in zip(grid, scores, strict=True):
        for (a, s), (b, t) in combinations(zip(row, cells, strict=True), 2):
            least, most = _scale(a, b, s, t)
            low, high = max(low, least), min(high, most)
    return low <= high


def _scale(a: Shown, b: Shown, s: Cell, t: Cell) -> Range:
    """The scales at which two weights may belong to two scores; what is hidden or nought belongs to any."""
    (p, q), (u, v) = _share(a), _share(b)
    if s is NEG_INF or t is NEG_INF or p <= 0 or u <= 0:
        return ANY
    try:
        (bottom, top), (under, over) = bounds(s), bounds(t)
    except QkvError:
        return ANY
    least, most = math.log(p / v), math.log(q / u)  # of ln(p_a / p_b)
    low, high = float(bottom - over), float(top - under)  # of s − t
    if high < 0 or (low < 0 <= high and low + high < 0):
        least, most, low, high = -most, -least, -high, -low
    if low <= 0:
        return ANY if low < 0 or least <= 0 <= most else (1.0, 0.0)
    return max(0.0, least / (high if least > 0 else low)), most / (low if most > 0 else high)


def _share(shown: Shown) -> Range:
    value, reach = float(shown.value or 0), max(SLACK * float(shown.half), 1e-6)
    return value - reach, value + reach
