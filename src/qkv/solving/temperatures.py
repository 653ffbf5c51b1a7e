"""A softmax at each temperature that a question names, or a table: 'the probabilities for T = 0.5, 1 and 2'."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import symbol_plain
from qkv.library.around_said import LOGITS, NUMBERS, TEMPERATURES, WARMTH
from qkv.library.roles import roles_in_words
from qkv.program.model import Answer, Given, Part, Program, Step
from qkv.reading.asked import questions_of
from qkv.reading.equation import Kind
from qkv.reading.page import Page


def with_temperatures(program: Program, page: Page, scope: int) -> Program:
    """The program with softmax(z / T) for every T that its questions name, where one vector of logits is given."""
    words = page.words_of(scope).lower()
    givens = [given for given in program.givens if symbol_plain(given.symbol) not in NUMBERS]
    named = [given for given in givens if symbol_plain(given.symbol) in LOGITS or given.role is Role.SCORES]
    logits = named or list(_labelled(page, scope))
    asked = [question for question in questions_of(page, scope) if TEMPERATURES.search(question.text)]
    tabled = _tabled(page, scope)
    if len(named) == 1 and tabled and not asked and WARMTH.search(words):
        made = (_step(value, n.Name(named[0].symbol)) for value in tabled)
        return replace(program, steps=(*program.steps, *made))
    if len(logits) != 1 or not asked or not WARMTH.search(words) or _has_other_steps(program, logits[0].symbol):
        return program
    scores = n.Name(logits[0].symbol)
    steps, answers = dict[Fraction, Step](), {answer.line: answer for answer in program.answers}
    for question in asked:
        values = temperatures_said(question.text)
        steps |= {value: _step(value, scores) for value in values if value not in steps}
        parts = tuple(Part(steps[value].spelled, n.Name(steps[value].symbol)) for value in values)
        known = answers.get(question.line) or Answer(question.label, question.text, question.line, ())
        answers[question.line] = replace(known, parts=parts, says="", missing="")
    ordered = tuple(answers[line] for line in sorted(answers))
    return replace(program, givens=(*givens, *(() if named else logits)), steps=tuple(steps.values()), answers=ordered)


def _tabled(page: Page, scope: int) -> list[Fraction]:
    """The temperatures that label the rows of a table of weights."""
    for equation in page.equations:
        numbers = [label.strip(" $*`") for label in equation.rows]
        values = [Fraction(number) for number in numbers if re.fullmatch(r"\d+(?:\.\d+)?", number)]
        if equation.scope == scope and len(values) > 1 and Role.WEIGHTS in roles_in_words(equation.label):
            return [value for value in values if value]
    return []


def _labelled(page: Page, scope: int) -> Iterator[Given]:
    """Vectors without a name that a label calls logits: 'Logits: [2.0, 1.0, 0.1]'."""
    for equation in page.equations:
        vectors = [item.expr for item in equation.of(Kind.VALUE) if isinstance(item.expr, n.Matrix)]
        if equation.scope == scope and not equation.names and "logit" in equation.label.lower() and len(vectors) == 1:
            yield Given(Symbol("z"), vectors[0], Role.SCORES, "z", line=equation.line)


def _has_other_steps(program: Program, logits: Symbol) -> bool:
    """Whether the page works out more than a softmax of its logits, or of its temperatures."""
    names = (set(n.names_in(step.expr)) - {logits} for step in program.steps)
    plain = all(symbol_plain(name) in NUMBERS for others in names for name in others)
    return not plain or any(step.role is not Role.WEIGHTS for step in program.steps)


def temperatures_said(text: str) -> list[Fraction]:
    """The temperatures that a text names, each once.

    >>> [str(value) for value in temperatures_said("for T = 1, T = 0.5 and T = 2")]
    ['1', '1/2', '2']
    """
    numbers = (number for found in TEMPERATURES.finditer(text) for number in re.findall(r"\d+(?:[.,]\d+)?", found[0]))
    return [value for value in dict.fromkeys(Fraction(number.replace(",", ".")) for number in numbers) if value]


def _step(value: Fraction, scores: n.Expr) -> Step:
    said = str(float(value)).removesuffix(".0")
    expr = n.Softmax(scores if value == 1 else n.Quotient(scores, n.number(value)), 1, by_rows=True)
    return Step(Symbol("P", (), (said,)), expr, Role.WEIGHTS, f"P(T = {said})", says=f"at temperature {said}")
