"""Which letters a pattern cannot do without: text that holds none of them need not be searched.

>>> stems(r"\\balibi\\b|slope of \\d"), stems(r"(?:re)?split|cut(?:s|ting)?")
(('alibi', 'slope of '), ('split', 'cut'))
"""

from __future__ import annotations

import re

from qkv.expr.late import late

TOKEN = late(
    r"(?P<open>\((?!\?)|\(\?:|\(\?P<\w+>)|(?P<around>\(\?<?[=!])|(?P<close>\))|(?P<bar>\|)|(?P<times>[*+?]\??|\{\d*,?\d*\}\??)|"
    r"(?P<class>\[\^?\]?(?:\\.|[^\]\\])*\]|\\[^\W_]|[.^$])|\\?(?P<letter>.)",
    re.DOTALL,
)

Stems = tuple[str, ...]  # one of them must occur; none at all where nothing is sure


MOST = 32  # more would take as long to seek as the pattern, unless most text holds none of them


def stems(pattern: str, most: int = MOST) -> Stems:
    """For every way to match, a stretch of letters that it holds; empty where some way has none that is rare, or where
    there are too many."""
    found = _shortest(_Pattern(pattern).alternatives())
    return (
        ()
        if len(found) > most or any(len(stem) == 1 and stem.isascii() and stem.isalnum() for stem in found)
        else found
    )


def _shortest(found: Stems) -> Stems:
    """Without those that hold another one: where 'maskiert' stands, 'mask' does."""
    return tuple([stem for stem in found if not any(other in stem and other != stem for other in found)])


class _Pattern:
    """A pattern, read from left to right."""

    def __init__(self, pattern: str) -> None:
        self._tokens = TOKEN.finditer(pattern)

    def alternatives(self) -> Stems:
        """The stems of what stands up to the closing bracket, or the end."""
        found: list[Stems] = []
        parts: list[Stems] = [("",)]  # of this alternative so far; a run of letters grows at the end
        for token in self._tokens:
            match token.lastgroup:
                case "letter":
                    parts[-1] = (parts[-1][0] + token["letter"],)
                case "open":
                    parts[-1:] = [parts[-1], self.alternatives(), ("",)]
                case "around":
                    self.alternatives()
                    parts.append(("",))
                case "times":
                    _repeat(parts, token["times"])
                case "class":
                    parts += [(), ("",)]
                case "bar":
                    found.append(_best(parts))
                    parts = [("",)]
                case _:
                    break
        found.append(_best(parts))
        return tuple(dict.fromkeys(stem for part in found for stem in part)) if all(found) else ()


def _repeat(parts: list[Stems], times: str) -> None:
    """What comes before may be missing, or come more than once: a run of letters ends here."""
    sure = times[0] == "+" or times[1:2] not in ("", "0", ",")
    if run := parts[-1][0]:
        parts[-1] = (run if sure else run[:-1],)
    elif not sure and len(parts) > 1:
        parts[-2] = ()
    parts.append(("",))


def _best(parts: list[Stems]) -> Stems:
    """The part whose stems are rarest: none of them short, and few."""
    best = max(parts, key=_rarity)
    return best if all(best) else ()


def _rarity(part: Stems) -> tuple[int, int, int]:
    shortest = min(map(len, part), default=0)
    return min(shortest, 4), -len(part), shortest
