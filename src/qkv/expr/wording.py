"""Patterns for words in any case."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SHIFTED = re.compile(r"\\.|[^\\]+", re.DOTALL)


class Wording:
    """A pattern for words, in any case; places in what it finds are those of the text in small letters.

    Pattern and text are taken in small letters. Then alternatives that begin with a letter are sought by a table of
    first letters, many times faster than by re.IGNORECASE, which tries each of them at each place.

    >>> bool(Wording("causal|kausal").search("A Causal Mask"))
    True
    """

    __slots__ = ("_pattern",)

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(_SHIFTED.sub(_small, pattern))

    def search(self, text: str) -> re.Match[str] | None:
        """The first place where the words occur."""
        return self._pattern.search(text.lower())

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """The words, if they stand right at `start`."""
        return self._pattern.match(text.lower(), start)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Every place where the words occur."""
        return self._pattern.finditer(text.lower())


def _small(part: re.Match[str]) -> str:
    """Small letters; \\S and \\W stay what they are."""
    return part[0] if part[0].startswith("\\") else part[0].lower().replace("(?p<", "(?P<")
