"""Lines of vectors → tables: set with blanks under heads, or said one after the other behind the word for a token."""

from __future__ import annotations

import re

from qkv.reader.page import Cell, Rows
from qkv.regex import regex

Found = tuple[tuple[Rows, ...], int]

_VECTORS = regex(r"\s*(?P<label>[^\s\[(][^\[(]{0,30}?)\s+(?P<cells>(?:[\[(][-−\d.,\s]{1,200}[\])]\s*){2,12})$")
_VECTOR = regex(r"[\[(][^\])]*[\])]")


def vectors_at(lines: list[str], at: int) -> Found | None:
    """A table set with blanks whose cells are vectors: 'word  Q  K' over 'cat  [1, 0]  [0, 1]'."""
    rows: list[tuple[Cell, ...]] = []
    end = at + 1
    while end < len(lines) and lines[end].rstrip().endswith(("]", ")")) and (found := _VECTORS.match(lines[end])):
        label = Cell(found["label"], end + 1, found.start("label") + 1)
        vectors = _VECTOR.finditer(lines[end], found.start("cells"))
        rows.append((label, *(Cell(cell[0], end + 1, cell.start() + 1) for cell in vectors)))
        end += 1
    title = re.sub(r"\([^()]*\)", lambda found: " " * len(found[0]), lines[at])  # Q (what I seek)
    heads = [Cell(m[0], at + 1, m.start() + 1) for m in re.finditer(r"\S+", title)]
    if len(rows) < 2 or len({len(row) for row in rows}) != 1 or len(rows[0]) - len(heads) not in (0, 1):
        return None
    heads = heads[len(heads) - len(rows[0]) + 1 :]
    body = tuple(row[1:] for row in rows)
    return (Rows(body, at + 1, end, tuple(heads), tuple(row[0] for row in rows)),), end


_PLACED = regex(  # 'word 1:  query (1; 1)   key (1; 0)', '- position 2: k = [0, 1], v = [1, 1]'
    r"[ \t]*(?:[-*+•][ \t]+)?(?P<label>[^\W\d][^:=\[(]{0,30}?)[ \t]*:"
    r"(?P<rest>(?:[ \t,;]*[^\W\d_]+[ \t]*[=:]?[ \t]*[\[(][-−\d.,; \t]{1,200}[\])]){2,8})[.;,]?[ \t]*$"
)
_SPOKEN = regex(r"(?P<head>[^\W\d_]+)[ \t]*[=:]?[ \t]*(?P<vector>[\[(][^\])]*[\])])")


def said_at(lines: list[str], at: int) -> Found | None:
    """Lines that say the same vectors of one token each: a table with those words above its columns."""
    rows: list[tuple[Cell, list[Cell], list[Cell]]] = []
    end = at
    while end < len(lines) and lines[end].rstrip(" .;,").endswith(("]", ")")) and (found := _PLACED.match(lines[end])):
        said = list(_SPOKEN.finditer(lines[end], found.start("rest")))
        heads, cells = ([Cell(m[part], end + 1, m.start(part) + 1) for m in said] for part in ("head", "vector"))
        if rows and [cell.text for cell in heads] != [cell.text for cell in rows[0][1]]:
            break
        rows.append((Cell(found["label"], end + 1, found.start("label") + 1), heads, cells))
        end += 1
    if len(rows) < 2 or len({cell.text for cell in rows[0][1]}) < len(rows[0][1]):
        return None
    body, labels = tuple(tuple(cells) for _, _, cells in rows), tuple(label for label, _, _ in rows)
    return (Rows(body, at + 1, end, tuple(rows[0][1]), labels),), end
