"""Numbers that the sentences of a page tell of something: 'the keys have the entries 2 and 0, 1 and 1'.

The reader leaves such sentences alone, because nobody can be sure of them. As a proposal that a person confirms they
are welcome: what is missing is looked for here, so that the line to add holds the numbers of the page.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from qkv.expr.names import Role
from qkv.library.roles import mentions
from qkv.library.said import NUMBERS
from qkv.library.words import pattern
from qkv.regex import regex

Row = tuple[str, ...]

_ARTICLES = frozenset({"ein", "eine", "einer", "una"})
_WORDS = {word: str(count) for word, count in NUMBERS.items() if len(word) > 2 and word not in _ARTICLES}
_WORDS |= dict.fromkeys(("eins", "uno"), "1")
_WORDS |= dict.fromkeys(("zero", "null", "zéro", "cero", "ноль", "нуль"), "0")
_PARTS = {"half": "1/2", "quarter": "1/4", "third": "1/3"}
_NUMBER = regex(
    r"(?P<digits>(?<![\w.])[-−]?\d+(?:\.\d+)?(?:/\d+)?(?!\w|\.\d))"
    rf"|(?<!\w)(?P<less>minus\s+|negative\s+)?(?:(?:(?:one|a)\s+)?(?P<part>{'|'.join(_PARTS)})|(?P<word>{'|'.join(_WORDS)}))(?![\w-])",
    re.IGNORECASE,
)
_SIZE = regex(r"\d+\s*(?:by|x|×|mal|par|por)\s*\d+|\bd(?:_\w+|[ₖₘᵥ])?\s*=\s*\d+", re.IGNORECASE)
_COUNTED = regex(  # 'key one has …', 'key two zero and one': the number of what is spoken of
    rf"\A\s+(?:{'|'.join(_WORDS)})(?=\s+(?:has|have|with|hat|mit|avec|con|{pattern('copula')}|{'|'.join(_WORDS)})\b)",
    re.IGNORECASE,
)
_RUN = regex(r"-?\d+(?:\.\d+)?(?:/\d+)?(?:[ \t]+-?\d+(?:\.\d+)?(?:/\d+)?)+")
_GROUP = regex(r"[\[({«“]([^\[\](){}«»“”]*)[\])}»”]")
_NAME = regex(
    r"(?<![\w\\])(?P<letter>[QKVX]|[qkv](?=_?[\d₀-₉]|\s*[:;|\t]))(?:_?(?P<index>\d|[₀-₉]))?(?![\w^'])", re.MULTILINE
)
_SENTENCE = regex(r"[.!?。]\s+(?=[^\W\d_])")
_END = regex(rf"\n\s*\n|(?<!\w)(?:{pattern('ask')}|{pattern('question')})(?!\w)", re.IGNORECASE)
_AS = regex(r"(?<!\w)(?:as|for|als|für|comme|pour|como|para)\s+(?:\w{2,3}\s+)?\Z", re.IGNORECASE)
_ROLES = {"Q": Role.Q, "K": Role.K, "V": Role.V, "X": Role.X}
_LONGEST = 400  # characters that a mention may reach
_QUOTED = 60  # characters that are quoted


class Spoken(NamedTuple):
    """Numbers that are told of something: in groups as they stand together, the first line, and its words."""

    line: int
    quote: str
    groups: tuple[Row, ...]


def spoken_of(lines: Sequence[str]) -> dict[Role | str, Spoken]:
    """What sentences tell of roles, and of names with an index ('K_1'): the first that holds numbers, and those that
    speak of the same in the same paragraph."""
    text = "\n".join(lines)
    found: dict[Role | str, Spoken] = {}
    ends: dict[Role | str, int] = {}
    for start, end, what, reach in _mentions(text):
        groups = () if _AS.search(text, max(start - 16, 0), start) else tuple(_groups(text[end:reach]))
        near = what in found and "\n\n" not in text[ends[what] : start]
        if groups and (what not in found or near):
            quote = _quote(text[start:reach])
            before = found.get(what, Spoken(text.count("\n", 0, start) + 1, quote, ()))
            found[what] = before._replace(groups=before.groups + groups)
            ends[what] = reach
    return dict(_whole(found)) | found


def _whole(found: dict[Role | str, Spoken]) -> Iterator[tuple[Role | str, Spoken]]:
    """Of names with an index the whole: K_1, K_2 and K_3 are the keys."""
    for letter, role in _ROLES.items():
        parts = [spoken for what, spoken in found.items() if isinstance(what, str) and what[0] == letter]
        if len(parts) > 1:
            yield role, parts[0]._replace(groups=tuple(group for part in parts for group in part.groups))


def _mentions(text: str) -> Iterator[tuple[int, int, Role | str, int]]:
    """Where a role or a name is mentioned, what it is, and how far what is said of it may reach."""
    spots: list[tuple[int, int, Role | str]] = [*mentions(text)]
    for name in _NAME.finditer(text):
        index = (name["index"] or "").translate(str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789"))
        letter = name["letter"].upper()
        spots.append((name.start(), name.end(), f"{letter}_{index}" if index else _ROLES[letter]))
    spots.sort(key=lambda spot: spot[0])
    breaks = [found.start() for found in re.finditer("\n", text)]
    heads: dict[int, set[Role | str]] = defaultdict(set)
    for start, _, what in spots:
        heads[bisect(breaks, start)].add(what)
    for (start, end, what), (after, *_) in pairwise([*spots, (len(text), 0, "")]):
        reach = min(after, end + _LONGEST)
        first = _NUMBER.search(text, end, reach)
        reach = min([reach, *(stop.start() for stop in [_SENTENCE.search(text, end, reach)] if stop)])
        stop = _END.search(text, first.end() if first else end, reach)
        if len(heads[bisect(breaks, start)]) > 1:  # heads of columns: whose the numbers below are cannot be told
            reach = min(reach, text.find("\n", end) % (len(text) + 1))
        yield start, end, what, min(stop.start(), reach) if stop else reach


def _groups(text: str) -> Iterator[Row]:
    """The numbers of a text in groups: by brackets, by lines, by semicolons, or all together."""
    text = _COUNTED.sub(" ", _SIZE.sub(" ", text))
    last = next(reversed(list(_NUMBER.finditer(text))), None)
    if last is not None and re.fullmatch(r"\s+(?:[^\W\d_]+\s+)?", text[last.end() :]) and last["word"]:
        text = text[: last.start()]  # 'and two keys' counts what is spoken of next
    yield from (row for piece in _pieces(text) if (row := tuple(_numbers(piece))))


def _pieces(text: str) -> list[str]:
    """A text cut into what belongs together; outside of brackets 0,5 is a half."""
    if bracketed := [piece for piece in _GROUP.findall(text) if _NUMBER.search(piece)]:
        return bracketed
    text = re.sub(r"(?<=\d),(?=\d)", ".", text)
    runs = [found[0] for found in _RUN.finditer(text)]
    if len(runs) > 1 and sum(len(_NUMBER.findall(run)) for run in runs) == len(_NUMBER.findall(text)):
        return runs  # 'rows 1 0 and 0 1'
    for cut in ("\n", ";"):
        parts = [piece for piece in text.split(cut) if _NUMBER.search(piece)]
        if len(parts) > 1 and (cut == "\n" or any(len(_NUMBER.findall(piece)) > 1 for piece in parts)):
            return parts
    return [text]


def _numbers(text: str) -> Iterator[str]:
    for found in _NUMBER.finditer(text):
        value = found["digits"] or _PARTS.get((found["part"] or "").lower()) or _WORDS[found["word"].lower()]
        yield ("-" if found["less"] else "") + value.replace("−", "-")


def _quote(text: str) -> str:
    words = " ".join(text.split()).rstrip(" ,;:(")
    return words if len(words) <= _QUOTED else words[: _QUOTED - 1] + "…"
