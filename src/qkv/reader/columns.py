"""The columns of a table → events: vectors, numbers under a head, workings beside what they come to, or words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from qkv.expr.nodes import Matrix, Name, names_in
from qkv.library.words import means
from qkv.reader.cells import (
    INDICES,
    MATHEMATICAL,
    amount_in,
    bare,
    calculation_in,
    entries_of,
    formula_in,
    is_amount,
    is_total,
    names_in_cell,
    sort_of,
    texts,
    value_in,
    vector_in,
    with_index,
)  # fmt: skip
from qkv.reader.grids import NUMBER
from qkv.reader.model import Link, Relation, Unread
from qkv.reader.page import Cell, Event, Page, Rows, Said
from qkv.reader.stated import array, matrix, stated


@dataclass(frozen=True, slots=True)
class Column:
    """The filled cells of a column, its head, what it holds, and whether it only numbers the rows."""

    head: Cell | None
    cells: list[Cell]
    sort: str
    counts: bool


def columns_of(block: Rows) -> list[Column]:
    width = max(map(len, block.body))
    cells = [[row[i] for row in block.body if i < len(row)] for i in range(width)]
    heads = [block.heads[i] if i < len(block.heads) else None for i in range(width)]
    sorts = list(map(sort_of, cells))
    return [
        Column(head, [c for c in column if c.text], sort, sort == "number" and _counts(head, column, "vector" in sorts))
        for head, column, sort in zip(heads, cells, sorts, strict=True)
    ]


def _counts(head: Cell | None, column: Sequence[Cell], beside_vectors: bool) -> bool:
    """Whether a column only numbers the rows: 1, 2, 3 under 'j' or under nothing, an id beside vectors."""
    told = means(bare(head.text).rstrip("."), "counter") if head else False
    found = list(texts(column))
    counted = found in ([str(k) for k in range(len(found))], [str(k + 1) for k in range(len(found))])
    return (told and beside_vectors) or (counted and (told or head is None or not bare(head.text)))


def labels_of(block: Rows, columns: Sequence[Column]) -> Sequence[Cell]:
    """The label cells, or the first column that holds words or counts."""
    words = next((column.cells for column in columns if column.sort == "word"), None)
    if words is not None and all(text.isdigit() for text in texts(block.labels)):
        return words
    counted = next((column.cells for column in columns if column.counts), ())
    return block.labels or counted


def each_column(columns: Sequence[Column], labels: Sequence[Cell], page: Page) -> Iterator[Event]:
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
                yield from matrix([[cell] for cell in column.cells], column.head, page, row_labels=labels)
        elif column.sort == "other":
            yield from (Said(bare(cell.text), cell.line) for cell in column.cells)


def _workings(column: Column, values: Column) -> list[tuple[Cell, Cell]]:
    """The cells of a column of arithmetic, each with what it comes to in the column behind it, if any are."""
    shown = {cell.line: cell for cell in values.cells if is_amount(bare(cell.text)) or NUMBER.match(bare(cell.text))}
    if column.sort != "number" or values.sort not in ("number", "amount") or len(shown) < len(values.cells):
        return []
    plain = any(NUMBER.match(bare(cell.text)) for cell in column.cells)
    return [(cell, shown[cell.line]) for cell in column.cells if cell.line in shown] if not plain else []


def _before_values(column: Column, columns: Sequence[Column]) -> bool:
    return any(a is column and _workings(a, b) for a, b in pairwise(columns))


def _worked(pairs: Sequence[tuple[Cell, Cell]], values: Column, labels: Sequence[Cell], page: Page) -> Iterator[Event]:
    """0.8·1 + 0.6·0.2 beside 0.92: the one is what the other comes to; under them a total may stand alone."""
    told = bare(values.head.text) if values.head else ""
    beside = {label.line: bare(label.text) for label in labels}
    for working, cell in pairs:
        left, right = calculation_in(working, page), amount_in(cell, page)
        if left is not None and right is not None:
            yield stated((left, right), told, beside.get(cell.line, ""))
    last = values.cells[-1]
    if last is not pairs[-1][1] and is_total(beside.get(last.line, "")) and (total := amount_in(last, page)):
        yield stated((replace(total, relation=Relation.FIRST),), beside[last.line])


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
            yield stated((left, Link(Relation.EQUAL, value, cell.text, cell.at)), row_label=label)


def _vectors(column: Column, labels: Sequence[Cell], page: Page, labelled: bool) -> Iterator[Event]:
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
                yield stated((left, replace(link, relation=Relation.EQUAL)), row_label=label)
        return
    rows = [entries_of(link.expr if link else None) for link in found]
    lost = [cell for cell, row in zip(column.cells, rows, strict=True) if row is None]
    yield from (Unread(cell.line, cell.text, "this cell is no vector") for cell in lost)
    if not lost:
        first = column.cells[0].at
        text = "\n".join(cell.text for cell in column.cells[:50])
        link = Link(Relation.FIRST, Matrix(tuple(row for row in rows if row is not None), at=first), text, first)
        told = texts(labels) if len(labels) == len(rows) else ()
        yield array(link, column.head, column.cells[-1].line, page, told, ())


def _row_names(labels: Sequence[Cell], page: Page) -> tuple[Link, ...]:
    """The names of rows such as '| k₁ | [1, 0] |'; none where a label is no indexed name."""
    names = [names_in_cell(label, page) for label in labels]
    told = [links[0] for links in names if len(links) == 1 and isinstance(links[0].expr, Name)]
    indexed = len(told) == len(labels) > 0 and all(symbol.indices for link in told for symbol in names_in(link.expr))
    return tuple(told) if indexed else ()
