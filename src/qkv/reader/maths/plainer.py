"""Notations that say the same, written one way before anything is read. Lengths stay, so that places stay."""

from __future__ import annotations

import re

from qkv.regex import regex

_BRACED_SIGN = regex(r"\{(\\(?:cdot|times|approx)|[-+·×])\}")  # 1{\cdot}2: braces only set the spacing
_ASIDE = regex(r"(?<![\w}])\(\\(?:text|mathrm|textit)\{[^{}]*\s[^{}]*\}\)")  # [0.2, 0.8] (\text{over two positions})
_DOT = regex(r"(?<=[\])] )\.(?= [\[(])")  # [1, 0] . [0, 1]
_DOT_WORD = regex(r"(?<=[\])] )dot(?= [\[(])")  # [1, 0] dot [0, 1]
_IN_PLACE = regex(r"(?<=[\w)\]] [/*])=(?= )")  # scores /= 1.41: divided by it, not equal to it
_TWO_INDICES = regex(r"(?<=[^\W\d_]_)(\d),(\d)(?=\s*[=≈])")  # s_1,2 = 0.5 is one cell
_THOUSANDS = regex(  # 128×256 = 32 768: groups of three digits beside no other numbers, not 2/3 128/9, no brackets
    r"(?<![\w.,\[(|&])(?<![\w.,\[(|&\])] )(?!(?<=/)[\d ]+/)[1-9]\d{0,2}(?:[ \u00a0\u202f]\d{3})+"
    r"(?![\w.,]*\d|,\s*[-−]?\d|\s*[\])|&]| [-−]?\d)"
    r"|(?<=[^\W\d_] )[1-9]\d{0,2}(?: \d{3})+(?= [^\W\d_]{2})",
    re.MULTILINE,
)
_REPEATED = regex(r"(?<=\d)\((?:大?约|約|약|около)\s*[\d.,]+\s*\w*\)")  # 2,359,296（约 2.36M）
_SLICE = regex(
    r"(?P<name>\\(?:mathbf|mathrm|boldsymbol|bm)\{\w\}|\\?[^\W\d_]+)"
    r"(?:_\{|\[|\()\s*(?P<index>\d{1,2}|[a-z])\s*,?\s*(?::|\\(?:cdot|ast|bullet|colon)|[·*])\s*[\])}]"
)
_INDEX = regex(r"(?<=[^\W\d_])\[([ijklmnt])(?:(?:, ?|\]\[)([ijklmnt]))?\](?!\w)")  # S[i], A[i, j], A[i][j]
_DOUBLED = regex(r"\((\([^()=\n]*=[^()\n]*\))\)")  # ((K = [1, 0])): a remark around what were marks of math
_LETTER = regex(r"(?:\\\w+\{)?([A-Z])\}?")
_FROM_TO = regex(r"\((\\text\{[^{}]*\}|\w+)\s*(?:\\to|\\rightarrow|→|->)\s*(\\text\{[^{}]*\}|\w+)\)(?=\s*&?\s*[=≈\\])")

_MATRIX = regex(r"\\begin\s*\{([a-zA-Z]*matrix|array)\*?\}.*?\\end\s*\{\1", re.DOTALL)
_LOST_HALF = regex(r"\\ | \\(?=\n)")


def plainer(source: str) -> str:
    """A stretch with signs and slices in their plainest form.

    >>> plainer("A_{1,:} = x")
    'a_{1}   = x'
    """
    source = _BRACED_SIGN.sub(r" \1 ", source) if "{" in source else source
    source = _DOT.sub("·", source) if "] . " in source or ") . " in source else source
    source = _DOT_WORD.sub(" · ", source)
    source = _THOUSANDS.sub(_grouped, source)
    source = _REPEATED.sub(lambda found: " " * len(found[0]), source)
    source = _TWO_INDICES.sub(r"\1\2 ", _IN_PLACE.sub(" ", source))
    if "\\" in source or "→" in source or "->" in source:
        source = _ASIDE.sub(lambda found: " " * len(found[0]), source)
        source = _FROM_TO.sub(_from_to, source)
        source = _MATRIX.sub(_with_rows, source)
    source = _DOUBLED.sub(lambda found: f"  {found[1][1:-1]}  ", source) if "((" in source else source
    return _SLICE.sub(_row, _INDEX.sub(_script, source))


def _grouped(found: re.Match[str]) -> str:
    """Groups of three digits as TeX sets them; between brackets in which semicolons part rows they are entries."""
    before, after = found.string[: found.start()], found.string[found.end() :]
    opened = before.rfind("[") > before.rfind("]")
    rows = opened and ";" in before[before.rfind("[") :] + after.partition("]")[0]
    return found[0] if rows else re.sub(r"\s", "~", found[0])


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
