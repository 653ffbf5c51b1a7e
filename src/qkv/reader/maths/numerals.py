"""Numerals: from the digits on the page to an exact fraction and the number of places shown; and what a comma is."""

from __future__ import annotations

import re
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from itertools import islice

from qkv.errors import LimitError, Location
from qkv.expr.nodes import Number
from qkv.regex import regex

# Beyond these a 'number' is an attack or an accident; both stay far above what a sheet or a float128 print holds.
DIGIT_LIMIT = 4_000
EXPONENT_LIMIT = 20_000

_SEPARATORS = regex(r"\{,\}|\\,|\\!|[\s~,]")


@lru_cache(maxsize=4096)
def value_of(text: str) -> tuple[Fraction, int]:
    """The value and the places of a decimal such as -0.50, 3. or 1e-5.

    >>> value_of("0.50")
    (Fraction(1, 2), 2)
    """
    mantissa, _, exponent = text.lower().partition("e")
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
    if "," in text and "." not in text and len(parts) == 2 and (decimal_comma or not grouped):
        return ".".join(parts)
    return "".join(parts)


# — letters that a scanner took for digits —

_LETTERED = regex(
    r"(?<![\w.])(?=[\d.]*[OolI])[\dOolI]+\.[\dOolI]+(?!\w|\.\w)|(?<![\w.])\d+(?:\.\d*)?[OolI]\d*(?!\w|\.\w)"
    r"|(?<![\w.,(\[{])(?=[\d,{}]*O)[\dO]+(?:,|\{,\})[\dO]+(?![\w,])"
)
_ROW = regex(r"\[(?<!\w\[) *(?:[-−]?[\d.]+|[lO])(?:[ ;]+(?:[-−]?[\d.]+|[lO]))+ *\]")
_DIGITS = str.maketrans({"O": "0", "o": "0", "l": "1", "I": "1"})
_DRAWN_ROOT = regex(r"\\/(?=\d)")
# 0.71  1,41: one comma among numbers with points that blanks part, with as many places as its neighbour
_COMMA_AFTER = regex(r"(?<=\.)(\d{2,9})([ \t]+[-−]?\d{1,9}),(\d{2,9})(?![\d.,])")


THIN = "\u202f"  # parts thousands
_GROUPED = regex(r"(?<![\w.,])[1-9]\d{0,2}(?:\.\d{3}){2,}(?![.\w])")  # 1.048.576 can only be one number
_GROUP = regex(r"(?<![\w.,])[1-9]\d{0,2}\.\d{3}(?![.\w])")
_DECIMAL_POINT = regex(r"(?<![\w.,])(?:0\.\d+|\d+\.(?:\d{1,2}|\d{4,}))(?![.\w])")


def without_grouping_points(text: str) -> str:
    """The same text, with narrow blanks for the points that part thousands; 2.048 is such a number beside 1.048.576,
    unless the page has decimal points.

    >>> without_grouping_points("1.048.576, 2.048").replace(THIN, "_")
    '1_048_576, 2_048'
    >>> without_grouping_points("1.048.576 · 0.5 · 2.048").replace(THIN, "_")
    '1_048_576 · 0.5 · 2.048'
    """
    if not _GROUPED.search(text):
        return text
    made = _GROUPED.sub(_parted, text)
    return made if _DECIMAL_POINT.search(made) else _GROUP.sub(_parted, made)


def _parted(found: re.Match[str]) -> str:
    return found[0].replace(".", THIN)


def with_digits(text: str) -> str:
    """The same text, with digits for the letters that a scanner took them for.

    >>> with_digits("A = [O.25, 0.l4], I.e. 1O of H2O; O,25")
    'A = [0.25, 0.14], I.e. 10 of H2O; 0,25'
    >>> with_digits("K = [ l 5; 0 2 ], x[l 5], [ l O ], [0, l]")
    'K = [ 1 5; 0 2 ], x[l 5], [ l O ], [0, l]'
    """
    text = _DRAWN_ROOT.sub(" √", text)
    text = _COMMA_AFTER.sub(lambda m: f"{m[1]}{m[2]}.{m[3]}" if len(m[1]) == len(m[3]) else m[0], text)
    text = _ROW.sub(_in_row, text)
    return _LETTERED.sub(_in_digits, text)


