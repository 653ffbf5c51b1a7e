"""The formulas that questions ask for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qkv.expr import nodes as n
from qkv.judging.meanings import formula
from qkv.library.words import pattern
from qkv.reading.page import Page

_MATHS = re.compile(r"\$([^$]{2,90})\$|`([^`]{2,60})`|\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_ASK = re.compile(rf"(?:{pattern('ask')})\w*\s+(.*)", re.IGNORECASE | re.DOTALL)
_CUT = re.compile(r"\b(?:for|with|where|using|if|and|then|when)\b|[.?;](?:\s|$)|,(?![^\[(]*[\])])")


def asked_formulas(page: Page, scope: int) -> Iterator[tuple[str, n.Expr]]:
    """Formulas in the questions of a problem, each with its own words."""
    lines = [equation.line for equation in page.equations if equation.scope == scope]
    below = [equation.line for equation in page.equations if equation.scope > scope]
    first, last = min(lines, default=1), min(below, default=10**9)
    for question in page.sheet.questions:
        if (first <= question.line or scope == 0) and question.line < last:
            for piece in _pieces(question.text):
                expr = formula(piece, page, known=False)
                if expr is not None:
                    yield piece.strip(), expr


def _pieces(text: str) -> Iterator[str]:
    for found in _MATHS.finditer(text):
        yield next(filter(None, found.groups()), "")
    if asked := _ASK.search(text):
        yield from _CUT.split(asked[1])
