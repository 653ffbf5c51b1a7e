"""What only shows when the tokens around it are known: dots and letters that multiply."""

from __future__ import annotations

from qkv.reader.maths.tokens import Token
from qkv.reader.maths.units import is_magnitude


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
        return numbers or grids
    if token.text == "." and not strict and token.kind == "sep" and before.kind in _NAMING and after.kind == "word":
        spaced = token.gap and after.gap and after.kind == "word" and before.kind in ("sub", "num", "letters", "word")
        joined = not token.gap and not after.gap and (before.kind in ("sub", "num", "prime") or len(after.text) == 1)
        return spaced or (joined and before.kind != "close")
    return False