def _in_digits(found: re.Match[str]) -> str:
    numeral = any(c.isdigit() for c in found[0]) and ("." in found[0] or "O" in found[0])
    return found[0].translate(_DIGITS) if numeral else found[0]


def _in_row(found: re.Match[str]) -> str:
    """[ l 2 ] and [ 3 2; 1 O ]: an l or an O among numbers that blanks part."""
    cells = found[0].strip("[] ").replace(";", " ").split()
    few = 2 * sum(cell in "lO" for cell in cells) < len(cells) + 1
    return found[0].translate(_DIGITS) if few and any(c[-1:].isdigit() for c in cells) else found[0]


# — what a comma between digits is —


class Comma(StrEnum):
    """What a comma between digits is."""

    UNTOLD = "untold"  # it parts thousands or entries of a list, unless a stretch of mathematics shows otherwise
    BRACED = "braced"  # 0{,}5 is a half; a bare comma parts entries
    BARE = "bare"  # 0,5 is a half too


_POINT = regex(r"(?<![\d.])\d+\.\d+(?![\d.])")  # no date, no 1.2.3
_POINT_BESIDE_COMMAS = regex(r"(?<![\d.])(?![1-9]\d{0,2}(?:\.\d{3})+(?!\d))\d+\.\d+(?![\d.])")
_UNIT_COMMA = regex(r"(?<![\w,.])\d{1,3},\d{1,2}\s?(?:[KMGT]i?B|bytes?|octets)\b")
_NUMBERING = regex(r"(?:^|\n)[ \t#*(]*$")  # '1.2 Scores' counts paragraphs
_COMMA = regex(r",(?:(?<=\d,)|(?<=\d\{,)\})(\d{1,4000})(?![\d,])")
_LOOK = 12  # characters on each side of a number that tell what its comma is
_CANDIDATES = 5_000  # numbers with commas that are looked at
# What shows that 0,5 is a half, as (before, after): a cell, a rounded value, an exponent of e, points to be had, units,
# arithmetic outside of brackets.
_SURE = tuple(
    (regex(before), regex(after))
    for before, after in (
        (r"&\s*-?$", r"\s*(?:&|\\\\)"),
        (r"(?:\\approx|≈)\s*-?$", r"(?!\s*,\s*\d)"),
        (r"\be\^\{?-?$", r""),
        (r"", r"\s*(?:pts?\b|Punkte?\b|\\?%)"),
        (r"(?:^|[^\w,.\[({])$", r"\s?(?:[KMGT]i?B|[KMGT]?bytes?|octets|GFLOPs?|TFLOPs?|[КМГТ]?Б|бит\w*|байт\w*)\b"),
        (r"(?:^|[^\w,.\[({])$", r"e[-+]?\d|\s(?:millions?|milliards?|Millionen|Milliarden|Mio|Mrd|млн|млрд)\b"),
        (r"(?:^|[+×÷=]|:\*\*) ?$", r" [+×÷=] "),
        (r"\[\s*-?$", r"\s+[-−]?\d[^,\]]*\]"),  # [ 0,5   0 ]
        (r"\[[^,\]\[(]*\d\s+-?$", r"\s*\]"),
    )
)
_IN_TABLE, _TABLE_ENDS = regex(r"\|\s*[-−]?$"), regex(r"\s*\|")
_LISTED = regex(r"\d,\d+,\d")
# The same within one stretch of mathematics, where less has to be feared.
_BARE = regex(
    r"""(?<![\d,.])(?:0|\d+(?!,\d{3}(?!\d))),(?:0\d+|\d+(?=\s*(?:&|;\s|\\\\)))(?![\d,])
    |(?:&|;\s)\s*-?(?:0|\d+(?!,\d{3}(?!\d))),\d+(?!,|\d|\s*\\end)
    |\^\{?-?\d+,\d+(?![\d,])
    |(?:[=≈]\s*-?0|(?:≈|\\approx)\s*-?\d+),\d+(?![\d,]|\s*,\s*\d)
    |\d,\d{2,},\\[;:,!]\s*-?\d+,\d""",
    re.VERBOSE,
)
_BRACED = regex(r"\d\{,\}(?!\d{3}(?!\d))\d|(?<!\d)0\{,\}\d")


