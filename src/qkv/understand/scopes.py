"""Cutting a document into problems: restarted names, new givens under a new heading, a mask that comes in later."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.sheet.model import Origin, Sheet
from qkv.understand.facts import Fact, place_of, plain_value
from qkv.understand.gather import FACTORS, printed_value, token_factor
from qkv.understand.repair import similar
from qkv.understand.roles import CAUSAL, DERIVED, PRIMARY

EXERCISE = re.compile(
    r"exercise|question|problem|example|task|aufgabe|übung|exercice|ejercicio|exerc[ií]cio|упражн|задач|练习|例|問|題|^\W*\d+[.)]",
    re.IGNORECASE,
)


@dataclass
class _Open:
    """The problem being cut out: what it has bound so far, and whether it has shown weights."""

    facts: list[Fact] = field(default_factory=list)
    bound: dict[Symbol, n.Matrix] = field(default_factory=dict)
    part: int | None = None
    shown: set[Role] = field(default_factory=set)
    causal: bool = False


def scopes(facts: tuple[Fact, ...], sheet: Sheet) -> Iterator[tuple[Fact, ...]]:
    """The facts of each problem, in order."""
    current = _Open()
    fresh_parts = _parts_with_givens(facts)
    for fact in facts:
        if current.facts and _begins(fact, current, facts, sheet, fresh_parts):
            yield tuple(current.facts)
            current = _Open(causal=current.causal)
        _take(fact, current, facts)
    if current.facts:
        yield tuple(current.facts)


def _begins(fact: Fact, current: _Open, facts: tuple[Fact, ...], sheet: Sheet, fresh: set[int]) -> bool:
    if fact.statement.struck or fact.statement.origin is Origin.CODE:
        return False
    part = fact.statement.part
    if part != current.part and part in fresh and current.shown and not _another_head(fact, current):
        return True
    if _restarts(fact, current, facts):
        return True
    if part != current.part and _gives_qkv(fact, facts) and EXERCISE.search(_title(sheet, part)):
        return True
    return _masks(fact) and Role.WEIGHTS in current.shown and not current.causal


def _another_head(fact: Fact, current: _Open) -> bool:
    """Weights of a further head belong to the problem that gave the first."""
    heads = {place_of(symbol).head for symbol in current.bound} | {f.head for f in current.facts}
    return fact.head is not None and fact.head not in heads - {None} and bool(heads - {None})


def _title(sheet: Sheet, part: int) -> str:
    return sheet.parts[part].title if part < len(sheet.parts) else ""


def _parts_with_givens(facts: tuple[Fact, ...]) -> set[int]:
    """Parts that bind something new: a copy of what was given above is nothing new."""
    seen: dict[Symbol, n.Matrix] = {}
    fresh = set()
    for fact in facts:
        if _copies_known(fact, seen.values()):
            continue
        for symbol, value, role in bindings(fact, facts):
            known = symbol in seen and similar(seen[symbol], value)
            if role in PRIMARY and role not in (Role.MASK, Role.W_O) and not known:
                fresh.add(fact.statement.part)
            seen[symbol] = value
    return fresh


def bindings(fact: Fact, facts: tuple[Fact, ...]) -> Iterator[tuple[Symbol, n.Matrix, Role]]:
    """Names that a fact gives a value without a formula, and the nameless X of [..] × [..]."""
    if fact.statement.struck or fact.pending:
        return
    for name in fact.subjects:
        place = place_of(name.symbol, fact.head)
        role = place.roles[0] if place.roles else Role.OTHER
        if role not in PRIMARY and any(f.formula is not None and _feeds(name.symbol, f.formula) for f in facts):
            role = Role.X
        if fact.formula is None and fact.working is None and fact.value is not None and role in PRIMARY | {Role.OTHER}:
            value = plain_value(fact.value.expr)
            if value is not None:
                yield name.symbol, value, role
        if (
            role in FACTORS
            and place.row is None
            and fact.working is not None
            and isinstance(fact.working.expr, n.Product)
        ):
            left = plain_value(fact.working.expr.left)
            if (
                left is not None
                and printed_value(fact, facts) is not None
                and min(left.shape) > 1
                and fact.formula is None
            ):
                yield Symbol("X"), left, Role.X


def _feeds(symbol: Symbol, formula: n.Expr) -> bool:
    source = token_factor(formula)
    return source is not None and source[1] == symbol


def _restarts(fact: Fact, current: _Open, facts: tuple[Fact, ...]) -> bool:
    if _copies_known(fact, current.bound.values()):
        return False
    return any(
        symbol in current.bound and not similar(current.bound[symbol], value)
        for symbol, value, role in bindings(fact, facts)
        if role in PRIMARY
    )


def _copies_known(fact: Fact, known: Collection[n.Matrix]) -> bool:
    """Whether a written-out product multiplies something that was given before: then it restarts nothing."""
    working = fact.working
    if working is None:
        return False
    operands = (plain_value(factor) for factor in n.factors(working.expr))
    return any(operand is not None and any(similar(operand, value) for value in known) for operand in operands)


def _gives_qkv(fact: Fact, facts: tuple[Fact, ...]) -> bool:
    """Q and K printed bare under this heading, with no weights beside them."""
    mine = [f for f in facts if f.statement.part == fact.statement.part and not f.statement.struck]
    bare = {
        role
        for f in mine
        if f.formula is None and f.working is None and f.value is not None
        for name in f.subjects
        for role in place_of(name.symbol).roles[:1]
    }
    return {Role.Q, Role.K} <= bare and not bare & {Role.X, Role.W_Q, Role.W_K}


def _masks(fact: Fact) -> bool:
    named = any(Role.MASKED in place_of(name.symbol).roles[:1] for name in fact.subjects)
    return named or bool(CAUSAL.search(fact.statement.before))


def _take(fact: Fact, current: _Open, facts: tuple[Fact, ...]) -> None:
    current.facts.append(fact)
    current.part = fact.statement.part
    if fact.statement.struck:
        return
    current.causal = current.causal or _masks(fact)
    for symbol, value, _ in bindings(fact, facts):
        current.bound.setdefault(symbol, value)
    for name in fact.subjects if fact.value is not None else ():
        current.shown.update(DERIVED.intersection(place_of(name.symbol).roles[:1]))
    if fact.cue.role in DERIVED and fact.value is not None:
        current.shown.add(fact.cue.role)
