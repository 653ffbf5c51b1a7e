"""Matrices drawn side by side over several lines, with brackets, bars or boxes, and their names beside or above them:

     | 1 0 |        | 1 1 |              Q         K
Q =  | 0 1 |   K =  | 0 1 |           ┌     ┐   ┌     ┐
                                      │ 1 0 │   │ 1 1 │
                                      └     ┘   └     ┘
or with blanks alone:

Q = 1 0    K = 1 1
    0 1        0 2
"""

from __future__ import annotations

import re

from qkv.expr.late import late
from qkv.records import dataclass
from qkv.sheet.grids import Cell, Found

_NUMBER = r"[-+−]?(?:\d+(?:\.\d*)?|\.\d+|∞|inf)(?:/\d+)?"
# A second bracket opens or closes a nested list: Q = [[1, 0],   K = [[1, 1],
_GROUP = re.compile(rf"\[?[\[(|⎡⎢⎣⎛⎜⎝│⌈⌊]\s*(?P<body>{_NUMBER}(?:(?:\s+|\s*,\s*){_NUMBER})*)\s*[\])|⎤⎥⎦⎞⎟⎠│⌉⌋]\]?")
_LETTERS = r"[^\W\d][^\s=≈\[\](){}|│]{0,12}"
_BETWEEN = late(rf"[\s,;]*(?:and|und|et|y)?\s*(?:(?P<name>{_LETTERS})\s*[=:≈])?\s*")
_UNBRACKETED = re.compile(rf"\s*+(?:(?:{_LETTERS}\s*=\s*)?{_NUMBER}(?:[\s,;]++|$))++$")
_PART = late(rf"(?P<name>{_LETTERS})\s*=|{_NUMBER}(?=[\s,;]|$)")
_NUMBERS = re.compile(rf"\s+{_NUMBER}(?:\s+{_NUMBER})*+\s*")
_NAMED = late(r"\s*[^\W\d][^=]{0,20}=(?:[^=]{0,20}=){0,4}\s*")
_SEVERAL = late(rf"\s*(?:{_LETTERS}\s*=\s+)*{_LETTERS}\s*=\s*")
_HEADS = re.compile(rf"\s*{_LETTERS}(?:\s{{2,}}{_LETTERS})+\s*")
_CORNERS = re.compile(r"[\s┌┐└┘╭╮╰╯─⎡⎤⎣⎦⎛⎞⎝⎠⌈⌉⌊⌋\[\]|/\\_-]*")


@dataclass(frozen=True, slots=True)
class _Row:
    """One bracketed row: its cells, where it stands, and the name before it."""

    cells: tuple[Cell, ...]
    start: int
    end: int
    name: Cell | None


def drawn_at(lines: list[str], at: int) -> tuple[Found, ...]:
    """The matrices that are drawn side by side from this line on; none where it is anything else."""
    if at + 1 == len(lines) or not lines[at + 1].strip():
        return ()  # two rows at least
    first = at
    heads = _heads(lines, at)
    if heads:
        first += 1
    while first < len(lines) and lines[first].strip() and first <= at + 2 and _CORNERS.fullmatch(lines[first]):
        first += 1
    rows, end = [], first
    while end < len(lines) and (row := _row(lines[end], end + 1)):
        rows.append(row)
        end += 1
    widest = max(rows, key=len, default=())
    if len(rows) < 2 or len(widest) < 2:
        return _unbracketed(lines, at) or _around_names(lines, at) if not rows else ()
    while end < len(lines) and lines[end].strip() and _CORNERS.fullmatch(lines[end]):
        end += 1
    return _matrices(rows, widest, heads, end)


def _row(line: str, number: int) -> tuple[_Row, ...]:
    """The bracketed rows of a line, if it holds nothing else but names."""
    rows, done = [], 0
    for found in _GROUP.finditer(line):
        between = _BETWEEN.fullmatch(line, done, found.start())
        if between is None:
            return ()
        name = Cell(f"{between['name']} =", number, between.start("name") + 1) if between["name"] else None
        cells = tuple(
            Cell(part[0], number, found.start("body") + part.start() + 1)
            for part in re.finditer(_NUMBER, found["body"])
        )
        rows.append(_Row(cells, found.start(), found.end(), name))
        done = found.end()
    return tuple(rows) if not line[done:].strip(" ,;.") else ()


def _heads(lines: list[str], at: int) -> tuple[Cell, ...]:
    """Names in a line above boxes."""
    line = lines[at]
    if not _HEADS.fullmatch(line) or at + 1 >= len(lines) or not re.match(r"\s*[┌│╭⎡⎛|\[(]", lines[at + 1]):
        return ()
    return tuple(Cell(f"{part[0]} =", at + 1, part.start() + 1) for part in re.finditer(r"\S+", line))


