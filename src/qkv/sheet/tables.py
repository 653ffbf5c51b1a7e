"""Rows of cells → events: what a table or grid means.

numeric tables     one matrix, named beside a row ('E ='), in the corner, or by the words before; labels dropped
tables of vectors  one matrix a column; under a header that is no name, each row is a statement of its own too
tables of columns  '| token | score | weight |': one column vector for each quantity
key → value        '| d_k | 2 |': one statement a row
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from qkv.errors import Location, QkvError
from qkv.expr.late import late
from qkv.expr.names import Symbol
from qkv.expr.nodes import Expr, Infinite, Matrix, Name, Number, is_literal, number, rewrite, walk
from qkv.records import replace
from qkv.sheet.draft import Event, Said, Stated
from qkv.sheet.grammar import Chain
from qkv.sheet.grids import NUMBER, Cell
from qkv.sheet.layout import MARKED, PLAIN, VECTOR, Layout, bare, layout_of, sort_of, vector_source, with_result
from qkv.sheet.limits import check_cells
from qkv.sheet.model import Link, Origin, Relation, Unread
from qkv.sheet.numerals import Comma
from qkv.sheet.phrases import QUANTITY, SPELLED_OUT, SUM_HEAD, VECTOR_WORD
from qkv.sheet.reading import Reading
from qkv.sheet.segments import Rows

_COMMAS = late(r"[-−]?\d+,\d+(?:,\d{3})*")
_THOUSANDS = late(r"[-−]?[1-9]\d{0,2}(?:,\d{3})+")
_INDICES = frozenset("ijntm")
_RUNNING = late(r"[^\s_ᵢⱼ]{1,12}(?:_\{?[ijntm]\}?|[ᵢⱼ])(?![A-Za-z])[^\s_]{0,12}")  # q·k_j, exp(s_j), αᵢ
_COMPONENT = late(r"(?P<base>[qkvQKV])_?\{?(?P<number>\d|[₁-₉])\}?")
_HEAD = late(r"(?:heads?|kopf|tête|cabeza|cabeça|testa|голова|头|ヘッド|헤드)\D{0,3}(\d{1,2})\W*$", re.IGNORECASE)
_TICK = late(r"\s*(?:[✓✔✗✘☑☒✅❌]|(?:ok|right|wrong|correct|incorrect)\b)", re.IGNORECASE)  # a remark on the row
_LOWERED = str.maketrans("₁₂₃₄₅₆₇₈₉", "123456789")
_AXES = late(r"\\(?![A-Za-z])|\\backslash|[↓→↘]|^\W*[^\W\d_]+\s*/\s*[^\W\d_]+\W*$")  # 'q \ k': rows and columns
_MATHEMATICAL = late(r"[\\^_·×√α-ωΑ-Ω$`₀-₉=]|^\W*[A-Za-z]['′]?$")


def read_rows(block: Rows, reading: Reading) -> Iterator[Event]:
    """The events of a table or grid."""
    at = Location(block.line)
    try:
        check_cells(len(block.cells), max(map(len, block.cells)), at, reading.limits)
    except QkvError as refusal:
        yield Unread(block.line, "a table", refusal.message)
        return
    layout = layout_of(block)
    if not layout.body or not layout.body[0]:
        yield from _as_words(block)
        return
    sorts = [sort_of([row[i] for row in layout.body if i < len(row)]) for i in range(max(map(len, layout.body)))]
    if set(sorts) <= {"number"}:
        yield from _numeric(layout, reading)
    elif "vector" in sorts:
        yield from _vectors(layout, sorts, reading)
    else:
        yield from _mixed(layout, reading)


def _numeric(layout: Layout, reading: Reading) -> Iterator[Event]:
    layout = _without_totals(layout)
    quantities = [head for head in layout.heads if QUANTITY.search(bare(head.text))]
    if sum(1 for label in layout.labels if QUANTITY.search(bare(label))) > 1:
        for label, row in zip(layout.labels, layout.body, strict=True):
            yield from _matrix_event([row], Cell(label, row[0].line, 1), reading)
        return
    if layout.labels and quantities and len(layout.heads) == len(layout.body[0]):
        for i, head in enumerate(layout.heads):
            column = [row[i] for row in layout.body if i < len(row)]
            formula = _indexed(head, reading)
            if formula is None:
                yield from _matrix_event([[cell] for cell in column], head, reading)
            else:
                yield from _numbered_cells(formula, column, layout.labels, reading)
        return
    if parts := _components(layout):
        for base, columns in parts.items():
            head = replace(layout.heads[columns[0]], text=base)
            yield from _matrix_event([[row[i] for i in columns] for row in layout.body], head, reading)
        return
    name = layout.name or layout.corner
    if not name and len(layout.heads) == 1 and len(layout.body[0]) == 1:
        name = layout.heads[0]
    yield from _matrix_event(layout.body, name, reading)


def _components(layout: Layout) -> dict[str, list[int]]:
    """'| token | q1 | q2 | k1 | k2 |': the columns of Q and of K. One letter alone may count tokens."""
    found: dict[str, list[int]] = {}
    for i, head in enumerate(layout.heads):
        part = _COMPONENT.fullmatch(bare(head.text))
        if part is None or int(part["number"].translate(_LOWERED)) != len(found.setdefault(part["base"], [])) + 1:
            return {}
        found[part["base"]].append(i)
    width = len(layout.body[0])
    several = len(found) > 1 and min(map(len, found.values())) > 1
    return {base.upper(): columns for base, columns in found.items()} if several and len(layout.heads) == width else {}


def _indexed(head: Cell, reading: Reading) -> Link | None:
    """A head with a running index: $q\\cdot k_j$, or $a_j$, q·k_j and α_j without marks."""
    if not MARKED.fullmatch(head.text.strip()) and not _RUNNING.fullmatch(bare(head.text)):
        return None
    link = _formula(head.text, Location(head.line, head.column), reading)
    indices = {x for part in walk(link.expr) if isinstance(part, Name) for x in part.symbol.indices} if link else set()
    return link if len(indices.intersection(_INDICES)) == 1 else None


def _numbered_cells(head: Link, column: Sequence[Cell], labels: Sequence[str], reading: Reading) -> Iterator[Event]:
    """q · k_j over 4, 2, 7: q · k_1 = 4, q · k_2 = 2, …"""
    for i, cell in enumerate(column):
        value, at = _value(cell, reading), Location(cell.line, cell.column)
        number = bare(labels[i]) if i < len(labels) and bare(labels[i]).isdigit() else str(i + 1)
        if value is not None:
            links = (_numbered(head, number, at), Link(Relation.EQUAL, value, cell.text, at))
            yield Stated(Chain(links, at, cell.line, f"{links[0].text} {cell.text}"), Origin.TABLE, named=False)


def _without_totals(layout: Layout) -> Layout:
    """A table without a last column that only adds the others up."""
    if (
        len(layout.heads) < 3
        or len(layout.heads) != len(layout.body[0])
        or not SUM_HEAD.fullmatch(layout.heads[-1].text)
    ):
        return layout
    return replace(layout, heads=layout.heads[:-1], body=tuple(row[:-1] for row in layout.body))


def _matrix_event(rows: Sequence[Sequence[Cell]], name: Cell | None, reading: Reading) -> Iterator[Event]:
    """One matrix; a name cell that is no name goes to the words before it."""
    first = rows[0][0]
    at = Location(first.line, first.column)
    names = tuple(_of_all(link) for link in _names(name, reading))
    if name and name.text and not names and not _AXES.search(name.text):
        yield Said(name.text, Location(name.line, name.column))
    lost: list[Cell] = []
    value = Matrix(tuple(_values(row, lost, reading) for row in rows), at=at)
    yield Stated(_chain(names, value, at, rows, name.text[-1:] if name else "="), Origin.TABLE)
    for cell in lost:
        yield Unread(cell.line, cell.text, "this cell is no number")


def _of_all(link: Link) -> Link:
    """a_ij over a table says what its cells are: the table is all of them."""
    name = link.expr
    if not isinstance(name, Name) or len(name.symbol.indices) != 2 or not _INDICES.issuperset(name.symbol.indices):
        return link
    return replace(link, expr=replace(name, symbol=name.symbol._replace(indices=())))


def _values(row: Sequence[Cell], lost: list[Cell], reading: Reading) -> tuple[Expr, ...]:
    """The values of a row; cells with text that is no value are added to `lost`."""
    values = []
    for cell in row:
        value = _value(cell, reading)
        if value is not None:
            values.append(value)
        elif cell.text:
            lost.append(cell)
    return tuple(values)


def _chain(
    names: tuple[Link, ...], value: Matrix, at: Location, rows: Sequence[Sequence[Cell]], sign: str = "="
) -> Chain:
    text = "\n".join("\t".join(cell.text for cell in row) for row in rows[:50])
    relation = (Relation.APPROX if sign == "≈" else Relation.EQUAL) if names else Relation.FIRST
    links = (*names, Link(relation, value, text, at))
    return Chain(links, min(link.at for link in links), max(row[-1].line for row in rows if row), text)


def _names(cell: Cell | None, reading: Reading) -> tuple[Link, ...]:
    """What stands in a name cell: 'E =', 'Q = X W_q =', '$Q$', 'K (keys)'."""
    if cell is None:
        return ()
    text = bare(cell.text[:-1] if cell.is_name else cell.text.rstrip(":"))
    if not cell.is_name:
        text = re.sub(r"\s*\([^()]*\)\s*$", "", text)
        if not text or len(text) > 40 or " " in text.replace("\\ ", "") or text.isdigit():
            return ()
        if not _MATHEMATICAL.search(text) and not re.fullmatch(r"W[qkvoQKVO]\d?", text):
            return ()
    chains = reading.math(text, Location(cell.line, cell.column)).chains
    links = chains[0].links if len(chains) == 1 else ()
    return links if cell.is_name or all(isinstance(link.expr, Name) for link in links) else ()


def _after_noun(head: Cell | None) -> Cell | None:
    """The k_j of 'clé k_j'."""
    noun, _, name = bare(head.text).partition(" ") if head else ("", "", "")
    told = any(words.fullmatch(noun) for _, words in SPELLED_OUT)
    return Cell(name, head.line, head.column) if head and told and name else None


def _spelled_out(head: Cell | None) -> tuple[Link, ...]:
    """'Query', 'Key', 'Value' over columns of vectors are Q, K and V."""
    text = bare(head.text) if head else ""
    letter = next((letter for letter, words in SPELLED_OUT if words.fullmatch(text)), None)
    if head is None or letter is None:
        return ()
    at = Location(head.line, head.column)
    return (Link(Relation.FIRST, Name(Symbol(letter), text, at=at), text, at),)


def _value(cell: Cell, reading: Reading) -> Expr | None:
    """The number, or other expression, in a cell; None for an empty one or one that is not readable."""
    at = Location(cell.line, cell.column)
    if PLAIN.match(cell.text):
        plain = _number(cell.text)
        return Number(plain.value, plain.places, plain.text, at=at)
    text = bare(cell.text)
    if PLAIN.match(text):
        return replace(_number(text), at=at)
    if text in ("-∞", "−∞", "–∞", "-inf", "-Inf", "-infinity"):
        return Infinite(-1, at=at)
    if _COMMAS.fullmatch(text):
        thousands = _THOUSANDS.fullmatch(text) and (reading.comma is Comma.UNTOLD or text.count(",") > 1)
        return replace(_number(text.replace(",", "" if thousands else ".")), at=at)
    if percent := re.fullmatch(r"([-−]?[\d.]+)\s?\\?%", text):
        plain = _number(percent[1])
        return Number(plain.value / 100, (plain.places or 0) + 2, text, at=at)
    if not text or text in ("-", "—", "–"):
        return None
    chains = reading.math(text, at).chains
    return chains[0].links[0].expr if len(chains) == 1 and len(chains[0].links) == 1 else None


@lru_cache(maxsize=65536)
def _number(text: str) -> Number:
    plain = text.replace("−", "-").replace("–", "-").rstrip(".")
    return replace(number(plain), text=plain)


def _vectors(layout: Layout, sorts: list[str], reading: Reading) -> Iterator[Event]:
    """Columns of vectors: stacked, each column is a matrix; under 'k_i', or a head that is no name, each row is a
    statement of its own."""
    for i, sort in enumerate(sorts):
        if sort != "vector":
            continue
        cells = [row[i] for row in layout.body if i < len(row) and row[i].text]
        head = layout.heads[i] if i < len(layout.heads) else None
        chains = [_vector_chain(cell, reading) for cell in cells]
        names = _names(head, reading) or _names(_after_noun(head), reading) or _spelled_out(head)
        if not names and sorts.count("vector") == 1 and (rows := _row_names(layout.labels, cells, reading)):
            yield from _row_statements(chains, layout.labels, rows)
            continue
        if head and head.text and not names and not VECTOR_WORD.fullmatch(head.text):
            yield Said(head.text, Location(head.line, head.column))
        indexed = bool(names) and _index_letter(names[-1]) is not None
        if not indexed:
            labels = tuple(map(bare, layout.labels)) if len(layout.labels) == len(cells) else ()
            yield from _stacked(chains, names, cells, labels)
        if indexed or not names:
            yield from _row_statements(chains, layout.labels, names)
    yield from _quantities(layout, sorts, reading)


def _quantities(layout: Layout, sorts: list[str], reading: Reading) -> Iterator[Event]:
    """Columns of numbers that a head calls a score, a weight, …: one column vector each."""
    for head, (i, sort) in zip(layout.heads, enumerate(sorts), strict=False):
        if sort == "number" and (formula := _indexed(head, reading)) is not None:
            yield from _numbered_cells(formula, [row[i] for row in layout.body if i < len(row)], layout.labels, reading)
        elif sort == "number" and QUANTITY.search(bare(head.text)):
            column = [row[i] for row in layout.body if i < len(row)]
            yield from _matrix_event([[cell] for cell in column], head, reading)


def _index_letter(link: Link) -> str | None:
    """The running index of a head such as k_i."""
    symbol = link.expr.symbol if isinstance(link.expr, Name) else None
    return next((index for index in symbol.indices if index in _INDICES), None) if symbol else None


def _stacked(
    chains: Sequence[Chain | None], names: tuple[Link, ...], cells: Sequence[Cell], labels: tuple[str, ...]
) -> Iterator[Event]:
    rows = []
    for chain, cell in zip(chains, cells, strict=True):
        value = chain.links[-1].expr if chain else None
        if not isinstance(value, Matrix):
            yield Unread(cell.line, cell.text, "this cell is no vector")
            return
        rows.append(value.rows[0] if len(value.rows) == 1 else tuple(row[0] for row in value.rows))
    if len({len(row) for row in rows}) == 1:
        at = Location(cells[0].line, cells[0].column)
        chain = _chain(names, Matrix(tuple(rows), at=at), at, [[cell] for cell in cells])
        yield Stated(chain, Origin.TABLE, row_labels=labels)


def _row_names(labels: Sequence[str], cells: Sequence[Cell], reading: Reading) -> tuple[Link, ...]:
    """k_i where the rows of a table are '| k₁ | [1, 0] |', '| k₂ | [0, 1] |'."""
    names = [_names(replace(cell, text=label), reading) for label, cell in zip(labels, cells, strict=False)]
    symbols = [links[0].expr.symbol for links in names if len(links) == 1 and isinstance(links[0].expr, Name)]
    if not symbols or len(symbols) < len(cells):
        return ()
    counted = [symbols[0]._replace(indices=(str(i),)) for i in range(1, len(cells) + 1)]
    generic = Name(symbols[0]._replace(indices=("i",)), at=names[0][0].at)
    return (replace(names[0][0], expr=generic),) if symbols == counted else ()


def _row_statements(chains: Sequence[Chain | None], labels: Sequence[str], names: tuple[Link, ...]) -> Iterator[Event]:
    for i, chain in enumerate(chains):
        if chain:
            label = labels[i] if i < len(labels) else str(i + 1)
            number = label if label.isdigit() else str(i + 1)
            links = tuple(_numbered(link, number, chain.at) for link in names)
            first = replace(chain.links[0], relation=Relation.EQUAL) if links else chain.links[0]
            told = replace(chain, links=(*links, first, *chain.links[1:]))
            yield Stated(told, Origin.TABLE, row_label=label, named=False)


def _numbered(link: Link, number: str, at: Location) -> Link:
    """k_i in row 2 is k_2."""

    def change(part: Expr) -> Expr:
        if not isinstance(part, Name):
            return part
        indices = tuple(number if index in _INDICES else index for index in part.symbol.indices)
        return Name(part.symbol._replace(indices=indices), at=at)

    made = rewrite(link.expr, change)
    return replace(link, expr=made, text=str(made.symbol) if isinstance(made, Name) else link.text, at=at)


def _vector_chain(cell: Cell, reading: Reading) -> Chain | None:
    source = vector_source(cell)
    if not source:
        return None
    chains = reading.math(source[0], Location(cell.line, cell.column + source[1])).chains
    return replace(chains[0], trail=source[2].lstrip("—–- ")) if len(chains) == 1 else None


def _mixed(layout: Layout, reading: Reading) -> Iterator[Event]:
    """Rows that are statements: a formula and its value, or cells that are equations themselves."""
    heads = [found[1] if (found := _HEAD.search(head.text)) else "" for head in layout.heads]
    for index, row in enumerate(layout.body):
        label = layout.labels[index] if index < len(layout.labels) else ""
        told = False
        for cell in row:
            text = bare(cell.text)
            if len(row) == 2 and cell is row[0] and (whole := with_result(row)):
                text = whole
            if re.search(r"[=≈]", text):
                for chain in reading.math(text, Location(cell.line, cell.column)).chains:
                    told = True
                    yield Stated(chain, Origin.TABLE, row_label=label, named=False)
        if not told and len(heads) == len(row) > 1 and all(heads) and _MATHEMATICAL.search(label):
            for number, cell in zip(heads, row, strict=True):
                yield from _keyed(label, [cell], reading, number)
        elif not told:
            yield from _keyed(label, row, reading)


def _keyed(label: str, row: Sequence[Cell], reading: Reading, head: str = "") -> Iterator[Event]:
    """'| d_k | 2 |' and '| Sum | 14.48 |'; below 'head 2', a name gets its number."""
    values = [cell for cell in row if cell.text and not _TICK.match(cell.text)]
    last = values[-1] if values else None
    value = (
        _value(last, reading) if last and (NUMBER.match(bare(last.text)) or VECTOR.fullmatch(bare(last.text))) else None
    )
    if not last or value is None or isinstance(value, Name):
        yield Said(" ".join([label, *(cell.text for cell in values)]), Location(row[0].line if row else 1))
        return
    at = Location(last.line, last.column)
    name = _formula(label, at, reading) if _MATHEMATICAL.search(label) else None
    if name is not None and head and isinstance(name.expr, Name):
        symbol = name.expr.symbol._replace(indices=(*name.expr.symbol.indices, head))
        name = replace(name, expr=replace(name.expr, symbol=symbol, spelled=f"{name.expr.spelled}_{head}"))
    shown = [*_workings(values[:-1], reading), Link(Relation.EQUAL, value, last.text, at)]
    links = (name, *shown) if name else (replace(shown[0], relation=Relation.FIRST), *shown[1:])
    chain = Chain(links, at, last.line, f"{label} {last.text}".strip())
    yield Stated(chain, Origin.TABLE, row_label="" if name else label, named=False)


def _workings(cells: Sequence[Cell], reading: Reading) -> Iterator[Link]:
    """Sums of products between a formula and its value: '| q1·k1 | 1·1 + 0·2 | 1 |'."""
    for cell in cells:
        value = _value(cell, reading) if re.search(r"\d\s*[)]?\s*(?:[-+−*·×/]|\\cdot|\\times)", cell.text) else None
        if value is not None and is_literal(value):
            yield Link(Relation.EQUAL, value, cell.text, Location(cell.line, cell.column))


def _formula(label: str, at: Location, reading: Reading) -> Link | None:
    chains = reading.math(bare(label), Location(at.line)).chains
    return chains[0].links[0] if len(chains) == 1 and len(chains[0].links) == 1 else None


def _as_words(block: Rows) -> Iterator[Event]:
    for row in block.cells:
        if row:
            yield Said(" ".join(cell.text for cell in row if cell.text), Location(row[0].line, row[0].column))
