"""Rows of cells → events: what a table or grid means.

numeric tables     one matrix, named beside a row ('E ='), in the corner, or by the words before; labels dropped
tables of vectors  one matrix a column; under a header that is no name, each row is a statement of its own too
tables of columns  '| token | score | weight |': one column vector for each quantity
key → value        '| d_k | 2 |': one statement a row
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from qkv.errors import Location, QkvError
from qkv.expr.nodes import Expr, Infinite, Matrix, Name, number
from qkv.sheet.draft import Event, Said, Stated
from qkv.sheet.grammar import Chain, parse_math
from qkv.sheet.grids import NUMBER, Cell
from qkv.sheet.limits import Limits, check_cells
from qkv.sheet.model import Link, Origin, Relation, Unread
from qkv.sheet.phrases import COUNTER, QUANTITY
from qkv.sheet.segments import Rows

_MARKED = re.compile(r"`([^`]*)`|\$\$?([^$]*)\$\$?|\\\((.*?)\\\)")
_VECTOR = re.compile(r"[\[(].*[\])](?:\^?\{?(?:T|⊤|\\top)\}?)?|\\begin\{[bp]?matrix\}.*")
_PLAIN = re.compile(r"[-+−–]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$")
_MATHEMATICAL = re.compile(r"[\\^_·×√α-ωΑ-Ω$`₀-₉=]|^\W*[A-Za-z]['′]?$")


@dataclass(frozen=True, slots=True)
class _Layout:
    """A table taken apart: its name cell, its column heads (may be empty), its row labels, and its data."""

    name: Cell | None
    heads: tuple[Cell, ...]
    labels: tuple[str, ...]
    corner: Cell | None
    body: tuple[tuple[Cell, ...], ...]


def read_rows(block: Rows, limits: Limits) -> Iterator[Event]:
    """The events of a table or grid."""
    at = Location(block.line)
    try:
        check_cells(len(block.cells), max(map(len, block.cells)), at, limits)
    except QkvError as refusal:
        yield Unread(block.line, "a table", refusal.message)
        return
    layout = _layout(block)
    if not layout.body or not layout.body[0]:
        yield from _as_words(block)
        return
    sorts = [_sort_of([row[i] for row in layout.body if i < len(row)]) for i in range(max(map(len, layout.body)))]
    if set(sorts) <= {"number"}:
        yield from _numeric(layout, block)
    elif "vector" in sorts:
        yield from _vectors(layout, block, sorts)
    else:
        yield from _mixed(layout, block)


def _layout(block: Rows) -> _Layout:
    rows = [tuple(_split_numbers(row)) for row in block.cells]
    name = next((row[0] for row in rows if row and row[0].text.endswith("=")), None)
    if name:
        rows = [row[1:] if row and (row[0] is name or not row[0].text) else row for row in rows]
    heads: tuple[Cell, ...] = ()
    if block.header and rows and not (block.piped and _is_data(rows[0])):
        heads, rows = rows[0], rows[1:]
    rows = [row for row in rows if any(cell.text for cell in row)]
    if not name and rows and _labelled(heads, rows):
        corner = heads[0] if heads and len(heads) >= max(map(len, rows)) else None
        heads = heads[1:] if corner else heads
        return _Layout(None, heads, tuple(row[0].text for row in rows), corner, tuple(row[1:] for row in rows))
    return _Layout(name, heads, (), None, tuple(rows))


def _split_numbers(row: tuple[Cell, ...]) -> Iterator[Cell]:
    """Bars around a row are brackets: '| 1 0 2 |' is three cells."""
    for cell in row:
        parts = cell.text.split()
        if len(parts) > 1 and len(row) <= 2 and all(_PLAIN.match(part) for part in parts):
            for found in re.finditer(r"\S+", cell.text):
                yield Cell(found[0], cell.line, cell.column + found.start())
        else:
            yield cell


def _is_data(row: Sequence[Cell]) -> bool:
    """Whether the first row of a Markdown table is numbers, because a matrix was typed as a table."""
    return all(NUMBER.match(_bare(cell.text)) for cell in row)


def _labelled(heads: Sequence[Cell], rows: Sequence[Sequence[Cell]]) -> bool:
    """Whether the first column holds labels: words, or a count of the rows under a head that says so."""
    if any(len(row) < 2 for row in rows):
        return False
    first = [_bare(row[0].text) for row in rows]
    if all(not NUMBER.match(text) and not _VECTOR.fullmatch(text) for text in first):
        return True
    if not heads or not first[0].isdigit():
        return False
    counts = [str(i) for i in range(int(first[0]), int(first[0]) + len(rows))]
    if first != counts or first[0] not in ("0", "1"):
        return False
    head = _bare(heads[0].text)
    return (
        not head or bool(COUNTER.match(head)) or (not NUMBER.match(head) and _sort_of([r[1] for r in rows]) == "vector")
    )


def _bare(text: str) -> str:
    """A cell without code or mathematics marks around all of it."""
    text = text.replace("**", "").strip()
    found = _MARKED.fullmatch(text)
    return next(part for part in found.groups() if part is not None).strip() if found else text


def _sort_of(cells: Sequence[Cell]) -> str:
    filled = [_bare(cell.text) for cell in cells if cell.text]
    if filled and all(NUMBER.match(text) or _is_fraction(text) for text in filled):
        return "number"
    if filled and all(_vector_source(Cell(text, 1, 1)) for text in filled):
        return "vector"
    return "text"


def _is_fraction(text: str) -> bool:
    return bool(re.fullmatch(r"[-−]?\\[dt]?frac\{?\d+\}?\{?\d+\}?|[-−]?e\^\{?[-−]?[\d.]+\}?|[-−]?√\d+|[—–-]", text))


def _numeric(layout: _Layout, block: Rows) -> Iterator[Event]:
    quantities = [head for head in layout.heads if QUANTITY.search(_bare(head.text))]
    if layout.labels and quantities and len(layout.heads) == len(layout.body[0]):
        for i, head in enumerate(layout.heads):
            column = [row[i] for row in layout.body if i < len(row)]
            yield from _matrix_event([[cell] for cell in column], head, block)
        return
    name = layout.name or layout.corner
    if not name and len(layout.heads) == 1 and len(layout.body[0]) == 1:
        name = layout.heads[0]
    yield from _matrix_event(layout.body, name, block)


def _matrix_event(rows: Sequence[Sequence[Cell]], name: Cell | None, block: Rows) -> Iterator[Event]:
    """One matrix; a name cell that is no name goes to the words before it."""
    first = rows[0][0]
    at = Location(first.line, first.column)
    named = _name(name) if name else None
    if name and name.text and not named:
        yield Said(name.text, Location(name.line, name.column))
    cells = tuple(tuple(value for cell in row if (value := _value(cell)) is not None) for row in rows)
    lost = [cell for row in rows for cell in row if cell.text and _value(cell) is None]
    value = Matrix(cells, at=at)
    yield Stated(_chain(named, value, at, block, rows), Origin.TABLE)
    for cell in lost:
        yield Unread(cell.line, cell.text, "this cell is no number")


def _chain(name: Link | None, value: Matrix, at: Location, block: Rows, rows: Sequence[Sequence[Cell]]) -> Chain:
    text = "\n".join("\t".join(cell.text for cell in row) for row in rows[:50])
    link = Link(Relation.EQUAL if name else Relation.FIRST, value, text, at)
    start = min(name.at, at) if name else at
    end = max(row[-1].line for row in rows if row)
    return Chain((name, link) if name else (link,), start, end, text)


def _name(cell: Cell) -> Link | None:
    """The name in a cell such as 'E =', '$Q$' or 'K (keys)'."""
    text = re.sub(r"\s*\([^()]*\)\s*$", "", _bare(cell.text.rstrip("=:≈ "))).strip()
    if not text or len(text) > 40 or " " in text.replace("\\ ", "") or text.isdigit():
        return None
    if not cell.text.endswith("=") and not _MATHEMATICAL.search(text) and not re.fullmatch(r"W[qkvoQKVO]\d?", text):
        return None
    chains = parse_math(_bare(text), Location(cell.line, cell.column)).chains
    if len(chains) == 1 and len(chains[0].links) == 1 and isinstance(chains[0].links[0].expr, Name):
        return chains[0].links[0]
    return None


def _value(cell: Cell) -> Expr | None:
    """The number, or other expression, in a cell; None for an empty one or one that is not readable."""
    text = _bare(cell.text)
    at = Location(cell.line, cell.column)
    if _PLAIN.match(text):
        return replace(number(text.replace("−", "-").replace("–", "-").rstrip(".") or text), text=text, at=at)
    if text in ("-∞", "−∞", "–∞", "-inf", "-Inf", "-infinity"):
        return Infinite(-1, at=at)
    if re.fullmatch(r"[-−]?\d+,\d+", text):
        return replace(number(text.replace(",", ".").replace("−", "-")), text=text, at=at)
    if not text or text in ("-", "—", "–"):
        return None
    chains = parse_math(text, at).chains
    return chains[0].links[0].expr if len(chains) == 1 and len(chains[0].links) == 1 else None


def _vectors(layout: _Layout, block: Rows, sorts: list[str]) -> Iterator[Event]:
    """Columns of vectors: stacked, each column is a matrix; under a head that is no name, rows are statements too."""
    for i, sort in enumerate(sorts):
        if sort != "vector":
            continue
        cells = [row[i] for row in layout.body if i < len(row) and row[i].text]
        head = layout.heads[i] if i < len(layout.heads) else None
        chains = [_vector_chain(cell) for cell in cells]
        if head and head.text and not _name(head):
            yield Said(head.text, Location(head.line, head.column))
        yield from _stacked(chains, head, block, cells)
        if not (head and _name(head)):
            yield from _row_statements(chains, layout.labels)


def _stacked(chains: Sequence[Chain | None], head: Cell | None, block: Rows, cells: Sequence[Cell]) -> Iterator[Event]:
    rows = []
    for chain, cell in zip(chains, cells, strict=True):
        value = chain.links[-1].expr if chain else None
        if not isinstance(value, Matrix):
            yield Unread(cell.line, cell.text, "this cell is no vector")
            return
        rows.append(value.rows[0] if len(value.rows) == 1 else tuple(row[0] for row in value.rows))
    if len({len(row) for row in rows}) == 1:
        at = Location(cells[0].line, cells[0].column)
        yield Stated(
            _chain(_name(head) if head else None, Matrix(tuple(rows), at=at), at, block, [[c] for c in cells]),
            Origin.TABLE,
        )


def _row_statements(chains: Sequence[Chain | None], labels: Sequence[str]) -> Iterator[Event]:
    for i, chain in enumerate(chains):
        if chain:
            label = labels[i] if i < len(labels) else str(i + 1)
            yield Stated(chain, Origin.TABLE, row_label=label, named=False)


def _vector_source(cell: Cell) -> tuple[str, int, str] | None:
    """The vector in a cell, its offset there, and the remark after it."""
    marked = _MARKED.match(cell.text)
    if marked:
        group = next(i for i in (1, 2, 3) if marked[i] is not None)
        if _VECTOR.fullmatch(marked[group].strip()):
            return marked[group], marked.start(group), cell.text[marked.end() :].strip()
        return None
    found = re.match(r"[\[(][^\[\]()]*[\])](?:\^?\{?(?:T|⊤|\\top)\}?)?", cell.text)
    if not found or not re.search(r"\d.*[,;\s].*\d", found[0]):
        return None
    return found[0], 0, cell.text[found.end() :].strip()


def _vector_chain(cell: Cell) -> Chain | None:
    source = _vector_source(cell)
    if not source:
        return None
    chains = parse_math(source[0], Location(cell.line, cell.column + source[1])).chains
    return replace(chains[0], trail=source[2].lstrip("—–- ")) if len(chains) == 1 else None


def _mixed(layout: _Layout, block: Rows) -> Iterator[Event]:
    """Rows that are statements: a formula and its value, or cells that are equations themselves."""
    for index, row in enumerate(layout.body):
        label = block_label = layout.labels[index] if index < len(layout.labels) else ""
        told = False
        for cell in row:
            text = _bare(cell.text)
            if re.search(r"[=≈]", text):
                for chain in parse_math(text, Location(cell.line, cell.column)).chains:
                    told = True
                    yield Stated(chain, Origin.TABLE, row_label=block_label, named=False)
        if not told:
            yield from _keyed(label, row)


def _keyed(label: str, row: Sequence[Cell]) -> Iterator[Event]:
    """'| d_k | 2 |' and '| Sum | 14.48 |'."""
    values = [cell for cell in row if cell.text]
    last = values[-1] if values else None
    value = _value(last) if last and (NUMBER.match(_bare(last.text)) or _VECTOR.fullmatch(_bare(last.text))) else None
    if not last or value is None or isinstance(value, (Name,)):
        yield Said(" ".join([label, *(cell.text for cell in values)]), Location(row[0].line if row else 1))
        return
    at = Location(last.line, last.column)
    name = _formula(label, at) if _MATHEMATICAL.search(label) else None
    links = (
        (name, Link(Relation.EQUAL, value, last.text, at)) if name else (Link(Relation.FIRST, value, last.text, at),)
    )
    chain = Chain(links, at, last.line, f"{label} {last.text}".strip())
    yield Stated(chain, Origin.TABLE, row_label="" if name else label, named=False)


def _formula(label: str, at: Location) -> Link | None:
    chains = parse_math(_bare(label), Location(at.line)).chains
    return chains[0].links[0] if len(chains) == 1 and len(chains[0].links) == 1 else None


def _as_words(block: Rows) -> Iterator[Event]:
    for row in block.cells:
        if row:
            yield Said(" ".join(cell.text for cell in row if cell.text), Location(row[0].line, row[0].column))
