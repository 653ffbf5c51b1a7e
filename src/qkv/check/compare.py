"""A shown value against a certified one: equal, rounded, off by less than a unit of the last place, or apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache

from flint import arb, fmpq

from qkv.expr import nodes as n
from qkv.interpret.cells import NEG_INF, Cell, bounds, interval
from qkv.interpret.rounding import power_of_ten


class Agreement(IntEnum):
    """How a shown value stands to a computed one, best first."""

    EQUAL = 0
    ROUNDED = 1
    OPEN = 2  # the ball is too wide to tell
    NEAR = 3  # within one unit of the last place, and not the nearest
    APART = 4


@dataclass(frozen=True, slots=True)
class Shown:
    """A printed cell: what it can stand for. `half` is half a unit of its last place (0 for an exact number);
    `cell` holds exact expressions such as 1/√2 as a ball; `low` and `high` are the least and the greatest value that
    rounds to it, `ends` the same as balls: most comparisons are decided by those, many times faster than exactly."""

    text: str
    value: fmpq | None  # None for −∞ and for exact irrational expressions
    half: fmpq
    cell: Cell
    low: fmpq | None
    high: fmpq | None
    ends: tuple[arb, arb] | None = field(default=None, compare=False, repr=False)


def shown_number(node: n.Number, approximate: bool = False) -> Shown:
    """A printed decimal. After ≈, trailing zeros of a whole number need not be digits: 10300 may stand for 10301.
    After =, a whole number of one digit is meant to two: 1 may stand for 0.998, but 3 not for 3.4."""
    text = node.text or str(node.value)
    return _shown(text, node.places, approximate, *node.value.as_integer_ratio())


@lru_cache(maxsize=1024)  # four numbers of five are shown again in the same document
def _shown(text: str, places: int | None, approximate: bool, numerator: int, denominator: int) -> Shown:
    value = fmpq(numerator, denominator)
    if places == 0 and not approximate and -10 < numerator < 10:
        places = 1
    elif places == 0 and approximate and numerator and denominator == 1:
        digits = str(numerator)
        places = len(digits.rstrip("0")) - len(digits)
    half = _half_unit(places)
    if places is not None and places >= MACHINE_PLACES:
        half = max(half, abs(value) * _machine_error(text))
    low, high = value - half, value + half
    ends = (arb(low), arb(high)) if half else None
    return Shown(text, value, half, value, low, high, ends)


@lru_cache(maxsize=256)
def _half_unit(places: int | None) -> fmpq:
    """Half a unit of the last place; 0 for an exact number."""
    return fmpq(0) if places is None else power_of_ten(-places) / 2


HIDDEN = "·"  # what a cell is shown as that a page leaves out: whatever stands there is not denied
_STAND_IN = fmpq(-1000)  # no score of a worked example comes near; as a mask it leaves a weight of 0
MACHINE_PLACES = 7  # nobody writes so many by hand
NOTHING, SINGLE, DOUBLE = (
    fmpq(0),
    fmpq(1, 2**21),
    fmpq(1, 2**50),
)  # a few units in the last place of a float32 and of a float64


def _machine_error(text: str) -> fmpq:
    """0.24000001 and 0.30000000000000004 are what machines print for 0.24 and 0.3: as exact as such a float is."""
    if "." not in text:
        return NOTHING
    digits = len(text.lower().partition("e")[0].replace(".", "").lstrip("-0"))
    return DOUBLE if digits >= 15 else SINGLE if digits >= 8 else NOTHING


def shown_cell(text: str, cell: Cell) -> Shown:
    """A cell that is no decimal: −∞, or an exact expression."""
    value = cell if isinstance(cell, fmpq) else None
    return Shown(text, value, NOTHING, cell, value, value)


def agreement(shown: Shown, true: Cell) -> Agreement:
    """How a shown cell stands to a true one."""
    if type(true) is fmpq and shown.value is not None:
        return _exactly(shown, true)
    if shown.cell is NEG_INF or true is NEG_INF:
        return _infinite(shown, true)
    if shown.value is None:
        return Agreement.EQUAL if _overlap(bounds(shown.cell), bounds(true)) else Agreement.APART
    if not true.is_exact():
        if _is_within(shown, true):
            return Agreement.ROUNDED
        if _is_far(shown, true):
            return Agreement.APART
    low, high = bounds(true)
    if low == high:
        return _exactly(shown, low)
    if shown.low <= low and high <= shown.high and shown.half:
        return Agreement.ROUNDED
    if _overlap((shown.low, shown.high), (low, high)):
        return Agreement.OPEN
    near = shown.half and shown.value - 2 * shown.half < low and high < shown.value + 2 * shown.half
    return Agreement.NEAR if near else Agreement.APART


def _exactly(shown: Shown, number: fmpq) -> Agreement:
    gap = abs(number - shown.value)
    if not gap:
        return Agreement.EQUAL
    if gap <= shown.half:
        return Agreement.ROUNDED
    return Agreement.NEAR if gap < 2 * shown.half else Agreement.APART


def _is_within(shown: Shown, ball: arb) -> bool:
    """Whether all of a ball rounds to what is shown; what this leaves open is decided exactly."""
    return shown.ends is not None and bool(ball >= shown.ends[0] and ball <= shown.ends[1])


def _is_far(shown: Shown, ball: arb) -> bool:
    """Whether all of a ball is more than a unit of the last place away; what this leaves open is decided exactly."""
    distance, unit = ball - shown.value, 2 * shown.half
    return bool(distance > unit or distance < -unit)


def _infinite(shown: Shown, true: Cell) -> Agreement:
    return Agreement.EQUAL if _both_mask(shown, true) else Agreement.APART


def _both_mask(shown: Shown, other: Cell) -> bool:
    """Whether both are −∞, or one is and the other a number that code writes for it: -1e9, -10000."""
    if shown.text == HIDDEN:
        return True
    return all(cell is NEG_INF or (isinstance(cell, fmpq) and cell <= _STAND_IN) for cell in (shown.cell, other))


def follows(shown: Shown, own: Cell) -> Agreement:
    """How a shown cell stands to what the author's own numbers give, mostly intervals: ROUNDED if they meet."""
    if type(own) is fmpq and shown.value is not None:
        gap = abs(own - shown.value)
        if gap <= shown.half:
            return Agreement.ROUNDED if gap else Agreement.EQUAL
        return Agreement.NEAR if gap < 2 * shown.half else Agreement.APART
    if meets(shown, own):
        return Agreement.ROUNDED
    if shown.value is None or own is NEG_INF or _is_far(shown, own):
        return Agreement.APART
    return Agreement.NEAR if _meets_within(shown.value, shown.half * 2, *bounds(own)) else Agreement.APART


