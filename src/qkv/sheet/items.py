"""Items of a list that together are one value: vectors below 'W_Q:', as in YAML, and a number for each word.

They are overwritten with what they stand for, line by line: '- [1, 0]' with ' [[1, 0],', '- cat: 0.7' with '[0.7,'.
"""

from __future__ import annotations

import re

from qkv.expr.late import late
from qkv.sheet.phrases import QUANTITY, TOTAL

_FIRST = frozenset('-•*"“')  # what an item begins with
_ROW = re.compile(r"\s*[-•*] (?P<value>\[\s*[-−+\d.][-−+\d.,;eE\s∞inf]*\])\s*")
_OVER_ROWS = late(r"\s*(?:[-•*]\s)?[^\s=|][^=|]{0,50}[:：]\s*(?:#.*)?")
_NUMBER = r"(?P<value>[-−]?\d*\.\d+(?:\s?%)?|\d{1,3}\s?%)"
_OF_WORD = re.compile(  # '- cat: 0.7', '* **cat** → 70 %', '"cat": 0.7'
    r"\s*(?:[-•*]\s+(?:\*\*)?[\"“'‘`]?(?P<word>[^\W\d_]{2,})[\"”'’`]?|[\"“](?P<quoted>[^\W\d_]+)[\"”])"
    rf"(?:\*\*)?\s*(?::|→|->)(?:\*\*)?\s*(?:\*\*)?{_NUMBER}(?:\*\*)?\s*"
)


def join_items(lines: list[str]) -> None:
    """Join the items of every such list, in place."""
    marked = [at for at, line in enumerate(lines) if line.lstrip()[:1] in _FIRST]
    for start, end in _runs(lines, marked, _ROW):
        over = lines[start - 1] if start and lines[start - 1].strip() else lines[max(start - 2, 0)]
        if _OVER_ROWS.fullmatch(over) and len({line.count(",") for line in lines[start:end]}) == 1:
            _join(lines, start, end, _ROW, " ")
    for start, end in _runs(lines, marked, _OF_WORD):
        if not any(_names_quantity(line) for line in lines[start:end]):
            _join(lines, start, end, _OF_WORD, "")


def _runs(lines: list[str], marked: list[int], item: re.Pattern[str]) -> list[tuple[int, int]]:
    """Where two items or more stand below each other; only `marked` lines begin as items do."""
    ends: dict[int, int] = {}
    start = -1
    for at in marked:
        if lines[at][-2:].strip() and item.fullmatch(lines[at]):
            start = start if ends.get(start) == at else at
            ends[start] = at + 1
    return [(start, end) for start, end in ends.items() if end - start > 1]


def _names_quantity(line: str) -> bool:
    """Whether an item tells of a quantity of its own: '- sum: 5.4', '- score: 0.5'."""
    found = _OF_WORD.fullmatch(line)
    word = (found["word"] or found["quoted"]) if found else ""
    return bool(TOTAL.search(word) or QUANTITY.search(word))


def _join(lines: list[str], start: int, end: int, item: re.Pattern[str], indent: str) -> None:
    for i in range(start, end):
        found = item.fullmatch(lines[i])
        value = found["value"].replace(" %", "%") if found else lines[i]
        blanks = " " * (len(lines[i]) - len(lines[i].lstrip())) + indent
        lines[i] = f"{blanks}{'[' if i == start else ' '}{value}{']' if i == end - 1 else ','}"
