"""Statements that go on in the next one: a product cut over two displays, a working that stands below its formula."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from qkv.expr import nodes as n
from qkv.reader.model import Link, Relation, Statement

OPEN = "ends with ×"  # how the reader notes a product whose right side is missing


def continued(statements: Iterable[Statement]) -> Iterator[Statement]:
    """The statements of a sheet, those that go on from the one before it brought together."""
    last: Statement | None = None
    for statement in statements:
        if last is not None and _is_rest(last, statement):
            last = _multiplied(last, statement)
            continue
        if last is not None:
            yield last
            if _is_working(last, statement):
                link = replace(statement.links[0], relation=Relation.EQUAL)
                statement = replace(statement, links=(last.links[0], link))
        last = statement
    if last is not None:
        yield last


def _only(statement: Statement) -> Link | None:
    """The one link of a statement without a name or words of its own."""
    bare = len(statement.links) == 1 and not statement.struck and not statement.label and not statement.caption
    return statement.links[0] if bare and n.is_literal(statement.links[0].expr) else None


def _is_rest(last: Statement, statement: Statement) -> bool:
    """'Output = [..] ×', then '[..]' in a display of its own."""
    only = _only(statement)
    is_open = last.links[-1].note == OPEN and last.part == statement.part
    return is_open and only is not None and isinstance(only.expr, n.Matrix)


def _multiplied(last: Statement, statement: Statement) -> Statement:
    left, right = last.links[-1], statement.links[0]
    expr = n.Product(left.expr, right.expr, at=left.expr.at)
    link = replace(left, expr=expr, text=f"{left.text} × {right.text}", note=right.note)
    text = f"{last.text}\n{statement.text}"
    return replace(last, links=(*last.links[:-1], link), end_line=statement.end_line, text=text)


def _is_working(last: Statement, statement: Statement) -> bool:
    """'Q = X W', then '[..] × [..]' alone: the numbers put into the formula above."""
    only = _only(statement)
    if only is None or not isinstance(only.expr, n.Product) or not n.holds(only.expr, n.Matrix):
        return False
    first, rest = last.links[0], last.links[1:]
    stated = isinstance(first.expr, n.Name) and len(rest) == 1 and rest[0].relation is Relation.EQUAL
    return stated and not last.struck and last.part == statement.part and not n.is_literal(rest[0].expr)
