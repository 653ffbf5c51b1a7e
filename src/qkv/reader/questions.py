"""Sentences and list items that ask for something, with the label that they have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from qkv.library.words import pattern
from qkv.reader.page import Asked
from qkv.regex import regex

_LABEL = regex(
    r"^\s*(?:[-*+•]\s+|\\item\s*)?(?:\*\*)?(?:\\item\[)?"
    r"(?P<label>\d{1,2}(?:\.\d{1,2}){1,3}(?=\s|\*\*)|[(（]?(?:[a-zA-Zа-я]|[ivx]{1,5}|\d{1,2}(?:\.\d{1,2}){0,3})[.)）\]]+|Q\d+[.:)]|第[一二三四五\d]+[问題题小]\S?)?(?:\*\*)?\s*"
)
_BULLET = regex(r"^\s*(?:[-*+•]\s+|\\item\s*)?(?=\S)")
_ASKS = regex(rf"(?:(?:{pattern('lead')}),?\s+)*(?:{pattern('ask')})\b", re.IGNORECASE)
_WORKS = regex(rf"(?:{pattern('work')})\b[^:=≈：]*$", re.IGNORECASE)  # of a numbered item: '2. Scale them by √2.'
_WITHIN = regex(rf"(?:for|{pattern('with')}|für|pour|para|per|для)\s.*(?<!\w)(?:{pattern('ask')})(?!\w)", re.IGNORECASE)
_EARLY = 40  # characters of a numbered item in which it may come to ask: '(b) For each head compute'
_OFFER = regex(rf"¿?(?:{pattern('offer')})", re.IGNORECASE)
_EASTERN = regex(
    r"^(?:请|試|试)?(?:计算|計算|求|算出|写出|证明|说明|给出|確定|确定|验证)|(?:せよ|なさい|求めよ|述べよ|答えよ|示せ|(?:いくら|いくつ|どう|何)[^。]{0,20}か[。．]?$|计算[^。]*[。：:]?$|하시오|구하라|구하여라|하여라|하라[.]?$|(?:hesaplay[ıi]n(?:[ıi]z)?|bulun(?:uz)?)\W*$)"
)
_CLAUSE = regex(r"[,;:]\s+")
_COMMAND = "|".join(word[:1].upper() + word[1:] for word in pattern("ask").split("|"))
_CUT = regex(
    rf"\n(?=[ \t]*(?:{_COMMAND})\b)|"
    r"[.?!](?:\*\*|__)?\s+(?=[^\s\d])|[。？！]|(?:\}|\$\$|\\\])\s*\n"
    r"|\n(?=\s*(?:[-*+•]|\\item|\(?\w{1,3}[.)]|\d{1,2}(?:\.\d{1,2}){1,3}[.)]?)\s)|(?<=\s)(?=\((?P<letter>[a-h])\)\s)"
)
_LETTER = regex(r"\((?P<letter>[a-h])\)\s")
_POINTS = regex(  # what an item is worth: '(4 pts)', '[2 Punkte]'
    r"[\[(（]\s*[+~]?\d{1,3}(?:[.,]\d)?\s*(?:%|p|pkt|pts?|points?|marks?|punkte?|puntos?|pontos?|punti|балл\w*|分|点|점)\.?\s*[\])）]\W{0,3}\s*",
    re.IGNORECASE,
)
_MARKS = regex(r"\[\d{1,2}\]\s+")  # '(i) [3] Write down …'
_NUMBERING = regex(r"\s*(?:[-*+•]\s+)?(?:\*\*)?\(?\w{1,3}[.)]+(?:\*\*)?\s*")  # '1. ' ends no sentence
_TELLS = regex(r"[=≈:：→]|\d[.,]\d|[\[|]")  # an item that says something asks for nothing
_ROUNDS = regex(rf"(?:{pattern('round')})\b", re.IGNORECASE)  # a remark to the question before it
_QUANTITY = regex(rf"(?<!\w)(?:{pattern('quantity')}|{pattern('vector')}|{pattern('output')})(?!\w)", re.IGNORECASE)
_FEW = 12  # words of an item that only names a quantity
_LOOK = 2_000  # characters of a sentence in which it must begin to ask


class _Sentence(NamedTuple):
    """A sentence as it stands, without its label, and whether it asks by itself."""

    text: str
    line: int
    label: str
    bare: str
    asks: bool


def questions(text: str, line: int) -> Iterator[Asked]:
    """The sentences of a paragraph that ask. Where an item of a list asks, or what leads to it does, all of them do.

    >>> [asked.text for asked in questions("Let $d = 2$. (a) Compute the output. What is its shape?", 1)]
    ['(a) Compute the output.', 'What is its shape?']
    >>> [asked.text for asked in questions("a) attention scores\\nb) attention weights", 1)]
    ['a) attention scores', 'b) attention weights']
    """
    found = [_sentence(sentence, first) for sentence, first in _sentences(text, line)]
    labelled = [sentence for sentence in found if sentence.label]
    nouns = [sentence for sentence in labelled if sentence.asks or _is_noun(sentence)]
    of_list = len(labelled) > 1 and (any(s.asks for s in found) or len(nouns) == len(labelled))
    mostly = len(labelled) > 2 and len(nouns) * 2 > len(labelled)  # then the other short items ask, too
    for before, sentence in zip((None, *found), found, strict=False):
        named = bool(sentence.label) and ((of_list and _is_noun(sentence)) or (mostly and _is_short(sentence)))
        rounds = before is not None and before.asks and not sentence.label and bool(_ROUNDS.match(sentence.bare))
        if sentence.asks and before is not None and _leads(before, sentence):
            text, label = f"{_BULLET.sub('', before.text)} {sentence.text}", before.label
            yield Asked(" ".join(text.split()), before.line, label)
        elif sentence.asks or named or rounds:
            yield Asked(" ".join(_BULLET.sub("", sentence.text).split()), sentence.line, sentence.label)


def _leads(before: _Sentence, sentence: _Sentence) -> bool:
    """Whether an item of a list says what its question is about: '(e) Suppose a causal mask is applied. Which …?'"""
    return bool(before.label) and not before.asks and not sentence.label and not _TELLS.search(before.bare)


def _sentence(text: str, line: int) -> _Sentence:
    found = _LABEL.match(text)
    label = (found["label"] or "") if found else ""
    bare = text[found.end() if found else 0 :].strip().replace("**", "")
    bare = _POINTS.sub("", _MARKS.sub("", bare) if label else bare, count=1).strip()
    asks = len(bare) > 3 and (_asks(bare) or bool(label and (_WORKS.match(bare) or _WITHIN.match(bare[:_EARLY]))))
    return _Sentence(text, line, label, bare, asks)


def _is_noun(sentence: _Sentence) -> bool:
    """Whether an item only names a quantity: 'attention weights of the third token'."""
    return _is_short(sentence) and bool(_QUANTITY.search(sentence.bare))


def _is_short(sentence: _Sentence) -> bool:
    """Whether an item says nothing, in few words: 'R and its normalised version'."""
    return len(sentence.bare.split()) <= _FEW and not _TELLS.search(sentence.bare)


def _asks(bare: str) -> bool:
    if _OFFER.match(bare):
        return False
    if bare.endswith(("?", "？")) or (not bare.isascii() and _EASTERN.search(bare)):
        return True
    starts = (0, *(m.end() for m in _CLAUSE.finditer(bare, 0, _LOOK)))
    return any(_ASKS.match(bare, start) for start in starts)


def _sentences(text: str, line: int) -> Iterator[tuple[str, int]]:
    """Sentences, with the white space after them and the line that each begins on; a list item begins one."""
    at, letter = 0, _LETTER.match(text.lstrip())
    last = letter["letter"] if letter else ""
    for cut in [*_CUT.finditer(text), None]:
        end = cut.end() if cut is not None else len(text)
        if cut is not None and (letter := _LETTER.match(text, end)):
            if last and cut["letter"] and ord(letter["letter"]) != ord(last) + 1:
                continue  # '(d) How does (b) change' is one sentence
            last = letter["letter"]
        if end > at and (cut is None or not _NUMBERING.fullmatch(text, at, end)):
            sentence = text[at:end]
            before = len(sentence) - len(sentence.lstrip())
            yield sentence, line + text.count("\n", 0, at + before)
            at = end
