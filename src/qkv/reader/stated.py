"""Cells → statements: a matrix with its name and labels, or a chain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from qkv.expr.nodes import Matrix
from qkv.library.words import means
from qkv.reader.cells import EMPTY, bare, is_axes, names_in_cell, texts, value_in
from qkv.reader.chain import Chain
from qkv.reader.model import Link, Origin, Relation, Unread
from qkv.reader.page import Cell, Event, Page, Stated
from qkv.regex import regex

_BEFORE_NAME = regex(r"(?P<words>[^\W\d_]{2,}[^:=$`|]{0,30}):\s+(?=\S)")


def matrix(
    rows: Sequence[Sequence[Cell]],
    name: Cell | None,
    page: Page,
    *,
    row_labels: Sequence[Cell] = (),
    column_labels: Sequence[Cell] = (),
) -> Iterator[Event]:
    """One matrix; a name cell that is no name is its label, and may say that all of it is in per cent."""
    if name is not None and "%" in name.text and not any("%" in cell.text for row in rows for cell in row):
        rows = [[cell._replace(text=f"{bare(cell.text)}%") for cell in row] for row in rows]
    values = [tuple(value for cell in row if (value := value_in(cell, page)) is not None) for row in rows]
    cells = [cell for row in rows for cell in row]
    text = "\n".join("\t".join(cell.text for cell in row) for row in rows[:50])
    if any(values):
        link = Link(Relation.FIRST, Matrix(tuple(values), at=cells[0].at), text, cells[0].at)
        end = max(row[-1].line for row in rows if row)
        yield array(link, name, end, page, texts(row_labels), texts(column_labels))
    for cell in cells:
        if bare(cell.text) not in EMPTY and value_in(cell, page) is None:
            yield Unread(cell.line, cell.text, "this cell is no number")


def array(
    link: Link, name: Cell | None, end: int, page: Page, row_labels: tuple[str, ...], column_labels: tuple[str, ...]
) -> Stated:
    """An array under what its name cell says: a name, a formula, or words that label it, or both: 'head 1: Q ='."""
    before = _BEFORE_NAME.match(name.text) if name else None
    name = name._replace(text=name.text[before.end() :]) if name and before else name
    names = names_in_cell(name, page)
    sign = Relation.APPROX if name and name.text.endswith("≈") else Relation.EQUAL
    links = (*names, replace(link, relation=sign) if names else link)
    told = before["words"] if before else bare(name.text) if name and not names else ""
    label = "" if is_axes(told) or means(told, "counter") else told
    chain = Chain(links, min(link.at for link in links), end, link.text)
    return Stated(chain, Origin.TABLE, label, row_labels=row_labels, column_labels=column_labels, whole=not names)


def stated(links: tuple[Link, ...], label: str = "", row_label: str = "") -> Stated:
    at = links[-1].at
    return Stated(
        Chain(links, at, at.line, " ".join(link.text for link in links)), Origin.TABLE, label, row_label=row_label
    )
