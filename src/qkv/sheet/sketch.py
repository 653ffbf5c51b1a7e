"""Products and sums drawn over several lines, as in blogs and mails:

               [0, 0, 1]
[1, 0, 1, 0] x [1, 1, 0] = [0, 1, 1]            [0.0, 0.0, 0.0]
               [0, 1, 0]                      + [1.0, 4.0, 0.0]
               [1, 1, 0]                      = [1.0, 4.0, 0.0]

They are written out on one line: [1, 0, 1, 0] × [[0, 0, 1], …] = [0, 1, 1]. A name may stand before them: Q = …
"""

from __future__ import annotations

import re
from itertools import pairwise

from qkv.expr.late import late
from qkv.records import dataclass

_NUMBER = r"[-+−]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?"
_GROUP = re.compile(rf"[\[(|]\s*({_NUMBER}(?:(?:\s*,\s*|\s+){_NUMBER})*)\s*[\])|]")
_SIGN = re.compile(r"[xX×*@·.+=≈]")
_FIRST = frozenset("[(|xX×*@·.+=≈")  # what a line of a drawing begins with, behind its name
_NAME = re.compile(r"\s*(?P<name>[^\W\d][^\s=≈|\[(]{0,8}(?: [^\W\d][^\s=≈|\[(]{0,8}){0,2}) *[=≈]\s*(?=[\[(|])")
_RULE = late(r"\s*[-─—_=]{3,}\s*")
_SIGNS = {"x": "×", "X": "×", "*": "×", ".": "×"}
HIGHEST = 24  # lines of one drawing


@dataclass(frozen=True, slots=True)
class Sketch:
    """A drawing on one line, the line of the document that tells what is done, and the index of the line after it."""

    text: str
    line: int
    end: int


@dataclass(frozen=True, slots=True)
class _Mark:
    """A bracketed row of numbers, or a sign, and where it stands."""

    text: str
    row: int
    start: int
    end: int

    @property
    def is_sign(self) -> bool:
        return len(self.text) == 1


def sketch_at(lines: list[str], at: int) -> Sketch | None:
    """The drawing that begins on this line, if it is one."""
    marks: list[_Mark] = []
    names: list[str] = []
    end = at
    while end < min(len(lines), at + HIGHEST):
        name = _NAME.match(lines[end]) if "=" in lines[end] or "≈" in lines[end] else None
        start = name.end() if name else 0
        found = _marks(lines[end], end, start) if lines[end][start:].lstrip()[:1] in _FIRST else []
        if not found and not (marks and _RULE.fullmatch(lines[end])):
            break
        marks += found
        names += [name["name"]] if name and found else []
        end += 1
    if not marks:
        return None
    signs = [mark for mark in marks if mark.is_sign]
    groups = [mark for mark in marks if not mark.is_sign]
    if not signs or len({mark.row for mark in groups}) < 2:
        return None
    text = (_sum(marks) or _product(signs, groups)) if len(names) < 2 else ""
    text = f"{names[0]} = {text}" if names and text else text
    return Sketch(text, next(sign.row for sign in signs) + 1, end) if text else None


def _marks(line: str, row: int, start: int) -> list[_Mark]:
    """The groups and signs of a line from `start` on; none if it holds anything else."""
    marks, done = [], start
    for found in [*_GROUP.finditer(line, start), None]:
        between = line[done : found.start() if found else len(line)]
        sign = between.strip()
        if sign and not _SIGN.fullmatch(sign):
            return []
        if sign:
            place = done + between.index(sign)
            marks.append(_Mark(sign, row, place, place + 1))
        if found:
            marks.append(_Mark(", ".join(re.findall(_NUMBER, found[1])), row, found.start(), found.end()))
            done = found.end()
    return marks


def _sum(marks: list[_Mark]) -> str:
    """One group a line, each after the first with a sign before it, and = before the last."""
    rows = [[mark for mark in marks if mark.row == row] for row in dict.fromkeys(mark.row for mark in marks)]
    if any(len(row) != (1 if i == 0 else 2) or row[-1].is_sign for i, row in enumerate(rows)):
        return ""
    signs = [row[0].text for row in rows[1:]]
    if any(sign not in "+" for sign in signs[:-1]) or signs[-1:] not in (["="], ["≈"]) or len(rows) < 3:
        return ""
    return " ".join((f"{row[0].text} " if len(row) == 2 else "") + f"[{row[-1].text}]" for row in rows)


def _product(signs: list[_Mark], groups: list[_Mark]) -> str:
    """Groups above each other are a matrix; matrices and signs from left to right, and not above each other."""
    columns: list[list[_Mark]] = []
    for group in sorted(groups, key=lambda mark: mark.start):
        if columns and any(group.start < other.end and other.start < group.end for other in columns[-1]):
            columns[-1].append(group)
        else:
            columns.append([group])
    parts = [(min(m.start for m in own), max(m.end for m in own), _matrix(own)) for own in columns]
    parts += [(sign.start, sign.end, _SIGNS.get(sign.text, sign.text)) for sign in signs]
    parts.sort()
    apart = all(a[1] <= b[0] for a, b in pairwise(parts))
    turns = all((len(a[2]) == 1) != (len(b[2]) == 1) for a, b in pairwise(parts))
    whole = all(text for *_, text in parts) and len(parts[0][2]) > 1 and len(parts[-1][2]) > 1
    return " ".join(text for *_, text in parts) if apart and turns and whole else ""


def _matrix(rows: list[_Mark]) -> str:
    """A nested list, if the rows stand on lines that follow each other and are of one length."""
    rows = sorted(rows, key=lambda mark: mark.row)
    follow = all(b.row - a.row == 1 for a, b in pairwise(rows))
    if not follow or len({row.text.count(",") for row in rows}) > 1:
        return ""
    lists = [f"[{row.text}]" for row in rows]
    return lists[0] if len(lists) == 1 else f"[{', '.join(lists)}]"
