"""Lines → blocks: headings, paragraphs, fences and rows of cells, each with its place.

This is a scanner of lines of our own and not a Markdown parser. Text from a scanner, .tex and .txt are not Markdown;
damaged Markdown (an odd fence, a stray underscore, a list that is none) must not swallow mathematics; and a full
CommonMark parse costs more than the rest of the reader. What carries no mathematics (comments, front matter, quote
marks) is overwritten with blanks, never cut out, so that lines and columns stay those of the file.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property

from qkv.expr.late import late
from qkv.records import dataclass, replace
from qkv.sheet.drawn import drawn_at
from qkv.sheet.grids import DIGIT, Cell, grid_at, table_at, vectors_at
from qkv.sheet.headings import div_rank, heading_at, opening_at
from qkv.sheet.html import html_table_at
from qkv.sheet.items import join_items
from qkv.sheet.lists import without_comments
from qkv.sheet.sketch import sketch_at


@dataclass(frozen=True, slots=True)
class Title:
    """A heading. `rank` is its level for '#' headings; 0 for a problem number, -1 for what divides a problem."""

    text: str
    line: int
    rank: int
    word: str = ""
    source: str = ""  # the whole line, where the heading holds mathematics


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines of prose and mathematics; column 1 of the text is column 1 of the file."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block: its language (may be empty), its body, and the code that printed it if it is an output."""

    language: str
    text: str
    line: int
    code: str = ""


@dataclass(frozen=True, slots=True)
class Rows:
    """Cells in rows, from a Markdown table (`piped`) or a plain grid; `header` tells whether a rule follows row 1."""

    cells: tuple[tuple[Cell, ...], ...]
    line: int
    end_line: int
    header: bool
    piped: bool


@dataclass(frozen=True, slots=True)
class Drawn:
    """Matrices that are drawn side by side."""

    parts: tuple[Rows, ...]
    line: int


Block = Title | Paragraph | Fence | Rows | Drawn

DISPLAY_ENVIRONMENTS = (
    "equation|align|aligned|alignat|gather|gathered|multline|flalign|eqnarray|displaymath|math|split|"
    "bmatrix|pmatrix|matrix|vmatrix|Vmatrix|Bmatrix|smallmatrix|array|cases"
)
_OPENERS = re.compile(
    r"\\\\(?:\[[^\]\n]*\])?|\$\$|\\\[|\\\]|\\(?P<verb>begin|end)\{(?P<env>(?:" + DISPLAY_ENVIRONMENTS + r")\*?)\}"
)
_FENCE = re.compile(r"\s*(?P<mark>`{3,}|~{3,})\s*(?P<language>[^`~\s]*)[^`]*$")
_DIV = re.compile(r"\s*:{3,}\s*\{?\.?(?P<name>[\w-]*)[^:]*$")
_CONSOLE = re.compile(r"\s*>>> (?:import |from |print\(|\w+\s*(?:[=(.@]|$))")
_QUOTE = late(r"\s{0,3}(?:>\s?)+")
_OPENS_LIST = late(r"\[[\s\d.,;eE+\-−∞inf\[\]]*$")
_GRID_RULE = late(r"\s*\+(?:[-=]{2,}\+)+\s*")
_TO_MARKDOWN = str.maketrans("+=", "|-")
_LISTING = re.compile(r"^1(?!st\b)[^\W\d_]", re.MULTILINE)
_LIST_ROW = late(r"\s+\[\s*[-−]?[\d.]")
_RULE = re.compile(r"\s*([-*_])(?:\s*\1){2,}\s*$")


def blocks(text: str, first: int = 1) -> Iterator[Block]:
    """Split a document, whose first line has the number `first`, into blocks; in order, in linear time.

    >>> [type(block).__name__ for block in blocks("# Title\\n\\nText $x$.\\n\\n| a | b |\\n|---|---|\\n| 1 | 2 |")]
    ['Title', 'Paragraph', 'Rows']
    """
    if first > 1:
        yield from (_moved(block, first - 1) for block in blocks(text))
        return
    lines = _lines(text)
    closers = _Closers(lines)
    at = 0
    while at < len(lines):
        line = lines[at]
        lead = line.lstrip()[:1]
        if not lead or (lead in "-*_" and _RULE.match(line)):
            at += 1
            continue
        block, end = _block_at(lines, at, lead, closers)
        if isinstance(block, Paragraph) and (opening := opening_at(line)):
            yield Title(opening.text, at + 1, opening.rank, opening.word)
        if block:
            yield block
        at = end


