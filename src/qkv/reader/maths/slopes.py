"""Derivatives on one line: the six tokens of ∂L/∂z₀ are one name, ∂L/∂z, with the index 0; so are dL/dz and dL/dz₀."""

from __future__ import annotations

from collections.abc import Sequence

from qkv.reader.maths import signs
from qkv.reader.maths.tokens import Token

MARK = "∂"
_MARKS = frozenset((MARK, "partial", "d"))
_LETTERS = frozenset(("letters", "word", "upright"))
_LOSSES = frozenset(("loss", "Loss", "ell", "CE", "NLL", "nll"))  # what a d may stand before, beside single letters
_SIZES = frozenset("kqvhn")  # dk/dv are two sizes


def with_slopes(tokens: list[Token]) -> list[Token]:
    """The tokens with each ∂a/∂b, or da/db, as one name; an index of a comes before those of b.

    >>> letters = [Token("letters", text, i, i + 1) for i, text in enumerate("∂L/∂z")]
    >>> [token.text for token in with_slopes([*letters[:2], Token("op", "/", 2, 3), *letters[3:]])]
    ['∂L/∂z']
    """
    if not any(token.text == "/" for token in tokens):
        return tokens
    out: list[Token] = []
    i = 0
    while i < len(tokens):
        over, at = _differential(tokens, i)
        scripts = _scripts(tokens, at) if over else []
        slash = at + len(scripts)
        begins = over and slash < len(tokens) and tokens[slash].text == "/"
        under, end = _differential(tokens, slash + 1) if begins else ("", i)
        if under and _is_slope(tokens[i], over, under):
            text = f"{MARK}{over}/{MARK}{under}"
            out += [Token("letters", text, tokens[i].start, tokens[end - 1].end, tokens[i].gap), *scripts]
            i = end
        else:
            out.append(tokens[i])
            i += 1
    return out


def _differential(tokens: Sequence[Token], i: int) -> tuple[str, int]:
    """The name behind a ∂, or a d, at i, and where what follows it begins."""
    if i >= len(tokens):
        return "", i
    first, then = tokens[i], tokens[i + 1] if i + 1 < len(tokens) else None
    if first.text in _MARKS and then is not None and then.kind in _LETTERS and not (first.text == "d" and then.gap):
        return _spelled(then.text), i + 2
    joined = first.kind in _LETTERS and len(first.text) > 1 and first.text[0] in ("d", MARK)
    return (_spelled(first.text[1:]), i + 1) if joined else ("", i)


def _is_slope(first: Token, over: str, under: str) -> bool:
    """Whether a quotient of two names with a d is a derivative: of a loss, or of a letter that is no size."""
    if first.text[0] != "d":
        return True
    return over in _LOSSES or (len(over) == 1 and not (over in _SIZES and (under in _SIZES or len(under) > 1)))


def _spelled(name: str) -> str:
    return signs.GREEK.get(name, name)


def _scripts(tokens: Sequence[Token], i: int) -> list[Token]:
    """The index behind a name: the 1 of ∂p_1 or ∂p₁."""
    if i < len(tokens) and tokens[i].kind == "sub":
        return [tokens[i]]
    if i + 1 < len(tokens) and tokens[i].text == "_" and tokens[i + 1].kind in ("num", *_LETTERS):
        return list(tokens[i : i + 2])
    return []
