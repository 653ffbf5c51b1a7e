"""Rows of cells → events: what a table or grid states.

numbers          one matrix, named beside a row ('E ='), in the corner or above; with its labels
columns          '| token | score | weight |': one vector for each quantity; rows of quantities likewise
vectors          one matrix a column; under 'k_i' each row is a statement of its own
names            '| d_k | 2 |', '| q_1 k_1 | 1·2 + 0·1 | 2 |': one chain a row
chains           cells with relations are statements, each of its own
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from qkv.errors import Location, QkvError
from qkv.expr.nodes import Matrix, Name, Number, is_literal, names_in
from qkv.library.words import head_said, means
from qkv.reader.cells import (
    EMPTY,
    INDICES,
    MATHEMATICAL,
    RELATED,
    amount_in,
    array_in,
    bare,
    calculation_in,
    entries_of,
    formula_in,
    is_amount,
    is_axes,
    is_quantity,
    is_total,
    names_in_cell,
    names_something,
    parsed_cell,
    sort_of,
    texts,
    value_in,
    vector_in,
    with_index,
)
from qkv.reader.chain import Chain
from qkv.reader.grids import NUMBER
from qkv.reader.limits import check_cells
from qkv.reader.model import Link, Origin, Relation, Unread
from qkv.reader.page import Cell, Event, Page, Rows, Said, Stated

_LOWERED = str.maketrans("₁₂₃₄₅₆₇₈₉", "123456789")
_COMPONENT = re.compile(r"(?P<base>[^\W\d_]+)_?\{?(?P<number>\d|[₁-₉])\}?")
_WITHOUT_NUMBER = re.compile(r"(?<=[^\W\d])_?\{?[\d₀-₉]{1,2}\}?")  # q·k1 above q·k2 is one quantity
_BEFORE_NAME = re.compile(r"(?P<words>[^\W\d_]{2,}[^:=$`|]{0,30}):\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class _Column:
    """The filled cells of a column, its head, what it holds, and whether it only numbers the rows."""

    head: Cell | None
    cells: list[Cell]
    sort: str
    counts: bool


def read_rows(block: Rows, page: Page) -> Iterator[Event]:
    """The events of a table or grid."""
    try:
        check_cells(len(block.body), max(map(len, block.body), default=0), Location(block.line), page.limits)
    except QkvError as refusal:
        yield Unread(block.line, "a table", refusal.message)
        return
    if not block.body or not any(block.body):
        yield Said(" ".join(cell.text for cell in block.heads), block.line)
        return
    if parts := _apart(block):
        for part in parts:
            yield from _without_sums(part, page)
        return
    columns = _columns(block)
    sorts = {column.sort for column in columns}
    if any(RELATED.search(cell.text) for row in block.body for cell in row):
        yield from _related(block, columns, page)
    elif heads := _of_heads(block):
        yield from _each_head(block, heads, page)
    elif heads := _of_heads(turned := _turned(block)):
        yield from _each_head(turned, heads, page)
    elif sorts <= {"number", "empty"} and not _rows_are_chains(block):
        yield from _numbers(block, page)
    elif results := _results(columns, page):
        yield from (replace(_stated((link,), told), whole=True) for told, link in results)
    elif "vector" in sorts:
        yield from _each_column(columns, _row_labels(block, columns), page)
    elif chains := [links for row in _whole_rows(block) if (links := _row_chain(row, page))]:
        yield from (_stated(links, row_label=bare(links[0].text)) for links in chains)
    else:
        yield from _each_column(columns, _row_labels(block, columns), page)


def _columns(block: Rows) -> list[_Column]:
    width = max(map(len, block.body))
    cells = [[row[i] for row in block.body if i < len(row)] for i in range(width)]
    heads = [block.heads[i] if i < len(block.heads) else None for i in range(width)]
    sorts = list(map(sort_of, cells))
    return [
        _Column(
            head, [c for c in column if c.text], sort, sort == "number" and _counts(head, column, "vector" in sorts)
        )
        for head, column, sort in zip(heads, cells, sorts, strict=True)
    ]


def _counts(head: Cell | None, column: Sequence[Cell], beside_vectors: bool) -> bool:
    """Whether a column only numbers the rows: 1, 2, 3 under 'j' or under nothing, an id beside vectors."""
    told = means(bare(head.text).rstrip("."), "counter") if head else False
    found = list(texts(column))
    counted = found in ([str(k) for k in range(len(found))], [str(k + 1) for k in range(len(found))])
    return (told and beside_vectors) or (counted and (told or head is None or not bare(head.text)))


def _row_labels(block: Rows, columns: Sequence[_Column]) -> Sequence[Cell]:
    """The label cells, or the first column that holds words or counts."""
    words = next((column.cells for column in columns if column.sort == "word"), None)
    if words is not None and all(text.isdigit() for text in texts(block.labels)):
        return words
    counted = next((column.cells for column in columns if column.counts), ())
    return block.labels or counted


def _apart(block: Rows) -> list[Rows]:
    """Matrices side by side that empty columns part, each with its name above its first column."""
    width = len(block.heads)
    if not block.body or any(len(row) != width for row in block.body):
        return []
    filled = [any(bare(row[i].text) for row in block.body) for i in range(width)]
    ends = [i for i in range(width + 1) if i == width or not filled[i]]
    spans = [range(first + 1, end) for first, end in pairwise((-1, *ends)) if end > first + 1]
    named = [block.heads[span[0]] for span in spans if len(span) > 1 and bare(block.heads[span[0]].text)]
    alone = all(not bare(block.heads[i].text) for span in spans for i in span[1:])
    numbers = all(NUMBER.match(bare(row[i].text)) for row in block.body for span in spans for i in span)
    if not 1 < len(named) == len(spans) or not alone or not numbers:
        return []
    parts = zip(named, spans, strict=True)
    return [
        replace(block, body=tuple(tuple(row[i] for i in span) for row in block.body), heads=(), corner=None, name=head)
        for head, span in parts
    ]


# — numbers —


def _numbers(block: Rows, page: Page) -> Iterator[Event]:
    """A table of numbers, and then what its totals are."""
    block, totals = _without_totals(block)
    yield from _without_sums(block, page)
    for cell, told in totals:
        if (value := value_in(cell, page)) is not None:
            yield _stated((Link(Relation.FIRST, value, cell.text, cell.at),), told)


def _without_sums(block: Rows, page: Page) -> Iterator[Event]:
    """Rows or columns of quantities, the components of several vectors, or one matrix."""
    labels = block.labels
    if len({_WITHOUT_NUMBER.sub("", bare(label.text)).split()[0] for label in labels if is_quantity(label.text)}) > 1:
        for label, row in zip(labels, block.body, strict=True):
            yield from _matrix([row], label, page, column_labels=block.heads)
    elif len(block.heads) == len(block.body[0]) > 1 - bool(labels) and any(is_quantity(h.text) for h in block.heads):
        yield from _each_column(_columns(block), labels, page)
    elif parts := _components(block):
        for base, chosen in parts.items():
            head = replace(block.heads[chosen[0]], text=base)
            rows = [[row[i] for i in chosen if i < len(row)] for row in block.body]
            yield from _matrix(rows, head, page, row_labels=labels)
    elif len(labels) == len(block.body) and len(set(map(len, block.body))) > 1 and not block.heads:
        for label, row in zip(labels, block.body, strict=True):  # what a mask hides is left out
            yield from _matrix([row], label, page)
    else:
        alone = block.heads[0] if len(block.heads) == 1 and len(block.body[0]) == 1 else None
        name = block.name or block.corner or alone
        yield from _matrix(block.body, name, page, row_labels=labels, column_labels=block.heads)


def _without_totals(block: Rows) -> tuple[Rows, list[tuple[Cell, str]]]:
    """The table without a last row or column that only adds the others up, and the cells of those with their labels."""
    totals: list[tuple[Cell, str]] = []
    heads = texts(block.heads)
    if len(block.labels) == len(block.body) > 1 and is_total(block.labels[-1].text):
        told = bare(block.labels[-1].text)
        totals += [
            (cell, f"{told} {dict(enumerate(heads)).get(k, '')}".strip()) for k, cell in enumerate(block.body[-1])
        ]
        block = replace(block, body=block.body[:-1], labels=block.labels[:-1])
    if len(heads) > 2 and len(heads) == len(block.body[0]) and is_total(heads[-1]):
        labels = texts(block.labels) or tuple(str(k + 1) for k in range(len(block.body)))
        full = [(row, label) for row, label in zip(block.body, labels, strict=False) if len(row) == len(heads)]
        totals += [(row[-1], f"{heads[-1]} {label}") for row, label in full]
        body = tuple(row[: len(heads) - 1] for row in block.body)
        block = replace(block, heads=block.heads[:-1], body=body)
    return block, totals


def _components(block: Rows) -> dict[str, list[int]]:
    """'| token | q1 | q2 | k1 | k2 |': the columns of q and of k. One letter alone may count tokens."""
    found: dict[str, list[int]] = {}
    for i, head in enumerate(texts(block.heads)):
        part = _COMPONENT.fullmatch(head)
        if part is None or int(part["number"].translate(_LOWERED)) != len(found.setdefault(part["base"], [])) + 1:
            return {}
        found[part["base"]].append(i)
    several = len(found) > 1 and min(map(len, found.values())) > 1
    return found if several and len(block.heads) == len(block.body[0]) else {}


def _matrix(
    rows: Sequence[Sequence[Cell]],
    name: Cell | None,
    page: Page,
    *,
    row_labels: Sequence[Cell] = (),
    column_labels: Sequence[Cell] = (),
) -> Iterator[Event]:
    """One matrix; a name cell that is no name is its label, and may say that all of it is in per cent."""
    if name is not None and "%" in name.text and not any("%" in cell.text for row in rows for cell in row):
        rows = [[replace(cell, text=f"{bare(cell.text)}%") for cell in row] for row in rows]
    values = [tuple(value for cell in row if (value := value_in(cell, page)) is not None) for row in rows]
    cells = [cell for row in rows for cell in row]
    text = "\n".join("\t".join(cell.text for cell in row) for row in rows[:50])
    if any(values):
        link = Link(Relation.FIRST, Matrix(tuple(values), at=cells[0].at), text, cells[0].at)
        end = max(row[-1].line for row in rows if row)
        yield _array(link, name, end, page, texts(row_labels), texts(column_labels))
    for cell in cells:
        if bare(cell.text) not in EMPTY and value_in(cell, page) is None:
            yield Unread(cell.line, cell.text, "this cell is no number")


def _array(
    link: Link, name: Cell | None, end: int, page: Page, row_labels: tuple[str, ...], column_labels: tuple[str, ...]
) -> Stated:
    """An array under what its name cell says: a name, a formula, or words that label it, or both: 'head 1: Q ='."""
    before = _BEFORE_NAME.match(name.text) if name else None
    name = replace(name, text=name.text[before.end() :]) if name and before else name
    names = names_in_cell(name, page)
    sign = Relation.APPROX if name and name.text.endswith("≈") else Relation.EQUAL
    links = (*names, replace(link, relation=sign) if names else link)
    told = before["words"] if before else bare(name.text) if name and not names else ""
    label = "" if is_axes(told) or means(told, "counter") else told
    chain = Chain(links, min(link.at for link in links), end, link.text)
    return Stated(chain, Origin.TABLE, label, row_labels=row_labels, column_labels=column_labels, whole=not names)


# — columns —


def _each_column(columns: Sequence[_Column], labels: Sequence[Cell], page: Page) -> Iterator[Event]:
    """Every column as a statement of its own: vectors, numbers under a head, or words."""
    alone = sum(column.sort == "vector" for column in columns) == 1
    for before, column in zip((None, *columns), columns, strict=False):
        if column.sort == "vector":
            yield from _vectors(column, labels, page, labelled=alone)
        elif before is not None and (pairs := _workings(before, column)):
            yield from _worked(pairs, column, labels, page)
        elif column.sort == "number" and not column.counts and not _before_values(column, columns):
            running = _running(column.head, page)
            if running is not None:
                yield from _numbered(running, column.cells, labels, page)
            else:
                yield from _matrix([[cell] for cell in column.cells], column.head, page, row_labels=labels)
        elif column.sort == "other":
            yield from (Said(bare(cell.text), cell.line) for cell in column.cells)


def _workings(column: _Column, values: _Column) -> list[tuple[Cell, Cell]]:
    """The cells of a column of arithmetic, each with what it comes to in the column behind it, if any are."""
    shown = {cell.line: cell for cell in values.cells if is_amount(bare(cell.text)) or NUMBER.match(bare(cell.text))}
    if column.sort != "number" or values.sort not in ("number", "amount") or len(shown) < len(values.cells):
        return []
    plain = any(NUMBER.match(bare(cell.text)) for cell in column.cells)
    return [(cell, shown[cell.line]) for cell in column.cells if cell.line in shown] if not plain else []


def _before_values(column: _Column, columns: Sequence[_Column]) -> bool:
    return any(a is column and _workings(a, b) for a, b in pairwise(columns))


def _worked(pairs: Sequence[tuple[Cell, Cell]], values: _Column, labels: Sequence[Cell], page: Page) -> Iterator[Event]:
    """0.8·1 + 0.6·0.2 beside 0.92: the one is what the other comes to; under them a total may stand alone."""
    told = bare(values.head.text) if values.head else ""
    beside = {label.line: bare(label.text) for label in labels}
    for working, cell in pairs:
        left, right = calculation_in(working, page), amount_in(cell, page)
        if left is not None and right is not None:
            yield _stated((left, right), told, beside.get(cell.line, ""))
    last = values.cells[-1]
    if last is not pairs[-1][1] and is_total(beside.get(last.line, "")) and (total := amount_in(last, page)):
        yield _stated((replace(total, relation=Relation.FIRST),), beside[last.line])


def _running(head: Cell | None, page: Page) -> Link | None:
    """A head with a running index: $q\\cdot k_j$, α_j."""
    link = formula_in(head, page) if head and MATHEMATICAL.search(head.text) else None
    return link if link and _runs(link) else None


def _runs(link: Link) -> bool:
    """Whether a formula has an index that runs."""
    return len({x for symbol in names_in(link.expr) for x in symbol.indices} & INDICES) == 1


def _numbered(head: Link, cells: Sequence[Cell], labels: Sequence[Cell], page: Page) -> Iterator[Event]:
    """q · k_j over 4, 2, 7: q · k_1 = 4, q · k_2 = 2, …"""
    for i, cell in enumerate(cells):
        label = bare(labels[i].text) if i < len(labels) else ""
        value = value_in(cell, page)
        if value is not None:
            left = with_index(head, label if label.isdigit() else str(i + 1), cell.at)
            yield _stated((left, Link(Relation.EQUAL, value, cell.text, cell.at)), row_label=label)


def _vectors(column: _Column, labels: Sequence[Cell], page: Page, labelled: bool) -> Iterator[Event]:
    """A column of vectors: one matrix, or one statement a row under 'k_i' or, if no other is there, beside '| k₁ |'."""
    found = [vector_in(cell, page) for cell in column.cells]
    names = names_in_cell(column.head, page)
    named = next((link for link in names[-1:] if _runs(link)), None)  # the k_j of 'clé k_j'
    running = named or _running(column.head, page)
    own = _row_names(labels, page) if labelled and not names and len(column.cells) == len(labels) else ()
    if running or own:
        for k, (cell, link) in enumerate(zip(column.cells, found, strict=True)):
            label = bare(labels[k].text) if k < len(labels) else ""
            left = with_index(running, label if label.isdigit() else str(k + 1), cell.at) if running else own[k]
            if link is not None:
                yield _stated((left, replace(link, relation=Relation.EQUAL)), row_label=label)
        return
    rows = [entries_of(link.expr if link else None) for link in found]
    lost = [cell for cell, row in zip(column.cells, rows, strict=True) if row is None]
    yield from (Unread(cell.line, cell.text, "this cell is no vector") for cell in lost)
    if not lost:
        first = column.cells[0].at
        text = "\n".join(cell.text for cell in column.cells[:50])
        link = Link(Relation.FIRST, Matrix(tuple(row for row in rows if row is not None), at=first), text, first)
        told = texts(labels) if len(labels) == len(rows) else ()
        yield _array(link, column.head, column.cells[-1].line, page, told, ())


def _row_names(labels: Sequence[Cell], page: Page) -> tuple[Link, ...]:
    """The names of rows such as '| k₁ | [1, 0] |'; none where a label is no indexed name."""
    names = [names_in_cell(label, page) for label in labels]
    told = [links[0] for links in names if len(links) == 1 and isinstance(links[0].expr, Name)]
    indexed = len(told) == len(labels) > 0 and all(symbol.indices for link in told for symbol in names_in(link.expr))
    return tuple(told) if indexed else ()


# — a column for each head —


def _of_heads(block: Rows) -> list[str]:
    """The numbers of the heads that the columns belong to, where each row has a name."""
    heads = [head_said(text) for text in texts(block.heads)]
    named = bool(block.labels) and all(names_something(bare(label.text)) for label in block.labels)
    found = [head for head in heads if head is not None]
    return found if named and len(found) == len(heads) > 1 and len(set(found)) == len(found) else []


def _turned(block: Rows) -> Rows:
    """A table with its rows as columns."""
    whole = len(block.labels) == len(block.body) and {len(row) for row in block.body} == {len(block.heads)}
    body = tuple(zip(*block.body, strict=True)) if whole else ()
    return replace(block, body=body, heads=block.labels, labels=block.heads)


def _each_head(block: Rows, heads: list[str], page: Page) -> Iterator[Event]:
    """W_Q beside the matrices of two heads: W_Q of head 1 is the first, W_Q of head 2 the second."""
    for label, row in zip(block.labels, block.body, strict=False):
        name = formula_in(label, page)
        for head, cell in zip(heads, row, strict=False):
            value = formula_in(cell, page)
            if name is not None and value is not None and isinstance(name.expr, Name):
                symbol = name.expr.symbol._replace(indices=(*name.expr.symbol.indices, head))
                left = replace(name, expr=replace(name.expr, symbol=symbol), at=cell.at)
                yield _stated((left, replace(value, relation=Relation.EQUAL)))


# — results —


def _results(columns: Sequence[_Column], page: Page) -> list[tuple[str, Link]]:
    """'| 1 | raw scores | 3, 4 ; 3, 0 |': arrays of several shapes, each beside the words that say what it is."""
    words = next((column for column in columns if column.sort in ("other", "word")), None)
    last = columns[-1]
    if words is None or words is last or len(words.cells) != len(last.cells) or len(last.cells) < 2:
        return []
    found = [array_in(cell, page) for cell in last.cells]
    links = [link for link in found if link is not None]
    shapes = {link.expr.shape for link in links if isinstance(link.expr, Matrix)}
    if len(links) < len(found) or len(shapes) == 1 == min(next(iter(shapes))):
        return []
    return [(bare(cell.text), link) for cell, link in zip(words.cells, links, strict=True)]


# — rows and cells that are chains —


def _rows_are_chains(block: Rows) -> bool:
    """| q_1 k_1 | 1·2 + 0·1 | 2 |: names, workings and values side by side."""
    worked = any(not NUMBER.match(bare(cell.text)) for row in block.body for cell in row if cell.text)
    return worked and bool(block.labels) and all(names_something(bare(label.text)) for label in block.labels)


def _whole_rows(block: Rows) -> Iterator[list[Cell]]:
    """The filled cells of each row, its label first."""
    for r, row in enumerate(block.body):
        yield [cell for cell in (*block.labels[r : r + 1], *row) if cell.text]


def _row_chain(cells: Sequence[Cell], page: Page) -> tuple[Link, ...]:
    """q_1 k_1 | 1·2 + 0·1 | 2: a formula, workings and a value; or a name and its value."""
    head = formula_in(cells[0], page) if len(cells) > 1 and names_something(bare(cells[0].text)) else None
    if head is None or not names_in(head.expr):
        return ()
    values = [formula_in(cell, page) for cell in cells[1:]]
    links = [replace(link, relation=Relation.EQUAL) for link in values if link is not None and is_literal(link.expr)]
    several = any(isinstance(link.expr, Matrix | Number) for link in links[:-1])  # no steps, but values side by side
    return (head, *links) if len(links) == len(values) and not several else ()


def _related(block: Rows, columns: Sequence[_Column], page: Page) -> Iterator[Event]:
    """Cells that hold relations, each a statement; numbers beside them are vectors of their own."""
    labels = block.labels or _row_labels(block, columns)
    for r, row in enumerate(block.body):
        first = [cell for cell in block.labels[r : r + 1] if RELATED.search(cell.text)]
        for i, cell in enumerate((*first, *row), -len(first)):
            if RELATED.search(cell.text):
                parsed = parsed_cell(cell, page)
                head = bare(block.heads[i].text) if 0 <= i < len(block.heads) else ""
                told = bare(labels[r].text) if r < len(labels) and not first else ""
                chains = (chain for chain in parsed.chains if len(chain.links) > 1)
                yield from (Stated(chain, Origin.TABLE, head, row_label=told) for chain in chains)
                yield from parsed.unread
    yield from _each_column([column for column in columns if column.sort == "number"], labels, page)


def _stated(links: tuple[Link, ...], label: str = "", row_label: str = "") -> Stated:
    at = links[-1].at
    return Stated(
        Chain(links, at, at.line, " ".join(link.text for link in links)), Origin.TABLE, label, row_label=row_label
    )
