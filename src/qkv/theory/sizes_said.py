"""The sizes of a model that a text says: each number with the words that stand before it or behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from qkv.library.model_said import AMOUNT, MEANINGS, NAMES, POWERS, PRECISIONS, SIZES, SURE, TRAINING, WORDED
from qkv.regex import regex

_DIGITS = r"\d{1,3}(?:[ ,.\u202f]\d{3})+(?!\d|[.,]\d)|\d+(?:[.,]\d+)?"
_SUFFIX = (
    r"(?:\s?(?P<unit>[kKMBbT]\b|thousand\b|millions?\b|billions?\b|trillions?\b|milliards?\b|Milliarden\b|Mio\b|Mrd\b|млн\b|млрд\b"
    r"|mil millones\b))?"
)
_NUMBER = regex(rf"(?<![\w.,^/])(?<!\w-)(?!(?<![^\n])\d+[.)]\s)(?P<digits>{_DIGITS}){_SUFFIX}")
_COMES_TO = regex(r"\s*(?://|[/÷×x*·])\s*[\d.,]+\s*=\s*(?=\d)")  # 5120 // 40 = 128
_CALCULATED = regex(r"[×*/+^÷·−]\s*$")
_CALCULATES = regex(r"\s*(?:[×*/+^÷·²]|x\s?\d|->|→)")
_THROUGH = regex(r"\d+\s*(?:->|→)\s*(?P<inner>\d[\d ,.]*?)\s*(?:->|→)\s*\d")  # 256 -> 1024 -> 256
_SIGN = regex(
    r"(?:[:：=|~≈\t]|\s{2}|\b(?:of|is|are|has|beträgt|hat|de|von|est|es|è|to|about|approximately)\s|[はが为為是를을은는数數수]\s?|равн\w+\s)\s*$",
    re.IGNORECASE,
)
_ASIDE = regex(r"[(（][^()（）\d]*[)）](?=\s*[:：=|]*\s*$)")
_SYMBOL = regex(r"(?:^|(?<=[\s(（,，;；|=]))(?P<name>\|?[A-Za-z][A-Za-z_]{0,24}\|?)\s*(?P<sign>[=:：|]?)\s*$")
_BARRIER = regex(
    r"\b(?:in place of|instead of|rather than|statt|anstelle von|au lieu de|en (?:lugar|vez) de|em vez de|вместо)\b"
    r"|[,;，；、。()（）\n]|\.(?=\s|$)|->|→|\d(?![\d-])|\b(?:and|with|und|mit|et|avec|y|con|e|com|и|с)\b|[和与×·?!？！]",
    re.IGNORECASE,
)
_OF = regex(r"\b(?:of|each|de|der|jeweils|di|à|d')\b", re.IGNORECASE)
_CLAUSE = regex(r"[;；。\n]|\.(?=\s|$)")
_MARKUP: tuple[tuple[re.Pattern[str], str], ...] = (
    (regex(r"\\(?:text|mathrm|mathit|textbf|texttt)\s*\{([^{}]*)\}"), r"\1"),
    (regex(r"(?<=\d)(?:\{,\}|\\,|\\ )(?=\d{3})"), ","),
    (regex(r"_\{([^{}]*)\}"), r"_\1"),
    (regex(r"\\(?:times|cdot)"), "×"),
    (regex(r"\\[()\[\],;]|[$`{}]|\*\*"), ""),
    (regex(r"\\_"), "_"),
    (regex(r"(?<=[\wà-ÿ,])\n(?=[a-zà-ÿа-я][^=:|\n]*(?:\n|$))"), " "),
)
_REACH = 90  # characters before a number that speak of it, and half as many behind it


_MOST = {size: most for size, _, _, most in SIZES}


def plain_text(text: str) -> str:
    """A text without the marks of Markdown and LaTeX around its words and numbers, its sentences unbroken."""
    for pattern, by in _MARKUP:
        text = pattern.sub(by, text)
    return text


def meanings_in(text: str) -> frozenset[str]:
    """What the words of a text mean.

    >>> sorted(meanings_in("Breite eines Kopfes"))
    ['each', 'head', 'width']
    """
    return frozenset(meaning for meaning, words in MEANINGS if words.search(text))


def sizes_said(text: str) -> Iterator[tuple[str, Fraction]]:
    """The sizes of a model that a text says, in the order of their numbers; a size may be said more than once.

    >>> dict(sizes_said("32 layers, 8 KV heads, head dimension 128, d_model = 4,096, a context of 8K tokens"))["n"]
    Fraction(8192, 1)
    """
    text = plain_text(text)
    for first in _NUMBER.finditer(text):
        chain = _COMES_TO.match(text, first.end())
        last = (_NUMBER.match(text, chain.end()) if chain else None) or first
        if _CALCULATED.search(text, max(0, first.start() - 3), first.start()) or _CALCULATES.match(text, last.end()):
            continue
        size, most = _size(text, first.start(), last.end())
        value = _worth(last["digits"], last["unit"] or "", size)
        if size and 0 < value <= most and (size == "P" or value.denominator == 1):
            yield size, value
    for found in _THROUGH.finditer(text):
        if "inner" in meanings_in(_clause(text, found.start())):
            yield "d_ff", _worth(found["inner"], "", "d_ff")
    yield from _precisions(text)


def _precisions(text: str) -> Iterator[tuple[str, Fraction]]:
    """The bytes of a number; those while a model is trained may be others than those that it is kept in."""
    for worth, pattern in PRECISIONS:
        for found in pattern.finditer(text):
            before = re.split(
                r"[,;.\n]|\band\b|\bund\b|\by\b|\bet\b|\be\b", text[max(0, found.start() - 60) : found.start()]
            )[-1]
            yield ("trained", worth) if TRAINING.search(before) else ("bytes", worth)


def _size(text: str, start: int, end: int) -> tuple[str, int]:
    """Which size a number is, and how large one may be: by the words before it if a sign ties it to them, then by those
    behind it, then by those before it, and by a name last."""
    before, behind, aside = _before(text, start), _behind(text, end), _aside(text, end)
    if AMOUNT.match(text, start):
        return "", 0
    symbol = _SYMBOL.search(before)
    name = _named(symbol["name"]) if symbol else ""
    words = before[: symbol.start()] if symbol and name else before
    if name and symbol and len(symbol["name"]) > 2 and symbol["sign"]:
        return name, _MOST[name]
    told = _meant(words, text, start)
    tied = bool(symbol and name) or _SIGN.search(before) is not None
    follows = _told(meanings_in(behind))
    if follows[0] == "d" and told[0] != "d":  # each head is 64 wide
        told = follows = _meant(f"{words} {behind}", text, start)
    if told[0] and tied:
        return told
    if follows[0]:
        return follows
    if told[0] in SURE or (told[0] == "n" and "length" in meanings_in(words)):
        return told
    if symbol and (symbol["sign"] or len(symbol["name"]) > 1):
        said = _told(meanings_in(aside))  # N = 6 (number of layers)
        return said if said[0] else (name, _MOST.get(name, 0))
    return "", 0


def _meant(words: str, text: str, start: int) -> tuple[str, int]:
    """What words mean; a width that is each one's, or hidden, is that of what the clause speaks of."""
    meanings = meanings_in(words)
    if "width" in meanings and not meanings & {"head", "inner", "model", "vocabulary"}:
        around = meanings_in(_clause(text, start))
        meanings |= around & {"head"} if "each" in meanings else frozenset()
        unnumbered = meanings_in(re.split(r"\d", _clause(text, start))[-1])
        meanings |= unnumbered & {"inner"}
    return _told(meanings)


