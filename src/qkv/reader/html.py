"""Tables written in HTML, as wikis and office programs export them."""

from __future__ import annotations

import re

from qkv.reader.page import Cell
from qkv.regex import regex

_OPENS = regex(r"\s*(?:<(?:p|div|center|figure)\b[^<>]*>\s*)*<table\b", re.IGNORECASE)
_TAG = regex(r"<(?P<end>/?)(?P<tag>table|tr|td|th)\b[^<>]*>", re.IGNORECASE)
_INNER = regex(r"</?(?:b|i|em|strong|span|p|br|font|small|u)\b[^<>]*>", re.IGNORECASE)
LINES = 5_000  # a table that is not closed by then is none


def html_table_at(lines: list[str], at: int) -> tuple[tuple[tuple[Cell, ...], ...], int, bool] | None:
    """The cells of the HTML table that begins at a line, the line after it, and whether its first row is its head."""
    if "<" not in lines[at] or not _OPENS.match(lines[at]):
        return None
    end = at
    while "</table" not in lines[end].lower():
        end += 1
        if end == len(lines) or end > at + LINES or "<table" in lines[end] or lines[end].strip() == "$$":
            return None  # displays side by side: the table only lays out the page
    rows: list[list[Cell]] = []
    header = False
    opened: tuple[int, int] | None = None  # the line and the offset at which a cell begins
    for number in range(at, end + 1):
        for found in _TAG.finditer(lines[number]):
            tag = found["tag"].lower()
            if opened and rows:
                rows[-1].append(_cell(lines, opened, number, found.start()))
            header = header or (tag == "th" and len(rows) == 1)
            if tag == "tr" and not found["end"]:
                rows.append([])
            opened = (number, found.end()) if tag in ("td", "th") and not found["end"] else None
    cells = tuple(tuple(row) for row in rows if row)
    return (cells, end + 1, header) if cells else None


def _cell(lines: list[str], opened: tuple[int, int], line: int, end: int) -> Cell:
    """The text from where a cell was opened to where the next tag of the table stands."""
    first, start = opened
    text = lines[first][start:end]
    if line > first:
        text = " ".join([lines[first][start:], *lines[first + 1 : line], lines[line][:end]])
    bare = _INNER.sub(lambda found: " " * len(found[0]), text)
    return Cell(" ".join(bare.split()), first + 1, start + 1 + len(bare) - len(bare.lstrip()))
