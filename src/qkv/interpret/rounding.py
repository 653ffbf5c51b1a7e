"""From a certified cell to decimals, each digit proven; from a shown decimal to what it can stand for."""

from __future__ import annotations

from functools import lru_cache

from flint import arb, fmpq, fmpz

from qkv.interpret.cells import NEG_INF, Cell, bounds, precision

MINUS_INFINITY = "-inf"


def round_places(cell: Cell, places: int) -> str | None:
    """The cell rounded to decimal places (halves away from zero), or None while the ball leaves it open.

    >>> round_places(fmpq(2, 3), 4)
    '0.6667'
    """
    if cell is NEG_INF:
        return MINUS_INFINITY
    if type(cell) is arb and _is_far(cell) and _magnitude(cell) < 0 and places < FAR // 4:
        return _decimal(fmpz(0), places)
    low, high = bounds(cell)
    nearest = _nearest(low, places)
    return _decimal(nearest, places) if low == high or nearest == _nearest(high, places) else None


def round_digits(cell: Cell, digits: int) -> str | None:
    """The cell rounded to significant digits, or None while the ball leaves it open; short exact decimals stay exact.

    >>> round_digits(fmpq(4364, 10), 6), round_digits(fmpq(2, 3), 6), round_digits(fmpq(1, 3 * 10**30), 3)
    ('436.4', '0.666667', '3.33e-31')
    """
    if cell is NEG_INF:
        return MINUS_INFINITY
    if isinstance(cell, fmpq):
        exact = exact_decimal(cell, digits)
        if exact is not None:
            return exact
    shift = 0
    if type(cell) is arb and _is_far(cell):
        shift = -int(_magnitude(cell) * LOG10_2)
        cell = _times_power_of_ten(cell, shift, digits)
    low, high = bounds(cell)
    if low <= 0 <= high:
        return None
    places = digits - 1 - exponent10(low)
    first = _nearest(low, places)
    if low != high and first != _nearest(high, places):
        return None
    if abs(first) == fmpz(10) ** digits:  # 0.99999 became 1.0000
        first, places = fmpz(first // 10), places - 1
    return _scientific(first, places + shift, digits)


# A weight of e^-100000000 is a ball like another, but written out as a fraction it would fill megabytes.
FAR = 4096  # from 2^±this on a ball is brought near 1 before it is taken apart
LOG10_2 = 0.30103


def _is_far(cell: arb) -> bool:
    return cell.is_finite() and not cell.contains(arb(0)) and abs(_magnitude(cell)) > FAR


def _magnitude(cell: arb) -> int:
    """The e for which the middle of a ball is about 2^e."""
    mantissa, exponent = cell.mid().man_exp()
    return int(exponent) + int(mantissa).bit_length()


def _times_power_of_ten(cell: arb, shift: int, digits: int) -> arb:
    with precision(min(cell.rel_accuracy_bits(), 4 * digits) + 128):
        return cell * arb(10) ** shift


def exact_decimal(cell: fmpq, digits: int) -> str | None:
    """The cell as a terminating decimal if it needs no more than `digits` significant digits.

    >>> exact_decimal(fmpq(157, 10), 6), exact_decimal(fmpq(1, 3), 6)
    ('15.7', None)
    """
    q, places = cell.q, 0
    while q % 10 == 0:
        q, places = q // 10, places + 1
    twos = fives = 0
    while q % 2 == 0:
        q, twos = q // 2, twos + 1
    while q % 5 == 0:
        q, fives = q // 5, fives + 1
    if q != 1:
        return None
    places += max(twos, fives)
    scaled = (cell * fmpq(fmpz(10) ** places)).p
    if len(str(abs(scaled)).rstrip("0") if places == 0 else str(abs(scaled))) > digits or len(str(abs(scaled))) > 21:
        return None
    return _decimal(scaled, places)


def exponent10(x: fmpq) -> int:
    """The e for which 10^e ≤ |x| < 10^(e+1)."""
    x = abs(x)
    e = len(str(x.p)) - len(str(x.q))
    ten = fmpq(10) ** e if e >= 0 else 1 / fmpq(10) ** -e
    return e if x >= ten else e - 1


def _nearest(x: fmpq, places: int) -> fmpz:
    scaled = x * power_of_ten(places)
    return (scaled + HALF).floor() if scaled >= 0 else -((-scaled + HALF).floor())


HALF = fmpq(1, 2)


@lru_cache(maxsize=64)
def power_of_ten(n: int) -> fmpq:
    """10^n, exactly."""
    return fmpq(fmpz(10) ** n) if n >= 0 else fmpq(1, fmpz(10) ** -n)


def _decimal(scaled: fmpz, places: int) -> str:
    if places <= 0:
        return str(scaled * fmpz(10) ** -places)
    digits = str(abs(scaled)).rjust(places + 1, "0")
    sign = "-" if scaled < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def _scientific(scaled: fmpz, places: int, digits: int) -> str:
    exponent = len(str(abs(scaled))) - 1 - places
    if -5 <= exponent < max(digits, 6):
        return _decimal(scaled, places) if places >= 0 else str(scaled * fmpz(10) ** -places)
    text = str(abs(scaled))
    mantissa = text[0] + ("." + text[1:] if len(text) > 1 else "")
    return f"{'-' if scaled < 0 else ''}{mantissa}e{exponent}"
