"""Answers to theory questions as programs, so that they are solved, rendered and written like every other problem."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from qkv.errors import ReadError
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.certified import Certified, same
from qkv.interpret.loop import evaluated
from qkv.program.model import Program, Step
from qkv.reader.grammar import parse_formula
from qkv.reader.model import Sheet
from qkv.regex import regex
from qkv.theory.answers import answers
from qkv.theory.model import Answer, Value


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
    if (len(rows), len(rows[0])) != (1, 1):
        return Step(symbol, n.Matrix(rows), Role.OTHER, value.name, says=value.formula)
    worked = _calculation(value)
    if worked is None:
        return Step(symbol, rows[0][0], Role.OTHER, value.name, says="" if "=" in value.formula else value.formula)
    return Step(symbol, worked, Role.OTHER, value.name, says=value.formula if _REMARK.search(value.formula) else "")


_REMARK = regex(r" \([^()\d]+\)")  # the words of 32 (layers) · 8 (KV heads)


def _calculation(value: Value) -> n.Expr | None:
    """The calculation in numbers that gives a value, without the words in it; None where its formula is none."""
    written = _REMARK.sub("", value.formula)
    if not written[:1].isdigit() and not written.startswith("("):
        return None
    expr = parse_formula(written)
    made = evaluated(expr, {}, Certified()) if expr is not None else None
    told = evaluated(_cell(value.rows[0][0]), {}, Certified())
    return expr if made is not None and told is not None and same(made, told) else None


def _cell(text: str) -> n.Expr:
    """A cell of an answer: a number, or an expression such as √2."""
    if text == "-inf":
        return n.Infinite(-1)
    try:
        return n.number(Fraction(text))
    except ValueError:
        expr = parse_formula(text)
        if expr is None:
            raise ReadError(f"{text!r} is no number") from None
        return expr
