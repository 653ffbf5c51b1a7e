"""Patterns for words in any case."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache

from qkv.expr.alternatives import by_first_letter
from qkv.expr.late import late
from qkv.expr.stems import MOST, stems

_SHIFTED = late(r"\\.|[^\\]+", re.DOTALL)
_WORD_BEGINS = late(r"(?:^|(?<=[^\\]\|))\\b([^\W\d_])(?![?*+{])")
_LONG = 500  # one long text, such as the words of a problem, is searched for many things
_long_lowered = lru_cache(maxsize=16)(str.lower)


@lru_cache(maxsize=16)
def _words_once(small: str) -> tuple[str, str]:
    """Each word of a text once, those in ASCII and the others: a third of it, and all that a stem without blanks need
    be sought in. What is not ASCII is sought among the others, mostly few, in no time."""
    words = dict.fromkeys(small.split())
    return "\n".join([x for x in words if x.isascii()]), "\n".join([x for x in words if not x.isascii()])


def _lowered(text: str) -> tuple[str, str, str]:
    """A text in small letters, its words in ASCII and its other words."""
    if len(text) <= _LONG:
        return text.lower(), text.lower(), ""
    small = _long_lowered(text)
    return small, *_words_once(small)


class Wording:
    """A pattern for words, in any case; places in what it finds are those of the text in small letters.

    Pattern and text are taken in small letters. Then alternatives that begin with a letter are sought by a table of
    first letters, many times faster than by re.IGNORECASE, which tries each of them at each place. For that table,
    `\\bgqa` is sought as a g where a word begins. Text that holds none of the pattern's stems is not searched at all,
    and a pattern that never is need not be compiled.

    >>> bool(Wording("causal|kausal").search("A Causal Mask"))
    True
    """

    def __init__(self, pattern: str, most_stems: int = MOST, told: tuple[str, ...] = ()) -> None:
        self._source, self._most = pattern, most_stems
        self._told = told  # stems, where the telling ones are not the longest

    @cached_property
    def _small(self) -> str:
        return _SHIFTED.sub(_small, self._source)

    @cached_property
    def _stems(self) -> tuple[str, ...]:
        """Every text with the words holds one of these."""
        return self._told or stems(self._small, self._most) or ("",)

    @cached_property
    def _ascii_stems(self) -> tuple[str, ...]:
        """Those that a text in ASCII, as most are, may hold: about half of them."""
        return tuple([stem for stem in self._stems if stem.isascii()])

    @cached_property
    def _pieces(self) -> tuple[tuple[str, str], ...]:
        """Each stem after the longest of its words: text without that word need not be searched for the stem."""
        return tuple([(max(stem.split(), key=len, default="") if " " in stem else stem, stem) for stem in self._stems])

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(by_first_letter(_WORD_BEGINS.sub(r"\1(?<=\\b\1)", self._small)))

    def search(self, text: str) -> re.Match[str] | None:
        """The first place where the words occur."""
        if len(text) > _LONG:
            return self._pattern.search(_long_lowered(text)) if self.may_occur(text) else None
        small = text.lower()
        for stem in self._ascii_stems if small.isascii() else self._stems:
            if stem in small:
                return self._pattern.search(small)
        return None

    def match(self, text: str, *starts: int) -> re.Match[str] | None:
        """The words, if they stand right at the beginning, or at the first of the places `starts`."""
        small, match = _long_lowered(text) if len(text) > _LONG else text.lower(), self._pattern.match
        for start in starts or (0,):
            if found := match(small, start):
                return found
        return None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Every place where the words occur."""
        small = _long_lowered(text) if len(text) > _LONG else text.lower()
        for stem in self._ascii_stems if small.isascii() else self._stems:
            if stem in small:
                return self._pattern.finditer(small)
        return iter(())

    def may_occur(self, text: str) -> bool:
        """False where the words surely do not occur, told without a search."""
        return bool(self.signs_in(text))

    def signs_in(self, text: str) -> tuple[str, ...]:
        """What parts of a text that hold the words must hold one of, in small letters; nothing where no part can."""
        small, ascii_words, others = _lowered(text)
        return tuple(
            [
                stem
                for word, stem in self._pieces
                if (word in ascii_words or word in others) and (word is stem or stem in small)
            ]
        )


def _small(part: re.Match[str]) -> str:
    """Small letters; \\S and \\W stay what they are."""
    return part[0] if part[0].startswith("\\") else part[0].lower().replace("(?p<", "(?P<")
