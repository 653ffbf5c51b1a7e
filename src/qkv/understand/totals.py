"""A total after exponentials: 'e^1 = 2.718, e^2 = 7.389, sum = 10.107' says 2.718 + 7.389 = 10.107."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.records import replace
from qkv.sheet.model import Link, Relation
from qkv.sheet.phrases import SUM_HEAD, TOTAL
from qkv.understand.facts import Fact
from qkv.understand.roles import Cue
from qkv.understand.values import Form


def with_totals(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Write the addends of a total out, in the author's own numbers; what follows such a total by an arrow, one number
    for each addend, are the weights of that row."""
    exponential = n.Exp in [type(link.expr) for fact in facts for link in fact.links]
    return tuple(_totalled(facts)) if exponential else facts


def _totalled(facts: tuple[Fact, ...]) -> Iterator[Fact]:
    addends: list[Fact] = []
    shared: tuple[Fact, list[Fact]] | None = None  # a total that its terms give, right before this fact
    for fact in facts:
        if shared is not None and _is_shared_out(fact, *shared):
            fact = _divided(fact, *shared)
        shared = None
        if _is_exponential(fact):
            if addends and fact.statement.part != addends[-1].statement.part:
                addends = []
            addends.append(fact)
            yield fact
        elif len(addends) > 1 and _is_total(fact) and fact.statement.part == addends[-1].statement.part:
            yield from _written_out(fact, addends)
            shared = (fact, addends) if _are_all(fact, addends) else None
            addends = []
        else:
            addends = []
            yield fact


def _is_exponential(fact: Fact) -> bool:
    """e^1.41 = 4.10, in numbers alone."""
    if Form.FORMULA in fact.forms:
        return False
    literals = [link.expr for link, kind in zip(fact.links, fact.forms, strict=True) if kind is not Form.NAME]
    return len(literals) > 1 and isinstance(literals[0], n.Exp) and isinstance(literals[-1], n.Number)


def _is_total(fact: Fact) -> bool:
    """'sum = 10.107', or a number that words call a sum."""
    if Form.VALUE not in fact.forms or not {Form.VALUE, Form.NAME}.issuperset(fact.forms):
        return False
    if not isinstance(fact.links[fact.forms.index(Form.VALUE)].expr, n.Number):
        return False
    if fact.subjects:
        return fact.forms.count(Form.NAME) == 1 and SUM_HEAD.fullmatch(fact.subjects[0].spelled) is not None
    return TOTAL.search(fact.statement.before) is not None


def _written_out(fact: Fact, addends: list[Fact]) -> Iterator[Fact]:
    at = fact.forms.index(Form.VALUE)
    ways = zip(*((_first_literal(addend), addend.links[-1].expr) for addend in addends), strict=True)
    sums = [replace(fact.links[at], expr=n.Sum(terms), relation=Relation.EQUAL) for terms in ways]
    links = (*sums, fact.links[at])
    yield replace(fact, links=links, subjects=(), addends=len(addends))  # no quantity: each row has a sum of its own
    rest = fact.links[at + 1 :]
    if rest and _is_row(rest[0], len(addends)):
        yield replace(
            fact,
            statement=replace(fact.statement, links=rest, at=rest[0].at, before=""),
            links=rest,
            subjects=(),
            cue=Cue(Role.WEIGHTS, addends[0].cue.row, addends[0].cue.head),
        )


def _printed(fact: Fact) -> n.Number | None:
    """The first number that a fact shows."""
    return next((link.expr for link in fact.links if isinstance(link.expr, n.Number)), None)


def _are_all(total: Fact, addends: list[Fact]) -> bool:
    """Whether the printed terms give the printed total, each of them rounded."""
    shown = [number for fact in (*addends, total) if (number := _printed(fact)) is not None]
    if len(shown) <= len(addends) or total.links[-1].expr is not shown[-1]:
        return False  # the shares follow the total on its own line
    reach = sum((Fraction(1, 2 * 10**number.places) for number in shown if number.places), Fraction(0))
    return abs(sum((number.value for number in shown[:-1]), Fraction(0)) - shown[-1].value) <= reach


def _is_shared_out(fact: Fact, total: Fact, addends: list[Fact]) -> bool:
    """'Probabilities: [0.67, 0.24, 0.09]' after the total: one for each of its terms."""
    near = fact.statement.part == total.statement.part and fact.statement.at.line - total.statement.end_line <= 3
    bare = not fact.subjects and len(fact.links) == 1 and _is_row(fact.links[0], len(addends))
    same_row = fact.cue.row in (None, addends[0].cue.row)
    return near and bare and same_row and fact.cue.role is Role.WEIGHTS


def _divided(fact: Fact, total: Fact, addends: list[Fact]) -> Fact:
    """The shares written out, in the author's own numbers: [7.39 / 11.11, …] = [0.67, …]."""
    whole, value = _printed(total), fact.links[0]
    terms = [_printed(addend) for addend in addends]
    cells = tuple(n.Quotient(term, whole) for term in terms if term is not None and whole is not None)
    shares = replace(value, expr=n.Matrix((cells,), loose=True, at=value.at))
    return replace(fact, links=(shares, replace(value, relation=Relation.EQUAL)))


def _first_literal(fact: Fact) -> n.Expr:
    return next(link.expr for link, kind in zip(fact.links, fact.forms, strict=True) if kind is not Form.NAME)


def _is_row(link: Link, width: int) -> bool:
    return isinstance(link.expr, n.Matrix) and link.expr.shape == (1, width)
