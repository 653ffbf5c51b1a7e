"""Numbers that a sheet sets, and sets again: τ = 2, then τ = 0.5; 'for d_k = 64', after an example with d_k = 2."""

from __future__ import annotations

from collections.abc import Iterator

from qkv.check.targets import is_setting
from qkv.check.walk import REACH, Walk, differing
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.program.model import Step
from qkv.records import replace
from qkv.sheet.model import Link, Relation
from qkv.understand.facts import Fact
from qkv.understand.places import place_of
from qkv.understand.problems import Problem
from qkv.understand.workable import computed

SIZES = frozenset({Role.D_K, Role.D_V, Role.D_MODEL})
Setting = tuple[Symbol, n.Number]


def by_setting(problem: Problem) -> Iterator[Problem]:
    """The problem, cut where a number is set anew that its steps stand on: from there on, they have other values."""
    used = {symbol for step in problem.program.steps for symbol in n.names_in(step.expr)}
    held = {given.symbol: given.expr for given in problem.program.givens if is_setting(given) and given.symbol in used}
    begin = 0
    for i, fact in enumerate(problem.facts) if held else ():
        symbol, number = _setting(fact) or (None, None)
        if symbol not in held or symbol is None or number is None or held[symbol] == n.Matrix(((number,),)):
            continue
        if i > begin:
            yield replace(problem, facts=problem.facts[begin:i])
        held[symbol] = n.Matrix(((number,),))
        problem, begin = _set(problem, symbol, held[symbol], fact.statement.at.line), i
    yield replace(problem, facts=problem.facts[begin:]) if begin else problem


def _set(problem: Problem, symbol: Symbol, value: n.Expr, line: int) -> Problem:
    """The problem with another number; a matrix that is printed with others, too, was of one number only."""
    stale = differing(problem.facts)
    givens = tuple(
        replace(given, expr=value, line=line) if given.symbol == symbol else given
        for given in problem.program.givens
        if given.role is not Role.OTHER or given.symbol not in stale
    )
    trace = computed(replace(problem.program, givens=givens), {})
    return replace(problem, trace=trace, resolver=replace(problem.resolver, program=trace.program))


def _setting(fact: Fact) -> Setting | None:
    """τ = 2."""
    if len(fact.links) != 2 or len(fact.subjects) != 1 or fact.pending or fact.statement.struck:
        return None
    number = fact.links[1].expr
    equal = fact.links[1].relation is Relation.EQUAL
    return (fact.subjects[0].symbol, number) if equal and isinstance(number, n.Number) and number.value else None


def note_size(walk: Walk, fact: Fact) -> None:
    """Remember the last size that was said; a number that is said to be one is good."""
    symbol, number = _setting(fact) or (None, None)
    if symbol is None or number is None or not is_size(symbol):
        return
    walk.good_prints.add(number.value.as_integer_ratio())
    held = walk.problem.resolver.sizes.get(place_of(symbol).roles[0])
    if symbol in walk.sizes or (held is not None and held.value != number.value):
        walk.sizes[symbol] = number


def is_size(symbol: Symbol) -> bool:
    """Whether a name stands for the width of something."""
    return not SIZES.isdisjoint(place_of(symbol).roles[:1])


def with_sizes(walk: Walk, fact: Fact) -> Fact:
    """A fact with the last number for each size in a formula of sizes alone; matrices are as wide as they are."""
    links = tuple(_with_sizes(walk, link) for link in fact.links)
    return fact if all(a is b for a, b in zip(links, fact.links, strict=True)) else replace(fact, links=links)


def _with_sizes(walk: Walk, link: Link) -> Link:
    names = n.names_in(link.expr)
    if not names or isinstance(link.expr, n.Name) or not walk.sizes.keys() >= set(names):
        return link

    def change(part: n.Expr) -> n.Expr:
        return walk.sizes[part.symbol] if isinstance(part, n.Name) else part

    return replace(link, expr=n.rewrite(link.expr, change))


def note_equated(walk: Walk, fact: Fact) -> None:
    """'Now K = V = H', where K was X W_K before: what follows is of other keys."""
    values = [walk.evaluated(n.Name(name.symbol)) for name in fact.subjects]
    steps = [item for name in fact.subjects if isinstance(item := walk.problem.program.item(name.symbol), Step)]
    worked = any(step.role in (Role.Q, Role.K, Role.V) for step in steps)
    if worked and any(value is None or values[0] is None or value.rows != values[0].rows for value in values):
        walk.supposed = fact.statement.end_line + REACH
