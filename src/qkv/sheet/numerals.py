"""Numerals: from the digits on the page to an exact fraction and the number of places shown."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from qkv.errors import LimitError, Location
from qkv.expr.nodes import Number

# Beyond these a 'number' is an attack or an accident; both stay far above what a sheet or a float128 print holds.
DIGIT_LIMIT = 4_000
EXPONENT_LIMIT = 20_000

WHOLE_NUMBER = re.compile(r"[+\-]?\d{1,4000}")
DECIMAL = r"(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][+\-]?\d+)?"
_SEPARATORS = re.compile(r"\{,\}|\\,|\\!|[\s~,]")


@lru_cache(maxsize=4096)
def value_of(text: str) -> tuple[Fraction, int]:
    """The value and the places of a decimal such as -0.50, 3. or 1e-5.

    >>> value_of("0.50")
    (Fraction(1, 2), 2)
    """
    mantissa, _, exponent = text.replace("E", "e").partition("e")
    whole, _, decimals = mantissa.partition(".")
    shift = len(decimals) - int(exponent or 0) if len(exponent) < 8 else EXPONENT_LIMIT * 2
    if len(mantissa) > DIGIT_LIMIT or abs(shift) > EXPONENT_LIMIT:
        raise LimitError(f"a number of more than {DIGIT_LIMIT} digits, or beyond 10^{EXPONENT_LIMIT}, is not read")
    digits = int(whole + decimals)
    return (Fraction(digits, 10**shift) if shift > 0 else Fraction(digits * 10**-shift)), shift


def decimal(text: str, at: Location | None = None) -> Number:
    """A number from plain digits."""
    value, places = value_of(text)
    return Number(value, places, text, at=at)


def plain_digits(text: str, *, decimal_comma: bool) -> str:
    r"""The digits of a numeral without the marks between thousands, the decimal mark as a point.

    >>> plain_digits(r"1{,}048{,}576", decimal_comma=False), plain_digits("0{,}5", decimal_comma=False)
    ('1048576', '0.5')
    """
    parts = _SEPARATORS.split(text)
    if len(parts) == 1:
        return text
    grouped = parts[0] != "0" and len(parts[0]) <= 3 and all(len(p.partition(".")[0]) == 3 for p in parts[1:])
    if "," in text and len(parts) == 2 and (decimal_comma or not grouped):
        return ".".join(parts)
    return "".join(parts)


_POINT = re.compile(r"\d\.\d")
# Where 0,5 can be nothing but a half: marked so, beside & or a spaced semicolon, raised, after a relation, or with a
# zero behind the comma (10,07). A bare [0,5] stays a list of two.
_SURE_DECIMAL = re.compile(
    r"""\d\{,\}(?!\d{3}(?!\d))\d
    |(?<![\d,.])\d+,(?:0\d+|\d+(?=\s*(?:&|;\s|\\\\)))(?![\d,])
    |(?:&|;\s)\s*-?\d+,\d+(?!,|\d|\s*\\end)
    |\^\{?-?\d+,\d+(?![\d,])
    |(?:[=≈]\s*-?0|(?:≈|\\approx)\s*-?\d+),\d+(?![\d,]|\s*,\s*\d)""",
    re.VERBOSE,
)
_LISTED = re.compile(r"\d,\d+,\d")


def uses_decimal_comma(text: str) -> bool:
    """Whether a text writes 0,5 for a half: a sure case, no decimal point, and no list without blanks.

    >>> uses_decimal_comma("[0,5; 0,25]"), uses_decimal_comma("[0,5]"), uses_decimal_comma("x = 0.5")
    (True, False, False)
    """
    return "," in text and bool(_SURE_DECIMAL.search(text)) and not _POINT.search(text) and not _LISTED.search(text)
