"""Our signs in ASCII, for terminals that have no others: each stays distinct, and matrices stay lined up."""

from __future__ import annotations

import codecs
import os
import unicodedata

ERRORS = "qkv.ascii"  # the name under which streams know this way of writing
SIGNS = {
    # verdicts
    "✓": "+", "✗": "x", "↳": ">", "≉": "#", "¿": "!", "–": "-",
    # brackets and rules
    **dict.fromkeys("⎡⎣⎢⎛⎝⎜⎧⎩⎨┌└│⎤⎦⎥⎞⎠⎟⎫⎭⎬┐┘┃", "|"), **dict.fromkeys("─━═╴╶╌", "-"), "┼": "+", "‖": "||",
    # mathematics
    "√": "sqrt ", "·": "*", "×": "x", "−": "-", "≈": "~", "∞": "inf", "…": "...", "ᵀ": "^T", "Σ": "sum", "∑": "sum",
    "≤": "<=", "≥": ">=", "≠": "!=", "→": "->", "⇒": "=>", "∝": "~", "∈": " in ", "±": "+-", "—": "--", "•": "*",
    # bars and spinners
    "█": "#", **dict.fromkeys("▏▎▍", "."), **dict.fromkeys("▌▋▊▉", ":"),
    "’": "'", "‘": "'", "“": '"', "”": '"',
}  # fmt: skip


def in_ascii(text: str) -> str:
    """A text in ASCII: signs by the table, Greek by name, letters without their accents, a mark for the rest.

    >>> in_ascii("✗ wrong  √d_k ≈ 1.41, α₁², é")
    'x wrong  sqrt d_k ~ 1.41, alpha_1^2, e'
    """
    return "".join(x if x.isascii() else _sign(x) for x in text)


def _sign(character: str) -> str:
    if character in SIGNS:
        return SIGNS[character]
    name = unicodedata.name(character, "")
    if name.startswith("GREEK"):
        word = name.split(" WITH ")[0].split()[-1].lower()
        return word.capitalize() if character.isupper() else word
    kind = unicodedata.decomposition(character).partition(">")[0]
    plain = "".join(x for x in unicodedata.normalize("NFKD", character) if x.isascii())
    return {"<super": "^", "<sub": "_"}.get(kind, "") + plain if plain else "?"


def _replaced(error: UnicodeError) -> tuple[str, int]:
    """What stands for characters that a stream cannot encode."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return in_ascii(error.object[error.start : error.end]), error.end


codecs.register_error(ERRORS, _replaced)


def is_wanted() -> bool:
    """Whether the person's locale has ASCII only. Python writes UTF-8 there unless told, so it has to be asked."""
    said = os.environ.get("LC_ALL") or os.environ.get("LC_CTYPE")
    trusted = os.environ.get("PYTHONIOENCODING") or os.environ.get("PYTHONUTF8")
    return said in ("C", "POSIX") and not trusted
