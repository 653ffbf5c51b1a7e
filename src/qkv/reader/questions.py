"""Sentences and list items that ask for something, with the label that they have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qkv.library.words import pattern
from qkv.reader.page import Asked

_LABEL = re.compile(
    r"^\s*(?:[-*+•]\s+|\\item\s*)?(?:\*\*)?(?:\\item\[)?"
    r"(?P<label>\d{1,2}(?:\.\d{1,2}){1,3}(?=\s)|[(（]?(?:[a-zA-Zа-я]|[ivx]{1,5}|\d{1,2}(?:\.\d{1,2}){0,3})[.)）\]]+|Q\d+[.:)]|第[一二三四五\d]+[问題题小]\S?)?(?:\*\*)?\s*"
)
_BULLET = re.compile(r"^\s*(?:[-*+•]\s+|\\item\s*)?(?=\S)")
_ASKS = re.compile(rf"(?:please\s+|bitte\s+|now\s+|then\s+|also\s+)*(?:{pattern('ask')})\b", re.IGNORECASE)
_WORKS = re.compile(rf"(?:{pattern('work')})\b[^:=≈：]*$", re.IGNORECASE)  # of a numbered item: '2. Scale them by √2.'
_WITHIN = re.compile(
    rf"(?:for|{pattern('with')}|für|pour|para|per|для)\s.*(?<!\w)(?:{pattern('ask')})(?!\w)", re.IGNORECASE
)
_EARLY = 40  # characters of a numbered item in which it may come to ask: '(b) For each head compute'
_OFFER = re.compile(rf"¿?(?:{pattern('offer')})", re.IGNORECASE)
_EASTERN = re.compile(
    r"^(?:请|試|试)?(?:计算|計算|求|算出|写出|证明|说明|给出|確定|确定|验证)|(?:せよ|なさい|求めよ|计算[^。]*[。：:]?$|하시오|구하라|구하여라|하여라|하라[.]?$|(?:hesaplay[ıi]n(?:[ıi]z)?|bulun(?:uz)?)\W*$)"
)
_CLAUSE = re.compile(r"[,;:]\s+")
_CUT = re.compile(
    r"[.?!](?:\*\*|__)?\s+(?=[^\s\d])|[。？！]|(?:\}|\$\$|\\\])\s*\n"
    r"|\n(?=\s*(?:[-*+•]|\\item|\(?\w{1,3}[.)]|\d{1,2}(?:\.\d{1,2}){1,3}[.)]?)\s)|(?<=\s)(?=\([a-h]\)\s)"
)
_NUMBERING = re.compile(r"\s*(?:[-*+•]\s+)?(?:\*\*)?\(?\w{1,3}[.)]+(?:\*\*)?\s*")  # '1. ' ends no sentence
_LOOK = 2_000  # characters of a sentence in which it must begin to ask


def questions(text: str, line: int) -> Iterator[Asked]:
    """The sentences of a paragraph that ask.

    >>> [asked.text for asked in questions("Let $d = 2$. (a) Compute the output. What is its shape?", 1)]
    ['(a) Compute the output.', 'What is its shape?']
    """
    below = line
    for sentence in _sentences(text):
        start = sentence.lstrip()
        first = below + sentence[: len(sentence) - len(start)].count("\n")
        below += sentence.count("\n")
        found = _LABEL.match(sentence)
        label = (found["label"] or "") if found else ""
        bare = sentence[found.end() if found else 0 :].strip().replace("**", "")
        if len(bare) > 3 and (_asks(bare) or (label and (_WORKS.match(bare) or _WITHIN.match(bare[:_EARLY])))):
            yield Asked(" ".join(_BULLET.sub("", sentence).split()), first, label)


def _asks(bare: str) -> bool:
    if _OFFER.match(bare):
        return False
    if bare.endswith(("?", "？")) or (not bare.isascii() and _EASTERN.search(bare)):
        return True
    starts = (0, *(m.end() for m in _CLAUSE.finditer(bare, 0, _LOOK)))
    return any(_ASKS.match(bare, start) for start in starts)


def _sentences(text: str) -> Iterator[str]:
    """Sentences, with the white space after them; a list item begins one."""
    at = 0
    for cut in _CUT.finditer(text):
        if cut.end() > at and not _NUMBERING.fullmatch(text, at, cut.end()):
            yield text[at : cut.end()]
            at = cut.end()
    if at < len(text):
        yield text[at:]
