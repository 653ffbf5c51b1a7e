"""Statements as theory takes them: chains that go on are one, and of several readings the one that speaks of theory."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import replace

from qkv.expr import nodes as n
from qkv.reader.model import Link, Relation, Statement

EQUALITY = frozenset({Relation.EQUAL, Relation.APPROX})
ONWARD = EQUALITY | {Relation.IMPLIES, Relation.ARROW}


def joined(statements: Iterable[Statement], relations: Container[Relation]) -> Iterator[Statement]:
    """Statements in order, each with those that go on from it with one of the relations; what is struck is left out,
    and so are statements about shapes."""
    last: Statement | None = None
    for statement in statements:
        links = tuple(link for link in statement.links if link.relation is not Relation.IN)
        if statement.struck or not links:
            continue
        if last is not None and statement.continues and links[0].relation in relations and statement.part == last.part:
            text = f"{last.text} {statement.text}"
            last = replace(last, links=(*last.links, *links), end_line=statement.end_line, text=text)
            continue
        if last is not None:
            yield last
        last = replace(statement, links=links)
    if last is not None:
        yield last


def meant(link: Link, speaks: Callable[[n.Expr], bool]) -> n.Expr:
    """The first reading of a link that speaks of something, else its usual one."""
    return next(filter(speaks, (link.expr, *link.alternatives)), link.expr)


def places(statement: Statement) -> frozenset[tuple[int, int]]:
    """Where the links of a statement begin: line and column."""
    return frozenset((link.at.line, link.at.column) for link in statement.links)
