"""Derivatives on one line: the six tokens of ∂L/∂z₀ are one name, ∂L/∂z, with the index 0."""

from __future__ import annotations

from collections.abc import Sequence

from qkv.reader.maths.tokens import Token

MARK = "∂"
_MARKS = frozenset((MARK, "partial"))
_LETTERS = frozenset(("letters", "word", "upright"))


def with_slopes(tokens: list[Token]) -> list[Token]:
    """The tokens with each ∂a/∂b as one name; an index of a comes before those of b.

    >>> letters = [Token("letters", text, i, i + 1) for i, text in enumerate("∂L/∂z")]
    >>> [token.text for token in with_slopes([*letters[:2], Token("op", "/", 2, 3), *letters[3:]])]
    ['∂L/∂z']
    """
    if not any(token.text in _MARKS for token in tokens):
        return tokens
    out: list[Token] = []
    i = 0
    while i < len(tokens):
        scripts = _scripts(tokens, i + 2) if _is_differential(tokens, i) else None
        under = i + 2 + len(scripts) + 1 if scripts is not None else len(tokens)
        if under < len(tokens) and tokens[under - 1].text == "/" and _is_differential(tokens, under):
            first, last = tokens[i], tokens[under + 1]
            text = f"{MARK}{tokens[i + 1].text}/{MARK}{last.text}"
            out += [Token("letters", text, first.start, last.end, first.gap), *(scripts or ())]
            i = under + 2
        else:
            out.append(tokens[i])
            i += 1
    return out


def _is_differential(tokens: Sequence[Token], i: int) -> bool:
    """Whether ∂ and a name stand at i."""
    return i + 1 < len(tokens) and tokens[i].text in _MARKS and tokens[i + 1].kind in _LETTERS


def _scripts(tokens: Sequence[Token], i: int) -> list[Token]:
    """The index behind a name: the 1 of ∂p_1 or ∂p₁."""
    if i < len(tokens) and tokens[i].kind == "sub":
        return [tokens[i]]
    if i + 1 < len(tokens) and tokens[i].text == "_" and tokens[i + 1].kind in ("num", *_LETTERS):
        return list(tokens[i : i + 2])
    return []
