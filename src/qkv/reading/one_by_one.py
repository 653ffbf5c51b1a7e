"""Scores and weights that a page prints one by one, a number for each token, as one row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.library.roles import SCORE_LIKE, places, roles_in_words
from qkv.reader.model import Origin, Relation
from qkv.reading.equation import Equation, Kind
from qkv.reading.nameless import gives_inputs

_TOKEN = re.compile(r"[^\W\d_][\w'’-]*")


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
    item = replace(first.items[0], expr=n.Matrix((cells,), loose=True), text=", ".join(e.items[0].text for e in run))
    words = first.words.removesuffix(first.label).rstrip(" :") or first.words
    tokens = tuple(_token(equation.label) for equation in run)
    yield replace(first, items=(item,), end_line=last.end_line, label="", words=words, columns=tokens)


def with_rows(made: Sequence[Equation]) -> Iterator[Equation]:
    """The equations, and behind scores that each have a name, a formula or a working of their own, 'score(it, cat) = 2'
    above 'score(it, dog) = 1', the row that they make, where the page has nothing to work them out of."""
    run: list[Equation] = []
    given = not gives_inputs(made)
    for equation in made:
        if run and not _is_next(run, equation):
            yield from _gathered(run)
            run = []
        if given and (run or _token_of(equation)):
            run.append(equation)
        yield equation
    yield from _gathered(run)


def _token_of(equation: Equation) -> str:
    """The token that an equation with one number is for: by the last script of its name, a word as its name, or the
    last word of its label."""
    first, last = equation.items[0], equation.items[-1]
    if len(equation.items) < 2 or equation.struck or last.kind is not Kind.VALUE or isinstance(last.expr, n.Matrix):
        return ""
    if isinstance(first.expr, n.Name):
        symbol = first.expr.symbol
        word = symbol.base if len(symbol.base) > 1 and symbol.base.isalpha() and not places(symbol) else ""
        return next(iter((*symbol.indices[::-1], *symbol.labels[::-1])), word)
    return _token(equation.label) if not any(isinstance(item.expr, n.Exp) for item in equation.items) else ""


def _is_next(run: list[Equation], equation: Equation) -> bool:
    """Whether an equation goes on from a list: its number is for another token, and is told in the same way."""
    last = run[-1]
    near = equation.line - last.end_line in (0, 1, 2) and equation.part == last.part
    token, known = _token_of(equation), set(map(_token_of, run))
    if not near or not token or (token in known and not equation.label):
        return False
    first, before = equation.items[0], last.items[0]
    if isinstance(first.expr, n.Name) and isinstance(before.expr, n.Name):
        scripts = bool(first.expr.symbol.indices or first.expr.symbol.labels)
        return not scripts or _begins_as(first.expr, before.expr)
    same = equation.label.split()[:-1] == last.label.split()[:-1] and not roles_in_words(_token(equation.label))
    return first.kind is before.kind and same


def _begins_as(name: n.Name, other: n.Name) -> bool:
    """Whether two names differ in their last script only."""
    a, b = ((s.base, *s.labels, *s.indices) for s in (name.symbol, other.symbol))
    return len(a) == len(b) and a[:-1] == b[:-1] and a != b


def _gathered(run: list[Equation]) -> Iterator[Equation]:
    """The row of a list of scores, a number or its working for each token."""
    if len(run) < 2:
        return
    first, last = run[0], run[-1]
    name = first.items[0].text if isinstance(first.items[0].expr, n.Name) else ""
    said = roles_in_words(f"{first.words} {name}"[-90:])
    if not said or said[0] not in SCORE_LIKE - {Role.WEIGHTS}:
        return
    cells = tuple((*equation.of(Kind.WORKING), equation.items[-1])[0].expr for equation in run)
    text = ", ".join(equation.items[-1].text for equation in run)
    item = replace(last.items[-1], expr=n.Matrix((cells,)), kind=Kind.VALUE, relation=Relation.FIRST, text=text)
    yield replace(
        last, items=(item,), line=first.line, words=f"{first.words} {name}", label="", gathered=True,
        columns=tuple(map(_token_of, run)),
    )  # fmt: skip
