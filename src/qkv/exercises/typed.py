"""What a learner types: a row or a matrix, however people write them; and how it stands to an answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from qkv.check.cells import Grid, shown_grid
from qkv.check.compare import Agreement, Shown, agreement
from qkv.expr import nodes as n
from qkv.interpret.cells import NEG_INF, Cell
from qkv.interpret.certified import Value
from qkv.interpret.trace import Table
from qkv.practice.hand import number_of
from qkv.reader.grammar import parse_formula
from qkv.regex import regex

_NUMBER = r"[-−+]?(?:\d+(?:\.\d*)?|\.\d+)(?:/\d+)?|[-−](?:inf|∞|oo)"
_ROW = regex(rf"\s*(?:{_NUMBER})(?:[\s,]+(?:{_NUMBER}))*[\s,]*", re.IGNORECASE)
_ENDLESS = regex(r"[-−](?:inf|∞|oo)", re.IGNORECASE)


def typed(line: str) -> Grid | None:
    """The numbers of a line: '1 2; 3 4', '[[1, 2], [3, 4]]', '1/2 0.25'; None where it is something else.

    >>> [[cell.text for cell in row] for row in typed("1 2; 0.5 -inf")]
    [['1', '2'], ['0.5', '-∞']]
    """
    rows = [row for row in re.split(r"[;\n|]|\]\s*,?\s*\[", line.strip().strip("[]() ")) if row.strip()]
    if not rows or not all(_ROW.fullmatch(row) for row in rows):
        return None
    tidy = [", ".join(re.split(r"[\s,]+", row.strip().rstrip(","))) for row in rows]
    text = "[" + ", ".join(f"[{_ENDLESS.sub('-∞', row)}]" for row in tidy) + "]"
    expr = parse_formula(text)
    return shown_grid(expr, False) if isinstance(expr, n.Matrix) else None


@dataclass(frozen=True, slots=True)
class Looked:
    """How typed numbers stand to what is right: the worst agreement, and the first cell that is off, from 1."""

    worst: Agreement
    cell: tuple[int, int] | None = None


def standing(shown: Shown, true: Cell, loose: Cell) -> Agreement:
    """How one typed number agrees with the true one. A learner who went on with rounded numbers is right too: `loose`
    is the interval of all results that rounded numbers may give."""
    found = agreement(shown, true)
    drifted = found > Agreement.OPEN and agreement(shown, loose) <= Agreement.OPEN
    return Agreement.OPEN if drifted else found


def look(grid: Grid, rows: Value, loose: Value, first: int = 1) -> Looked:
    """Compare typed rows with the rows of a value, the first of them having the number `first`."""
    worst, cell = Agreement.EQUAL, None
    for i, (shown_row, *both) in enumerate(zip(grid, rows.rows, loose.rows, strict=True)):
        for j, (shown, true, wide) in enumerate(zip(shown_row, *both, strict=True)):
            found = standing(shown, true, wide)
            if found > Agreement.OPEN and cell is None:
                cell = first + i, j + 1
            worst = max(worst, found)
    return Looked(worst, cell)


def gives(grid: Grid, answer: Table) -> bool:
    """Whether typed numbers are those of a printed table, as far as both show digits."""
    return all(
        _near(s, text) for row, texts in zip(grid, answer, strict=True) for s, text in zip(row, texts, strict=True)
    )


def _near(shown: Shown, text: str) -> bool:
    value = number_of(text)
    if value is NEG_INF or shown.value is None:
        return shown.cell is value
    half = number_of("0." + "0" * len(text.partition(".")[2]) + "5") if "." in text else 0
    return bool(abs(shown.value - value) <= shown.half + half)
