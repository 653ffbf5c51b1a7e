"""Equations that follow from the words of a page: put in beside those that it writes, problem by problem."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.reader.model import Question, Relation, Sheet
from qkv.reading.equation import Equation, Item, Kind


class Said(Protocol):
    """What words say in one problem."""

    def judged(self, equation: Equation) -> Equation:
        """An equation with the formula that words give it."""

    def asked(self, question: Question) -> Question:
        """A question with the formula of what it asks for."""

    def told(self) -> Iterable[Equation]:
        """The equations for what the page has no name for."""


def by_scope(
    made: Sequence[Equation], sheet: Sheet, of: Callable[[Sequence[Equation], Sheet, range], Said | None]
) -> tuple[list[Equation], Sheet]:
    """The equations and questions of a page with what its words say, problem by problem."""
    equations, asked, added = list(made), list(sheet.questions), list[Equation]()
    for scope in dict.fromkeys(equation.scope for equation in made):
        first = max((e.end_line for e in made if e.scope < scope), default=0) + 1
        after = min((e.line for e in made if e.scope > scope), default=len(sheet.lines) + 1)
        said = of([e for e in equations if e.scope == scope], sheet, range(first, after))
        if said is not None:
            equations = [said.judged(e) if e.scope == scope else e for e in equations]
            asked = [said.asked(q) if first <= q.line < after and q.expr is None else q for q in asked]
            added += said.told()
    ordered = sorted([*added, *equations], key=lambda e: (e.line, not e.told)) if added else equations
    return [replace(e, index=i) for i, e in enumerate(ordered)], replace(sheet, questions=tuple(asked))


def told(symbol: Symbol, expr: n.Expr, line: int, scope: int, part: int) -> Equation:
    """An equation that words say: it is never judged."""
    name, formula = (
        Item(Kind.NAME, n.Name(symbol), Relation.FIRST, line, 1),
        Item(Kind.FORMULA, expr, Relation.EQUAL, line, 1),
    )
    return Equation(0, (name, formula), line, line, 1, "", part=part, scope=scope, told=True)


def free(symbol: Symbol, used: set[Symbol]) -> Symbol:
    """A name that a page does not have yet."""
    while symbol in used:
        symbol = symbol._replace(primes=symbol.primes + 1)
    return symbol
