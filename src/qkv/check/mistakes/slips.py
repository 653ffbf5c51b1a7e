"""Slips in single cells: a product dropped, a sign lost, an index off, digits that went astray.

Two tables: what can happen while a row meets a column, and what can happen to a number while it is written down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, repeat
from typing import NamedTuple

from qkv.check.compare import Shown, meets
from qkv.check.model import Cause, Verdict
from qkv.expr import nodes as n
from qkv.interpret import cells as c
from qkv.interpret.cells import NEG_INF, Cell
from qkv.interpret.certified import Value
from qkv.interpret.rounding import exact_decimal, round_places


class Meeting(NamedTuple):
    """A cell of a product: the rows of the left factor, the columns of the right one, and which of them meet."""

    rows: Sequence[Sequence[Cell]]
    columns: Sequence[Sequence[Cell]]
    row: int
    column: int
    total: Cell  # what comes out, a bias included

    @property
    def pairs(self) -> list[tuple[Cell, Cell]]:
        """The numbers that are multiplied."""
        return list(zip(self.rows[self.row], self.columns[self.column], strict=True))

    def less(self, amount: Cell) -> Cell:
        """What comes out if so much is missing."""
        return self.total + c.negate(amount)


class DotSlip(NamedTuple):
    """A slip while working out one cell of a product."""

    key: str
    says: str
    change: Callable[[Meeting], Iterator[Cell]]


class TextSlip(NamedTuple):
    """A slip while writing a number down."""

    key: str
    says: str
    change: Callable[[str], Iterator[str]]


def _dropped(m: Meeting) -> Iterator[Cell]:
    return (m.less(c.multiply(x, y)) for x, y in m.pairs)


def _sign(m: Meeting) -> Iterator[Cell]:
    return (m.less(c.multiply(c.multiply(x, y), c.rational(2))) for x, y in m.pairs)


def _added(m: Meeting) -> Iterator[Cell]:
    return (m.less(c.multiply(x, y)) + (x + y) for x, y in m.pairs)


def _off(m: Meeting) -> Iterator[Cell]:
    """The neighbouring row or column, for the whole cell or for one number of it."""
    spare = m.less(_dot(m.rows[m.row], m.columns[m.column]))
    for i, j in ((m.row - 1, m.column), (m.row + 1, m.column), (m.row, m.column - 1), (m.row, m.column + 1)):
        if 0 <= i < len(m.rows) and 0 <= j < len(m.columns):
            yield spare + _dot(m.rows[i], m.columns[j])


def _dot(row: Sequence[Cell], column: Sequence[Cell]) -> Cell:
    total: Cell = c.rational(0)
    for x, y in zip(row, column, strict=True):
        total = total + c.multiply(x, y)
    return total


def _negated(text: str) -> Iterator[str]:
    yield text.removeprefix("-") if text.startswith("-") else "-" + text


def _digit_places(text: str) -> list[int]:
    return [i for i, ch in enumerate(text) if ch.isdigit()]


def _digit_lost(text: str) -> Iterator[str]:
    return (text[:i] + text[i + 1 :] for i in _digit_places(text))


def _digit_doubled(text: str) -> Iterator[str]:
    return (text[: i + 1] + text[i] + text[i + 1 :] for i in _digit_places(text) if text[i] != "0")


def _transposed(text: str) -> Iterator[str]:
    places = _digit_places(text)
    for i, j in pairwise(places):
        yield text[:i] + text[j] + text[i + 1 : j] + text[i] + text[j + 1 :]


def _shifted(text: str) -> Iterator[str]:
    """The point one or two places to the left or to the right."""
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    whole, _, decimals = digits.partition(".")
    for by in (1, -1, 2, -2):
        figures = "0" * 3 + whole + decimals + "0" * 3
        point = 3 + len(whole) + by
        end = max(point, 3 + len(whole) + len(decimals))
        left, right = figures[:point].lstrip("0") or "0", figures[point:end]
        yield sign + left + ("." + right if right else "")


DOTS: tuple[DotSlip, ...] = (
    DotSlip("one product dropped", "one of the products was left out of the sum", _dropped),
    DotSlip("sign lost", "one of the products has the wrong sign", _sign),
    DotSlip("index off", "a neighbouring row or column was used", _off),
    DotSlip("added instead of multiplied", "two numbers were added where they are multiplied", _added),
)
TEXTS: tuple[TextSlip, ...] = (
    TextSlip("sign lost", "the sign is wrong", _negated),
    TextSlip("a digit lost", "a digit was lost", _digit_lost),
    TextSlip("a digit doubled", "a digit was written twice", _digit_doubled),
    TextSlip("digits transposed", "two digits changed places", _transposed),
    TextSlip("decimal point shifted", "the decimal point is in the wrong place", _shifted),
)


class JudgedCell(NamedTuple):
    """A printed cell with its verdict, its true value, and what the author's own numbers give."""

    shown: Shown
    verdict: Verdict
    true: Cell | None
    own: Cell | None


@dataclass(frozen=True)
class Written:
    """What is shown, and which cells of it are wrong."""

    judged: Sequence[Sequence[JudgedCell]]
    wrong: list[tuple[int, int]]
    _texts: dict[tuple[int, int], dict[str, str]] = field(default_factory=dict)

    def texts(self, i: int, j: int) -> dict[str, str]:
        """Slips in writing a cell down, looked for once: they do not depend on where the number came from."""
        if (i, j) not in self._texts:
            self._texts[i, j] = dict(_text_slips(self.judged[i][j]))
        return self._texts[i, j]