def comma_of_page(text: str) -> Comma:
    r"""What commas between digits are on a whole page: what it surely writes more often than decimal points.

    >>> comma_of_page(r"Aufgabe 8.2: $e^{0,5} \approx 1,65$, Summe $2,345$").value
    'bare'
    """
    sure = {",": 0, "}": 0}
    for found in islice(_COMMA.finditer(text), _CANDIDATES):
        sure[found[0][1] if found[0][1] == "}" else ","] += _is_sure(found)
    points = _points(text) if any(sure.values()) else 0
    if sure[","] > points:
        return Comma.BARE
    return Comma.BRACED if sure["}"] > points else Comma.UNTOLD


def has_points(text: str) -> bool:
    """Whether a number of a text has a decimal point."""
    return _points(text) > 0


def _points(text: str) -> int:
    """How many decimal points a text has, but for those of numbered paragraphs, and for 8.192 where 0,5 MiB stands."""
    found = _POINT_BESIDE_COMMAS if _UNIT_COMMA.search(text) else _POINT
    return sum(not _NUMBERING.search(text[max(0, m.start() - 9) : m.start()]) for m in found.finditer(text))


def _is_sure(found: re.Match[str]) -> bool:
    """Whether a number with a comma can be nothing but a decimal."""
    text, end, decimals = found.string, found.end(), found[1]
    braced = found[0][1] == "}"
    comma = start = found.start() - braced
    while start and text[start - 1].isdecimal() and comma - start < DIGIT_LIMIT:
        start -= 1
    whole = text[start:comma]
    thousands = len(decimals) == 3 and whole != "0"
    if braced or thousands:
        return braced and not thousands
    before, after = text[max(0, start - _LOOK) : start], text[end : end + _LOOK]
    if any(a.search(before) and b.match(after) for a, b in _SURE):
        return True
    exact = whole == "0" and len(decimals) > 1
    if _IN_TABLE.search(before) and _TABLE_ENDS.match(after):
        return exact or len(decimals) > 1
    listed = before.rstrip("-−").endswith("; ") or after.startswith("; ")
    apart = not (before[-1:].isalnum() or before[-1:] in tuple("_,.([{") or after[:1] in tuple(")]}"))
    return (listed and (exact or len(decimals) > 3)) or (exact and (apart or not before))


def comma_in(stretch: str, told: Comma = Comma.UNTOLD) -> Comma:
    """What commas are in one stretch of a page of which `told` is known.

    >>> [comma_in(text).value for text in ("[0,5; 0,25]", "[0,5]", "0{,}5", "x = 0.5", r"(0,40,\\;0,25)")]
    ['bare', 'untold', 'braced', 'untold', 'bare']
    """
    if "," not in stretch and not (told is Comma.BARE and ";" in stretch):
        return Comma.UNTOLD
    if _points(stretch):
        return Comma.UNTOLD
    if (told is Comma.BARE or _BARE.search(stretch)) and not _LISTED.search(stretch):
        return Comma.BARE
    braced = told is not Comma.UNTOLD or ("{,}" in stretch and _BRACED.search(stretch))
    return Comma.BRACED if braced else Comma.UNTOLD
