"""What only shows when the tokens around it are known: dots and letters that multiply, words set as mathematics."""

from __future__ import annotations

from qkv.reader.maths.tokens import Token
from qkv.reader.maths.units import is_magnitude


def laid_bare(tokens: list[Token]) -> list[Token]:
    """The tokens without braces around a single sign, {\\cdot}, and with remarks for an array that holds only words."""
    out: list[Token] = []
    for i, token in enumerate(tokens):
        out.append(token)
        if token.text == "}" and len(out) > 3 and out[-3].text == "{" and out[-2].kind == "op":
            if out[-4].kind in ("num", "letters", "word"):
                out[-3:] = [out[-2]]
        elif token.kind == "end":
            first = next((k for k in range(len(out) - 1, -1, -1) if out[k].kind == "begin"), 0)
            before = first > 0 and out[first - 1].kind == "end"
            after = i + 1 < len(tokens) and tokens[i + 1].kind == "begin"
            if (before or after) and _names_rows(out[first:]):
                words = [t._replace(kind="note") for t in out[first:] if t.kind in _ROW_WORDS]
                out[first:] = words if before else []
    return out


_ROW_WORDS = frozenset(("upright", "note", "prose", "letters", "word"))


def _names_rows(tokens: list[Token]) -> bool:
    """Whether an environment holds nothing but a word a row; bare letters only where it has no brackets."""
    inside = {t.kind for t in tokens[1:-1]}
    named = inside & ({"upright", "note", "prose"} if tokens[0].text not in ("matrix", "array") else _ROW_WORDS)
    arrows = {"rel"} if all(t.text == "=" for t in tokens if t.kind == "rel") else set()
    return bool(named) and inside <= named | arrows | {"row", "mute", "note"}


def with_times(tokens: list[Token], strict: bool) -> list[Token]:
    """The tokens with ×-signs for an x between numbers and arrays, a product dot for q1.k1, and no muted stretches."""
    out: list[Token] = []
    muted = -1
    for i, token in enumerate(tokens):
        if token.kind == "mute":
            muted = max(muted, token.end)
            continue
        if token.start < muted and token.kind != "line":
            continue
        before, after = out[-1] if out else None, tokens[i + 1] if i + 1 < len(tokens) else None
        if before is not None and after is not None and _is_times(token, before, after, strict):
            token = token._replace(kind="op", text="·" if token.text == "." else "×")
        out.append(token)
    return out


_SUMS = frozenset(("Σ", "sum"))
_NAMES = ("letters", "word")


def with_sums(tokens: list[Token]) -> list[Token]:
    """The tokens with Σ, or the word, as a sum where an index and a factor follow: Σ_k p_k, sum_j a_j, Σ pₖ."""
    if not any(token.text in _SUMS for token in tokens):
        return tokens
    return [
        Token("cmd", "sum", *token[2:]) if token.text in _SUMS and token.kind in _NAMES and _sums(tokens, i) else token
        for i, token in enumerate(tokens)
    ]


def _sums(tokens: list[Token], i: int) -> bool:
    """Whether the sign or the word at i has a letter as its index, or stands before a name that has one."""
    index = scripted(tokens, i + 1)
    if index:
        after = i + 1 + index
        return after < len(tokens) and tokens[after].kind in (*_NAMES, "open", "cmd") and tokens[after].gap
    opens = i == 0 or tokens[i - 1].kind in ("rel", "op", "open")
    named = i + 1 < len(tokens) and tokens[i + 1].kind in _NAMES and tokens[i + 1].gap
    primed = named and i + 2 < len(tokens) and tokens[i + 2].kind == "prime"
    return opens and named and scripted(tokens, i + 2 + primed) > 0


def scripted(tokens: list[Token], i: int) -> int:
    """How many tokens at i are the index of a name, if that is one letter: the _k of p_k, the ₖ of pₖ."""
    if i < len(tokens) and tokens[i].kind == "sub":
        return int(len(tokens[i].text) == 1 and tokens[i].text.isalpha())
    letter = tokens[i + 1] if i + 1 < len(tokens) and tokens[i].text == "_" else None
    return 2 if letter is not None and letter.kind in _NAMES and len(letter.text) == 1 else 0


def _is_label(word: str) -> bool:
    """Whether a word is a capital with a small letter behind it, such as Wq."""
    return len(word) == 2 and word[0].isupper() and word[1].islower()


_NAMING = ("letters", "word", "num", "sub", "close", "prime")


def _is_times(token: Token, before: Token, after: Token, strict: bool) -> bool:
    if token.text in ("x", "X") and token.kind in ("letters", "word"):
        counted = before.kind in ("letters", "word") and is_magnitude(before.text) and token.gap  # 7B params x 2 bytes
        numbers = (before.kind == "num" or counted) and after.kind == "num" and (token.gap == after.gap)
        grids = (
            (before.text in ("]", "bmatrix", "pmatrix", "array") or (before.kind == "num" and after.gap))
            and token.gap
            and (after.text == "[" or after.kind == "begin")
        )
        capital = (
            not strict
            and token.text == "x"
            and token.gap
            and after.gap
            and (before.text.isupper() or before.kind in ("close", "sub", "sup"))
            and (after.text[:1].isupper() or after.kind == "open")
        )
        return numbers or grids or bool(capital)
    if token.text == "." and not strict and token.kind == "sep" and before.kind in _NAMING and after.kind == "word":
        spaced = token.gap and after.gap and after.kind == "word" and before.kind in ("sub", "num", "letters", "word")
        joined = not token.gap and not after.gap and (before.kind in ("sub", "num", "prime") or len(after.text) == 1)
        joined = joined or (not token.gap and not after.gap and len(before.text) == 1 and _is_label(after.text))  # X.Wq
        return spaced or (joined and before.kind != "close")
    return False
