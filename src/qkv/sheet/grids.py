"""Lines → rows of cells: Markdown tables, and plain grids of numbers set with tabs or blanks.

Only what is surely a table is taken; a line that might be prose stays prose. What the cells mean is for tables.py.
"""

from __future__ import annotations

import re
from itertools import pairwise

from qkv.expr.late import late
from qkv.records import dataclass, replace
from qkv.sheet.numerals import LONE_DIGITS


@dataclass(frozen=True, slots=True)
class Cell:
    """The text of a cell and where it begins."""

    text: str
    line: int
    column: int

    @property
    def is_name(self) -> bool:
        """Whether the cell names what stands beside it, as 'E =' does."""
        return self.text.endswith(("=", "≈"))


@dataclass(frozen=True, slots=True)
class Found:
    """Rows of cells and the index of the line after them."""

    cells: tuple[tuple[Cell, ...], ...]
    end: int
    header: bool
    piped: bool


_RULE = late(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_INERT = late(r"`[^`]*`|\$[^$]*\$|\\\|")  # a bar inside of code or mathematics divides no cells
# 'E =', '(a) Q K^T =', '2) S =', 'C = [head1 | head2] =', and 'A:' before a bracketed row.
_NAME = late(
    r"\s*(?:\(?(?:[a-z]|[ivx]{1,4}|\d{1,2})[.)]\s+)?(?:(?P<name>[^\s\d=|\[(](?:[^\t|[]|\[(?:\s?[^\W\d][^][\t|]{0,20}\|[^][\t]{1,40}\])?){0,80}?)\s*(?P<relation>=|≈)\s*(?=[^\s=≈]|$)(?!.*[=≈])"
    r"|(?P<letters>[A-Za-z]\S{0,3})\s*:\s*(?=[\[|⎡]\s*[-−\d]))"
)
_LEFT = "[(|⎡⎢⎣⎛⎜⎝┌│└⌈⌊"
_RIGHT = "])|⎤⎥⎦⎞⎟⎠┐│┘⌉⌋"
DIGIT = re.compile(r"[\d∞]")
_NO_CELLS = re.compile(r"(?:[^\W\d_]{2,}[\s,]+){4}|\\(?!infty|times|cdot|frac)|[?!]")  # prose, or LaTeX
NUMBER = re.compile(
    r"[-+−–]?\s?(?:(?:\d{1,3}(?:,\d{3}){2,}|\d+(?:(?:[.,]|\{,\})\d*)?|[.,]\d+)(?:[eE][-+−]?\d+)?(?:\s?(?:[×x·*]|\\times|\\cdot)\s?10\s?\^?\s?(?:\{[-+−]?\d+\}|[-+−]?\d+|[⁻⁺]?[⁰¹²³⁴-⁹]+))?"
    r"(?:/\d+(?:\.\d+)?)?(?:\s?\\?%)?|∞|\\infty|inf(?:inity)?)$",
    re.IGNORECASE,
)
_REMARK = re.compile(r"(?<=[\])])\s*(?:←|<-|#).*$")  # '[1, 0]  ← cat'
_BOX_LABEL = late(
    r"\s*(?P<label>[\"'“]?[^\W\d_][\w'’-]{0,15}[\"'”]?)\s*:?\s*(?=\[\s*[-−+\d.][-−+\d.\s]*\]\s*$)"
)  # cat [ 2  0 ]
_LABEL = late(r"[\"'“‘(]?[^\W\d_][^\s=≈]*$|[\"'“].*[\"'”]$")


def table_at(lines: list[str], at: int) -> Found | None:
    """A Markdown table, or rows between bars, that begins at this line."""
    if "|" not in lines[at]:
        return None
    ruled = at + 1 < len(lines) and "-" in lines[at + 1] and "|" in lines[at + 1] and _RULE.match(lines[at + 1])
    if not ruled and not _is_barred(lines[at]):
        return None
    rows, end = [_split(lines[at], at + 1)], at + (2 if ruled else 1)
    if not ruled and len(rows[0]) < 2:
        return None
    while end < len(lines) and (_is_row(lines[end]) if ruled else _is_barred(lines[end])):
        if not _RULE.match(lines[end]):
            rows.append(_split(lines[end], end + 1))
        end += 1
    if not ruled and len(rows) < 2:
        return None
    return Found(tuple(rows), end, bool(ruled), True)


def _is_row(line: str) -> bool:
    return "|" in line and bool(line.strip())


def _is_barred(line: str) -> bool:
    """A row between bars, as '| 1 | 0 |' or 'E = | 20.06 | 51.53 |'."""
    bare = _INERT.sub("", line).strip()
    if bare.count("|") < 2 or not bare.endswith("|"):
        return False
    return bare.startswith("|") or bool(_NAME.match(bare) and re.match(r"[^|]*[=≈]\s*\|", bare))


def _split(line: str, number: int) -> tuple[Cell, ...]:
    """The cells of a row between bars."""
    hidden = _INERT.sub(lambda found: "\0" * len(found[0]), line)
    cuts = [i for i, character in enumerate(hidden) if character == "|"]
    named = None if hidden.lstrip().startswith("|") else _NAME.match(line)  # '2) E = | 20.06 | 51.53 |'
    edges = [named.start("name") - 1 if named and named["name"] else -1, *cuts, len(line)]
    cells = [_cell(line, a + 1, b, number) for a, b in pairwise(edges)]
    if cells and not cells[0].text:
        cells = cells[1:]
    if cells and not cells[-1].text and hidden.rstrip().endswith("|"):
        cells = cells[:-1]
    return tuple(cells)


def _cell(line: str, start: int, end: int, number: int) -> Cell:
    text = line[start:end]
    return Cell(text.strip(), number, start + 1 + len(text) - len(text.lstrip()))


_VECTORS = late(r"\s*(?P<label>[^\s\[(].{0,30}?)\s+(?P<cells>(?:[\[(][-−\d.,\s]+[\])]\s*){2,})$")
_VECTOR = late(r"[\[(][^\])]*[\])]")


def vectors_at(lines: list[str], at: int) -> Found | None:
    """A table set with blanks whose cells are vectors: 'word  Q  K' over 'cat  [1, 0]  [0, 1]'."""
    if at + 1 == len(lines) or not lines[at + 1].rstrip().endswith(("]", ")")):
        return None
    heads = lines[at].split()
    rows: list[tuple[Cell, ...]] = []
    end = at + 1
    while end < len(lines) and lines[end].rstrip().endswith(("]", ")")) and (found := _VECTORS.match(lines[end])):
        label = Cell(found["label"], end + 1, found.start("label") + 1)
        vectors = _VECTOR.finditer(lines[end], found.start("cells"))
        rows.append((label, *(Cell(cell[0], end + 1, cell.start() + 1) for cell in vectors)))
        end += 1
    widths = {len(row) for row in rows}
    if len(rows) < 2 or len(widths) != 1 or len(heads) not in (len(rows[0]), len(rows[0]) - 1):
        return None
    head = [Cell(name, at + 1, lines[at].index(name) + 1) for name in heads]
    first = [Cell("", at + 1, 1)] if len(heads) < len(rows[0]) else []
    return Found((tuple(first + head), *rows), end, True, True)


_CORNERS = re.compile(r"\s*[┌╭└╰]\s+[┐╮┘╯]\s*")


def grid_at(lines: list[str], at: int) -> Found | None:
    """A plain grid of numbers that begins at this line, or below the corners of its bracket."""
    if lines[at].lstrip()[:1] not in "┌╭└╰" or not _CORNERS.fullmatch(lines[at]):
        return _grid_at(lines, at)
    found = _grid_at(lines, at + 1) if at + 1 < len(lines) else None
    below = found is not None and found.end < len(lines) and _CORNERS.fullmatch(lines[found.end])
    return replace(found, end=found.end + 1) if found and below else found


def _grid_at(lines: list[str], at: int) -> Found | None:
    """A plain grid of numbers that begins at this line: two rows or more, or one row with a name and blanks between."""
    rows: list[tuple[Cell, ...]] = []
    head = _labels_above(lines, at)
    end = at + (1 if head else 0)
    first = grid_row(lines[end], end + 1) if end < len(lines) else None
    if not first or (_width(first) < 2 and "\t" not in lines[end] and not _boxed(_unnamed(lines[end]))):
        return None
    named, width = False, 0
    while end < len(lines) and (row := grid_row(lines[end], end + 1)):
        if rows and ((named and row[0].is_name) or abs(_width(row) - width) > 3):
            break
        named, width = named or row[0].is_name, width or _width(row)
        rows.append(row)
        end += 1
    tabs = bool(rows) and "\t" in lines[end - 1]
    alone = named and not tabs and len(rows) == 1 and _width(rows[0]) >= 2 and not _bracketed(lines[at])
    if len(rows) < 2 and not alone:
        return None
    aligned = _align(rows)
    if head and len(head) < len(aligned[0]):
        head = (Cell("", at + 1, 1), *head)
    return Found((head, *aligned) if head else aligned, end, bool(head), False)


def grid_row(line: str, number: int) -> tuple[Cell, ...] | None:
    """The cells of a line of numbers, with a name ('E =') or a label before them; None if it is no such line."""
    if len(line) > 200_000 or "$" in line or not DIGIT.search(line):
        return None
    line = _REMARK.sub("", line)
    if _NO_CELLS.search(line):
        return None
    name, start = None, 0
    if found := _NAME.match(line):
        told = found["name"] or found["letters"]
        at = max(found.start("name"), found.start("letters"))
        name, start = Cell(f"{told} {found['relation'] or '='}", number, 1 + at), found.end()
    elif found := _BOX_LABEL.match(line):
        name, start = Cell(found["label"], number, 1 + found.start("label")), found.end()
    cells = _tabbed(line, start, number) if "\t" in line[start:].strip("\n") else _blanked(line, start, number)
    if cells is None:
        return None
    return (name, *cells) if name else cells


def _tabbed(line: str, start: int, number: int) -> tuple[Cell, ...] | None:
    """Cells between tabs; empty cells count, but for the one before the first tab under a name."""
    rest = line[start:]
    lead = len(rest) - len(rest.lstrip("\t")) if start else 0
    cells, at = [], start + lead
    for part in line[at:].split("\t"):
        cells.append(Cell(part.strip(), number, at + 1 + len(part) - len(part.lstrip())))
        at += len(part) + 1
    data = [cell for cell in cells if cell.text]
    numbers = [cell for cell in data if NUMBER.match(cell.text)]
    labels = len(data) - len(numbers)
    if not numbers or labels > 1 or (labels == 1 and NUMBER.match(data[0].text)):
        return None
    return tuple(cells)


_DECIMAL_COMMA = late(r"\d,\d")
_TOKEN = late(r"[-+−–]\s(?=\d)|[^\s,;]+(?:\s?(?:×|\\times|\\cdot|x)\s?10\s?\^?\S+)?")


def _blanked(line: str, start: int, number: int) -> tuple[Cell, ...] | None:
    """Cells between blanks, in brackets of their own or none; a first cell may be a label."""
    body = line[start:].rstrip()
    if body.endswith(","):
        return None  # a row of a nested list
    offset = start + len(body) - len(body.lstrip())
    body = body.lstrip()
    boxed = _boxed(body)
    if boxed:
        body, offset = body[1:-1], offset + 1
    if any(c in body for c in "[](){}$|") and "{" not in body:
        return None
    cells = _decimal_cells(body, offset, number)
    if cells:
        return cells
    cells = tuple(
        Cell(
            LONE_DIGITS.get(found[0], found[0]) if boxed or found.start() else found[0],
            number,
            offset + found.start() + 1,
        )
        for found in _TOKEN.finditer(body)
    )
    numeric = [bool(NUMBER.match(cell.text)) for cell in cells]
    if not cells or not all(numeric[1:]) or (not numeric[0] and (boxed or not _LABEL.match(cells[0].text))):
        return None
    return cells if "," not in body.replace(", ", " ") or boxed else None


def _decimal_cells(body: str, offset: int, number: int) -> tuple[Cell, ...]:
    """Cells such as '0,5 1,25' whose commas are decimal marks: only blanks part them, and there are several."""
    if not _DECIMAL_COMMA.search(body):
        return ()
    found = list(re.finditer(r"\S+", body))
    if len(found) < 2 or not all(NUMBER.match(token[0]) for token in found):
        return ()
    return tuple(Cell(token[0], number, offset + token.start() + 1) for token in found)


def _boxed(body: str) -> bool:
    """Whether a line is one bracketed row ('[1 0 2]' or '⎡1 0⎤'), not a nested list."""
    bare = body.strip()
    if len(bare) < 3 or bare[0] not in _LEFT or bare[-1] not in _RIGHT:
        return False
    return not any(c in _LEFT + _RIGHT for c in bare[1:-1])


def _unnamed(line: str) -> str:
    """A line without the name before its numbers: 's = [ 0.2 ]' begins a column."""
    found = _NAME.match(line)
    return line[found.end() :] if found else line


def _bracketed(line: str) -> bool:
    return line.rstrip()[-1:] in _RIGHT


def _width(row: tuple[Cell, ...]) -> int:
    return sum(1 for cell in row if NUMBER.match(cell.text))


def _labels_above(lines: list[str], at: int) -> tuple[Cell, ...] | None:
    """A line of column labels over rows that have labels of their own."""
    if at + 2 >= len(lines) or not (DIGIT.search(lines[at + 1]) and DIGIT.search(lines[at + 2])):
        return None
    if grid_row(lines[at], at + 1):
        return None
    below = [grid_row(lines[at + 1], at + 2), grid_row(lines[at + 2], at + 3)]
    if not all(row and _LABEL.match(row[0].text) and not row[0].is_name for row in below):
        return None
    line = lines[at]
    pattern = r"[^\t]+" if "\t" in line else r"\S+"
    cells = tuple(_cell(line, f.start(), f.end(), at + 1) for f in re.finditer(pattern, line) if f[0].strip())
    width = _width(below[0] or ())
    return cells if len(cells) in (width, width + 1) and not re.search(r"[=.:;]\s*$", line) else None


def _align(rows: list[tuple[Cell, ...]]) -> tuple[tuple[Cell, ...], ...]:
    """Rows under a name or a label get an empty first cell where they have none, so that columns agree."""
    leads = [not NUMBER.match(row[0].text) and bool(row[0].text) for row in rows]
    if not any(leads):
        blank = all(not row[0].text for row in rows)
        return tuple(row[1:] if blank else row for row in rows)
    aligned = []
    for row, lead in zip(rows, leads, strict=True):
        if lead or not row[0].text:
            aligned.append(row)
        else:
            aligned.append((Cell("", row[0].line, 1), *row))
    return tuple(aligned)
