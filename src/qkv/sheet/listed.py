"""Numbers that a sentence lists: 'weights: 0.21, 0.79', 'the weights are 0.88 and 0.12', 'the → 5%, cat → 95%'."""

from __future__ import annotations

import re

from qkv.expr.late import late
from qkv.records import dataclass
from qkv.sheet.phrases import TOTAL

_DECIMAL = r"[-−]?\d*\.\d+"
_VALUE = rf"(?:{_DECIMAL}(?:\s?\\?%)?|\d{{1,3}}\s?\\?%)"
_AND = r"(?:and|und|et|y|e|и)"
_SERIES = rf"{_VALUE}(?:(?:\s*[,;]\s*(?:{_AND}\s+)?|\s+{_AND}\s+){_VALUE})+"
_BLANKED = rf"{_DECIMAL}(?:(?:\s*[,;]\s*|\s+){_DECIMAL})+"
_WITH_COMMA = r"[-−]?(?:0,\d{2,}|\d+,(?!\d{3}(?!\d))\d{2,})"  # 1,2 may be a pair, and 1,024 a thousand
_COMMAED = rf"{_WITH_COMMA}(?:(?:\s*;\s*|\s+(?:{_AND}\s+)?){_WITH_COMMA})+"
_VERB = (
    r"are|is|be|gives?|gave|gets?|got|becomes?|yields?|into|sind|ergeben|ergibt|wird|werden|sont|donnent|donne|son|da|dan|"
    r"são|dá|sono|равны|получаем"
)
DECIMAL_OR_SHARE = late(r"\.(?=\d)|,(?=\d)|%")  # most lines of words hold none
_AFTER_COLON = late(rf"(?P<lead>.*[:：]\s*)(?P<values>{_BLANKED}|{_SERIES}|{_COMMAED})\s*[.;]?\s*$")
_SAID = late(
    rf"(?P<lead>.*?\b(?:{_VERB})\s+)(?P<values>{_SERIES}|{_COMMAED})(?![\w%]|\s*[=≈·×*/+^(]|\.\d)", re.IGNORECASE
)
_TOTAL = late(r"(?P<lead>.*[\s:：])(?P<values>\d+\.\d+)\s*[.;]?\s*$")  # 'Sum: 6.14'
_WORD = r"[\"'“‘]?[^\W\d_]+[\"'”’]?"
_ARROW = rf"{_WORD}\s*(?:→|⟶|->|=>)\s*"
_POINTED = late(rf"{_ARROW}{_VALUE}(?:\s*[,;]\s*(?:{_AND}\s+)?{_ARROW}{_VALUE})+")
_CAPTIONED = late(r"(?<![\w(])(?P<word>[^\W\d_]{3,}) (?=\[)(?P<list>\[[-−\d\s.,;\[\]]*\])")
_GOES_ON = late(r"\s*(?:[=≈*@×·+/⋅→^ᵀ(]|->|=>|\\|T\b)")


@dataclass(frozen=True, slots=True)
class Listed:
    """The words before a series, the series as a list (or the one number of a total), and where it begins and ends."""

    lead: str
    source: str
    start: int
    end: int


def listed(line: str) -> Listed | None:
    """The series of numbers that a line of words announces.

    >>> listed("So the weights are 0.88 and 0.12.").source
    '[0.88, 0.12]'
    """
    found = _AFTER_COLON.match(line) or (_SAID.match(line) if len(line) < 2000 else None)
    if found is None:
        found = _TOTAL.match(line)
        if found is None or not TOTAL.search(found["lead"]):
            return None
    values = [comma.replace(",", ".") for comma in re.findall(_WITH_COMMA, found["values"])]
    values = values if len(values) > 1 and "." not in found["values"] else _values(found["values"])
    source = f"[{', '.join(values)}]" if len(values) > 1 else found["values"]
    return Listed(found["lead"].strip(), source, found.start("values"), found.end("values"))


def _values(text: str) -> list[str]:
    """The numbers of a series; 70 % as 70%."""
    return [value.replace(" ", "") for value in re.findall(_VALUE, text)]


def with_lists(line: str) -> str:
    """A line in which 'the → 5%, cat → 95%' is [5%, 95%], and 'Scores [1, 2]' is 'Scores:[1, 2]', of the same width."""
    if "→" in line or ">" in line or "⟶" in line:
        line = _POINTED.sub(lambda found: f"[{', '.join(_values(found[0]))}]".rjust(len(found[0])), line)
    return _CAPTIONED.sub(_captioned, line) if " [" in line else line


def _captioned(found: re.Match[str]) -> str:
    """A word and a list are a caption and its value, unless a formula goes on after the list."""
    if _GOES_ON.match(found.string, found.end()):
        return found[0]
    return f"{found['word']}:{found['list']}"
