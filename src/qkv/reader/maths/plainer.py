"""Notations that say the same, written one way before anything is read. Lengths stay, so that places stay."""

from __future__ import annotations

import re

_BRACED_SIGN = re.compile(r"\{(\\(?:cdot|times|approx)|[-+·×])\}")  # 1{\cdot}2: braces only set the spacing
_THOUSANDS = re.compile(  # 128×256 = 32 768: groups of three digits beside no other numbers, not 2/3 128/9, no brackets
    r"(?<![\w.,\[(|&])(?<![\w.,\[(|&\])] )(?!(?<=/)[\d ]+/)[1-9]\d{0,2}(?:[ \u00a0\u202f]\d{3})+"
    r"(?![\w.,]*\d|,\s*[-−]?\d|\s*[\])|&]| [-−]?\d)"
    r"|(?<=[^\W\d_] )[1-9]\d{0,2}(?: \d{3})+(?= [^\W\d_]{2})",
    re.MULTILINE,
)
_SLICE = re.compile(
    r"(?P<name>\\(?:mathbf|mathrm|boldsymbol|bm)\{\w\}|\\?[^\W\d_]+)"
    r"(?:_\{|\[|\()\s*(?P<index>\d{1,2}|[a-z])\s*,?\s*(?::|\\(?:cdot|ast|bullet|colon)|[·*])\s*[\])}]"
)
_INDEX = re.compile(r"(?<=[^\W\d_])\[([ijklmnt])(?:(?:, ?|\]\[)([ijklmnt]))?\](?!\w)")  # S[i], A[i, j], A[i][j]
_LETTER = re.compile(r"(?:\\\w+\{)?([A-Z])\}?")
_FROM_TO = re.compile(
    r"\((\\text\{[^{}]*\}|\w+)\s*(?:\\to|\\rightarrow|→|->)\s*(\\text\{[^{}]*\}|\w+)\)(?=\s*&?\s*[=≈\\])"
)

_MATRIX = re.compile(r"\\begin\s*\{([a-zA-Z]*matrix|array)\*?\}.*?\\end\s*\{\1", re.DOTALL)
_LOST_HALF = re.compile(r"\\ | \\(?=\n)")


def plainer(source: str) -> str:
    """A stretch with signs and slices in their plainest form.

    >>> plainer("A_{1,:} = x")
    'a_{1}   = x'
    """
    source = _BRACED_SIGN.sub(r" \1 ", source) if "{" in source else source
    source = _THOUSANDS.sub(lambda found: re.sub(r"\s", "~", found[0]), source)  # as TeX sets it
    if "\\" in source or "→" in source or "->" in source:
        source = _FROM_TO.sub(_from_to, source)
        source = _MATRIX.sub(_with_rows, source)
    return _SLICE.sub(_row, _INDEX.sub(_script, source))


def _script(found: re.Match[str]) -> str:
    """S[i] is what S_i says."""
    return (f"_{{{found[1]}{found[2]}}}" if found[2] else f"_{found[1]}").ljust(len(found[0]))


def _row(found: re.Match[str]) -> str:
    """A_{1,:}, A[1,:] and A(1,:) are row 1 of A, which is what a_1 says."""
    letter = _LETTER.fullmatch(found["name"])
    name = letter[1].lower() if letter else found["name"]
    return f"{name}_{{{found['index']}}}".ljust(len(found[0]))


def _from_to(found: re.Match[str]) -> str:
    """s(cat → sat) has two indices."""
    return f"({found[1]},{found[2]})".ljust(len(found[0]))


def _with_rows(found: re.Match[str]) -> str:
    """A matrix whose rows end in one backslash, as Markdown leaves them, with both; every place stays where it was."""
    return found[0] if r"\\" in found[0] else _LOST_HALF.sub(r"\\\\", found[0])
