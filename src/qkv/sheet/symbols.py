"""Scripts → Symbol: labels, indices, primes and transposes, in whatever order they are written.

`W_{0^Q}`, `W_0^Q`, `W^{(0)}_Q` and `W_Q^0` come out as one symbol. What is raised and is no label is left to the
grammar as a power.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from qkv.expr.names import Symbol, shared_symbol
from qkv.records import record
from qkv.sheet import notation as table
from qkv.sheet.lexer import KIND, TEXT, Token

_WORDS = frozenset(("name", "word", "text", "func", "prose", "bb", "sub", "sup"))
_BRACES = frozenset("{}")
_RAISING = frozenset(("num", "sup", "op"))  # one of these alone may be an exponent
_COUNTING = frozenset(("num", "sep"))
_PART = re.compile(r"\d+|[^\W\d_]+(?:_[^\W\d_]+)*")


@record(frozen=True, slots=True)
class Script:
    """One script of a quantity: `_` or `^`, the tokens in it, and the index of the first of them."""

    mark: str
    tokens: tuple[Token, ...]
    start: int = -1


@record(slots=True)
class _Found:
    labels: list[str]
    raised: list[str]
    lowered: list[str]
    primes: int
    transposed: bool = False


def size_in(tokens: Sequence[Token]) -> tuple[int, int] | None:
    """The size that a script or a bracket holds: (2 × 3), 2×3."""
    if len(tokens) < 3 or "×" not in map(TEXT, tokens):
        return None
    core = [t for t in tokens if t.kind not in ("open", "close") and t.text != "cancel"]
    if len(core) == 3 and core[1].text == "×" and (core[0].kind, core[1].kind, core[2].kind) == ("num", "op", "num"):
        rows, columns = core[0].text, core[2].text
        if rows.isdigit() and columns.isdigit() and len(rows) < 9 and len(columns) < 9:
            return int(rows), int(columns)
    return None


def is_power(base: str, script: Script, *, alone: bool) -> bool:
    """Whether a raised script, the only one or not, is an exponent rather than a label, an index or a transpose."""
    tokens = script.tokens
    if script.mark != "^" or (len(tokens) == 1 and tokens[0].kind not in _RAISING):
        return False
    inside = [t for t in tokens if t.text not in _BRACES]
    kinds = [t.kind for t in inside]
    if "num" in kinds and inside[0].text == "(":
        return False
    if kinds == ["num"] or (kinds == ["sup"] and inside[0].text.isdigit()):
        return not _counts(base, inside[0].text, alone)
    if "op" in kinds:
        return inside[0].text != "("
    return kinds == ["sup"] and inside[0].text.startswith("-")


def _counts(base: str, digits: str, alone: bool) -> bool:
    """Whether a raised number counts (a head, a layer, a token) instead of multiplying."""
    if not digits.isdigit():
        return False
    if base in table.COUNTED_BASES or (len(base) > 1 and base not in table.NAME_COMMANDS):
        return True
    return digits == "1" or (base in table.COUNTED_IF_BARE and alone)


def symbol_of(base: str, scripts: Sequence[Script], primes: int = 0) -> tuple[Symbol, bool]:
    """The symbol of a base with its scripts, and whether it is transposed."""
    base, own = (base, []) if base.isalnum() else _split_base(base)
    if not scripts:
        return shared_symbol(base, (), tuple(own), primes), False
    found = _Found([], [], own, primes)
    for script in scripts:
        _read(script, found, base)
    indices = tuple(found.raised + found.lowered)
    labels = found.labels
    if labels and indices:
        labels = [label for label in labels if label.lower() not in table.HEAD_WORDS]
    return shared_symbol(base, tuple(sorted(labels)), indices, found.primes), found.transposed


def extended(symbol: Symbol, scripts: Sequence[Script], primes: int = 0) -> tuple[Symbol, bool]:
    """A symbol with further scripts, as in {W_Q}^{(1)}."""
    more, transposed = symbol_of(symbol.base, scripts, primes)
    labels = tuple(sorted((*symbol.labels, *more.labels)))
    return shared_symbol(symbol.base, labels, symbol.indices + more.indices, symbol.primes + more.primes), transposed


def _split_base(base: str) -> tuple[str, list[str]]:
    """'head 1' is head with index 1; other blanks join words as underscores do."""
    words = base.split()
    own = [words.pop()] if len(words) > 1 and words[-1].isdigit() else []
    return "_".join(words) or base, own


def _read(script: Script, found: _Found, base: str) -> None:
    """Sort what one script holds into labels, indices, primes and a transpose."""
    tokens: Sequence[Token] = script.tokens
    if len(tokens) > 1:
        tokens = [t for t in tokens if t.text not in _BRACES and t.kind != "script"]
    raised = script.mark == "^"
    indices = found.raised if raised else found.lowered
    if "op" in map(KIND, tokens):
        text = "".join(t.text for t in tokens if t.kind not in ("open", "close", "list", "grid"))
        indices.append(text)
        return
    if not raised and base not in table.LABELLED_BASES and _count_things(tokens):
        for token in tokens:
            if token.kind != "sep":
                indices += _counted(token)
        return
    for token in tokens:
        if token.kind == "num":
            indices.extend(_counted(token))
        elif token.kind == "prime":
            found.primes += 1
        elif token.kind == "list":
            indices.extend(re.findall(r"\d+", token.text))
        elif token.kind in _WORDS:
            if raised and token.text.strip() in table.TRANSPOSES:
                found.transposed = True
            else:
                _sort_words(token, found, indices)


def _counted(token: Token) -> list[str]:
    """The indices of z_{3,1} where commas are decimal marks elsewhere; the point of W_1. ends a sentence."""
    return [token.text] if token.text.isalnum() else [part for part in token.text.split(".") if part]


def _count_things(tokens: Sequence[Token]) -> bool:
    """Whether a lowered script such as ik or k holds index letters only, those included that could be labels."""
    for token in tokens:
        if token.text not in table.INDEX_RUN if token.kind == "name" else token.kind not in _COUNTING:
            return False
    return True


def _sort_words(token: Token, found: _Found, indices: list[str]) -> None:
    for part in _PART.findall(token.text):
        if part.isdigit() or (len(part) == 1 and part in table.INDEX_LETTERS):
            indices.append(part)
        elif token.kind in ("sub", "sup", "word") and 1 < len(part) <= 3 and set(part) <= table.INDEX_RUN:
            indices.extend(part)
        else:
            found.labels.append(part)
