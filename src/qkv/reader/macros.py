"""Macros of an author that a page uses and does not define: \\mat{Q} and \\vec{q}, and \\T for a transpose."""

from __future__ import annotations

import re
from collections import Counter

from qkv.expr import functions
from qkv.reader.maths import signs
from qkv.regex import regex

_WRAPPED = regex(r"\\(?P<name>[A-Za-z]{2,12})\{(?P<letter>[A-Za-z])\}")
_PREFIXED = regex(
    r"\\(?P<name>(?P<mark>b|bf|bs|f|m|v|vec)(?P<letter>[A-Za-z]))(?![A-Za-z{])"
)  # \\vx and \\vh, \\bq and \\bk
_TURNED = regex(r"(?<=[}\w])\s?\\(?:T|transp|tp|tran)(?![A-Za-z])(?!\s*[{_^])")
_BEGUN = regex(  # \\bpmat 1 & 0 \\\\ 0 & 1 \\epmat
    r"\\b(?P<what>[A-Za-z]{1,8})(?![A-Za-z])(?P<inside>(?:(?!\\b(?P=what)(?![A-Za-z]))[^$])*?)\\e(?P=what)(?![A-Za-z])"
)
FEWEST = 2  # letters that a macro is put around: one may be a function of it


def with_macros(text: str) -> str:
    r"""The text with such macros as bold letters and transposes.

    >>> print(with_macros(r"$\mat{Q}\mat{K}\T = 1$, $\mat{Q} = 2$"))
    $\mathbf{Q}\mathbf{K}^\top  = 1$, $\mathbf{Q} = 2$
    >>> print(with_macros(r"$K = \bmat 1 & 0 \emat$"))
    $K = \begin{bmatrix} 1 & 0 \end{bmatrix}$
    """
    if "\\" not in text:
        return text
    text = _BEGUN.sub(_as_matrix, text)
    pairs = {(found["name"], found["letter"]) for found in _WRAPPED.finditer(text)}
    counts = Counter(name for name, _ in pairs if not _is_known(name))
    for name in (name for name, letters in counts.items() if letters >= FEWEST):
        text = text.replace(f"\\{name}{{", "\\mathbf{")
    marked = {(found["mark"], found["name"]) for found in _PREFIXED.finditer(text) if not _is_known(found["name"])}
    marks = Counter(mark for mark, _ in marked)
    text = _PREFIXED.sub(
        lambda it: (
            rf"\mathbf{{{it['letter']}}}"
            if (it["mark"], it["name"]) in marked and marks[it["mark"]] >= FEWEST
            else it[0]
        ),
        text,
    )
    return _TURNED.sub(r"^\\top ", text)


def _as_matrix(found: re.Match[str]) -> str:
    """Cells between two macros that begin and end them, as a matrix."""
    cells = "&" in found["inside"] or "\\\\" in found["inside"]
    return rf"\begin{{bmatrix}}{found['inside']}\end{{bmatrix}}" if cells else found[0]


_TABLES = (
    signs.COMMANDS, signs.NAME_COMMANDS, signs.OPERATORS, signs.COMPARISONS, signs.RELATIONS, signs.DELIMITERS,
    signs.NOISE, signs.NOISE_WITH_ARGUMENT, signs.FONTS, signs.UPRIGHT, signs.ACCENTS, signs.TRANSPOSES,
    frozenset({"mathbb", "softmax"}),
)  # fmt: skip


def _is_known(name: str) -> bool:
    return any(name in table for table in _TABLES) or functions.lookup(name) is not None
