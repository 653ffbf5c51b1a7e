"""Arrays drawn in text → the same lines, with each row of them in square brackets behind the name of the array.

    Q = | 1 0 |   K = ┌ 2 1 ┐    V = 1 0     W = 1 0 / 0 1        A =      B =      C = [ 1 0     D = [ 2 0
        | 0 1 |       └ 0 1 ┘        3 1                          1 0      0 1            0 1 ]         0 2 ]
                                                                  0 1      1 0
Bars, corners, braces and brackets say the same, and so does nothing at all where names tell which numbers are theirs.
What rows in brackets are together is for maths/drawn.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from qkv.regex import regex

Span = tuple[int, int]

_CELL = r"[-−+]?(?:(?:\d+(?:[.,]\d+|\.)?|[.,]\d+)(?:/\d+)?|inf|∞)"
_ROW = rf"{_CELL}(?:[ \t]+{_CELL})+"


def with_brackets(text: str) -> str:
    """The text with the rows of drawn arrays in brackets; lines stay where they are, and columns where there is room.

    >>> print(with_brackets("Q = | 1 0 |   K = 2 1 / 0 1"))
    Q = [ 1 0 ]   K =[2 1 ; 0 1]
    >>> print(with_brackets("A = 1 0   B = 2 1" + chr(10) + "    0 1       1 2"))
    A =[1 0]  B =[2 1]
       [0 1]     [1 2]
    """
    for said, instead in _IN_ONE_LINE:
        text = said.sub(instead, text)
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if _FRAME.search(line):
            _without_frame(lines, at)
    for start, end in _drawings(lines):
        lines[start:end] = _written(lines[start:end])
    return "\n".join(lines)


# — rows that say themselves where they begin and end —


def _rows_in_a_line(found: re.Match[str]) -> str:
    """'1 -1 / 2 0' as '[1 -1 ; 2 0]', if all rows are of one length."""
    rows = re.sub(r"(?<=\s)/(?=\s)|\|", ";", found["rows"])
    return f"[{rows}]" if len({len(row.split()) for row in rows.split(";")}) == 1 else found[0]


def _vectors_in_a_line(found: re.Match[str]) -> str:
    return "[" + re.sub(r"\](?P<gap>[ \t]*);", r"]\g<gap>,", found["rows"]) + "]"


_THOUSANDS = regex(r"\s*\d{1,3}(?: \d{3})+\s*")


def _row_in_a_line(found: re.Match[str]) -> str:
    """The row of a drawn matrix in brackets; 65 536 000 in a cell behind another one is a number of a table."""
    before = found.string[found.string.rfind("\n", 0, found.start()) + 1 : found.start()]
    if found["bars"] and "|" in before and _THOUSANDS.fullmatch(found["bars"]):
        return found[0]
    return f"[{found['bars'] or found['round'] or found['box']}]"


# What draws a row, and what stands in its place. The order matters.
_IN_ONE_LINE = (
    # | 1 2 |, ┌ 1 2 ┐ and ( 1  2 )
    (
        regex(
            rf"[|│](?P<bars>[ \t]*{_ROW}[ \t]*)[|│](?![ \t]*{_CELL})|\((?P<round>[ \t]+{_ROW}[ \t]+)\)"
            rf"|[┌└│](?P<box>[ \t]*{_CELL}(?:[ \t]+{_CELL})*[ \t]*)[┐┘│]"
        ),
        _row_in_a_line,
    ),
    # | 1 |, behind such a row: the row of a drawn column
    (
        regex(rf"(?m)^(?=[^|│\n]*\])(?P<row>[^|│\n]*)[|│](?P<cell>[ \t]+{_CELL}[ \t]+)[|│]"),
        r"\g<row>[\g<cell>]",
    ),
    # what is said behind a row, '(2 features, 3 tokens)', or behind a term of a sum that goes on in the next line
    (
        regex(
            r"(?m)(?:(?<=[\]\d])[ \t]{2,}\(\d+ [^\W\d_]{3,},? [^()\n=]*\d+ [^\W\d_]{3,}\)[ \t]*$"
            r"|[ \t]{2,}\((?=[^()\n]*[^\W\d_]{2})[^()\n=]*\)[ \t]*$(?=\n[ \t]*[+=]))"
        ),
        "",
    ),
    # corners of bars in plain signs
    (regex(r"(?m)^[ \t]*[_¯‾-](?:[ \t]{2,}[_¯‾-])+[ \t]*$"), ""),
    # {[1, 0]; [0, 2]}
    (
        regex(r"\{(?P<rows>[ \t]*\[[^\[\]{}\n]*\](?:[ \t]*[;,][ \t]*\[[^\[\]{}\n]*\])+[ \t]*)\}"),
        _vectors_in_a_line,
    ),
    # (1 0 ; 0 2), [1 0 | 0 2] and = 1 0 / 0 2
    (regex(rf"[\[(](?P<rows>[ \t]*{_ROW}(?:[ \t]*[;|][ \t]*{_ROW})+[ \t]*)[\])]"), _rows_in_a_line),
    (regex(rf"(?m)(?<==)[ \t]+(?P<rows>{_ROW}(?:[ \t]+/[ \t]+{_ROW})+)(?=[ \t]{{2}}|[ \t]*$)"), _rows_in_a_line),
)

# — frames around rows, and names that stand in them —

_FRAME = regex(r"[┌╭└╰][ \t─]*[┐╮┘╯]|[|│][ \t]{2,}[|│]")


def _without_frame(lines: list[str], at: int) -> None:
    """Take the signs of a frame out of a line; names that stand in it move to the row below."""
    named = _FRAME.sub(_blanks, lines[at]).rstrip()
    inner = at > 0 and "]" in lines[at - 1]
    row = lines[at + 1] if at + 1 < len(lines) else ""
    width = max(len(named), len(row))
    pairs = list(zip(named.ljust(width), row.ljust(width), strict=True))
    if "|" in named or (named and (not named.endswith("=") or "]" not in row)) or any(a != " " != b for a, b in pairs):
        return
    if "]" in row:
        lines[at + 1] = "".join(b if a == " " else a for a, b in pairs).rstrip()
    lines[at] = ""
    if inner:
        _sink(lines, at)


def _sink(lines: list[str], at: int) -> None:
    """Move an empty line behind the rows that it parts."""
    end = next((k for k in range(at + 1, len(lines)) if not lines[k].strip()), len(lines))
    lines[at:end] = [*lines[at + 1 : end], ""]


# — rows that only names part —

_NAMES = tuple(  # of 'S = Q K =' all; 'Q:' where none stands before a '='
    regex(rf"(?<!\S)(?<![^\s:][ \t])[^\W\d][^\s:]*(?: [^\s:]+)*?[ \t]*{sign}(?=\s|$)(?! [^\W\d][^\n=]*=)")
    for sign in "=:"
)
_PIECE = regex(rf"\[[^\[\]\n]*\]|\([^()\n]*,[^()\n]*\)|(?<![^\s\[]){_CELL}(?![^\s\]])")
_EDGES = regex(r"[\[\]→,;]")
_REMARK = regex(r"(?<=[\]),\d])[ \t]+#[ \t][^\[\]\n]*?(?=[ \t]{2}|$)")  # what is said of a row behind it
_ASIDE = regex(r"[ \t]*\([^()]*\)|[ \t]*[=:]$")
_NUMBER_ENDS = regex(r"\d[\W_]*$")
_FAR = 1 << 30


class _Cell(NamedTuple):
    """A number, or a row in brackets: its line in the drawing, and its columns."""

    line: int
    start: int
    end: int


_Rows = dict[int, list[_Cell]]  # by their lines


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of names and numbers: the places of the names with their signs, and of the numbers."""

    names: tuple[Span, ...]
    cells: tuple[Span, ...]