def meets(shown: Shown, own: Cell) -> bool:
    """Whether a shown cell may be what the author's own numbers give."""
    if type(own) is fmpq and shown.value is not None:
        return bool(abs(own - shown.value) <= shown.half)
    if shown.cell is NEG_INF or own is NEG_INF:
        return _both_mask(shown, own)
    if shown.value is None:
        return _overlap(bounds(shown.cell), bounds(own))
    if shown.ends is not None:
        floor, ceiling = shown.ends
        if own > ceiling or own < floor:
            return False
        middle = own.mid()
        if middle >= floor and middle <= ceiling:
            return True
    low, high = bounds(own)
    return bool(shown.low <= high and low <= shown.high)


def agree(shown: Sequence[Shown], made: Sequence[Cell]) -> bool:
    """Whether each of some shown cells may be what the author's own numbers give there."""
    return all(map(meets, shown, made))


def may_be_same(a: Cell, b: Cell) -> bool:
    """Whether two computed cells may be the same number."""
    return a is b if NEG_INF in (a, b) else _overlap(bounds(a), bounds(b))


def _meets_within(value: fmpq, reach: fmpq, low: fmpq, high: fmpq) -> bool:
    return bool(reach > 0 and low < value + reach and high > value - reach)


def _overlap(a: tuple[fmpq, fmpq], b: tuple[fmpq, fmpq]) -> bool:
    return bool(a[0] <= b[1] and b[0] <= a[1])


def held(shown: Shown, sources: list[Cell], badly: bool = False) -> Cell:
    """What the author may go on with: the printed number, or the unrounded one that it stands for.

    The interval spans the printed point and those of the computed sources that round to it, so that carrying full
    precision and going on with printed digits are both covered, and nothing else is. Where no source does (a slip),
    the unrounded wrong number is unknown, and may be anything that rounds to what is shown. A source that was rounded
    `badly` is up to a unit away.
    """
    if shown.value is None:
        return shown.cell
    if not sources:
        return loosened(shown)
    span: Cell = shown.value
    reach = 2 * shown.half if badly else shown.half
    for source in sources:
        if source is NEG_INF or (type(source) is fmpq and source == shown.value):
            continue
        if not badly and type(source) is arb and _is_within(shown, source):
            span = arb(span).union(source)
            continue
        first, last = bounds(source)
        first, last = max(first, shown.value - reach), min(last, shown.value + reach)
        if first <= last:
            span = arb(span).union(interval(first, last))
    return span


def rounded_as(shown: Shown, source: Cell) -> Cell:
    """What an author may go on with who had a number in mind and wrote down another: that number, or it rounded to as
    many places as are shown."""
    if source is NEG_INF or not shown.half:
        return source
    unit, (low, high) = 2 * shown.half, bounds(source)
    nearest = ((low + high) / 2 / unit + fmpq(1, 2)).floor() * unit
    return source if low <= nearest <= high else interval(min(low, nearest), max(high, nearest))


def loosened(shown: Shown) -> Cell:
    """A decimal put into a working: anything that rounds to it. Whole numbers are meant exactly."""
    if shown.value is None or (shown.value.q == 1 and "." not in shown.text):
        return shown.cell
    return interval(shown.low, shown.high)
