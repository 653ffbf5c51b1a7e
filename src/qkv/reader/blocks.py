"""Lines → blocks: headings, paragraphs, fences and rows of cells, each with its place.

This is a scanner of lines of our own and not a Markdown parser. Text from a scanner, .tex and .txt are not
Markdown; damaged Markdown must not swallow mathematics. What carries no mathematics (comments, front matter, quote
marks) is overwritten with blanks, never cut out, so that lines and columns stay those of the file."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from qkv.reader.grids import rows_at
from qkv.reader.headings import div_title, heading_at, opening_at
from qkv.reader.page import Block, Fence, Paragraph, Rows
from qkv.regex import regex

_DISPLAY = (
    "equation|align|aligned|alignat|gather|gathered|multline|flalign|eqnarray|displaymath|math|split|"
    "bmatrix|pmatrix|matrix|vmatrix|Vmatrix|Bmatrix|smallmatrix|array|cases"
)
_OPENERS = regex(r"\\\\(?:\[[^\]\n]*\])?|\$\$|\\\[|\\\]|\\(?P<verb>begin|end)\{(?P<env>(?:" + _DISPLAY + r")\*?)\}")
_FENCE = regex(r"\s*(?P<mark>`{3,}|~{3,})\s*(?P<language>[^`~\s]*)[^`]*$")
_DIV = regex(r"\s*:{3,}\s*\{?\.?(?P<name>[\w-]*)[^:]*$")
_CONSOLE = regex(r"\s*>>> (?:import |from |print\(|\w+\s*(?:[=(.@]|$))")
_QUOTE = regex(r"\s{0,3}(?:>\s?)+")
_RULE = regex(r"\s*([-*_])(?:\s*\1){2,}\s*$")
_GRID_RULE = regex(r"\s*\+(?:[-=]{2,}\+)+\s*")
_OPENS_LIST = regex(r"\[[\s\d.,;eE+\-−∞inf\[\]]*$")
_REMARK = regex(r"(?:#|//|←|<-)[^\n]*")
_LIST_ROW = regex(r"\s+\[\s*[-−]?[\d.]")


def blocks(text: str, first: int = 1) -> Iterator[Block]:
    """Split a document, whose first line has the number `first`, into blocks; in order, in linear time.

    >>> [type(block).__name__ for block in blocks("# Title\\n\\nText $x$.\\n\\n| a | b |\\n|---|---|\\n| 1 | 2 |")]
    ['Title', 'Paragraph', 'Rows']
    """
    below = text.lstrip("\n")
    first += len(text) - len(below)  # a chapter of a long file stands below as many blank lines
    lines = _lines(below)
    closers = _Closers(lines)
    at = 0
    while at < len(lines):
        if not lines[at].strip() or _RULE.match(lines[at]):
            at += 1
            continue
        found, end = _blocks_at(lines, at, closers)
        if isinstance(found[0] if found else None, Paragraph) and (opening := opening_at(lines[at], at + 1)):
            yield _moved(opening, first - 1)
        for block in found:
            yield _moved(block, first - 1)
        at = end


def _moved(block: Block, by: int) -> Block:
    if not by:
        return block
    if not isinstance(block, Rows):
        return block._replace(line=block.line + by)
    cells = {
        "body": tuple(tuple(cell._replace(line=cell.line + by) for cell in row) for row in block.body),
        "heads": tuple(cell._replace(line=cell.line + by) for cell in block.heads),
        "labels": tuple(cell._replace(line=cell.line + by) for cell in block.labels),
        "corner": block.corner._replace(line=block.corner.line + by) if block.corner else None,
        "name": block.name._replace(line=block.name.line + by) if block.name else None,
    }
    return block._replace(line=block.line + by, end_line=block.end_line + by, **cells)  # type: ignore[arg-type]


def _blocks_at(lines: list[str], at: int, closers: _Closers) -> tuple[tuple[Block, ...], int]:
    """The blocks that begin at a line (matrices may stand side by side), and the line after them."""
    line = lines[at]
    if fence := _FENCE.match(line):
        block, end = _fence(lines, at, fence)
        return (block,), end
    if _CONSOLE.match(line):
        end = next((k for k in range(at, len(lines)) if not lines[k].strip()), len(lines))
        return (Fence("python", "\n".join(lines[at:end]), at + 1),), end
    if div := _DIV.match(line):
        title = div_title(div["name"].lower(), at + 1)
        return ((title,) if title else ()), at + 1
    if heading := heading_at(lines, at):
        return (heading[0],), heading[1]
    if rows := rows_at(lines, at):
        return rows
    paragraph, end = _paragraph(lines, at, closers)
    return (paragraph,), end


def _paragraph(lines: list[str], start: int, closers: _Closers) -> tuple[Paragraph, int]:
    """Lines up to a blank one or the next block; a display or a list that is open goes on to its end."""
    at, closer, depth = start, "", 0
    while at < len(lines):
        line = lines[at]
        if at > start and not closer:
            blank = not line.strip()
            if (blank and not _row_follows(lines, at)) if depth else (blank or _interrupts(lines, at)):
                break
        depth = _list_depth(line, depth) if "[" in line or "]" in line else depth
        closer = _left_open(line, closer) if "$$" in line or "\\" in line else closer
        at += 1
        if closer and not closers.later(closer, at):
            closer = ""
    return Paragraph("\n".join(lines[start:at]), start + 1), at


def _interrupts(lines: list[str], at: int) -> bool:
    """Whether another block begins at a line of a paragraph."""
    line = lines[at]
    return bool(
        _FENCE.match(line)
        or _CONSOLE.match(line)
        or _DIV.match(line)
        or heading_at(lines, at, within=True)
        or opening_at(line, at + 1)
        or rows_at(lines, at)
    )


def _row_follows(lines: list[str], at: int) -> bool:
    """Whether a blank line only parts two rows of a list."""
    return at + 1 < len(lines) and bool(_LIST_ROW.match(lines[at + 1]))


def _list_depth(line: str, depth: int) -> int:
    """How many brackets of a nested list are open after this line; prose with a stray bracket opens none."""
    bare = _REMARK.sub("", line)
    if depth == 0 and not _OPENS_LIST.search(bare):
        return 0
    return max(0, depth + bare.count("[") - bare.count("]"))


def _left_open(line: str, closer: str) -> str:
    """The closing mark that a display still waits for after this line ('' for none)."""
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
    """Where displays close: for each closing mark the lines that hold it, so that an unclosed one costs a look."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._places: dict[str, list[int]] = {}
        for number, line in enumerate(lines):
            if "$$" in line or "\\" in line:
                for mark in {token[0] for token in _OPENERS.finditer(line)}:
                    self._places.setdefault(mark, []).append(number)

    def later(self, closer: str, at: int) -> bool:
        """Whether the display closes, or may go on, at line `at`. It runs over a blank line only if its closing
        mark comes before any line that opens and closes a display of its own."""
        if at >= len(self._lines) or self._lines[at].strip():
            return True
        places = self._places.get(closer, [])
        index = bisect_left(places, at)
        if index == len(places):
            return False
        return closer != "$$" or self._lines[places[index]].count("$$") % 2 == 1


