"""From a spelling to one symbol: labels, indices, primes, transposes and powers, in whatever order they are written.

`W_{0^Q}`, `W_0^Q`, `W^{(0)}_Q` and `W_Q^0` come out as one symbol. Where the spelling leaves open whether a script
runs, counts or labels, the page's own table of names decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from qkv.expr.names import INDEX_LETTERS, Symbol
from qkv.reader.maths import signs
from qkv.reader.maths.names import INDEX_RUN, WORDS, Names
from qkv.reader.maths.tokens import Token
from qkv.regex import regex

_PART = regex(r"\d+|[^\W\d_]+(?:_[^\W\d_]+)*")


class Script(NamedTuple):
    """One script of a quantity: its mark, and its tokens, which begin at index `start` of the stream."""

    mark: str
    tokens: tuple[Token, ...]
    start: int = -1


@dataclass(slots=True)
class Spelled:
    """A name as far as it was read: the symbol, whether it is transposed, and the scripts that are powers."""

    symbol: Symbol
    transposed: bool = False
    powers: list[Script] = field(default_factory=list)
    doubtful: bool = False  # a raised number that may be a power or an index


def spelled(
    names: Names, word: str, scripts: Sequence[Script], primes: int = 0, *, powers_count: bool = False
) -> Spelled:
    """The symbol of a word with its scripts. W_{0^Q}, W_0^Q, W^{(0)}_Q and W_Q^0 come out as one.

    `powers_count` reads a raised number as an index where the page leaves that open.
    """
    base, own = names.base(word)
    found = _Scripts(names, base, list(own), primes)
    for script in scripts:
        found.take(script, powers_count)
    symbol = Symbol(base, tuple(sorted(found.labels)), tuple(found.raised + found.lowered), found.primes)
    return Spelled(symbol, found.transposed, found.powers, found.doubtful)


def identifier(names: Names, text: str) -> Symbol:
    """The symbol of a name as programs write it: Wq, W_q, x1, attention_weights.

    >>> identifier(Names(), "W_q"), identifier(Names(), "scores2")
    (Symbol(base='W', labels=('q',), indices=(), primes=0), Symbol(base='scores', labels=(), indices=('2',), primes=0))
    """
    first, *rest = [part for part in text.split("_") if part] or [text]
    letters = first.rstrip("0123456789") or first
    indices, labels = [first[len(letters) :]] if letters != first else [], list[str]()
    for part in rest:
        if part.isdigit():
            indices.append(part)
        elif len(letters) > 1 and len(part) > 1 and part not in names.tokens and not labels and not indices:
            letters = f"{letters}_{part}"
        elif len(part) == 1 and part in INDEX_LETTERS:
            indices.append(part)
        else:
            labels.append(part)
    base, own = names.base(letters)
    return Symbol(base, tuple(sorted((*own, *labels))), tuple(indices))


def _indices(tokens: Sequence[Token]) -> list[str] | None:
    """The indices of a script that counts with signs or factors: t+1; pos, 2i; None where it does not."""
    inside = [t for t in tokens if t.kind not in ("open", "close")]
    groups: list[list[Token]] = [[]]
    for token in inside:
        if token.text in (",", ";"):
            groups.append([])
        else:
            groups[-1].append(token)
    counted = len(groups) > 1 and any(
        len(g) == 2 and g[0].kind == "num" and g[1].text in INDEX_LETTERS and not g[1].gap for g in groups
    )
    if not counted and not any(t.kind == "op" for t in inside):
        return None
    return ["".join(t.text for t in group) for group in groups if group]


class _Scripts:
    """Sorts what scripts hold into labels, indices, primes, powers and a transpose."""

    def __init__(self, names: Names, base: str, labels: list[str], primes: int) -> None:
        self.names, self.base, self.labels, self.primes = names, base, labels, primes
        self.raised: list[str] = []
        self.lowered: list[str] = []
        self.powers: list[Script] = []
        self.transposed = self.doubtful = False

    def take(self, script: Script, powers_count: bool) -> None:
        raised = script.mark == "^"
        if raised and self._is_power(script, powers_count):
            self.powers.append(script)
            return
        into = self.raised if raised else self.lowered
        tokens = [t for t in script.tokens if t.text not in ("{", "}") and t.kind != "script"]
        if (several := _indices(tokens)) is not None:
            into += several
            return
        for token in tokens:
            if token.kind == "num":
                into += [part for part in token.text.split(".") if part]
            elif token.kind == "prime":
                self.primes += 1
            elif token.kind == "accent":
                self.labels.append(token.text)
            elif token.kind in ("sub", "sup", "bb") or token.kind in WORDS:
                self._word(token, raised, into)

    def _is_power(self, script: Script, powers_count: bool) -> bool:
        """Whether a raised script is an exponent and no label, index or transpose."""
        inside = [t for t in script.tokens if t.text not in ("{", "}")]
        if not inside or inside[0].text == "(":
            return False
        if any(t.kind == "op" for t in inside):
            return True
        first = inside[0]
        if len(inside) > 1 or not (first.kind == "num" or (first.kind == "sup" and first.text.lstrip("-").isdigit())):
            return False
        if first.text in ("0", "1") or self.base in self.names.counted or not first.text.isdigit():
            return not first.text.isdigit()
        self.doubtful = True
        return not powers_count

    def _word(self, token: Token, raised: bool, into: list[str]) -> None:
        text = token.text.strip()
        if raised and text in signs.TRANSPOSES:
            self.transposed = True
            return
        parts = _PART.findall(text)
        for k, part in enumerate(parts):
            if part.isdigit():
                into.append(part)
            elif k + 1 < len(parts) and parts[k + 1].isdigit() and token.kind == "upright":
                continue  # the head of 'head 1': the number tells
            elif len(part) == 1:
                (into if self._runs(part) else self.labels).append(part)
            elif (
                len(part) <= 3 and set(part) <= INDEX_RUN and part not in self.names.tokens and token.kind != "upright"
            ):
                into += part
            else:
                self.labels.append(part)

    def _runs(self, letter: str) -> bool:
        """Whether a script letter runs over tokens: i and j do, k where the page lets it."""
        if letter == "k":
            return ("k" in self.names.running and (self.base, "k") not in self.names.labelled) or self._among_numbers()
        return letter in INDEX_LETTERS or letter in self.names.running - {"q", "v", "o", "h"}

    def _among_numbers(self) -> bool:
        return bool(self.lowered or self.raised) and "k" in self.names.running