def _moved(block: Block, by: int) -> Block:
    if isinstance(block, Drawn):
        return Drawn(tuple(_moved_rows(part, by) for part in block.parts), block.line + by)
    return _moved_rows(block, by) if isinstance(block, Rows) else replace(block, line=block.line + by)


def _moved_rows(block: Rows, by: int) -> Rows:
    cells = tuple(tuple(Cell(cell.text, cell.line + by, cell.column) for cell in row) for row in block.cells)
    return replace(block, cells=cells, line=block.line + by, end_line=block.end_line + by)


def _block_at(lines: list[str], at: int, lead: str, closers: _Closers) -> tuple[Block | None, int]:
    """The block that begins at a line, whose first character, `lead`, rules most kinds out."""
    if lead in "`~" and (fence := _FENCE.match(lines[at])):
        return _fence(lines, at, fence)
    if lead == ">" and _CONSOLE.match(lines[at]):
        return _console(lines, at)
    if lead == ":" and (div := _DIV.match(lines[at])):
        rank = div_rank(div["name"].lower())
        return (Title(div["name"], at + 1, rank, div["name"].lower()) if rank is not None else None), at + 1
    if found := heading_at(lines, at):
        source = lines[at] if "$" in found.text or "\\(" in found.text else ""
        return Title(found.text, at + 1, found.rank, found.word, source), found.end
    if not _may_begin_rows(lines, at):
        return _paragraph(lines, at, closers)
    if drawn := drawn_at(lines, at):
        end = drawn[0].end
        return Drawn(tuple(Rows(part.cells, at + 1, end, False, False) for part in drawn), at + 1), end
    if sketch := sketch_at(lines, at):
        return Paragraph(sketch.text, sketch.line), sketch.end
    if rows := html_table_at(lines, at) or table_at(lines, at) or vectors_at(lines, at) or grid_at(lines, at):
        return Rows(rows.cells, at + 1, rows.end, rows.header, rows.piped), rows.end
    return _paragraph(lines, at, closers)


def _may_begin_rows(lines: list[str], at: int) -> bool:
    """False where one look tells that no table or drawing begins here: those have bars or tags, or rows below, or are
    one row of numbers that is no formula."""
    line = lines[at]
    below = at + 1 < len(lines) and lines[at + 1].strip()
    return bool(below or "|" in line or "<" in line or ("$" not in line and DIGIT.search(line)))


def _paragraph(lines: list[str], start: int, closers: _Closers) -> tuple[Paragraph, int]:
    """Lines up to a blank one or the next block; a display that is open goes on to its end."""
    at, closer, depth = start, "", 0
    while at < len(lines):
        line = lines[at]
        if at > start and not closer:
            blank = not line.strip()
            if (blank and not _row_follows(lines, at)) if depth else (blank or _interrupts(lines, at)):
                break
        if "[" in line or "]" in line:
            depth = _list_depth(line, depth)
        if closer in line if closer else "$$" in line or "\\[" in line or "\\begin{" in line:
            closer = _left_open(line, closer)
        at += 1
        if closer and not closers.later(closer, at):
            closer = ""
    return Paragraph("\n".join(lines[start:at]), start + 1), at


def _list_depth(line: str, depth: int) -> int:
    """How many brackets of a nested list are open after this line; prose with a stray bracket opens none."""
    bare = without_comments(line)
    if depth == 0 and not _OPENS_LIST.search(bare):
        return 0
    return max(0, depth + bare.count("[") - bare.count("]"))


def _interrupts(lines: list[str], at: int) -> bool:
    """Whether another block begins at a line of a paragraph."""
    line = lines[at]
    lead = line.lstrip()[:1]
    if (
        (lead in "`~" and _FENCE.match(line))
        or (lead == ">" and _CONSOLE.match(line))
        or (lead == ":" and _DIV.match(line))
        or heading_at(lines, at, within=True)
        or opening_at(line)
    ):
        return True
    return _may_begin_rows(lines, at) and bool(
        drawn_at(lines, at)
        or sketch_at(lines, at)
        or html_table_at(lines, at)
        or table_at(lines, at)
        or vectors_at(lines, at)
        or grid_at(lines, at)
    )


def _row_follows(lines: list[str], at: int) -> bool:
    """Whether a blank line only parts two rows of a list."""
    following = lines[at + 1] if at + 1 < len(lines) else ""
    return bool(_LIST_ROW.match(following))


def _left_open(line: str, closer: str) -> str:
    """The closing mark that a display still waits for after this line ('' for none)."""
    if not closer and line.startswith("$$") and line.find("$$", 2) == len(line) - 2:
        return ""  # one whole display, as most
    for found in _OPENERS.finditer(line):
        token = found[0]
        if closer:
            closer = "" if token == closer else closer
        elif token == "$$":
            closer = "$$"
        elif token == r"\[":
            closer = r"\]"
        elif found["verb"] == "begin":
            closer = rf"\end{{{found['env']}}}"
    return closer


