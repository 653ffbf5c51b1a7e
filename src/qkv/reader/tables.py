"""Rows of cells → events: what a table or grid states; its columns are read in columns.py.

numbers          one matrix, named beside a row ('E ='), in the corner or above; with its labels
columns          '| token | score | weight |': one vector for each quantity; rows of quantities likewise
vectors          one matrix a column; under 'k_i' each row is a statement of its own
names            '| d_k | 2 |', '| q_1 k_1 | 1·2 + 0·1 | 2 |': one chain a row
chains           cells with relations are statements, each of its own
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from qkv.errors import Location, QkvError
from qkv.expr.nodes import Matrix, Name, Number, is_literal, names_in
from qkv.library.words import head_said
from qkv.reader.cells import (
    RELATED,
    array_in,
    bare,
    formula_in,
    is_quantity,
    is_total,
    names_something,
    parsed_cell,
    texts,
    value_in,
)
from qkv.reader.columns import Column, columns_of, each_column, labels_of
from qkv.reader.grids import NUMBER
from qkv.reader.ledgers import ledger
from qkv.reader.limits import check_cells
from qkv.reader.model import Link, Origin, Relation, Unread
from qkv.reader.page import Cell, Event, Page, Rows, Said, Stated
from qkv.reader.stated import matrix, stated
from qkv.regex import regex

_LOWERED = str.maketrans("₁₂₃₄₅₆₇₈₉", "123456789")
_COMPONENT = regex(r"(?P<base>[^\W\d_]+)_?\{?(?P<number>\d|[₁-₉])\}?")
_WITHOUT_NUMBER = regex(r"(?<=[^\W\d])_?\{?[\d₀-₉]{1,2}\}?")  # q·k1 above q·k2 is one quantity


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
    if summed := ledger(block, page):
        yield from summed
        return
    columns = columns_of(block)
    sorts = {column.sort for column in columns}
    if any(RELATED.search(cell.text) for row in block.body for cell in row):
        yield from _related(block, columns, page)
    elif headed := next((table for table in (block, _turned(block)) if _of_heads(table)), None):
        yield from _each_head(headed, _of_heads(headed), page)
    elif sorts <= {"number", "empty"} and not _rows_are_chains(block):
        yield from _numbers(block, page)
    elif results := _results(columns, page):
        yield from (stated((link,), told)._replace(whole=True) for told, link in results)
    elif (
        chains := [] if "vector" in sorts else list(filter(None, (_row_chain(row, page) for row in _whole_rows(block))))
    ):
        yield from (stated(links, row_label=bare(links[0].text)) for links in chains)
    else:
        yield from each_column(columns, labels_of(block, columns), page)


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
        block._replace(body=tuple(tuple(row[i] for i in span) for row in block.body), heads=(), corner=None, name=head)
        for head, span in parts
    ]


# — numbers —


def _numbers(block: Rows, page: Page) -> Iterator[Event]:
    """A table of numbers, and then what its totals are."""
    block, totals = _without_totals(block)
    yield from _without_sums(block, page)
    for cell, told in totals:
        if (value := value_in(cell, page)) is not None:
            yield stated((Link(Relation.FIRST, value, cell.text, cell.at),), told)


def _without_sums(block: Rows, page: Page) -> Iterator[Event]:
    """Rows or columns of quantities, the components of several vectors, or one matrix."""
    labels = block.labels
    if len({_WITHOUT_NUMBER.sub("", bare(label.text)).split()[0] for label in labels if is_quantity(label.text)}) > 1:
        for label, row in zip(labels, block.body, strict=True):
            yield from matrix([row], label, page, column_labels=block.heads)
    elif len(block.heads) == len(block.body[0]) > 1 - bool(labels) and any(is_quantity(h.text) for h in block.heads):
        yield from each_column(columns_of(block), labels, page)
    elif parts := _components(block):
        for base, chosen in parts.items():
            head = block.heads[chosen[0]]._replace(text=base)
            rows = [[row[i] for i in chosen if i < len(row)] for row in block.body]
            yield from matrix(rows, head, page, row_labels=labels)
    elif len(labels) == len(block.body) and len(set(map(len, block.body))) > 1 and not block.heads:
        for label, row in zip(labels, block.body, strict=True):  # what a mask hides is left out
            yield from matrix([row], label, page)
    else:
        alone = block.heads[0] if len(block.heads) == 1 and len(block.body[0]) == 1 else None
        name = block.name or block.corner or alone
        yield from matrix(block.body, name, page, row_labels=labels, column_labels=block.heads)


def _without_totals(block: Rows) -> tuple[Rows, list[tuple[Cell, str]]]:
    """The table without a last row or column that only adds the others up, and the cells of those with their labels."""
    totals: list[tuple[Cell, str]] = []
    heads = texts(block.heads)
    if len(block.labels) == len(block.body) > 1 and is_total(block.labels[-1].text):
        told = bare(block.labels[-1].text)
        totals += [
            (cell, f"{told} {dict(enumerate(heads)).get(k, '')}".strip()) for k, cell in enumerate(block.body[-1])
        ]
        block = block._replace(body=block.body[:-1], labels=block.labels[:-1])
    if len(heads) > 2 and len(heads) == len(block.body[0]) and is_total(heads[-1]):
        labels = texts(block.labels) or tuple(str(k + 1) for k in range(len(block.body)))
        full = [(row, label) for row, label in zip(block.body, labels, strict=False) if len(row) == len(heads)]
        totals += [(row[-1], f"{heads[-1]} {label}") for row, label in full]
        body = tuple(row[: len(heads) - 1] for row in block.body)
        block = block._replace(heads=block.heads[:-1], body=body)
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


# — a column for each head —


def _of_heads(block: Rows) -> list[str]:
    """The numbers of the heads that the columns belong to, where each row has the name of a quantity: x_1 and x_2 are
    the tokens of several heads side by side."""
    heads = [head_said(text) for text in texts(block.heads)]
    quantities = {_WITHOUT_NUMBER.sub("", bare(label.text)) for label in block.labels}
    named = bool(block.labels) and all(names_something(bare(label.text)) for label in block.labels)
    named = named and len(quantities) == len(block.labels)
    found = [head for head in heads if head is not None]
    return found if named and len(found) == len(heads) > 1 and len(set(found)) == len(found) else []


def _turned(block: Rows) -> Rows:
    """A table with its rows as columns."""
    whole = len(block.labels) == len(block.body) and {len(row) for row in block.body} == {len(block.heads)}
    body = tuple(zip(*block.body, strict=True)) if whole else ()
    return block._replace(body=body, heads=block.labels, labels=block.heads)


def _each_head(block: Rows, heads: list[str], page: Page) -> Iterator[Event]:
    """W_Q beside the matrices of two heads: W_Q of head 1 is the first, W_Q of head 2 the second."""
    for label, row in zip(block.labels, block.body, strict=False):
        name = formula_in(label, page)
        for head, cell in zip(heads, row, strict=False):
            value = formula_in(cell, page)
            if name is not None and value is not None and isinstance(name.expr, Name):
                symbol = name.expr.symbol._replace(indices=(*name.expr.symbol.indices, head))
                left = replace(name, expr=replace(name.expr, symbol=symbol), at=cell.at)
                yield stated((left, replace(value, relation=Relation.EQUAL)))


# — results —


def _results(columns: Sequence[Column], page: Page) -> list[tuple[str, Link]]:
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


def _related(block: Rows, columns: Sequence[Column], page: Page) -> Iterator[Event]:
    """Cells that hold relations, each a statement; numbers beside them are vectors of their own."""
    labels = block.labels or labels_of(block, columns)
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
    yield from each_column([column for column in columns if column.sort == "number"], labels, page)
