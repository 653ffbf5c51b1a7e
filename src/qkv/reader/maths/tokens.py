"""Tokens: the smallest pieces of text that the grammar knows, the pattern that tells them apart, and where they stand.

kinds of tokens:
    num      digits as a point decimal         percent  % behind a number     inf   ∞
    letters  a run of letters in mathematics   word     a run of letters in plain text
    upright  \\text{…}, \\mathrm{…}: one name or words                         bb    a blackboard letter
    op       + - × / ± ⊙                       rel      = ≈ ⇒ → ∈             cmp   < ≤ …
    open, close   brackets; '{' groups         begin, end   environments      cmd   frac, sqrt, sum, …
    script   _ ^        sub, sup   scripts in Unicode        prime     accent   the label of \\hat
    sep      , ; : . | ‖ &                     row      \\\\                   wide  a wide gap
    line     the end of a line                 edge     $, ` and the like      strike   ~~
    note     a remark or a tick                dots     …                     quote
    prose    what is no mathematics (put by qkv.reader.prose)
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from qkv.errors import Location
from qkv.reader.maths import signs
from qkv.regex import regex


class Token(NamedTuple):
    """A token, where it stands in its source, and whether a gap comes before it."""

    kind: str
    text: str
    start: int
    end: int
    gap: bool = False

    def moved(self, by: int) -> Token:
        """The same token, so many characters further on."""
        return Token(self.kind, self.text, self.start + by, self.end + by, self.gap)


def value_begins(tokens: Sequence[Token], i: int) -> bool:
    """Whether an array stands behind a colon: in brackets, as an environment, or as numbers that only blanks part."""
    while i < len(tokens) and tokens[i].kind in ("line", "edge", "wide"):
        i += 1
    if i >= len(tokens):
        return False
    opens = tokens[i].text.removeprefix("left") in ("[", "(") or tokens[i].text in ("array", "tensor")
    return opens or tokens[i].kind == "begin" or _numbers_begin(tokens, i)


def _numbers_begin(tokens: Sequence[Token], i: int) -> bool:
    """Whether two numbers stand here with nothing but a gap, and perhaps a sign, between them: 1 0, 0.5 -2."""
    first = i + (tokens[i].text == "-")
    second = first + 1 + (first + 1 < len(tokens) and tokens[first + 1].text == "-")
    if second >= len(tokens) or {tokens[first].kind, tokens[second].kind} != {"num"}:
        return False
    return tokens[first + 1].gap and (second == first + 1 or not tokens[second].gap)


_STATED = regex(r"(?P<base>[^\W\d_]{1,8})_?(?P<number>\d{0,2}|[₀-₉]?)\s*[=≈](?!=)")


def another_begins(before: Sequence[Token], gap: re.Match[str], *, strict: bool) -> bool:
    """Whether another statement begins behind a gap after a value: the k2 of 'k1 = (1, 0) k2 = (0, 2)', a member of the
    same family. Behind two blanks of a plain line, which is not `strict`, it may have any name."""
    after = _STATED.match(gap.string, gap.end())
    if after is None or not before or before[-1].kind not in ("num", "close"):
        return False
    if len(gap[0]) > 1 and not strict:
        return True
    rel = next((i for i in range(len(before) - 1, 1, -1) if before[i].kind == "rel"), 0)
    named = [token for token in before[max(0, rel - 3) : rel] if token.kind != "script"][-2:]
    return [token.text for token in named[:1]] == [after["base"]] and named[-1].kind in ("num", "sub")


_VULGAR = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_LETTER = rf"[^\W\d_{''.join(signs.SUBSCRIPTS)}{''.join(signs.SUPERSCRIPTS)}{_VULGAR}]"
_GROUP = r"\{(?:[^{}]|\{[^{}]*\})*\}"


def _any(words: frozenset[str]) -> str:
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


_EQUATES = r"\d+[A-Za-z][A-Za-z\d+]*\s?="  # the comma of i=0,2i+1=1 parts equations
_BOLD = r"\\(?:mathbf|boldsymbol|bm|mathrm)\s*"
TOKEN = regex(
    rf"""
    (?P<space>[ \t\x0b\x0c\r\u202f]+)
    |(?P<ruled>\n[ \t]*[-─═]{{4,}}[ \t]*(?=\n))
    |(?P<line>\n)
    |(?P<env>\\(?P<side>begin|end)\s*\{{\s*(?P<name>[A-Za-z]+)\*?\s*\}}(?:(?<=array\}}|bular\}})\s*(?:\[[a-z]\])?\s*{_GROUP})?)
    |(?P<fence>\\(?P<which>left|right)\s*(?P<mark>\\[A-Za-z]+|\\.|[^\sA-Za-z\\]))
    |(?P<upright>\\(?:{_any(signs.UPRIGHT)})\*?\s*{_GROUP})
    |(?P<bb>\\(?:mathbb|mathbbm)\s*\{{\s*(?P<black>[A-Za-z])\s*\}}(?:\s*[\^_]\s*(?:[+*]|\{{\s*[+*]\s*\}}))?)
    |(?P<accent>\\(?P<hat>{_any(signs.ACCENTS)})\s*(?:
        \{{\s*(?:{_BOLD})?\{{\s*(?P<deep>\\?[A-Za-z]+)\s*\}}\s*\}}|\{{\s*(?P<inner>\\?[A-Za-z]+)\s*\}}|(?P<next>\\[A-Za-z]+|[A-Za-z])))
    |(?P<font>\\(?:{_any(signs.FONTS)})(?![A-Za-z])\s*(?:\{{\s*(?P<styled>\\?[A-Za-z]+)\s*\}}|(?P<one>[A-Za-z])(?![A-Za-z]))?)
    |(?P<dropped>\\(?:{_any(signs.NOISE_WITH_ARGUMENT)})\*?\s*{_GROUP})
    |(?P<halves>\\(?:{_any(signs.FRACTIONS)})\s*(?P<top>\d)\s*(?P<bottom>\d))
    |(?P<command>\\[A-Za-z]+\*?)
    |(?P<row>\\\\(?:\s*\[[\d.]+\s*[a-z]{{2}}\])?)
    |(?P<escaped>\\.)
    |(?P<tag></?(?:sub|sup|br)\s*/?>)
    |(?P<num>(?:\d+(?:(?:\{{,\}}|\{{\.\}}|,(?!{_EQUATES}))\d+|(?:\\,|\\!|[~\u202f])\d{{3}}(?!\d))*(?:\.\d+|\.(?=[\s,;\])]))?|\.\d+)(?:[eE][-+−]?\d{{1,7}}(?!\w|\.\d))?)
    |(?P<module>(?:np|numpy|torch|tf|jnp|math|F)\.(?=[a-zA-Z]))
    |(?P<abbreviation>(?:e\.\s?g|i\.\s?e|z\.\s?B|d\.\s?h|u\.\s?a|p\.\s?ej|etc|vs|resp|bzw|Fig|Eq|No|Nr)\.)
    |(?P<hatted>{_LETTER}[{"".join(signs.HATS)}])
    |(?P<word>{_LETTER}+(?![{"".join(signs.HATS)}]))
    |(?P<sub>[{"".join(signs.SUBSCRIPTS)}]+)
    |(?P<sup>[{"".join(signs.SUPERSCRIPTS)}]+(?:[·.][⁰¹²³⁴⁵⁶⁷⁸⁹]+)?)
    |(?P<vulgar>[{_VULGAR}])
    |(?P<transpose>(?<=[\w)\]}}])\.(?:T|mT)(?!\w))
    |(?P<method>(?<=[)\]])\.[a-z_]+\((?:[\d\s,]*|torch\.\w+)\))
    |(?P<rel>=>|:=|=:|==|~=|(?<=\s)~(?=\s[-−]?(?:\.?\d|\[))|-->|->|<-(?=\s*["“”A-Za-z])|[=≈⇒→∈≡≜≔←])
    |(?P<cmp><=|>=|[<>≤≥≠≪≫∝])
    |(?P<strike>~~)
    |(?P<blank>_{{3,}}|\.{{4,}})
    |(?P<colon>:-(?=\s))
    |(?P<dots>\.\.\.|[…⋯⋮⋱])
    |(?P<comment>\#[^\n]*|//[^\n]*)
    |(?P<sign>.)
    """,
    re.VERBOSE,
)


class Places:
    """Where the characters of a stretch stand, which begins at `at`."""

    def __init__(self, source: str, at: Location) -> None:
        self.starts = [0, *accumulate([len(line) + 1 for line in source.split("\n")])]
        self.line, self.column = at

    def at(self, offset: int) -> Location:
        """The place of an offset."""
        index = bisect_right(self.starts, offset, hi=len(self.starts) - 1) - 1
        column = offset - self.starts[index] + (self.column if index == 0 else 1)
        return Location(self.line + index, max(column, 1))
