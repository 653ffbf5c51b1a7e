"""Scores and weights that a page prints one by one, a number for each token, as one row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from qkv.expr import nodes as n
from qkv.library.roles import SCORE_LIKE, roles_in_words
from qkv.reader.model import Origin
from qkv.reading.equation import Equation
from qkv.regex import regex

_TOKEN = regex(r"[^\W\d_][\w'’-]*")


def listed(made: Iterable[Equation]) -> Iterator[Equation]:
    """The equations with such numbers, where words before the first speak of scores or weights, made one row."""
    run: list[Equation] = []
    for equation in made:
        if run and not _goes_on(run[-1], equation):
            yield from _as_row(run)
            run = []
        if run or _begins(equation):
            run.append(equation)
        else:
            yield equation
    yield from _as_row(run)


def _number(equation: Equation) -> bool:
    only = equation.items[0].expr if len(equation.items) == 1 and not equation.struck else None
    return isinstance(only, n.Number) and bool(_token(equation.label)) and not equation.rows


def _token(label: str) -> str:
    """The last word of a label: the token that its number is for."""
    found = _TOKEN.findall(label)
    return found[-1].lower() if found else ""


def _is_percentage(equation: Equation) -> bool:
    return _number(equation) and equation.items[0].text.rstrip().endswith("%")


def _begins(equation: Equation) -> bool:
    said = equation.words.removesuffix(equation.label)
    weighs = any(role in SCORE_LIKE for role in roles_in_words(f"{said} {equation.label}"[-90:]))
    return _is_percentage(equation) or (_number(equation) and weighs)


def _goes_on(last: Equation, equation: Equation) -> bool:
    """A number for another token: a word before each, the same words before both, or shares of one sentence."""
    near = equation.line - last.end_line in (0, 1) and equation.part == last.part
    if not near or not _number(equation):
        return False
    if equation.line == last.line and _is_percentage(equation) and _is_percentage(last):
        return True
    alone = len(equation.label.split()) == 1 and not roles_in_words(equation.label)
    begun = equation.label.split()[:-1] if equation.origin is not Origin.TABLE else []
    same = bool(begun) and begun == last.label.split()[:-1]
    return (alone or same) and _token(equation.label) != _token(last.label)


def _as_row(run: list[Equation]) -> Iterator[Equation]:
    if len(run) < 2:
        yield from run
        return
    first, last = run[0], run[-1]
    cells = tuple(equation.items[0].expr for equation in run)
    item = first.items[0]._replace(expr=n.Matrix((cells,), loose=True), text=", ".join(e.items[0].text for e in run))
    words = first.words.removesuffix(first.label).rstrip(" :") or first.words
    tokens = tuple(_token(equation.label) for equation in run)
    yield replace(first, items=(item,), end_line=last.end_line, label="", words=words, columns=tokens)
