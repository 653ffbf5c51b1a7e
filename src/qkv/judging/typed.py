"""Copied numbers in a working: they stand for what was printed or for what is behind it, not for all that rounds so.

0.67 · 5 + 0.33 · 10 gives 6.65 with the printed shares and 6.651 with the ones behind them. 6.67 is neither, although
0.674 and 0.334, which nobody has, would give it.
"""

from __future__ import annotations

from dataclasses import replace

from qkv.check.cells import Grid, fitted, shape_of
from qkv.check.compare import Shown, agree
from qkv.check.loose import Loose
from qkv.check.model import Verdict
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.interpret.cells import NEG_INF, Cell, bounds
from qkv.interpret.certified import Certified, Value
from qkv.judging.fit import Fit, How, cell_verdict, fit
from qkv.judging.runs import is_function_of_a_number
from qkv.judging.seen import worth
from qkv.reading.bits import grid_bits
from qkv.reading.equation import Equation, Kind

REACH = 3  # half units of the last place: a value that is further away was not made of these numbers
PLAIN = frozenset({n.Number, n.Negate, n.Sum, n.Product, n.Quotient, n.Matrix})
LOOSE = frozenset({Verdict.ROUNDED, Verdict.DRIFTED, Verdict.CARRIED})


def tightened(made: Fit, grid: Grid, given: list[Value | None]) -> Fit:
    """A printed value against a working, with the cells wrong that only numbers which nobody has would give; `given` is
    what the working gives with the numbers that it copies, and just as it is written."""
    exact = [v for value in given if value is not None and (v := fitted(value, shape_of(grid))) is not None]
    if not exact or not made.is_clean:
        return made
    rows, lost, slips = [], 0.0, 0
    for i, (row, bits) in enumerate(zip(grid, grid_bits(grid), strict=True)):
        line = list(made.verdicts[i])
        for j, shown in enumerate(row):
            cells = [value.rows[i][j] for value in (*exact, made.true) if value is not None]
            if line[j] in LOOSE and not any(reaches(shown, cell) for cell in cells):
                line[j], lost, slips = Verdict.WRONG, lost + bits[j], slips + 1
        rows.append(tuple(line))
    return replace(made, verdicts=tuple(rows), agreed=made.agreed - lost, slips=slips) if slips else made


def as_typed(made: Fit, grid: Grid, expr: n.Expr) -> Fit:
    """A printed value against a working whose numbers are copies of nothing: where they give every digit just as they
    are written, nothing else is behind them. Sums and products are worked out with what is written; who takes an
    exponential may have more digits in a machine."""
    typed = worth(expr, {}, Certified())
    exact = fitted(typed, shape_of(grid)) if typed is not None else None
    if exact is None:
        return made
    try:
        given = all(map(agree, grid, exact.rows))
    except QkvError:
        return made
    if not given or not made.is_clean:
        return tightened(made, grid, [exact]) if n.kinds_in(expr) <= PLAIN else made
    if made.true is not None:
        return replace(made, own=exact)
    rows = zip(grid, exact.rows, strict=True)
    verdicts = (tuple(cell_verdict(shown, None, cell, False) for shown, cell in zip(*row, strict=True)) for row in rows)
    return replace(made, own=exact, verdicts=tuple(verdicts))


def as_arithmetic(chosen: Fit, grid: Grid, equation: Equation) -> Fit:
    """e^1.0 = 2.718 is right of 1.0, although 1.0 may be false: what is made of it is carried, it is not."""
    worked = next((i.expr for i in equation.of(Kind.WORKING) if is_function_of_a_number(i.expr)), None)
    if chosen.worst is not Verdict.CARRIED or chosen.meaning.how is not How.WORKING or worked is None:
        return chosen
    typed = worth(worked, {}, Loose())
    made = fit(grid, chosen.meaning, None, typed, chosen.used, False, None)
    return made if made is not None and made.is_clean else chosen


def reaches(shown: Shown, cell: Cell) -> bool:
    """Whether a printed number may be a value, or is near it; what has no digits to compare may always be."""
    if cell is NEG_INF or shown.value is None or not shown.half:
        return True
    try:
        low, high = bounds(cell)
    except QkvError:
        return True
    return bool(low - REACH * shown.half <= shown.value <= high + REACH * shown.half)
