"""Runs of letters → names, functions or prose: QK is Q times K, WQ is W with label Q, Scores is one name."""

from __future__ import annotations

import re
from functools import lru_cache

from qkv.expr.late import late
from qkv.sheet import notation as table

Piece = tuple[str, str, int, int]  # kind, text, first and last offset in the word

_WEIGHT_RUN = late(rf"(?:W[{table.WEIGHT_LABELS}]?|[A-Z])+")
_ATOM = late(rf"W[{table.WEIGHT_LABELS}]|.")
_SIZE = re.compile(rf"d_?({'|'.join(table.SIZE_LABELS)})")
_FACTORS = frozenset("QKVXWAZESOYHPRU")
_JOINTS = re.compile(r"[\s\\_\-~]+")
_JOINT = re.compile(r"\\?_")


def spelling_key(word: str) -> str:
    r"""A word as the tables of functions and names spell it: 'Soft-Max' and 'soft\_max' are 'softmax'."""
    return word.lower() if word.isalpha() else _JOINTS.sub("", word).lower()


@lru_cache(maxsize=4096)
def pieces_of_word(word: str, strict: bool, called: bool, defined: bool) -> tuple[Piece, ...]:
    """The tokens in a run of letters. `called` says that a bracket follows, `defined` that a relation does.

    >>> [(kind, text) for kind, text, *_ in pieces_of_word("XWQ", True, False, False)]
    [('name', 'X'), ('name', 'W'), ('sub', 'Q')]
    """
    size = len(word)
    if size == 1:
        return (("name", word, 0, 1),)
    if _JOINT.search(word):
        return _joined(word, strict, called, defined)
    if (split := _factors(word, strict)) is not None:
        return split
    key = word.lower()
    if key == "inf" and not called:
        return (("inf", "∞", 0, size),)
    if key in table.FUNCTIONS and size > 2 - (key == "ln") and (strict or called or key == "softmax"):
        return (("func", word, 0, size),)
    if key in table.PROSE_WORDS and not defined:
        return (("prose", word, 0, size),)
    if word in table.GREEK_WORDS:
        return (("name", word, 0, size),)
    known = strict or defined or called or key in table.NAME_WORDS
    return (("word" if known and word.isascii() else "prose", word, 0, size),)


def _factors(word: str, strict: bool) -> tuple[Piece, ...] | None:
    """The letters of a product without signs (QK, XWQ, dk), or None where the run is a word."""
    if sized := _SIZE.fullmatch(word):
        return (("name", "d", 0, 1), ("sub", sized.group(1), 1, len(word)))
    if len(word) > 2 and word[-1] == "T" and set(word[:-1]) <= set("QKVX"):  # QKT, as a PDF flattens it
        last = len(word) - 1
        return (*(("name", letter, i, i + 1) for i, letter in enumerate(word[:-1])), ("sup", "T", last, last + 1))
    short = len(word) == 2 or (len(word) <= 5 and set(word) <= _FACTORS | set(table.WEIGHT_LABELS))
    if not (short and _WEIGHT_RUN.fullmatch(word)):
        if not (strict and len(word) == 2 and word.isascii()):
            return None
    elif not strict and not set(word) <= _FACTORS | set(table.WEIGHT_LABELS):
        return None
    pieces: list[Piece] = []
    for atom in _ATOM.finditer(word):
        start, end = atom.span()
        pieces.append(("name", word[start], start, start + 1))
        if end - start == 2:
            pieces.append(("sub", word[start + 1], start + 1, end))
    return tuple(pieces)


def _joined(word: str, strict: bool, called: bool, defined: bool) -> tuple[Piece, ...]:
    r"""Scaled\_Scores and dec_hidden_state are one name; softmax_row is a function with a script."""
    joint = _JOINT.search(word)
    head = word[: joint.start()] if joint else word
    whole = spelling_key(word)
    if whole in table.FUNCTIONS:
        return (("func", word, 0, len(word)),)
    if joint and head.lower() in table.FUNCTIONS and (head.lower() == "softmax" or called):
        return (("func", head, 0, joint.start()), ("sub", word[joint.end() :], joint.end(), len(word)))
    return (("word", _JOINT.sub("_", word), 0, len(word)),)