def _matrices(
    rows: list[tuple[_Row, ...]], widest: tuple[_Row, ...], heads: tuple[Cell, ...], end: int
) -> tuple[Found, ...]:
    found = []
    placed = 0
    abreast = all(len(row) == len(widest) for row in rows)  # then their order tells, even where blanks were lost
    for i, anchor in enumerate(widest):
        own = [part for row in rows for part in row if part.start < anchor.end and part.end > anchor.start]
        own = [row[i] for row in rows] if abreast else own
        names = [part.name for part in own if part.name] or [
            head for head in heads if head.column - 1 < anchor.end and head.column + len(head.text) - 2 > anchor.start
        ]
        if len(names) != 1 or len(own) < 2 or len({len(part.cells) for part in own}) > 1:
            return ()
        blank = Cell("", own[0].cells[0].line, 1)
        cells = tuple((names[0] if i == 0 else blank, *part.cells) for i, part in enumerate(own))
        found.append(Found(cells, end, False, False))
        placed += len(own)
    return tuple(found) if placed == sum(map(len, rows)) else ()


def _unbracketed(lines: list[str], at: int) -> tuple[Found, ...]:
    """Matrices without brackets: one line has their names, and each reaches from its name to the next one's."""
    if "=" not in lines[at] and "=" not in lines[at + 1]:
        return ()
    rows, end = [], at
    while end < len(lines) and _UNBRACKETED.fullmatch(lines[end]):
        rows.append(list(_PART.finditer(lines[end])))
        end += 1
    named = [i for i, row in enumerate(rows) if any(part["name"] for part in row)]
    if len(rows) < 2 or len(named) != 1:
        return ()
    names = [part for part in rows[named[0]] if part["name"]]
    edges = [part.start() for part in names] + [max(map(len, lines[at:end])) + 1]
    found = [_between(rows, at, edges[i], edges[i + 1]) for i in range(len(names))]
    if (
        len(names) < 2
        or not all(found)
        or sum(len(row) for row in rows) != len(names) + sum(len(row) for matrix in found for row in matrix)
    ):
        return ()
    heads = [Cell(f"{name['name']} =", at + named[0] + 1, name.start() + 1) for name in names]
    return tuple(
        Found(
            tuple((head if i == 0 else Cell("", row[0].line, 1), *row) for i, row in enumerate(matrix)),
            end,
            False,
            False,
        )
        for head, matrix in zip(heads, found, strict=True)
    )


def _around_names(lines: list[str], at: int) -> tuple[Found, ...]:
    """Rows above and below a line of names, as a page without its brackets is copied:

        1 0         1 1
    Q =         K =
        2 1         0 2
    """
    middle = at
    while middle < len(lines) and _NUMBERS.fullmatch(lines[middle]):
        middle += 1
    above = middle - at
    if not above or middle == len(lines) or not _NAMED.fullmatch(lines[middle]) or (at and lines[at - 1].strip()):
        return ()
    end = middle + 1
    while end < len(lines) and _NUMBERS.fullmatch(lines[end]):
        end += 1
    if not 0 <= end - middle - 1 - above <= 1:
        return ()
    rows = [(line, list(re.finditer(_NUMBER, lines[line]))) for line in range(at, end) if line != middle]
    several = _parted(rows, lines[middle], middle, r"\S[^=]*=") if _SEVERAL.fullmatch(lines[middle]) else ()
    found = several or _parted(rows, lines[middle], middle, r"\S.*=")
    return tuple(Found(cells, end, False, False) for cells in found)


def _parted(
    rows: list[tuple[int, list[re.Match[str]]]], line: str, middle: int, name: str
) -> list[tuple[tuple[Cell, ...], ...]]:
    """The numbers to the right of each name of a line; none where they do not make matrices."""
    names = list(re.finditer(name, line))
    edges = [*(found.end() for found in names), 1_000_000]
    matrices = []
    for i, found in enumerate(names):
        own = [
            [Cell(part[0], at + 1, part.start() + 1) for part in row if edges[i] <= part.start() < edges[i + 1]]
            for at, row in rows
        ]
        if len({len(cells) for cells in own}) > 1 or not own[0]:
            return []
        head, blank = Cell(found[0], middle + 1, found.start() + 1), Cell("", own[0][0].line, 1)
        matrices.append(tuple((blank if k else head, *cells) for k, cells in enumerate(own)))
    placed = sum(len(row) - 1 for matrix in matrices for row in matrix)
    return matrices if placed == sum(len(row) for _, row in rows) else []


def _between(rows: list[list[re.Match[str]]], at: int, start: int, stop: int) -> list[list[Cell]]:
    """The numbers of each line between two columns; nothing where they are no matrix of two rows or more."""
    cells = [
        [
            Cell(part[0], at + i + 1, part.start() + 1)
            for part in row
            if not part["name"] and start <= part.start() < stop
        ]
        for i, row in enumerate(rows)
    ]
    matrix = [row for row in cells if row]
    return matrix if len(matrix) > 1 and len({len(row) for row in matrix}) == 1 else []
