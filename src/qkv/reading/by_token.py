"""Vectors that a page gives for each token: 'cat: q = [1, 0], k = [1, 1]' above 'dog: q = [0, 1], k = [0, 1]'."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.library.roles import places, roles_in_words
from qkv.library.words import pattern
from qkv.reader.model import Sheet
from qkv.reading.equation import Equation, Kind
from qkv.regex import regex

NEAR = 3  # lines from one token of a list to the next
_COUNTED = regex(rf"(?:{pattern('line')}|pos)\s*#?(?P<number>\d{{1,2}})(?:\s*[(（].*[)）])?", re.IGNORECASE)
_WORD = regex(rf"(?:(?:{pattern('line')})\s+)?[\"“”„'‘’«»`*]*(?P<word>[^\W\d_][\w'’-]*)[\"“”'‘’«»`*]*", re.IGNORECASE)


@dataclass(slots=True)
class _Line:
    """What a line of a list gives: vectors under names, for one token."""

    token: str
    given: list[Equation] = field(default_factory=list)

    @property
    def kinds(self) -> list[tuple[Symbol, tuple[int, int]]]:
        return [(e.names[0], e.items[1].expr.shape) for e in self.given]  # type: ignore[union-attr]


def of_tokens(made: Sequence[Equation], sheet: Sheet) -> list[Equation]:
    """The equations, with the token as a script of names that are given a vector for each token of a list."""
    changed = {
        equation.index: _for_token(equation, line.token)
        for run in _lists(made, sheet)
        if len(run) > 1 and len({line.token for line in run}) == len(run)
        for line in run
        for equation in line.given
    }
    return [changed.get(equation.index, equation) for equation in made]


def _lists(made: Sequence[Equation], sheet: Sheet) -> Iterator[list[_Line]]:
    """Lines after each other that give the same names vectors of the same length."""
    run: list[_Line] = []
    for above, equation in zip((None, *made), made, strict=False):
        title = sheet.parts[equation.part].title or ""
        said = equation.label or equation.words.removeprefix(title).strip()
        said = said or (title if above is None or above.part != equation.part else "")
        token = _token(said) if _gives_vector(equation) else ""
        if run and not said and _gives_vector(equation):
            run[-1].given.append(equation)
            continue
        if run[1:] and run[-1].kinds != run[0].kinds:
            yield run[:-1]
            run = run[-1:]
        near = bool(run) and equation.line - run[-1].given[-1].end_line <= NEAR
        if run and not (token and near):
            yield run
            run = []
        if token:
            run.append(_Line(token, [equation]))
    if run[1:] and run[-1].kinds != run[0].kinds:
        run.pop()
    yield run


def _gives_vector(equation: Equation) -> bool:
    if len(equation.items) != 2 or equation.struck or equation.items[1].kind is not Kind.VALUE:
        return False
    name, value = (item.expr for item in equation.items)
    plain = isinstance(name, n.Name) and name.symbol == Symbol(name.symbol.base) and bool(places(name.symbol))
    return plain and isinstance(value, n.Matrix) and 1 in value.shape and value.shape != (1, 1)


def _token(said: str) -> str:
    """The token that a few words before a line name, if they name one: 'Token 2', 'cat', 'word "cat"'."""
    label = said.strip(" :：-–—•*")
    if (counted := _COUNTED.fullmatch(label)) is not None:
        return counted["number"]
    word = _WORD.fullmatch(label)
    return word["word"] if word is not None and not roles_in_words(word["word"]) else ""


def _for_token(equation: Equation, token: str) -> Equation:
    """An equation whose name belongs to a token: q becomes q_2, or q_cat."""
    first, symbol = equation.items[0], equation.names[0]
    scripts = ((), (token,)) if token.isdecimal() else ((token,), ())
    name = n.Name(Symbol(symbol.base.lower(), *scripts), f"{first.text}_{token}", at=first.expr.at)
    return replace(equation, items=(first._replace(expr=name, options=()), equation.items[1]))