def _line(line: str) -> _Line | None:
    """What a line holds; None where anything but names and numbers stands in it, or behind its first name."""
    line = _REMARK.sub(_blanks, line)
    for sign in _NAMES:
        names = tuple(found.span() for found in sign.finditer(line))
        rest = _blank(line, [(0, names[0][0]), *names] if names else [])
        cells = tuple(found.span() for found in _PIECE.finditer(rest))
        if line.strip() and not _EDGES.sub("", _blank(rest, cells)).strip():
            return _Line(names, cells)
    return None


def _blanks(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _blank(line: str, spans: Iterable[Span]) -> str:
    for start, end in spans:
        line = line[:start] + " " * (end - start) + line[end:]
    return line


def _drawings(lines: Sequence[str]) -> Iterator[Span]:
    """Lines of names and numbers that follow each other, one with the names; numbers that go on others are no part."""
    at = 0
    while at < len(lines):
        end, named = at, -1
        while end < len(lines) and (line := _line(lines[end])) and not (named >= 0 and line.names):
            named, end = end if line.names else named, end + 1
        if named == at or (named > at and not (at and _NUMBER_ENDS.search(lines[at - 1]))):
            yield at, end
        at = max(end, at + 1)


def _written(lines: list[str]) -> list[str]:
    """The lines of a drawing with brackets around its rows, and names that stand alone before the first row."""
    read = [line for line in map(_line, lines) if line is not None]
    at = next(k for k, line in enumerate(read) if line.names)
    names = [(lines[at][start:end], start, end) for start, end in read[at].names]
    if len(names) == 1 and at == 0:
        return lines  # one name before or above its numbers is for grids.py
    alone = not read[at].cells
    rows = [k for k in range(len(lines)) if k != at or not alone]
    cells = [_Cell(k, *span) for k, row in enumerate(rows) for span in read[row].cells]
    arrays = _arrays(_by_names(names, cells)) or (_arrays(_by_gaps(len(names), cells)) if alone and at == 0 else [])
    short = [all(len(row) == 1 for row in array.values()) for array in arrays]
    made = [_without_edges(lines[row], read[row].cells) for row in rows]
    if len(arrays) != len(names) or (len(rows) == 1 and (any(short) or names[0][0].endswith(":"))):
        return lines
    if not alone and all(_is_whole(made, array) for array in arrays):
        return lines
    for array, (name, *_) in reversed(list(zip(arrays, names, strict=True))):
        _put(made, array, f"{_ASIDE.sub('', name)} = " if alone else "")
    return made if not alone else ["", *made] if at == 0 else [*made, ""]


def _without_edges(line: str, cells: Sequence[Span]) -> str:
    """A line without the brackets that stand around several of its rows, and what parts them."""
    line = _REMARK.sub(_blanks, line)
    return _blank(line, [found.span() for found in _EDGES.finditer(_blank(line, cells))])


def _by_names(names: Sequence[tuple[str, int, int]], cells: Sequence[_Cell]) -> list[list[_Cell]]:
    """The cells behind each name and before the next one; none where one stands elsewhere."""
    ends = [*(start for _, start, _ in names[1:]), _FAR]
    groups = [
        [cell for cell in cells if behind <= cell.start and cell.end <= before]
        for (_, _, behind), before in zip(names, ends, strict=True)
    ]
    return groups if sum(map(len, groups)) == len(cells) else []


def _by_gaps(count: int, cells: Sequence[_Cell]) -> list[list[_Cell]]:
    """The cells between the widest gaps that run through all lines; none where it is not clear which are the widest."""
    gaps, end = list[Span](), _FAR
    for cell in sorted(cells, key=lambda cell: cell.start):
        gaps += [(end, cell.start)] if cell.start > end else []
        end = cell.end if end == _FAR else max(end, cell.end)
    gaps.sort(key=lambda gap: gap[0] - gap[1])
    widths = [*(b - a for a, b in gaps), 0]
    if len(gaps) < count - 1 or widths[count - 2] == widths[count - 1]:
        return []
    edges = [0, *sorted(a for a, _ in gaps[: count - 1]), _FAR]
    return [[cell for cell in cells if a <= cell.start < b] for a, b in pairwise(edges)]


def _arrays(groups: Sequence[Sequence[_Cell]]) -> list[_Rows]:
    """The rows of each group by their lines; none at all where a group is no array."""
    found = []
    for group in groups:
        rows: _Rows = {}
        for cell in group:
            rows.setdefault(cell.line, []).append(cell)
        if len(set(map(len, rows.values()))) != 1 or max(rows) - min(rows) >= len(rows):
            return []
        found.append(rows)
    return found


def _is_whole(lines: Sequence[str], array: _Rows) -> bool:
    """Whether the rows of an array stand in brackets already."""
    return all(len(row) == 1 and lines[k][row[0].start] in "[(" for k, row in array.items())


def _put(lines: list[str], array: _Rows, name: str) -> None:
    """Put the rows of an array in brackets, with a name before the first; blanks around them make room if they can."""
    left = min(row[0].start for row in array.values())
    right = max(row[-1].end for row in array.values())
    whole = _is_whole(lines, array)
    if not name and not whole and [len(row) for row in array.values()] == [1]:
        return  # a number
    first, last = ("", "") if whole else ("[", "]")
    room = not name and left > 0 and not any((lines[k][left - 1] + lines[k][right : right + 1]).strip() for k in array)
    taken = 1 if room and not whole else 0
    for k, line in enumerate(lines):
        if k in array:
            row = f"{first}{line[left:right].ljust(right - left)}{last}".replace("(", "[").replace(")", "]")
            lead = name if k == min(array) else " " * len(name)
            lines[k] = f"{line[: left - taken]}{lead}{row}{line[right + taken :]}"
        elif line[left:].strip() and not taken:
            lines[k] = line[:left] + " " * len(name + first + last) + line[left:]
