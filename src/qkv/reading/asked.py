"""Formulas in sentences: those that questions ask for, and those that words before a value hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from qkv.expr import nodes as n
from qkv.expr.functions import BY_KEY
from qkv.library.words import pattern
from qkv.reader.grammar import parse_formula
from qkv.reader.model import Question
from qkv.reading.page import Page, found_once
from qkv.reading.told import asked_expr
from qkv.regex import regex

_MATHS = regex(r"\$([^$]{2,160})\$|`([^`]{2,60})`|\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_ASK = regex(rf"(?:{pattern('ask')})\w*\s+(.*)", re.IGNORECASE | re.DOTALL)
_PLAIN = regex(r"(?<![\w$`\\])softmax\s*\(.*", re.DOTALL)  # in a sentence: 'the output of the layer softmax(Q K^T) V'
_SIGNS = frozenset({"softmax", "sqrt", "exp", "tanh"})  # beside the table of functions
_WORD, _COMMAND = regex(r"[^\W\d_]{2,}"), regex(r"\\[a-zA-Z]+")
_WORKED = (n.Product, n.Quotient, n.Softmax)
_CUT = regex(r"\b(?:for|with|where|using|if|and|then|when)\b|[.?;](?:\s|$)|[。？]|,(?![^\[(]*[\])])")


def asked_formulas(page: Page, scope: int) -> Iterator[tuple[str, n.Expr]]:
    """Formulas in the questions of a problem, each with its own words; prose is none."""
    for question in questions_of(page, scope):
        yield from stated_in(question, page)


def questions_of(page: Page, scope: int) -> Iterator[Question]:
    """The questions of a problem."""
    lines = [equation.line for equation in page.equations if equation.scope == scope]
    below = [equation.line for equation in page.equations if equation.scope > scope]
    first, last = min(lines, default=1), min(below, default=10**9)
    for question in page.sheet.questions:
        if not question.line or ((first <= question.line or scope == 0) and question.line < last):
            yield question


def words_without(words: str, sentences: Iterable[str]) -> str:
    """Words in small letters without some of their sentences; the label of a sentence need not stand in the words.

    >>> words_without("let d = 2. find  a. round.", ["(b) Find A."])
    'let d = 2.   round.'
    """
    words = " ".join(words.split())
    for sentence in sentences:
        said = " ".join(sentence.lower().split())
        words = words.replace(said if said in words else _LABEL.sub("", said), " ")
    return words


_LABEL = regex(r"^\(?\w{1,4}[.)]\s+")


@found_once
def asked_parts(page: Page, scope: int) -> tuple[n.Expr, ...]:
    """The formulas that the questions of a problem ask for, and all that they are made of."""
    asked = (expr for question in questions_of(page, scope) for _, expr in stated_in(question, page))
    parts = (part for expr in asked for part in n.walk(expr))
    return tuple(dict.fromkeys(part for part in parts if isinstance(part, _WORKED)))


@found_once
def all_asked(page: Page) -> tuple[n.Expr, ...]:
    """The formulas that all questions of a page ask for."""
    return tuple(expr for question in page.asked for _, expr in stated_in(question, page))


def said_formulas(page: Page) -> Iterator[n.Expr]:
    """Formulas of attention in the middle of sentences: 'the output is $softmax(A B^T / √c) D$, where …'."""
    for line in page.sheet.lines:
        plain = _PLAIN.search(line) if "softmax" in line and "=" not in line.partition("softmax")[0] else None
        pieces = [found[1] or found[2] or "" for found in _MATHS.finditer(line)] if "softmax" in line else []
        for piece in (*pieces, *([_CUT.split(plain[0])[0]] if plain else [])):
            expr = formula(piece, page, known=False)
            if expr is not None and n.holds(expr, n.Softmax):
                yield expr


def formulas_in(question: Question, page: Page) -> Iterator[tuple[str, n.Expr]]:
    """The formulas in one question, each with its own words."""
    if question.expr is not None:
        yield question.text, asked_expr(question.expr, page.equations, page.sheet)
        return
    for piece in _pieces(question.text):
        expr = formula(piece, page, known=False)
        if expr is not None:
            yield piece.strip(), expr


def stated_in(question: Question, page: Page) -> Iterator[tuple[str, n.Expr]]:
    """The formulas in one question that are no prose: every word in them is a function or a name of the page."""
    for words, expr in formulas_in(question, page):
        told = question.expr is not None
        if told or all(_is_known(word, page) for word in _WORD.findall(_COMMAND.sub(" ", words))):
            yield words, expr


def _is_known(word: str, page: Page) -> bool:
    names = page.sheet.names
    symbol = word.isupper() and len(word) < 4  # Q K written QK
    return symbol or word.lower() in BY_KEY or word in _SIGNS or (names is not None and word in names.words)


def _pieces(text: str) -> Iterator[str]:
    for found in _MATHS.finditer(text):
        yield next(filter(None, found.groups()), "")
    if asked := _ASK.search(text):
        yield from _CUT.split(asked[1])
    if plain := _PLAIN.search(text):
        yield _CUT.split(plain[0])[0]


def formula(text: str, page: Page, known: bool = True) -> n.Expr | None:
    """The formula that a piece of text is; None for prose, and for names that the page does not define if it has to."""
    if not 2 < len(text) < 160 or not re.search(r"[^\W\d_]", text):
        return None
    expr = parse_formula(text, page.sheet.names)
    names = n.names_in(expr) if expr is not None else ()
    if not names or isinstance(expr, n.Name) or (known and any(symbol not in page.definitions for symbol in names)):
        return None
    return expr