def slips(written: Written, factors: list[Factors]) -> dict[str, str]:
    """The slips that explain every wrong cell, with a sentence each. A copied number, which was only written down, has
    no factors."""
    left: dict[str, str] | None = None
    for i, j in written.wrong:
        if left == {}:
            break  # nothing explains the cells so far
        dots = dict(_dot_slips(written.judged[i][j].shown, i, j, factors))
        found = dots | written.texts(i, j) | dots  # slips of both kinds are told as those of working out
        left = found if left is None else {key: says for key, says in left.items() if key in found}
    return left or {}


def cut_off(judged: Sequence[Sequence[JudgedCell]]) -> Cause | None:
    """Whether every cell that is not rounded to the nearest lost the digits after its last one."""
    cells = [cell for row in judged for cell in row if cell.verdict is Verdict.MISROUNDED]
    if not cells or not all(_is_cut(cell) for cell in cells):
        return None
    return Cause("cut off instead of rounded", "the digits after the last one shown were cut off, not rounded")


def _is_cut(cell: JudgedCell) -> bool:
    """0.66 for 2/3: nearer to zero than the value, by less than a unit of the last place."""
    shown, unit = cell.shown.value, 2 * cell.shown.half
    for value in (cell.own, cell.true):
        if shown is not None and value is not None and value is not NEG_INF:
            low, high = c.bounds(value)
            if (shown >= 0 and shown <= high and low < shown + unit) or (shown <= 0 and low <= shown < high + unit):
                return True
    return False


class Factors(NamedTuple):
    """A product that gives what is shown, or a part of which does."""

    left: Value
    columns: tuple[tuple[Cell, ...], ...]  # of the right one
    total: Value
    row: int  # where the shown rows and columns begin within the product
    column: int


def products(base: n.Expr, minds: Iterable[Callable[[n.Expr], Value | None]]) -> list[Factors]:
    """The product that gives a target, which is written out: with the numbers of each mind, where they are others."""
    row = column = 0
    inner = base
    if isinstance(inner, n.Entry):
        row, column = (inner.row or 1) - 1, (inner.column or 1) - 1
        inner = inner.arg
    product = inner.terms[0] if isinstance(inner, n.Sum) else inner
    if not isinstance(product, n.Product):
        return []
    found: list[Factors] = []
    for value in minds:
        left, right, total = value(product.left), value(product.right), value(inner)
        if left and right and total and left.shape[1] == right.shape[0] and total.shape[1] == right.shape[1]:
            made = Factors(left, tuple(zip(*right.rows, strict=True)), total, row, column)
            if made not in found:
                found.append(made)
    return found


def _dot_slips(shown: Shown, i: int, j: int, factors: list[Factors]) -> Iterator[tuple[str, str]]:
    for f in factors:
        row, column = f.row + i, f.column + j
        if row >= len(f.left.rows) or column >= len(f.columns):
            continue
        meeting = Meeting(f.left.rows, f.columns, row, column, f.total.rows[row][column])
        for slip in DOTS:
            if any(map(meets, repeat(shown), slip.change(meeting))):
                yield slip.key, slip.says


def _text_slips(cell: JudgedCell) -> Iterator[tuple[str, str]]:
    written = exact_decimal(cell.shown.value, MOST_DIGITS) if cell.shown.value is not None and cell.shown.half else None
    if written is None:
        return
    figures, places = _figures(written), len(cell.shown.text.partition(".")[2])
    for expected in dict.fromkeys(_meant(cell, places)):
        if _is_alike(expected, written):
            for slip in TEXTS:
                if any(_figures(text) == figures for text in slip.change(expected)):
                    yield slip.key, slip.says


_NOT_DIGITS = str.maketrans("", "", "-.0")


def _is_alike(a: str, b: str) -> bool:
    """Whether two decimals share all digits but one, whatever zeros they have: no slip of the table changes more."""
    few, many = sorted((a.translate(_NOT_DIGITS), b.translate(_NOT_DIGITS)), key=len)
    for digit in few:
        if digit not in many:
            return False
        many = many.replace(digit, "", 1)
    return len(many) < 2


MOST_DIGITS = 21  # nobody slips in a longer number


def _meant(cell: JudgedCell, places: int) -> Iterator[str]:
    """What the author may have meant to write: to the places shown, or to a few more or less."""
    own, true = cell.own, cell.true
    for value in (true,) if own is None or own is true else (own, true):
        if value is None or value is NEG_INF:
            continue
        for p in (places, places + 1, places + 2, places - 1, places - 2):
            for text in _rounded(value, p) if p >= 0 else ():
                padded = p > places and text.endswith("0")  # 5.0 says no more than 5
                if text.strip("-0.") and not padded:
                    yield text


def _rounded(value: Cell, places: int) -> list[str]:
    """A value to some places; where it is open, its ends and its middle."""
    text = round_places(value, places)
    if text is not None:
        return [text]
    low, high = c.bounds(value)
    points = (low, (low + high) / 2, high)
    return [text for point in points if (text := round_places(point, places)) is not None]


def _figures(text: str) -> str:
    """A decimal without zeros that say nothing: two that are the same number have the same figures. None for none."""
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    whole, _, decimals = digits.partition(".")
    return f"{sign}{whole.lstrip('0')}.{decimals.rstrip('0')}" if whole or decimals else ""
