"""Programs that grow: steps are put in where they belong, and questions are answered by them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.expr.show import symbol_plain
from qkv.library.rows import renamed
from qkv.program.model import Answer, Given, Part, Program, Step
from qkv.reader.model import Question
from qkv.reading.equation import Kind
from qkv.reading.page import Page


def states_formulas(page: Page, scope: int) -> bool:
    """Whether a problem says by a formula what something is, or works it out: its own word comes first."""
    here = (equation for equation in page.equations if equation.scope == scope and not equation.told)
    return any(e.of(Kind.WORKING) or (e.of(Kind.FORMULA) and len(e.items) > 1) for e in here)


def free(symbol: Symbol, program: Program) -> Symbol:
    """A name that a program does not have yet."""
    while program.item(symbol) is not None:
        symbol = symbol._replace(primes=symbol.primes + 1)
    return symbol


def read_instead(program: Program, old: Symbol, steps: Sequence[Step]) -> Program:
    """The program with some steps, the last of which is read by all that has read another quantity so far."""
    at = next((i for i, step in enumerate(program.steps) if old in n.names_in(step.expr)), len(program.steps))
    new = {old: steps[-1].symbol}
    rest = tuple(replace(step, expr=renamed(step.expr, new)) for step in program.steps[at:])
    return replace(program, steps=(*program.steps[:at], *steps, *rest))


def given(program: Program, symbol: Symbol) -> n.Expr | None:
    """What a program gives for a name."""
    item = program.item(symbol)
    return item.expr if isinstance(item, Given) else None


def number_given(program: Program, names: Iterable[str]) -> n.Number | None:
    """The number that a program gives under one of some names."""
    found = (g.expr for g in program.givens if symbol_plain(g.symbol) in names)
    return next((expr for expr in found if isinstance(expr, n.Number)), None)


def parts_of(items: Iterable[Given | Step]) -> tuple[Part, ...]:
    """Quantities as an answer has them."""
    return tuple(Part(item.spelled, n.Name(item.symbol)) for item in items)


def answered(known: Answer | None, question: Question | Answer, items: Iterable[Given | Step]) -> Answer:
    """The answer to a question by some quantities; `known` is the one that it has so far."""
    answer = known or Answer(question.label, question.text, question.line)
    return replace(answer, parts=parts_of(items), says="", missing="", lets=())


def in_order(answers: Mapping[int, Answer]) -> tuple[Answer, ...]:
    """Answers by their lines."""
    return tuple(answers[line] for line in sorted(answers))
