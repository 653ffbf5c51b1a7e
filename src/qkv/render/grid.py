"""Tables of decimals as aligned lines with brackets, cut or wrapped to a width; whatever is left out is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from qkv.interpret.rounding import MINUS_INFINITY
from qkv.interpret.trace import Table

GAP = 2  # blanks between columns
MANY_ROWS = 16  # a table with more rows loses its middle ones unless all are asked for
INFINITY = "-∞"
CUT = None  # stands for what is left out, in lists of row and column numbers

Picked = tuple[int | None, ...]


class Span(NamedTuple):
    """Where a cell stands on its line; its row and column count from 0."""

    start: int
    end: int
    row: int
    column: int


class Grid(NamedTuple):
    """The lines of (a part of) a table, the cells on each line, and a caption that says what is left out."""

    lines: tuple[str, ...]
    spans: tuple[tuple[Span, ...], ...]
    caption: str = ""

    @property
    def width(self) -> int:
        """The length of the longest line."""
        return max(len(line) for line in self.lines)

    @property
    def middle(self) -> int:
        """The number of the line beside which a name or a sign stands."""
        return (len(self.lines) - 1) // 2


def grids(rows: Table, width: int, everything: bool = False) -> list[Grid]:
    """The table within a width: in one piece, with its middle left out, or (`everything`) in blocks of columns.

    >>> print("\\n".join(grids((("1", "0.5"), ("-2.25", "10")), 40)[0].lines))
    ⎡  1      0.5 ⎤
    ⎣ -2.25  10   ⎦
    """
    columns = [_aligned([pretty(row[j]) for row in rows]) for j in range(len(rows[0]))]
    widths = [len(column[0]) for column in columns]
    height = len(rows)
    if everything:
        blocks = list(_blocks(widths, width - 4))
        return [_grid(columns, tuple(range(height)), block, _block_caption(block, blocks)) for block in blocks]
    kept_rows = _ends(height, MANY_ROWS) if height > MANY_ROWS else tuple(range(height))
    kept_columns = _fitting(widths, width - 4)
    return [_grid(columns, kept_rows, kept_columns, _caption(kept_rows, kept_columns))]


def pretty(text: str) -> str:
    """A decimal as people like to see it in a terminal."""
    return INFINITY if text == MINUS_INFINITY else text


def shade(weight: str) -> int:
    """The shade behind a weight on a page, by tenths."""
    return round(min(max(float(weight), 0.0), 1.0) * 10)


def _aligned(cells: list[str]) -> list[str]:
    """One column, decimal points below each other; −∞, which has none, to the right."""
    heads = {cell: len(cell.partition(".")[0]) for cell in cells if cell != INFINITY}
    before = max(heads.values(), default=0)
    padded = [" " * (before - heads.get(cell, before)) + cell for cell in cells]
    length = max(map(len, padded))
    return [cell.rjust(length) if cell == INFINITY else cell.ljust(length) for cell in padded]


def _fitting(widths: list[int], room: int) -> Picked:
    """All columns, or as many from both ends as fit; one at each end at least."""
    if sum(widths) + GAP * (len(widths) - 1) <= room:
        return tuple(range(len(widths)))
    left, right = [0], [len(widths) - 1]
    used = widths[0] + widths[-1] + 2 * GAP + 1
    turn = 0
    while left[-1] + 1 < right[0] - 1:
        at = right[0] - 1 if turn % 3 == 2 else left[-1] + 1  # two from the left for one from the right
        used += widths[at] + GAP
        if used > room:
            break
        left, right = (left, [at, *right]) if turn % 3 == 2 else ([*left, at], right)
        turn += 1
    return (*left, CUT, *right) if right[0] - left[-1] > 1 else (*left, *right)


def _ends(length: int, most: int) -> Picked:
    first, last = (most - 1) * 2 // 3, (most - 1) - (most - 1) * 2 // 3
    return (*range(first), CUT, *range(length - last, length))


def _blocks(widths: list[int], room: int) -> Iterator[Picked]:
    block: list[int] = []
    used = -GAP
    for j, size in enumerate(widths):
        if block and used + GAP + size > room:
            yield tuple(block)
            block, used = [], -GAP
        block.append(j)
        used += GAP + size
    yield tuple(block)


def _block_caption(block: Picked, blocks: Sequence[Picked]) -> str:
    if len(blocks) == 1:
        return ""
    return f"columns {(block[0] or 0) + 1}–{(block[-1] or 0) + 1}"


def _caption(rows: Picked, columns: Picked) -> str:
    parts = [_gap("row", rows), _gap("column", columns)]
    said = " and ".join(part for part in parts if part)
    return f"{said} not shown" if said else ""


def _gap(word: str, picked: Picked) -> str:
    if CUT not in picked:
        return ""
    at = picked.index(CUT)
    first, last = (picked[at - 1] or 0) + 2, picked[at + 1] or 0
    return f"{word} {first}" if first == last else f"{word}s {first}–{last}"


def _grid(columns: list[list[str]], rows: Picked, picked: Picked, caption: str) -> Grid:
    lines, spans = [], []
    for place, i in enumerate(rows):
        left, right = _brackets(place, len(rows))
        line, found = left + " ", []
        for k, j in enumerate(picked):
            line += " " * GAP if k else ""
            text = _cut_text(i, j, columns)
            if i is not CUT and j is not CUT:
                found.append(Span(len(line), len(line) + len(text), i, j))
            line += text
        lines.append(f"{line} {right}")
        spans.append(tuple(found))
    return Grid(tuple(lines), tuple(spans), caption)


def _cut_text(i: int | None, j: int | None, columns: list[list[str]]) -> str:
    if j is CUT:
        return "⋱" if i is CUT else "…"
    return "⋮".center(len(columns[j][0])) if i is CUT else columns[j][i]


def _brackets(place: int, height: int) -> tuple[str, str]:
    if height == 1:
        return "[", "]"
    if place == 0:
        return "⎡", "⎤"
    return ("⎣", "⎦") if place == height - 1 else ("⎢", "⎥")
