"""What a fact speaks about: the expression in the program's names that its values should equal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.understand.facts import Fact, Form, form, place_of
from qkv.understand.problems import Problem
from qkv.understand.resolve import SAME, Resolver
from qkv.understand.roles import MISREAD_Q

R = Role


@dataclass(frozen=True, slots=True)
class Target:
    """A meaning. `certain` says that the document leaves no doubt (a formula, or a name with one role)."""

    expr: n.Expr
    certain: bool
    name: str
    subject: Symbol | None = None  # the program quantity that a printed value would become


def targets(fact: Fact, problem: Problem, row: int | None = None) -> Iterator[Target]:
    """The possible meanings of a fact, likeliest first."""
    for name in fact.subjects:
        yield from _of_name(fact, name, problem, row)
    if not fact.subjects:
        yield from _of_formula(fact, problem)
        yield from _of_cue(fact, problem)


def _of_name(fact: Fact, name: n.Name, problem: Problem, row: int | None) -> Iterator[Target]:
    spelled = name.spelled or str(name.symbol)
    for resolver in (problem.resolver, replace(problem.resolver, rows=True)):
        item = problem.program.item(name.symbol)
        if item is not None:
            certain = (
                fact.told or fact.formula is not None or len(place_of(name.symbol).roles) < 2 or item.role is R.OTHER
            )
            yield from _whole_or_row(n.Name(name.symbol), row, certain, spelled)
        for expr, certain in _by_role(fact, name.symbol, resolver):
            yield from _whole_or_row(expr, row, certain, spelled)
        if fact.formula is not None:
            meant = resolver.expr(fact.formula, fact.head)
            if meant is not None:
                yield Target(meant, True, spelled, name.symbol)


def _by_role(fact: Fact, symbol: Symbol, resolver: Resolver) -> Iterator[tuple[n.Expr, bool]]:
    place = place_of(symbol, fact.head)
    roles = place.roles or ((R.Q,) if symbol.base in MISREAD_Q else ())
    head = (fact.head or 1) if place.generic else place.head
    found = []
    for role in roles:
        for wanted in SAME.get(role, (role,)):
            target = resolver.program.find(wanted, head)
            if target is None and head is not None and not resolver._has_heads(wanted):
                target = resolver.program.find(wanted)
            if target is None:
                continue
            expr = n.Name(target) if place.row is None else resolver._pick(wanted, target, place.row, place.column)
            if expr is not None:
                found.append(expr)
    distinct = list(dict.fromkeys(found))
    for expr in distinct:
        yield expr, len(distinct) == 1


def _whole_or_row(expr: n.Expr, row: int | None, certain: bool, name: str) -> Iterator[Target]:
    subject = expr.symbol if isinstance(expr, n.Name) else None
    if row is not None:
        yield Target(n.Entry(expr, row=row), certain, f"{name}, row {row}", subject)
    else:
        yield Target(expr, certain, name, subject)


def _of_formula(fact: Fact, problem: Problem) -> Iterator[Target]:
    """Q K^T = [..]: the first expression says what is meant."""
    first = fact.links[0].expr if fact.links else None
    if first is None or form(first) is not Form.FORMULA:
        return
    for rows in (False, True):
        resolver = replace(problem.resolver, rows=rows)
        meant = resolver.expr(first, fact.head)
        if meant is not None:
            yield Target(meant, True, fact.links[0].text.strip(), _step_with(problem, meant))


def _step_with(problem: Problem, expr: n.Expr) -> Symbol | None:
    """The step that works out exactly this expression."""
    return next((step.symbol for step in problem.program.steps if step.expr == expr), None)


def _of_cue(fact: Fact, problem: Problem) -> Iterator[Target]:
    """The words before a nameless value: 'Softmax:', 'Row 2 of the output'."""
    if fact.cue.role is None:
        return
    program = problem.program
    for role in SAME.get(fact.cue.role, (fact.cue.role,)):
        symbol = program.find(role, fact.cue.head or fact.head) or program.find(role)
        if symbol is not None:
            yield from _whole_or_row(n.Name(symbol), fact.cue.row, False, str(symbol))
