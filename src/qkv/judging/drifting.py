"""Workings with rounded numbers put in: what they give lies near what the formula beside them gives."""

from __future__ import annotations

from qkv.check.cells import Grid
from qkv.check.compare import Shown
from qkv.check.model import Verdict
from qkv.interpret.cells import NEG_INF, Cell, bounds
from qkv.judging.fit import Fit, How

CLOSE = 10  # half units of the last place by which numbers that were rounded before may be off


def rounded_working(grid: Grid, fits: list[Fit]) -> Fit | None:
    """A working that gives all of a value, where the formula beside it gives nearly the same: the numbers that were put
    in were rounded before."""
    worked = next(
        (f for f in fits if f.meaning.how is How.WORKING and f.worst in (Verdict.DRIFTED, Verdict.ROUNDED)), None
    )
    stated = next((f for f in fits if f.meaning.how is How.STATED and not f.is_clean and f.true is not None), None)
    if worked is None or stated is None or stated.true is None:
        return None
    pairs = [pair for row, cells in zip(grid, stated.true.rows, strict=True) for pair in zip(row, cells, strict=True)]
    return worked if all(_is_close(shown, cell) for shown, cell in pairs) else None


def _is_close(shown: Shown, cell: Cell) -> bool:
    """Whether a printed number is within a few units of its last place of a value."""
    if cell is NEG_INF or shown.value is None or not shown.half:
        return shown.cell is cell
    low, high = bounds(cell)
    return bool(low - CLOSE * shown.half <= shown.value <= high + CLOSE * shown.half)
