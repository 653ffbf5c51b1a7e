"""Workings with rounded numbers put in: what they give lies near what the formula beside them gives."""

from __future__ import annotations

from dataclasses import replace

from qkv.check.cells import Grid, fitted, shape_of
from qkv.check.compare import Shown, agree
from qkv.check.model import Verdict
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.interpret.cells import NEG_INF, Cell, bounds
from qkv.interpret.certified import Certified
from qkv.judging.fit import Fit, How
from qkv.judging.seen import worth
from qkv.reading.equation import Equation, Kind

CLOSE = 10  # half units of the last place by which numbers that were rounded before may be off


def carried_working(fits: list[Fit]) -> Fit | None:
    """The last working before a value, if it gives every digit with numbers that are false: the slip is theirs."""
    worked = [f for f in fits if f.meaning.how is How.WORKING]
    return worked[-1] if worked and worked[-1].worst is Verdict.CARRIED else None


def rounded_working(grid: Grid, fits: list[Fit], equation: Equation) -> Fit | None:
    """A working that gives all of a value just as it is written, where the formula beside it gives nearly the same: the
    numbers that were put in were rounded before."""
    if not any(_gives(item.expr, grid) for item in equation.of(Kind.WORKING)):
        return None
    worked = next(
        (f for f in fits if f.meaning.how is How.WORKING and f.worst in (Verdict.DRIFTED, Verdict.ROUNDED)), None
    )
    stated = next((f for f in fits if f.meaning.how is How.STATED and not f.is_clean and f.true is not None), None)
    if worked is None or stated is None or stated.true is None:
        return None
    pairs = [pair for row, cells in zip(grid, stated.true.rows, strict=True) for pair in zip(row, cells, strict=True)]
    return worked if all(_is_close(shown, cell) for shown, cell in pairs) else None


def of_printed_cells(chosen: Fit | None, grid: Grid, before: list[Grid]) -> Fit | None:
    """A value with cells that are rounded badly, where each of those is a single number printed before, rounded well:
    3.241 after 3.2413, whatever a formula gives to more digits."""
    if chosen is None or chosen.worst is not Verdict.MISROUNDED or shape_of(grid) == (1, 1):
        return chosen
    singles = [g[0][0] for g in before if shape_of(g) == (1, 1) and g[0][0].value is not None]
    rows = tuple(
        tuple(
            Verdict.DRIFTED if v is Verdict.MISROUNDED and any(_rounds(x, shown) for x in singles) else v
            for shown, v in zip(row, line, strict=True)
        )
        for row, line in zip(grid, chosen.verdicts, strict=True)
    )
    return replace(chosen, verdicts=rows)


def _rounds(finer: Shown, shown: Shown) -> bool:
    """Whether a printed number is another one with fewer digits."""
    if finer.value is None or shown.value is None or finer.half >= shown.half:
        return False
    return bool(abs(finer.value - shown.value) <= shown.half)


def _gives(working: n.Expr, grid: Grid) -> bool:
    """Whether a working, its numbers taken for what they are, gives a printed value to all of its digits."""
    value = worth(working, {}, Certified())
    made = fitted(value, shape_of(grid)) if value is not None else None
    try:
        return made is not None and all(agree(row, cells) for row, cells in zip(grid, made.rows, strict=True))
    except QkvError:
        return False


def _is_close(shown: Shown, cell: Cell) -> bool:
    """Whether a printed number is within a few units of its last place of a value."""
    if cell is NEG_INF or shown.value is None or not shown.half:
        return shown.cell is cell
    low, high = bounds(cell)
    return bool(low - CLOSE * shown.half <= shown.value <= high + CLOSE * shown.half)
