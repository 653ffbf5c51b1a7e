"""The alternatives of a pattern by their first letters, so that at each place only those of its letter are tried.

>>> by_first_letter("mask|scale|masqu|skal")
'm(?:ask|asqu)|s(?:cale|kal)'
"""

from __future__ import annotations

from itertools import groupby

from qkv.expr.late import late
from qkv.expr.stems import TOKEN

_LETTER = late(r"[^\W\d_](?![?*+{])")


def by_first_letter(pattern: str) -> str:
    """The same pattern, which finds the same. Alternatives move only past those that begin with another letter, and
    not where brackets are numbered."""
    made: list[str] = []
    for lettered, run in groupby(_alternatives(pattern), key=lambda text: _LETTER.match(text) is not None):
        texts = list(run)
        made += _grouped(texts) if lettered else texts
    return "|".join(made)


def _grouped(alternatives: list[str]) -> list[str]:
    rests: dict[str, list[str]] = {}
    for text in alternatives:
        rests.setdefault(text[0], []).append(text[1:])
    return [letter + (rest[0] if len(rest) == 1 else f"(?:{'|'.join(rest)})") for letter, rest in rests.items()]


def _alternatives(pattern: str) -> list[str]:
    """What stands between the bars outside of all brackets; the whole where brackets are numbered."""
    found, start, depth = [], 0, 0
    for token in TOKEN.finditer(pattern):
        kind = token.lastgroup
        if kind == "open" and token[0] != "(?:":
            return [pattern]
        if kind in ("open", "around"):
            depth += 1
        elif kind == "close":
            depth -= 1
        elif kind == "bar" and depth == 0:
            found.append(pattern[start : token.start()])
            start = token.end()
    return [*found, pattern[start:]]
