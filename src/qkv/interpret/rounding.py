"""From a certified cell to decimals, each digit proven; from a shown decimal to what it can stand for."""

from __future__ import annotations

from functools import lru_cache
from math import floor, log10

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
        return _decimal(0, places)
    proven = _proven(cell, places) if type(cell) is arb else None
    if proven is not None:
        return _decimal(proven, places)
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
    if type(cell) is arb and 1e-99 < abs(middle := float(cell)) < 1e99:
        places = digits - 1 - floor(log10(abs(middle)))
        proven = _proven(cell, places)
        if proven is not None and 10 ** (digits - 1) < abs(proven) < 10**digits:  # else the exponent may be another
            return _scientific(proven, places + shift, digits)
    low, high = bounds(cell)
    if low <= 0 <= high:
        return None
    places = digits - 1 - exponent10(low)
    first = _nearest(low, places)
    if low != high and first != _nearest(high, places):
        return None
    if abs(first) == 10**digits:  # 0.99999 became 1.0000
        first, places = first // 10, places - 1
    return _scientific(first, places + shift, digits)


# A weight of e^-100000000 is a ball like another, but written out as a fraction it would fill megabytes.
FAR = 4096  # from 2^±this on a ball is brought near 1 before it is taken apart
LOG10_2 = 0.30103


_ZERO, _HALF = arb(0), arb(0.5)
_TINY, _HUGE = arb(fmpq(1, 1 << FAR)), arb(1 << FAR)
_MINUS_TINY, _MINUS_HUGE = -_TINY, -_HUGE


def _is_far(cell: arb) -> bool:
    if (cell > _TINY and cell < _HUGE) or (cell < _MINUS_TINY and cell > _MINUS_HUGE):
        return False  # as most are
    return cell.is_finite() and not cell.contains(_ZERO) and abs(_magnitude(cell)) > FAR


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
    p, q = int(cell.p), int(cell.q)
    twos = (q & -q).bit_length() - 1
    rest, fives = q >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return None
    places = max(twos, fives)
    scaled = p * 10**places // q
    if abs(scaled) >= MOST_SCALED:
        return None
    written = str(abs(scaled))
    return None if len(written if places else written.rstrip("0")) > digits else _decimal(scaled, places)


MOST_SCALED = 10**21  # an exact decimal of more digits is not written out


def exponent10(x: fmpq) -> int:
    """The e for which 10^e ≤ |x| < 10^(e+1)."""
    p, q = abs(int(x.p)), int(x.q)
    e = int((p.bit_length() - q.bit_length()) * LOG10_2) + 1  # at least, and hardly ever more
    while p < q * 10**e if e >= 0 else p * 10**-e < q:
        e -= 1
    return e


def _proven(cell: arb, places: int) -> int | None:
    """The one multiple of 10^-places that a ball is nearest to, where FLINT's own arithmetic proves it: that is many
    times faster than exact bounds, which decide what this leaves open."""
    if not cell.is_finite() or cell.contains(_ZERO):
        return None
    whole = (abs(cell) * power_of_ten(places) + _HALF).floor().unique_fmpz()
    return None if whole is None else int(whole) if cell > 0 else -int(whole)


def _nearest(x: fmpq, places: int) -> int:
    p, q = int(x.p), int(x.q)
    if places >= 0:
        p *= 10**places
    else:
        q *= 10**-places
    away = (2 * abs(p) + q) // (2 * q)
    return away if p >= 0 else -away


@lru_cache(maxsize=64)
def power_of_ten(n: int) -> fmpq:
    """10^n, exactly."""
    return fmpq(fmpz(10) ** n) if n >= 0 else fmpq(1, fmpz(10) ** -n)


def _decimal(scaled: int, places: int) -> str:
    if places <= 0:
        return _written(scaled * 10**-places)
    digits = _written(abs(scaled)).rjust(places + 1, "0")
    sign = "-" if scaled < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def _written(number: int) -> str:
    """Python itself refuses to write thousands of digits."""
    return str(number) if -MOST_SCALED < number < MOST_SCALED else str(fmpz(number))


def _scientific(scaled: int, places: int, digits: int) -> str:
    text = _written(abs(scaled))
    exponent = len(text) - 1 - places
    if -5 <= exponent < max(digits, 6):
        return _decimal(scaled, places)
    mantissa = text[0] + ("." + text[1:] if len(text) > 1 else "")
    return f"{'-' if scaled < 0 else ''}{mantissa}e{exponent}"
