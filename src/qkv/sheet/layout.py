"""The parts of a table: its name, its heads, its row labels, and its data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from qkv.expr.late import late
from qkv.records import dataclass, replace
from qkv.sheet.grids import NUMBER, Cell
from qkv.sheet.phrases import COUNTER, SUM_HEAD
from qkv.sheet.segments import Rows

MARKED = late(r"`([^`]*)`|\$\$?([^$]*)\$\$?|\\\((.*?)\\\)")
VECTOR = late(r"[\[(].*[\])](?:\^?\{?(?:T|⊤|\\top)\}?)?|\\begin\{[bp]?matrix\}.*")
PLAIN = late(r"[-+−–]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$")
_SHAPES = late(
    r"\W*(?:shapes?|dims?|dimensions?|sizes?|form|größe|taille|forme|forma|tamaño|размер|形状)\W*", re.IGNORECASE
)
_SIGMAS = ("Σ", "∑", "\\Sigma", "\\sum")


@dataclass(frozen=True, slots=True)
class Layout:
    """A table taken apart: its name cell, its column heads (may be empty), its row labels, and its data."""

    name: Cell | None
    heads: tuple[Cell, ...]
    labels: tuple[str, ...]
    corner: Cell | None
    body: tuple[tuple[Cell, ...], ...]


def layout_of(block: Rows) -> Layout:
    """Take a table apart."""
    rows = [tuple(_split_numbers(row)) for row in block.cells]
    name = next((row[0] for row in rows if row and row[0].is_name), None)
    if name:
        rows = [row[1:] if row and (row[0] is name or not row[0].text) else row for row in rows]
    heads: tuple[Cell, ...] = ()
    if rows and _is_header(block, rows):
        heads, rows = rows[0], rows[1:]
    rows = [row for row in rows if any(cell.text for cell in row)]
    if heads and len(rows) > 2 and _is_total(rows[-1]):
        rows = rows[:-1]
    if not name and rows and _labelled(heads, rows):
        corner = heads[0] if heads and len(heads) >= max(map(len, rows)) else None
        heads = heads[1:] if corner else heads
        labels, body = tuple(row[0].text for row in rows), tuple(row[1:] for row in rows)
        return _without_shapes(Layout(None, heads, labels, corner, body))
    return _without_shapes(Layout(name, heads, (), None, tuple(rows)))


def _without_shapes(layout: Layout) -> Layout:
    """A table without its columns of shapes: '| formula | shape | result |'."""
    kept = [i for i, head in enumerate(layout.heads) if not _SHAPES.fullmatch(head.text)]
    if len(kept) == len(layout.heads) or any(len(row) != len(layout.heads) for row in layout.body):
        return layout
    body = tuple(tuple(row[i] for i in kept) for row in layout.body)
    return replace(layout, heads=tuple(layout.heads[i] for i in kept), body=body)


def _split_numbers(row: tuple[Cell, ...]) -> Iterator[Cell]:
    """Bars around a row are brackets: '| 1 0 2 |' is three cells."""
    for cell in row:
        parts = cell.text.split()
        if len(parts) > 1 and len(row) <= 2 and all(PLAIN.match(part) for part in parts):
            for found in re.finditer(r"\S+", cell.text):
                yield Cell(found[0], cell.line, cell.column + found.start())
        else:
            yield cell


def _is_total(row: Sequence[Cell]) -> bool:
    """Whether a row only adds up columns above it: '| Σ | | | 40.7 | |', '| Total | 40.7 | 1.000 |'."""
    several = len(row) > 2 or not all(cell.text for cell in row)
    return bool(row) and several and bool(SUM_HEAD.fullmatch(bare(row[0].text)) or bare(row[0].text) in _SIGMAS)


def _is_header(block: Rows, rows: Sequence[Sequence[Cell]]) -> bool:
    """Whether the first row heads the columns. A Markdown table whose first row is numbers is a matrix typed as one;
    rows between bars with no rule have heads if the first row holds no number and the second does."""
    if not block.piped:
        return block.header
    first = [bool(NUMBER.match(bare(cell.text))) for cell in rows[0]]
    second = [bool(NUMBER.match(bare(cell.text))) for cell in rows[min(1, len(rows) - 1)]]
    return not all(first) if block.header else not any(first) and any(second)


def _labelled(heads: Sequence[Cell], rows: Sequence[Sequence[Cell]]) -> bool:
    """Whether the first column holds labels: words, or a count of the rows under a head that says so, or where the
    columns are counted, too."""
    if any(len(row) < 2 for row in rows):
        return False
    first = [bare(row[0].text) for row in rows]
    if all(not NUMBER.match(text) and not VECTOR.fullmatch(text) for text in first):
        return True
    if not heads or not first[0].isdigit():
        return False
    counts = [str(i) for i in range(int(first[0]), int(first[0]) + max(len(rows), len(heads)))]
    if first != counts[: len(rows)] or first[0] not in ("0", "1"):
        return False
    head, *others = (bare(cell.text) for cell in heads)
    if not head or COUNTER.match(head):
        return True
    counted = len(others) > 1 and others == counts[: len(others)]
    return not NUMBER.match(head) and (counted or sort_of([row[1] for row in rows]) == "vector")


def bare(text: str) -> str:
    """A cell without code or mathematics marks around all of it."""
    text = text.replace("**", "").strip()
    found = MARKED.fullmatch(text)
    return next(part for part in found.groups() if part is not None).strip() if found else text


def sort_of(cells: Sequence[Cell]) -> str:
    if all(PLAIN.match(cell.text) for cell in cells):
        return "number"
    filled = [bare(cell.text) for cell in cells if cell.text]
    if filled and all(NUMBER.match(text) or _is_fraction(text) for text in filled):
        return "number"
    if filled and all(vector_source(Cell(text, 1, 1)) for text in filled):
        return "vector"
    return "text"


def _is_fraction(text: str) -> bool:
    return bool(re.fullmatch(r"[-−]?\\[dt]?frac\{?\d+\}?\{?\d+\}?|[-−]?e\^\{?[-−]?[\d.]+\}?|[-−]?√\d+|[—–-]", text))


_LISTED = late(r"[-−]?\d+(?:\.\d+)?(?:(?:,\s+|;\s*)[-−]?\d+(?:\.\d+)?)+")  # 1, 0 without brackets


def vector_source(cell: Cell) -> tuple[str, int, str] | None:
    """The vector in a cell, its offset there, and the remark after it."""
    marked = MARKED.match(cell.text)
    if marked:
        group = next(i for i in (1, 2, 3) if marked[i] is not None)
        if VECTOR.fullmatch(marked[group].strip()):
            return marked[group], marked.start(group), cell.text[marked.end() :].strip()
        return None
    if _LISTED.fullmatch(cell.text):
        return f"[{cell.text}]", -1, ""
    found = re.match(r"[\[(][^\[\]()]*[\])](?:\^?\{?(?:T|⊤|\\top)\}?)?", cell.text)
    if not found or not re.search(r"\d.*[,;\s].*\d", found[0]):
        return None
    return found[0], 0, cell.text[found.end() :].strip()


def with_result(row: Sequence[Cell]) -> str:
    """'| `Q = X W_Q` | `[[1, 0], [2, 1]]` |': a formula, or a name, and the matrix that it is."""
    formula, result = (bare(cell.text) for cell in row)
    named = MARKED.fullmatch(row[0].text.strip()) or re.search("[=≈]", formula)
    return f"{formula} = {result}" if named and result.startswith("[[") and VECTOR.fullmatch(result) else ""
