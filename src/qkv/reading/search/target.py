"""The printed grid that is searched for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from qkv.check.compare import Shown
from qkv.errors import ValueRefused
from qkv.interpret.cells import NEG_INF, bounds
from qkv.reading.bits import grid_bits
from qkv.reading.search.tables import ABSOLUTE, INFINITY, RELATIVE, STAND_IN, Shape, Table, are_weights, is_same, turn


class Ratio(NamedTuple):
    """Two printed weights of one line. Scores that a softmax sends there differ by log(p/q), from `low` to `high`."""

    p: tuple[int, int]
    q: tuple[int, int]
    low: float
    high: float


class Target(NamedTuple):
    """A printed grid, a column as a row. `half` is what each cell may be off, floats considered."""

    centre: Table
    half: Table
    units: Table  # half a unit of what the digits of each cell resolve
    bits: Table
    total: float
    is_column: bool
    probe: tuple[int, int]  # the cell that rules out candidates: the one with the most precise digits
    by_rows: Ratio | None
    by_columns: Ratio | None
    is_masked: bool  # −∞ above the diagonal
    is_causal: bool  # weights, 0 above the diagonal

    @property
    def shape(self) -> Shape:
        return len(self.centre), len(self.centre[0])

    @property
    def kind(self) -> int:
        """0 for a number, 1 for a vector, 2 for a matrix."""
        return sum(size > 1 for size in self.shape)

    @property
    def line(self) -> Target:
        """The row of the probe as a grid: what disagrees with it need not be worked out as a whole."""
        i, j = self.probe
        row = slice(i, i + 1)
        cells = self.centre[row], self.half[row], self.units[row], self.bits[row]
        return Target(*cells, sum(self.bits[i]), False, (0, j), None, None, False, False)

    def tells_of(self, error: float) -> bool:
        """Whether a candidate that is off so much at the probe, the sharpest cell, still tells something of it."""
        i, j = self.probe
        unit = self.units[i][j]
        return math.log2((unit + error) / unit) < self.bits[i][j]


def target_of(grid: Sequence[Sequence[Shown]]) -> Target | None:
    """A printed grid as floats; None for a ragged or an empty one, and for cells that no float holds."""
    if not grid or not grid[0] or len(set(map(len, grid))) > 1:
        return None
    is_column = len(grid[0]) == 1 < len(grid)
    rows = [[row[0] for row in grid]] if is_column else grid
    cells = [[_printed(shown) for shown in row] for row in rows]
    if any(math.isnan(x) for row in cells for x, _ in row):
        return None
    centre = tuple(tuple(x for x, _ in row) for row in cells)
    half = tuple(tuple(h + RELATIVE * min(abs(x), 1e300) + ABSOLUTE for x, h in row) for row in cells)
    bits = grid_bits(rows)
    units = tuple(
        tuple(h or min(max(abs(x), ABSOLUTE), 1e300) / 2 ** (b + 1) for (x, h), b in zip(row, bits_row, strict=True))
        for row, bits_row in zip(cells, bits, strict=True)
    )
    finite = [(i, j) for i, row in enumerate(centre) for j, x in enumerate(row) if x > -INFINITY]
    if not finite:
        return None
    probe = max(finite, key=lambda at: _sharpness(centre[at[0]][at[1]], half[at[0]][at[1]]))
    square = len(centre) == len(centre[0]) > 1
    above = [row[j] for i, row in enumerate(centre) for j in range(i + 1, len(row))] if square else []
    ratio_down = _ratio(turn(centre), turn(half))
    return Target(
        centre,
        half,
        units,
        bits,
        sum(map(sum, bits)),
        is_column,
        probe,
        _ratio(centre, half),
        ratio_down and Ratio((ratio_down.p[1], ratio_down.p[0]), (ratio_down.q[1], ratio_down.q[0]), *ratio_down[2:]),
        square and all(x <= STAND_IN for x in above),
        square and all(x == 0 for x in above) and all(map(are_weights, centre, half)),
    )


def _sharpness(printed: float, half: float) -> tuple[bool, float]:
    """How well a cell rules out candidates: by its precision, and best if it cannot stand for −∞."""
    return printed > STAND_IN, abs(printed) / half


def _printed(shown: Shown) -> tuple[float, float]:
    """The middle of a printed cell and half a unit of its last place."""
    if shown.cell is NEG_INF:
        return -INFINITY, 0.0
    try:
        low, high = (shown.low, shown.high) if shown.low is not None else bounds(shown.cell)
        middle, half = (low + high) / 2, (high - low) / 2
        return int(middle.p) / int(middle.q), int(half.p) / int(half.q)
    except (OverflowError, ValueRefused):
        return math.nan, math.nan


def _ratio(centre: Table, half: Table) -> Ratio | None:
    """The two weights in one row whose ratio is known best; None if the rows are no weights, or no row has two."""
    best: Ratio | None = None
    if not all(map(are_weights, centre, half)):
        return None
    for i, (row, halves) in enumerate(zip(centre, half, strict=True)):
        sure = sorted((h / x, j) for j, (x, h) in enumerate(zip(row, halves, strict=True)) if x > h)
        if len(sure) > 1:
            (_, j), (_, k) = sure[:2]
            low = math.log((row[j] - halves[j]) / (row[k] + halves[k]))
            high = math.log((row[j] + halves[j]) / (row[k] - halves[k]))
            if best is None or high - low < best.high - best.low:
                best = Ratio((i, j), (i, k), low, high)
    return best


def agrees(target: Target, centre: Table, radius: Table) -> bool:
    """Whether every cell of a candidate may be what is printed there."""
    return all(
        is_same(x, e, m, h)
        for row, errors, printed, halves in zip(centre, radius, target.centre, target.half, strict=True)
        for x, e, m, h in zip(row, errors, printed, halves, strict=True)
    )