class _Closers:
    """Where displays close. For each closing mark the lines that hold it are found once, and only for a document with a
    blank line in a display, so that an unclosed one costs a look and not a walk."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, line in enumerate(self._lines):
            if "$$" in line or "\\" in line:
                for mark in {token[0] for token in _OPENERS.finditer(line)}:
                    found.setdefault(mark, []).append(number)
        return found

    def later(self, closer: str, at: int) -> bool:
        """Whether the display closes, or may go on, at line `at`. A display runs over a blank line only if its closing
        mark comes before any line that opens and closes a display of its own: else it was never closed."""
        if at >= len(self._lines) or self._lines[at].strip():
            return True
        places = self._places.get(closer, [])
        index = bisect_left(places, at)
        if index == len(places):
            return False
        return closer != "$$" or self._lines[places[index]].count("$$") % 2 == 1


def _fence(lines: list[str], start: int, opening: re.Match[str]) -> tuple[Fence, int]:
    mark = opening["mark"]
    at = start + 1
    while at < len(lines) and not _closes_fence(lines[at], mark):
        at += 1
    return Fence(opening["language"].lower(), "\n".join(lines[start + 1 : at]), start + 2), at + 1


def _console(lines: list[str], start: int) -> tuple[Fence, int]:
    """A console session that stands in no fence: it ends with the paragraph."""
    end = start
    while end < len(lines) and lines[end].strip():
        end += 1
    return Fence("python", "\n".join(lines[start:end]), start + 1), end


def _closes_fence(line: str, mark: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(mark) and bare == mark[0] * len(bare)


def _lines(text: str) -> list[str]:
    """The lines of the file, with comments, front matter and quote marks overwritten by blanks."""
    lines = _without_comments(text).split("\n")
    _blank_front_matter(lines)
    if ("\n1" in text or text[:1] == "1") and _LISTING.search(text):
        _blank_line_numbers(lines)
    if "+--" in text or "+==" in text:
        _rule_grids(lines)
    if ">" in text:
        _blank_quotes(lines)
    join_items(lines)
    return lines


def _rule_grids(lines: list[str]) -> None:
    """Overwrite the rules of a table that is drawn with +---+---+: those between rows as Markdown has them, the outer
    ones with blanks."""
    barred = ["|" in line and line.strip()[0] == "|" for line in lines]
    for at, line in enumerate(lines):
        if line.lstrip()[:1] == "+" and _GRID_RULE.fullmatch(line):
            inner = 0 < at < len(lines) - 1 and barred[at - 1] and barred[at + 1]
            lines[at] = line.translate(_TO_MARKDOWN) if inner else ""


def _blank_line_numbers(lines: list[str]) -> None:
    """Overwrite the numbers of a listing that was copied together with them: '1Q = X', '2K = X'."""
    number = 0
    for at, line in enumerate(lines):
        following = lines[at + 1] if at + 1 < len(lines) else ""
        if not line.startswith(str(number)) and _LISTING.match(line) and following[:1] == "2":
            number = 1  # another listing
        goes_on = number > 0 and line.startswith(str(number))
        if goes_on:
            lines[at] = line.replace(str(number), " " * len(str(number)), 1)
        number = number + 1 if goes_on else 0


def _blank_quotes(lines: list[str]) -> None:
    """Overwrite quote marks; the prompts of a console are none, nor is anything in a fence that is not quoted."""
    mark = ""
    for at, line in enumerate(lines):
        if mark:
            mark = "" if _closes_fence(line, mark) else mark
        elif fence := _FENCE.match(line):
            mark = fence["mark"]
        elif ">" in line[:8] and not _CONSOLE.match(line):
            lines[at] = _without_quote(line)


def _without_quote(line: str) -> str:
    found = _QUOTE.match(line)
    return " " * found.end() + line[found.end() :] if found else line


def _without_comments(text: str) -> str:
    pieces, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        pieces += [text[at:start], re.sub(r"[^\n]", " ", text[start : end + 3])]
        at = end + 3
    return "".join([*pieces, text[at:]])


def _blank_front_matter(lines: list[str]) -> None:
    first = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    if first == len(lines) or lines[first].rstrip() != "---":
        return
    for at in range(first + 1, min(len(lines), first + 200)):
        if lines[at].rstrip() in ("---", "..."):
            lines[first : at + 1] = [""] * (at + 1 - first)
            return
        if lines[at].strip() and not re.match(r"\s|#|-\s|[\w.-]+\s*:", lines[at]):
            return
