"""Answers to theory questions as programs, so that they are solved, rendered and written like every other problem."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from qkv.errors import Location, ReadError
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.program.model import Program, Step
from qkv.reader.grammar import parse_math
from qkv.reader.model import Sheet
from qkv.theory.answers import Answer, Value, answers


def answered(sheet: Sheet) -> Iterator[Program]:
    """One program for each theory question that a sheet asks; its words are notes."""
    for answer in answers(sheet):
        yield _program(answer)


def _program(answer: Answer) -> Program:
    steps = tuple(_step(value, i) for i, value in enumerate(answer.values))
    return Program("theory", (), steps, (answer.words, *answer.details), answer.title, answer.line)


def _step(value: Value, place: int) -> Step:
    rows = tuple(tuple(_cell(text) for text in row) for row in value.rows)
    symbol = Symbol(value.name or "value", (), ()) if value.name else Symbol("value", (), (str(place),))
    return Step(symbol, n.Matrix(rows), Role.OTHER, value.name, says=value.formula)


def _cell(text: str) -> n.Expr:
    """A cell of an answer: a number, or an expression such as √2."""
    if text == "-inf":
        return n.Infinite(-1)
    try:
        return n.number(Fraction(text))
    except ValueError:
        chains = parse_math(text, Location(1)).chains
        if not chains:
            raise ReadError(f"{text!r} is no number") from None
        return chains[0].links[0].expr