def _told(meanings: frozenset[str]) -> tuple[str, int]:
    for size, said, unsaid, most in SIZES:
        if said <= meanings and not unsaid & meanings:
            return size, most
    return "", 0


def _named(name: str) -> str:
    return NAMES.get(name, "") or (NAMES.get(name.lower(), "") if len(name) > 1 else "")


def _before(text: str, start: int) -> str:
    """The words before a number, as far as they speak of it."""
    stretch = _ASIDE.sub("", text[max(0, start - _REACH) : start])
    ends = [found.end() for found in _BARRIER.finditer(stretch)]
    return stretch[ends[-1] if ends else 0 :]


def _behind(text: str, end: int) -> str:
    """The words right behind a number; of '32 heads of width 128' those that do not speak of the next one."""
    stretch = text[end : end + _REACH // 2]
    stop = _BARRIER.search(stretch)
    words = stretch[: stop.start()] if stop else stretch
    words = words.partition("|")[0].partition("  ")[0]
    if stop is None or not stop[0].isdigit():
        return words
    ends = [of.start() for of in _OF.finditer(words) if "width" in meanings_in(words[of.start() :])]
    return words[: ends[-1]] if ends else words


def _aside(text: str, end: int) -> str:
    """What stands in brackets behind a number."""
    found = re.match(r"\s*[(（]([^()（）]*)", text[end : end + _REACH])
    return found[1] if found else ""


def _clause(text: str, start: int) -> str:
    """The text before a number since the clause began."""
    return _CLAUSE.split(text[max(0, start - 2 * _REACH) : start])[-1]


def _worth(digits: str, unit: str, size: str) -> Fraction:
    """The number that digits and a suffix stand for: 8K tokens are 8192, a vocabulary of 30k is 30000. What
    is counted is whole, so that 32.000 words are 32000."""
    grouped = re.fullmatch(r"\d{1,3}(?:[ ,.\u202f]\d{3})+", digits)
    plain = grouped and (size not in ("P", "") or not unit)
    value = Fraction(re.sub(r"\D", "", digits) if plain and not unit else digits.replace(",", ".").replace(" ", ""))
    if unit in ("k", "K") and size == "n" and value.denominator == 1 and int(value) & (int(value) - 1) == 0:
        return value * 1024
    return value * (POWERS.get(unit.lower()) or next((by for word, by in WORDED if re.match(word, unit, re.I)), 1))
