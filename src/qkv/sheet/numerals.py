"""Numerals: from the digits on the page to an exact fraction and the number of places shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from itertools import islice

from qkv.errors import LimitError, Location
from qkv.expr.late import late
from qkv.expr.nodes import Number

# Beyond these a 'number' is an attack or an accident; both stay far above what a sheet or a float128 print holds.
DIGIT_LIMIT = 4_000
EXPONENT_LIMIT = 20_000

WHOLE_NUMBER = late(r"[+\-]?\d{1,4000}")
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


# O.25, 0.l4 and 1O as a scanner reads them: letters that only a numeral can hold there.
_LETTERED = re.compile(
    r"(?<![\w.])(?=[\d.]*[OolI])[\dOolI]+\.[\dOolI]+(?!\w|\.\w)|(?<![\w.])\d+(?:\.\d*)?[OolI]\d*(?!\w|\.\w)"
    r"|(?<![\w.,(\[{])(?=[\d,{}]*O)[\dO]+(?:,|\{,\})[\dO]+(?![\w,])"
)
_LETTER_BESIDE_DIGIT = re.compile(r"\d(?:(?:[.,]|\{,\})?[OolI]|(?<=[OolI]\d)|(?<=[OolI][.,]\d)|(?<=[OolI]\{,\}\d))")
LONE_DIGITS = {"O": "0", "o": "0", "l": "1", "I": "1"}
_DIGITS = str.maketrans(LONE_DIGITS)


def with_digits(text: str) -> str:
    """The same text, with digits for the letters that a scanner took them for.

    >>> with_digits("A = [O.25, 0.l4], I.e. 1O of H2O; O,25")
    'A = [0.25, 0.14], I.e. 10 of H2O; 0,25'
    >>> with_digits("K = [ l 5; 0 2 ], x[l 5], [ l O ], [0, l]")
    'K = [ 1 5; 0 2 ], x[l 5], [ l O ], [0, l]'
    >>> with_digits("[ 0.71  1,41 ; 2,83  0.00 ], 0.5 1,25")
    '[ 0.71  1.41 ; 2.83  0.00 ], 0.5 1,25'
    """
    if "\\/" in text:
        text = _DRAWN_ROOT.sub(" √", text)
    if "," in text:
        text = _COMMA_AFTER.sub(_pointed_after, _COMMA_BEFORE.sub(_pointed_before, text))
    if _LONE_IN_ROW.search(text) and any(lone in text for lone in _LONE):
        text = _LONE_IN_ROW.sub(_in_row, text)
    if not _LETTER_BESIDE_DIGIT.search(text):
        return text  # told many times faster than by looking at each place for a whole numeral
    return _LETTERED.sub(_in_digits, text)


_DRAWN_ROOT = re.compile(r"\\/(?=\d)")  # \/2: a root sign, drawn

# 0.71  1,41: one comma among numbers with points that blanks part, with as many places as its neighbour
_COMMA_AFTER = re.compile(r"\.(\d+)[ \t]+[-−]?\d+,(\d+)(?![\d.,])")
_COMMA_BEFORE = re.compile(r",(?<=\d,)(\d+)(?=[ \t]+[-−]?\d+\.(\d+)(?![\d.,]))")


def _pointed_after(found: re.Match[str]) -> str:
    return found[0].replace(",", ".") if len(found[1]) == len(found[2]) > 1 else found[0]


def _pointed_before(found: re.Match[str]) -> str:
    before = found.string[max(0, found.start() - 9) : found.start()].rstrip("0123456789")
    alone = len(found[1]) == len(found[2]) > 1 and before[-1:] not in (".", ",")
    return f".{found[1]}" if alone else found[0]


def _in_digits(found: re.Match[str]) -> str:
    numeral = any(c.isdigit() for c in found[0]) and ("." in found[0] or "O" in found[0])
    return found[0].translate(_DIGITS) if numeral else found[0]


# [ l 2 ] and [ 3 2; 1 O ]: an l or an O among numbers that blanks part; [I 0] may be made of blocks.
_LONE = (" l ", " O ", " l]", " O]", "[l ", "[O ", " l;", " O;", ";l ", ";O ")
_LONE_IN_ROW = re.compile(r"\[(?<!\w\[) *(?:[-−]?[\d.]+|[lO])(?:[ ;]+(?:[-−]?[\d.]+|[lO]))+ *\]")


def _in_row(found: re.Match[str]) -> str:
    cells = found[0].strip("[] ").replace(";", " ").split()
    return found[0].translate(_DIGITS) if 2 * sum(cell in "lO" for cell in cells) <= len(cells) else found[0]


class Comma(StrEnum):
    """What a comma between digits is."""

    UNTOLD = "untold"  # it parts thousands or entries of a list, unless a stretch of mathematics shows otherwise
    BRACED = "braced"  # 0{,}5 is a half; a bare comma parts entries
    BARE = "bare"  # 0,5 is a half too


_POINT = re.compile(r"(?<![\d.])\d+\.\d+(?![\d.])")  # no date, no 1.2.3
_NUMBERING = re.compile(r"(?:^|\n)[ \t#*(]*$")  # '1.2 Scores' counts paragraphs
_BRACED = re.compile(r"\d\{,\}(?!\d{3}(?!\d))\d|(?<!\d)0\{,\}\d")
# Where 0,5 can be nothing but a half: beside & or a spaced semicolon, raised, after a relation, or with a zero behind
# the comma (10,07). A bare [0,5] stays a list of two.
_BARE = re.compile(
    r"""(?=[\d&;^=≈\\])(?:  # a cheap first look at each character
    (?<![\d,.])\d+,(?:0\d+|\d+(?=\s*(?:&|;\s|\\\\)))(?![\d,])
    |(?:&|;\s)\s*-?\d+,\d+(?!,|\d|\s*\\end)
    |\^\{?-?\d+,\d+(?![\d,])
    |(?:[=≈]\s*-?0|(?:≈|\\approx)\s*-?\d+),\d+(?![\d,]|\s*,\s*\d))""",
    re.VERBOSE,
)
# The same for a whole document, where 1,000 is a thousand and i = 0,1 a list: what stands before and after the comma
# of a cell, a rounding, an exponent of e, or points to be had.
_COMMA = re.compile(r",(?:(?<=\d,)|(?<=\d\{,)\})(\d+)(?![\d,])")  # the comma first: it is sought fastest
_IN_CELL, _CELL_ENDS = re.compile(r"&\s*-?$"), re.compile(r"\s*(?:&|\\\\)")
_IN_TABLE, _TABLE_ENDS = re.compile(r"\|\s*[-−]?$"), re.compile(r"\s*\|")
_ROUNDED, _GOES_ON = re.compile(r"(?:\\approx|≈)\s*-?$"), re.compile(r"\s*,\s*\d")
_RAISED = late(r"\be\^\{?-?$")
_AFTER_SEMICOLON = late(r"; -?$")  # [1,41; 0,71]
_UNIT = late(r"\s*(?:pts?\b|Punkte?\b|\\?%)")
_CANDIDATES = 5_000  # numbers with commas that are looked at
_BESIDE_DIGITS = re.compile(r"\d(?:,|\{,\})\d")
_LISTED = late(r"\d,\d+,\d")


def comma_of_document(text: str) -> Comma:
    """What commas between digits are in a whole document: what it surely writes more often than decimal points.

    >>> comma_of_document(r"Aufgabe 8.2: $e^{0,5} \\approx 1,65$, Summe $2,345$").value
    'bare'
    """
    sure = {",": 0, "{,}": 0}
    for found in islice(_COMMA.finditer(text), _CANDIDATES):
        braced = found[0][1] == "}"
        sure["{,}" if braced else ","] += _is_sure(found, braced)
    if not any(sure.values()):
        return Comma.UNTOLD
    points = sum(1 for _ in _points(text))
    if sure[","] > points:
        return Comma.BARE
    return Comma.BRACED if sure["{,}"] > points else Comma.UNTOLD


def _points(text: str) -> Iterator[re.Match[str]]:
    """The decimal points of a text, but for those of numbered paragraphs."""
    for found in _POINT.finditer(text):
        if not _NUMBERING.search(text[max(0, found.start() - 9) : found.start()]):
            yield found


def _is_sure(found: re.Match[str], braced: bool) -> bool:
    """Whether a number with a comma can be nothing but a decimal."""
    text, comma, end, decimals = found.string, found.start() - braced, found.end(), found[1]
    start = comma - 1
    while start and text[start - 1].isdecimal():
        start -= 1
    whole = text[start:comma]
    thousands = len(decimals) == 3 and whole != "0"
    if braced:
        return not thousands
    before, after = text[max(0, start - 12) : start], text[end : end + 8]
    if "&" in before and _IN_CELL.search(before) and _CELL_ENDS.match(after):
        return True
    if (
        "|" in before
        and _IN_TABLE.search(before)
        and _TABLE_ENDS.match(after)
        and not thousands
        and (whole == "0" or len(decimals) > 1)
    ):
        return True
    if (
        ("≈" in before or "approx" in before)
        and _ROUNDED.search(before)
        and not thousands
        and not _GOES_ON.match(after)
    ):
        return True
    if ("^" in before and _RAISED.search(before)) or (len(decimals) == 1 and _UNIT.match(after)):
        return True
    listed = (";" in before and _AFTER_SEMICOLON.search(before)) or after[:2] == "; "
    if listed and (len(decimals) > 3 or (whole == "0" and len(decimals) > 1)):
        return True
    apart = not (before[-1:].isalnum() or before[-1:] in ("_", ",", ".", "(", "[", "{") or after[:1] in (")", "]", "}"))
    return whole == "0" and len(decimals) > 1 and (apart or not before)


def _has_points(stretch: str) -> bool:
    return "." in stretch and any(_points(stretch))


def comma_in(stretch: str, told: Comma = Comma.UNTOLD) -> Comma:
    """What commas are in one stretch of a document of which `told` is known.

    >>> [comma_in(text).value for text in ("[0,5; 0,25]", "[0,5]", "0{,}5", "x = 0.5")]
    ['bare', 'untold', 'braced', 'untold']
    """
    if told is Comma.BARE and ";" in stretch and not _has_points(stretch):
        return Comma.BARE  # [1; 2] is a list where 0,5 is a half
    if "," not in stretch or (told is Comma.UNTOLD and not _BESIDE_DIGITS.search(stretch)) or _has_points(stretch):
        return Comma.UNTOLD
    if (told is Comma.BARE or _BARE.search(stretch)) and not _LISTED.search(stretch):
        return Comma.BARE
    braced = told is not Comma.UNTOLD or ("{,}" in stretch and _BRACED.search(stretch))
    return Comma.BRACED if braced else Comma.UNTOLD
