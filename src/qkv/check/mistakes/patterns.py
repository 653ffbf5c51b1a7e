"""Mistakes that two expressions tell: what is right, and what was done instead; see table.py."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from itertools import product

from qkv.check.mistakes.scene import Scene, Variants
from qkv.check.mistakes.table import ROWS, Mistake, on
from qkv.expr import nodes as n
from qkv.expr.functions import BY_KEY
from qkv.expr.names import Symbol
from qkv.library.defined import defined
from qkv.library.notation import expression

Pair = tuple[n.Expr, n.Expr]
ROOTS = (n.Call, n.Quotient, n.Root, n.Sum)  # what the right sides of the table begin with


def mistake(key: str) -> Mistake:
    """One mistake of the table: wherever a right side fits, what was done instead."""

    @on(key, *ROOTS)
    def rule(node: n.Expr, scene: Scene) -> Variants:
        for right, wrong in pairs()[key]:
            bound: dict[Symbol, n.Expr] = {}
            if matches(right, node, bound) and bound.keys() >= set(n.names_in(wrong)):
                yield filled(wrong, bound), ""

    return rule


@cache
def pairs() -> Mapping[str, tuple[Pair, ...]]:
    """Right and wrong of every mistake, read by our own reader when they are first needed."""
    found: dict[str, tuple[Pair, ...]] = {}
    key = ""
    for line in ROWS.strip().splitlines():
        if not line.startswith(" "):
            key = line.partition(": ")[0]
            continue
        right, _, wrong = line.partition(" -> ")
        found[key] = (*found.get(key, ()), *_paired(right, wrong))
    return found


def _paired(right: str, wrong: str) -> Iterator[Pair]:
    """Each row of a function with the same row on the other side; where they are other functions, with all of them."""
    rights, wrongs = (list(_written_out(expression(side))) for side in (right, wrong))
    yield from zip(rights, wrongs, strict=True) if len(rights) == len(wrongs) else product(rights, wrongs)


def _written_out(expr: n.Expr) -> Iterator[n.Expr]:
    """An expression with the functions of the library replaced by each of their rows."""
    call = next((p for p in n.walk(expr) if isinstance(p, n.Call) and p.function not in BY_KEY), None)
    if call is None:
        yield expr
        return
    for row in defined(call.function):
        made = row.of(call.args)
        if made is not None:
            yield from _written_out(n.replaced(expr, call, made))


def matches(pattern: n.Expr, node: n.Expr, bound: dict[Symbol, n.Expr]) -> bool:
    """Whether a pattern fits an expression; what its letters stand for is noted. X + F − m is x − m with x = X + F."""
    if isinstance(pattern, n.Name):
        return bound.setdefault(pattern.symbol, node) == node
    if isinstance(pattern, n.Sum) and isinstance(node, n.Sum) and len(pattern.terms) == 2 < len(node.terms):
        node = n.Sum((n.Sum(node.terms[:-1]), node.terms[-1]))
    if type(pattern) is not type(node):
        return False
    for field in fields(pattern):
        if field.compare and not _alike(getattr(pattern, field.name), getattr(node, field.name), bound):
            return False
    return True


def _alike(pattern: object, part: object, bound: dict[Symbol, n.Expr]) -> bool:
    if isinstance(pattern, n.Node):
        return isinstance(part, n.Node) and matches(pattern, part, bound)  # type: ignore[arg-type]
    if isinstance(pattern, tuple) and isinstance(part, tuple):
        return len(pattern) == len(part) and all(_alike(a, b, bound) for a, b in zip(pattern, part, strict=True))
    return pattern == part


def filled(pattern: n.Expr, bound: Mapping[Symbol, n.Expr]) -> n.Expr:
    """A pattern with what its letters stand for."""
    return n.rewrite(pattern, lambda node: bound.get(node.symbol, node) if isinstance(node, n.Name) else node)