def _fence(lines: list[str], start: int, opening: re.Match[str]) -> tuple[Fence, int]:
    at = start + 1
    while at < len(lines) and not _closes_fence(lines[at], opening["mark"]):
        at += 1
    return Fence(opening["language"].lower(), "\n".join(lines[start + 1 : at]), start + 2), at + 1


def _closes_fence(line: str, mark: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(mark) and bare == mark[0] * len(bare)


# — what carries no mathematics —


def _lines(text: str) -> list[str]:
    """The lines of the file, with comments, front matter and quote marks overwritten by blanks."""
    lines = _without_comments(text).split("\n")
    _blank_front_matter(lines)
    _blank_line_numbers(lines)
    barred = ["|" in line and line.strip()[0] == "|" for line in lines]
    for at, line in enumerate(lines):
        if line.lstrip()[:1] == "+" and _GRID_RULE.fullmatch(line):  # the rules of a table drawn with +---+---+
            inner = 0 < at < len(lines) - 1 and barred[at - 1] and barred[at + 1]
            lines[at] = line.replace("+", "|").replace("=", "-") if inner else ""
    _blank_quotes(lines)
    return lines


def _blank_line_numbers(lines: list[str]) -> None:
    """Overwrite the numbers of a listing that was copied together with them: '1Q = X', '2K = X'."""
    number = 0
    for at, line in enumerate(lines):
        begins = line[:1] == "1" and line[1:2].isalpha() and not line.startswith("1st")
        if begins and at + 1 < len(lines) and lines[at + 1][:1] == "2":
            number = 1
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
        elif ">" in line[:8] and not _CONSOLE.match(line) and (found := _QUOTE.match(line)):
            lines[at] = " " * found.end() + line[found.end() :]


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
