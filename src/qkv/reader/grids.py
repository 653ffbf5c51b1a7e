"""Lines → rows of cells: tables between bars, HTML tables, and plain grids of numbers set with tabs or blanks.

Only what is surely a table is taken; a line that might be prose stays prose. What the cells mean is for tables.py.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from qkv.library.words import means
from qkv.reader.html import html_table_at
from qkv.reader.page import Cell, Rows
from qkv.reader.vector_lines import said_at, vectors_at
from qkv.regex import regex

Found = tuple[tuple[Rows, ...], int]

NUMBER = regex(
    r"[-+−–]?\s?(?:(?:\d{1,3}(?:(?:,\d{3}){2,}|(?:\u202f\d{3})+)|\d+(?:(?:[.,]|\{,\})\d*)?|[.,]\d+)(?:[eE][-+−]?\d+)?"
    r"(?:\s?(?:[×x·*]|\\times|\\cdot)\s?10\s?\^?\s?(?:\{[-+−]?\d+\}|[-+−]?\d+|[⁻⁺]?[⁰¹²³⁴-⁹]+))?"
    r"(?:/\d+(?:\.\d+)?)?(?:\s?\\?%)?|∞|\\infty|inf(?:inity)?)$",
    re.IGNORECASE,
)


def rows_at(lines: list[str], at: int) -> Found | None:
    """The tables that begin at a line (grids may stand side by side), and the line after them."""
    line = lines[at]
    if "<" in line and (html := html_table_at(lines, at)):
        cells, end, header = html
        return (_table(cells, at + 1, end, header=header),), end
    if "|" in line and (table := _barred_at(lines, at)):
        return table
    below = lines[at + 1] if at + 1 < len(lines) else ""
    if "$" in line or not (_DIGIT.search(line) or _DIGIT.search(below)):
        return None
    return vectors_at(lines, at) or said_at(lines, at) or _grid_at(lines, at)


_DIGIT = regex(r"[\d∞]")


def split_table(cells: tuple[tuple[Cell, ...], ...], line: int, end: int, *, header: bool) -> Rows:
    """A table as heads, labels and body, for readers of other forms (CSV)."""
    return _table(cells, line, end, header=header)


def _table(cells: tuple[tuple[Cell, ...], ...], line: int, end: int, *, header: bool) -> Rows:
    """Cells as heads, labels and body: the first row is the head where a rule follows it or it holds no number
    below words, the first column holds labels where it holds no number but for a counter."""
    rows = [row for row in cells if any(cell.text for cell in row)]
    if not rows:
        return Rows((), line, end)
    header = header and rows[0] is cells[0]  # Markdown wants a row of heads; some leave it empty
    heads: tuple[Cell, ...] = ()
    if len(rows) > 1 and ((header and not _is_body(rows)) or _is_head(rows)):
        heads, rows = rows[0], rows[1:]
    labels: tuple[Cell, ...] = ()
    corner: Cell | None = None
    name: Cell | None = None
    if any(row and row[0].text.rstrip().endswith(("=", "≈")) for row in rows) and not heads:
        name = next(row[0] for row in rows if row[0].text.rstrip().endswith(("=", "≈")))
        rows = [row[1:] if not _is_number(row[0].text) else row for row in rows]
    elif _has_labels(rows) or _counts(heads, rows):
        labels = tuple(row[0] for row in rows)
        rows = [row[1:] for row in rows]
        if len(heads) > max(map(len, rows)):
            corner, heads = heads[0], heads[1:]
    return Rows(tuple(rows), line, end, heads, labels, corner, name)


def _is_number(text: str) -> bool:
    return bool(NUMBER.match(text.strip("*$` ")))


def _is_body(rows: list[tuple[Cell, ...]]) -> bool:
    """Whether the row above the rule is one of the body, as Markdown forces it on a table without heads."""
    first = rows[0]
    numbers = all(_is_number(cell.text) for cell in first)
    return numbers and len(first) == len(rows[1]) and _is_number(rows[1][0].text)


def _is_head(rows: list[tuple[Cell, ...]]) -> bool:
    words = [cell.text for cell in rows[0] if cell.text]
    numbers = [cell for cell in rows[1] if _is_number(cell.text)]
    return bool(words) and not any(map(_is_number, words)) and len(numbers) > 1 and not words[0].endswith("=")


def _has_labels(rows: list[tuple[Cell, ...]]) -> bool:
    """Whether the first column labels the rows: no cell of it is a number, and other columns have some."""
    if not all(len(row) > 1 for row in rows):
        return False
    return not any(_is_number(row[0].text) for row in rows)


def _counts(heads: tuple[Cell, ...], rows: list[tuple[Cell, ...]]) -> bool:
    """Whether the first column counts the rows: 1, 2, 3 under 'j', perhaps with a sum below, or beside heads that count
    the columns likewise."""
    texts = [row[0].text.strip("*$` ") for row in rows if row]
    texts = texts if texts and texts[-1].isdigit() else texts[:-1]
    counted = texts and texts in ([str(k) for k in range(len(texts))], [str(k + 1) for k in range(len(texts))])
    head, *others = [cell.text.strip("*$` ") for cell in heads] or ["-"]
    square = others == texts and len(others) > 1
    return bool(counted) and (not head or means(head, "counter") or square) and len(heads) > 1


# — between bars —

_RULE = regex(r"\s*\|?\s*:?-+:?\s*(?:[|+]\s*:?-+:?\s*)*\|?\s*$")
_INERT = regex(r"`[^`]*`|\$[^$]*\$|\\\(.*?\\\)|\\\|")  # a bar inside of code or mathematics divides no cells
_DELIMITERS = regex(r"\\[()]")  # \( … \) are dollars
_NUMBERS = regex(r"[\[(][-−+\d.,;\s]+[\])]")  # a vector
_NAMED = regex(r"\s*(?:\(?(?:[a-z]|[ivx]{1,4}|\d{1,2})[.)]\s+)?(?P<name>[^\s|][^|]{0,80}?)\s*[=≈]\s*\|")


def _barred_at(lines: list[str], at: int) -> Found | None:
    """A Markdown table, or rows between bars, that begins at this line."""
    ruled = (
        at + 1 < len(lines)
        and "-" in lines[at + 1]
        and ("|" in lines[at + 1] or "+" in lines[at + 1])
        and _RULE.match(lines[at + 1])
    )
    headed = not ruled and _is_headline(lines, at)
    if not ruled and not headed and not _is_barred(lines[at]):
        return None
    rows, end = [_split(lines[at], at + 1)], at + (2 if ruled else 1)
    if not ruled and len(rows[0]) < 2:
        return None
    while end < len(lines) and ("|" in lines[end] and lines[end].strip() if ruled else _is_barred(lines[end])):
        if not _RULE.match(lines[end]):
            rows.append(_split(lines[end], end + 1))
        end += 1
    if not ruled and len(rows) < 2:
        return None
    return (_table(tuple(rows), at + 1, end, header=bool(ruled) or headed),), end


def _is_barred(line: str) -> bool:
    """A row between bars: '| 1 | 0 |', 'E = | 20.06 | 51.53 |', 'the | 0.4 | 0.2'."""
    bare = _INERT.sub("", line).strip()
    if "|" not in bare:
        return False
    if bare.startswith("|") and bare.endswith("|"):
        return bare.count("|") > 1
    if bare.endswith("|") and _NAMED.match(bare):
        return True
    cells = [cell.strip() for cell in bare.split("|")]
    printed = [_is_number(cell) or bool(_NUMBERS.fullmatch(cell)) for cell in cells]
    worded = all(is_one or _is_label(cell) for cell, is_one in zip(cells, printed, strict=True))
    return len(cells) > 2 and worded and any(printed[1:])


def _is_label(cell: str) -> bool:
    bare = cell.strip("\"'“”‘’„«»")
    return bare == "" or bare.isalpha()


def _is_headline(lines: list[str], at: int) -> bool:
    """Words between bars, above a row of as many cells that does not begin with a bar."""
    below = lines[at + 1] if at + 1 < len(lines) else ""
    if "|" not in lines[at] or below.count("|") != lines[at].count("|") or below.lstrip().startswith("|"):
        return False
    return _is_barred(below) and not _NAMED.match(below) and all(map(_is_label, map(str.strip, lines[at].split("|"))))


def _split(line: str, number: int) -> tuple[Cell, ...]:
    """The cells of a row between bars."""
    hidden = _INERT.sub(lambda found: "\0" * len(found[0]), line)
    cuts = [i for i, character in enumerate(hidden) if character == "|"]
    named = None if hidden.lstrip().startswith("|") else _NAMED.match(line)
    edges = [named.start("name") - 1 if named else -1, *cuts, len(line)]
    cells = [_cell(line, a + 1, b, number) for a, b in pairwise(edges)]
    if cells and not cells[0].text and hidden.lstrip().startswith("|"):
        cells = cells[1:]
    if cells and not cells[-1].text and hidden.rstrip().endswith("|"):
        cells = cells[:-1]
    return tuple(cells)


def _cell(line: str, start: int, end: int, number: int) -> Cell:
    text = line[start:end]
    plain = _DELIMITERS.sub("$", text) if "\\" in text else text
    return Cell(plain.strip(), number, start + 1 + len(text) - len(text.lstrip()))


# — grids of numbers —

_NAME = regex(
    r"\s*(?:\(?(?:[a-z]|[ivx]{1,4}|\d{1,2})[.)]\s+)?(?P<name>[^\s\d=|\[(][^\t|=≈\[]{0,60}?(?:=[^\t|=≈\[]{1,40}?)?)\s*[=≈](?=\s+[-−.\d∞]|\s*$)(?!.*[=≈])"
)
_REMARK = regex(r"\s*(?:←|<-|#).*$")
_BOXED = regex(  # Q_cat [ 0.5  0.5 ]   a remark; q1 [ 0.5  -∞ ]
    r"(?P<label>\s*[^\W\d]\w*[_\d₀-₉]\w*\s+)(?:(?:→|->)\s+)?\[(?P<cells>(?:\s*[-−+]?(?:[\d.]+%?|∞|inf)){2,40}\s*)\](?:\s*$|\s{2,}[^\[\]]*$)"
)
_NO_CELLS = regex(r"(?:[^\W\d_]{2,}[\s,]+){4}|\\(?!infty|times|cdot)|[?!$\[\]]|[^\W\d_]\.\s")
_SAID = regex(r"[^:|\t\d][^:|\t]{0,40}?(?::|-+>|=>|[→⇒])\s+[-−.\d]")
_HIDDEN = frozenset((".", "·", "⋅", "-", "−", "–", "—"))  # behind numbers: a cell that nobody may see
_FIELD = regex(r"[^\t ]+(?: [^\t ]+)*")
_WORD = regex(r"\S+(?:\s?(?:×|\\times)\s?10\s?\^?\S+)?")


class _Line(NamedTuple):
    """A line of a grid: the name before it, and groups of a label (or none) and numbers."""

    name: Cell | None
    groups: tuple[tuple[Cell | None, tuple[Cell, ...]], ...]

    @property
    def widths(self) -> list[int]:
        return [len(numbers) for _, numbers in self.groups]


def _line(line: str, number: int) -> _Line | None:
    """The cells of a line of numbers; None if it is no such line."""
    if len(line) > 200_000 or not _DIGIT.search(line):
        return None
    line = _BOXED.sub(r"\g<label> \g<cells>", _REMARK.sub("", line))
    if _NO_CELLS.search(line):
        return None
    name, start = None, 0
    if found := _NAME.match(line):
        name, start = Cell(f"{found['name']} {line[found.end() - 1]}", number, found.start("name") + 1), found.end()
    groups: list[tuple[Cell | None, list[Cell]]] = []
    for field in _FIELD.finditer(line, start):
        if not _add_field(line, field, number, groups):
            return None
    if not groups or any(not numbers for _, numbers in groups):
        return None
    return _Line(name, tuple((label, tuple(numbers)) for label, numbers in groups))


def _add_field(line: str, field: re.Match[str], number: int, groups: list[tuple[Cell | None, list[Cell]]]) -> bool:
    """Add a field to the groups of a line: numbers, or a label and the numbers behind it."""
    words = list(_WORD.finditer(line, field.start(), field.end()))
    cells = [Cell(word[0].rstrip(",;"), number, word.start() + 1) for word in words]
    begun = bool(groups and groups[-1][1])
    first = next(
        (k for k, cell in enumerate(cells) if NUMBER.match(cell.text) or (begun and cell.text in _HIDDEN)), len(cells)
    )
    if not all(NUMBER.match(cell.text) or cell.text in _HIDDEN for cell in cells[first:]):
        first = len(cells)  # 'Token 1' as a field of its own
        if len(cells) > 4 or any("." in cell.text for cell in cells if NUMBER.match(cell.text)):
            return False
    if first:
        label = line[cells[0].column - 1 : words[first - 1].end()].rstrip(":| ")
        if len(label) > 40 or label.endswith((",", ".", ";")) or re.search(r"[=≈]", label):
            return False
        groups.append((Cell(label, number, cells[0].column), []))
    elif not groups:
        groups.append((None, []))
    commas = [word[0].endswith(",") for word in words[first:]]
    if any(commas) and not all(commas[:-1]):
        return False
    groups[-1][1].extend(cells[first:])
    return True


def _grid_at(lines: list[str], at: int) -> Found | None:
    """A plain grid of numbers that begins at this line, with names and heads above it; or several side by side."""
    start, titles, heads = _above(lines, at)
    rows: list[_Line] = []
    end = start
    while end < len(lines) and (row := _line(lines[end], end + 1)):
        named = row.name is not None and any(r.name or _label(r) for r in rows)
        named = named or (bool(rows) and rows[0].name is not None and _label(row) != _label(rows[0]) == "")
        named = named or (len(rows) > 1 and bool(_label(rows[0])) and not _label(rows[-1]) and bool(_label(row)))
        if rows and (named or len(row.groups) != len(rows[-1].groups) or abs(row.widths[0] - rows[0].widths[0]) > 3):
            break
        rows.append(row)
        end += 1
        if len(rows) == 3 and not _is_grid(rows, lines[start:end], bool(titles or heads)):
            return None  # three rows tell: no need to walk through all that follow
    if not _is_grid(rows, lines[start:end], bool(titles or heads)):
        return None
    if not (titles or heads) and all(map(_SAID.match, lines[start:end])) and not _are_counted(rows):
        return None  # 'k1: 1 0 1' above 'weights: 0.2 0.8' are as many statements as lines
    grids = _grids(rows, titles, heads, at + 1, end)
    return (grids, end) if grids else None


def _are_counted(rows: list[_Line]) -> bool:
    """Whether the labels of lines are a word and a number that counts them: 'token 1: 0.71', 'token 2: 2.12  1.41'."""
    parted = [_label(row).rpartition(" ") for row in rows]
    first = int(parted[0][2]) if parted[0][2].isdecimal() else -1
    counted = [last for _, _, last in parted] == [str(first + k) for k in range(len(rows))]
    return len(rows) > 1 and counted and len({word for word, _, _ in parted}) == 1 and bool(parted[0][0])


def _label(row: _Line) -> str:
    label = row.groups[0][0]
    return label.text if label is not None else ""


def _is_grid(rows: list[_Line], lines: list[str], headed: bool) -> bool:
    if not rows:
        return False
    width = max(rows[0].widths)
    if len(rows) == 1:
        label = rows[0].groups[0][0]
        return (rows[0].name is not None and width > 1 and label is None) or (headed and label is not None)
    tabbed = all("\t" in line.rstrip() for line in lines)
    counted = _are_counted(rows) and max(max(row.widths) for row in rows) > 1
    named = rows[0].name is not None or headed
    labelled = headed and all(row.groups[0][0] is not None for row in rows)
    return width > 1 or tabbed or labelled or counted or (named and len(rows) > 2)


def _above(lines: list[str], at: int) -> tuple[int, list[Cell], list[Cell]]:
    """The line at which the numbers begin, the names above grids that stand side by side, and the heads of columns."""
    titles: list[Cell] = []
    heads: list[Cell] = []
    start = at
    for _ in range(2):
        following = start + 1 < len(lines) and lines[start + 1].strip()
        if not following or not _is_head_line(lines, start):
            break
        fields = [Cell(m[0], start + 1, m.start() + 1) for m in re.finditer(r"\S+(?: \S+)*", lines[start])]
        parts = r"[^\t]*[^\s][^\t]*" if "\t" in lines[start] else r"\S+"
        words = [Cell(m[0].strip(), start + 1, m.start() + 1) for m in re.finditer(parts, lines[start])]
        below = next((row for k in (1, 2) if start + k < len(lines) and (row := _line(lines[start + k], 1))), None)
        if below is None:
            break
        width, first = sum(below.widths), below.groups[0][0]
        if len(words) == width or (len(words) == width + 1 and first is not None):
            heads = words[len(words) - width :]
            titles = titles or words[: len(words) - width]  # what the corner says
        elif len(fields) > 1 and not heads and width % len(fields) == 0:
            titles = fields
        else:
            return at, [], []
        start += 1
    return start, titles, heads


def _is_head_line(lines: list[str], at: int) -> bool:
    """Whether a line may stand above a grid: no numbers of its own but for labels such as d0, no sentence."""
    line = lines[at].partition("\t")[2] or lines[at]  # the cell in the corner may be a formula
    if _line(lines[at], 1) or _SAID.match(line) or re.search(r"[=:;.,!?$\[\]]\s*$|[=≈\[\]|]", line):
        return False
    return any(k < len(lines) and _line(lines[k], 1) is not None for k in (at + 1, at + 2))


def _grids(rows: list[_Line], titles: list[Cell], heads: list[Cell], line: int, end: int) -> tuple[Rows, ...]:
    """One grid for each group of the rows, or for each name above them."""
    count = len(rows[0].groups)
    if count == 1 and len(titles) > 1:
        width = rows[0].widths[0] // len(titles)
        if any(row.widths[0] != width * len(titles) for row in rows):
            return ()
        rows = [
            row._replace(
                groups=tuple((None, row.groups[0][1][k * width : (k + 1) * width]) for k in range(len(titles)))
            )
            for row in rows
        ]
        count = len(titles)
    found = []
    for k in range(count):
        own = heads[k * len(heads) // count : (k + 1) * len(heads) // count]
        title = titles[k] if len(titles) == count else None
        found.append(_grid([(row.name, *row.groups[k]) for row in rows], title, own, line, end))
    return tuple(found)


def _grid(
    rows: list[tuple[Cell | None, Cell | None, tuple[Cell, ...]]],
    title: Cell | None,
    heads: list[Cell],
    line: int,
    end: int,
) -> Rows:
    name = next((name for name, _, _ in rows if name is not None), None)
    labels = [label for _, label, _ in rows]
    if not heads and labels[0] is None and len(rows) > 2 and all(label is not None for label in labels[1:]):
        heads, rows, labels = list(rows[0][2]), rows[1:], labels[1:]
    body = tuple(numbers for _, _, numbers in rows)
    known = tuple(label for label in labels if label is not None)
    return Rows(body, line, end, tuple(heads), known if len(known) == len(body) else (), title, name)
