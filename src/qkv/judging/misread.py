"""Damaged text told from slips: a point that a scanner lost among decimals.

A wrong cell is misread if the decimals around it show where its point was, and with it the cell agrees: 566 beside
11.31 and 5.66. Nobody works that out wrongly. A digit or a sign that stands there as typed is a slip.
"""

from __future__ import annotations

import re

from qkv.check.cells import Grid
from qkv.check.compare import Shown, meets, shown_number
from qkv.check.mistakes.slips import JudgedCell
from qkv.check.model import Verdict
from qkv.expr import nodes as n
from qkv.interpret.cells import Cell
from qkv.interpret.certified import Value
from qkv.judging.fit import Fit

Place = tuple[int, int]  # row and column, from 0


Cells = tuple[tuple[JudgedCell, ...], ...]


def judged_cells(grid: Grid, fit: Fit) -> Cells:
    """The cells of a fit, one by one."""

    def cell(value: Value | None, i: int, j: int) -> Cell | None:
        return value.rows[i][j] if value is not None else None

    def judged(shown: Shown, i: int, j: int) -> JudgedCell:
        return JudgedCell(shown, fit.verdicts[i][j], cell(fit.true, i, j), cell(fit.own, i, j))

    return tuple(tuple(judged(shown, i, j) for j, shown in enumerate(row)) for i, row in enumerate(grid))


def lost_points(cells: Cells) -> dict[Place, str]:
    """What the wrong cells are with the point that the decimals around them have; nothing unless that explains all."""
    places = {len(cell.shown.text.partition(".")[2]) for row in cells for cell in row if "." in cell.shown.text}
    if len(places) != 1:
        return {}
    found: dict[Place, str] = {}
    for i, row in enumerate(cells):
        for j, cell in enumerate(row):
            if cell.verdict is Verdict.WRONG:
                text = _with_point(cell.shown.text, min(places))
                if not text or not _agrees(text, cell):
                    return {}
                found[i, j] = text
    return found


def _with_point(text: str, places: int) -> str:
    """A whole number of enough digits with a point before its last ones; nothing for any other text.

    >>> _with_point("-566", 2), _with_point("66", 2)
    ('-5.66', '')
    """
    return f"{text[:-places]}.{text[-places:]}" if places and re.fullmatch(rf"-?\d{{{places + 1},}}", text) else ""


def _agrees(text: str, cell: JudgedCell) -> bool:
    number = shown_number(n.number(text))
    return any(meets(number, value) for value in (cell.true, cell.own) if value is not None)


def misread(fit: Fit, found: dict[Place, str]) -> Fit:
    """The same fit, with its wrong cells said to be damaged text, and what they are read as."""
    verdicts = tuple(
        tuple(Verdict.MISREAD if (i, j) in found else verdict for j, verdict in enumerate(row))
        for i, row in enumerate(fit.verdicts)
    )
    told = ", ".join(f"{text} in cell ({i + 1},{j + 1})" for (i, j), text in found.items())
    return fit._replace(verdicts=verdicts, repair=told)
