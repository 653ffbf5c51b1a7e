"""Tables of items, what each is worked out from, and what it comes to; totals among them.

| item            | working     | value     |      A row is a chain: 512 · 256 = 131,072. 'sum of the three' and 'total'
| token embedding | 8000 · 256  | 2,048,000 |      add up the printed values above that are not yet in another sum, and
| positions       | 512 · 256   | 131,072   |      '× 4' takes the value above four times. Where no such sum comes near
| total           |             | 2,179,072 |      what is printed, nothing is said of how the total comes about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from qkv.errors import Location
from qkv.expr.nodes import Expr, Number, Product, Sum
from qkv.reader.cells import amount_in, bare, calculation_in, is_total, parsed_cell
from qkv.reader.chain import Chain
from qkv.reader.model import Link, Origin, Relation
from qkv.reader.page import Cell, Page, Rows, Stated
from qkv.regex import regex

_TIMES = regex(r"(?:[×·*x]|\\times|\\cdot)\s*(?P<before>\d{1,4})|(?P<after>\d{1,4})\s*(?:[×·*x]|\\times|\\cdot)")
_GROUPED = regex(r"\d{1,3}(?:[  .,]\d{3})+(?!\d)")
_ADDED = regex(
    r"\b(?:sum|add|summe|somme|suma|soma|somma|total|together|zusammen|gesamt|insgesamt)\b|сумм|итого|всего|合计|总和|之和|合計|합",
    re.IGNORECASE,
)
_HOW_MANY = tuple(
    (k, regex(rf"\b(?:{words})\b", re.IGNORECASE))
    for k, words in (
        (2, "two|both|zwei|beiden|deux|dos|dois|duas|due|2"),
        (3, "three|drei|trois|tres|três|tre|3"),
        (4, "four|vier|quatre|cuatro|quatro|quattro|4"),
        (5, "five|fünf|cinq|cinco|cinque|5"),
    )
)
_OPERATORS = regex(r"[×·*+^²]|\\times|\\cdot|(?<=\d)\s*x\s*(?=\d)")
_LEAST = 1000  # sums of small numbers come about by accident


def ledger(block: Rows, page: Page) -> list[Stated]:
    """The chains of a table of workings and values with totals; none where it is no such table."""
    rows = [_row(block, r) for r in range(len(block.body))]
    worked = [row for row in rows if row is not None and _OPERATORS.search(row[1])]
    told = [row for row in rows if row is not None and not _OPERATORS.search(row[1]) and (_is_sum(row) or not row[1])]
    whole = all(re.fullmatch(r"[\d.,\s]+", bare(row[2].text).partition("≈")[0]) for row in rows if row is not None)
    if len(worked) < 2 or not whole or len(worked) + len(told) < len(block.body) - 2 or not _has_totals(rows):
        return []
    return list(_chains([row for row in rows if row is not None], page))


Row = tuple[str, str, Cell, Cell | None]  # label, working, value, the cell of the working


def _row(block: Rows, r: int) -> Row | None:
    """The label, the working and the value of a row; None where it has no value."""
    cells = [*block.labels[r : r + 1], *block.body[r]]
    values = [k for k, cell in enumerate(cells) if k and _number(bare(cell.text))]
    if not values:
        return None
    large = [
        k for k in values if _OPERATORS.search(bare(cells[k - 1].text)) or not bare(cells[k - 1].text).strip("-–—")
    ]
    at = (large or values)[0]
    working = cells[at - 1] if at > 1 else None
    return bare(cells[0].text), bare(working.text).strip("-–— ") if working else "", cells[at], working


def _number(text: str) -> bool:
    """Whether a cell begins with a number and holds no calculation."""
    return bool(re.match(r"[~≈]?\s*\d", text)) and not _OPERATORS.search(text.partition("≈")[0].partition("=")[0])


def _is_sum(row: Row) -> bool:
    return bool(_ADDED.search(row[1])) or (not row[1] and bool(_ADDED.search(row[0])))


def _has_totals(rows: Sequence[Row | None]) -> bool:
    return any(row is not None and (_is_sum(row) or _TIMES.fullmatch(row[1])) for row in rows)


def _chains(rows: Sequence[Row], page: Page) -> Iterator[Stated]:
    open_: list[Number] = []  # values that stand in no sum yet
    for row in rows:
        label, cell = row[0], row[2]
        values = _values(cell, page)
        first = values[0].expr if values else None
        if not isinstance(first, Number) or first.value.denominator != 1:
            continue
        left, used = _left(row, first, open_, page)
        at = cell.at
        if left:
            links = (*left, *(replace(link, relation=link.relation or Relation.EQUAL) for link in values))
            links = (replace(links[0], relation=Relation.FIRST), *links[1:])
            chain = Chain(links, at, at.line, " ".join(link.text for link in links))
            yield Stated(chain, Origin.TABLE, "", row_label=label)
        for number in used:
            open_.remove(number)
        open_.append(first)


def _values(cell: Cell, page: Page) -> tuple[Link, ...]:
    """The value of a cell, and what it says it is about: 6,738,415,616 ≈ 6.74 B."""
    text = bare(cell.text)
    head, sign, _ = text.partition("≈")
    first = amount_in(cell._replace(text=_plain(head.strip())), page)
    if first is None or not sign or not head.strip():
        return (first,) if first is not None else ()
    chains = parsed_cell(cell._replace(text=_plain(text)), page).chains
    rest = chains[0].links[1:] if len(chains) == 1 else ()
    return (first, *rest)


def _plain(text: str) -> str:
    """A text with its thousands together: 44 303 432 is 44303432."""
    return _GROUPED.sub(lambda found: re.sub(r"\D", "", found[0]), text)


def _left(row: Row, value: Number, open_: list[Number], page: Page) -> tuple[tuple[Link, ...], list[Number]]:
    """What a row is worked out from, and the values above that it takes up."""
    label, working, cell, source = row
    at, times = cell.at, _TIMES.fullmatch(working)
    if times is not None and open_:
        factor = Number(Fraction(times["before"] or times["after"]), 0, times["before"] or times["after"], at=value.at)
        return _made(Product(factor, open_[-1]), working, at), open_[-1:]
    if source is not None and _OPERATORS.search(working):
        chains = parsed_cell(source._replace(text=_plain(working)), page).chains
        links = chains[0].links if len(chains) == 1 else ()
        single = calculation_in(source._replace(text=_plain(working)), page) if len(links) == 1 else None
        links = (single,) if single is not None else links
        return links, [number for number in open_ if any(_takes(link.expr, number) for link in links)][-1:]
    if _ADDED.search(working) or (not working and _ADDED.search(label)) or is_total(label):
        count = next((k for k, words in _HOW_MANY if words.search(working)), 0)
        chosen = open_[-count:] if 1 < count <= len(open_) else _summed(value, open_)
        if chosen:
            return _made(Sum(tuple(chosen)), working or label, at), chosen
    return (), []


def _takes(expr: Expr, number: Number) -> bool:
    """Whether a calculation goes on from a value above: 24 · 789,760."""
    parts = [expr.left, expr.right] if isinstance(expr, Product) else []
    values = [part.value for part in parts if isinstance(part, Number)]
    return len(values) == 2 and number.value >= _LEAST and max(values) == number.value > min(values)


def _summed(value: Number, open_: Sequence[Number]) -> list[Number]:
    """The last values above whose sum is what is printed, or would be but for one digit."""
    tails = [list(open_[-k:]) for k in range(len(open_), 1, -1)]
    sums = [(tail, sum(int(number.value) for number in tail)) for tail in tails]
    exact = next((tail for tail, total in sums if total == value.value), None)
    near = [tail for tail, total in sums if value.value >= _LEAST and _is_slip(str(total), str(int(value.value)))]
    return exact or (near[0] if len(near) == 1 else [])


def _is_slip(right: str, shown: str) -> bool:
    """Whether two numbers differ in one digit, or have two neighbours swapped."""
    if len(right) != len(shown):
        return False
    places = [k for k, (a, b) in enumerate(zip(right, shown, strict=True)) if a != b]
    swapped = len(places) == 2 and places[1] == places[0] + 1 and right[places[0]] == shown[places[1]]
    return len(places) == 1 or (swapped and right[places[1]] == shown[places[0]])


def _made(expr: Expr, text: str, at: Location) -> tuple[Link, ...]:
    return (Link(Relation.FIRST, expr, text, at),)
