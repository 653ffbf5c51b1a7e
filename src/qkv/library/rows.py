"""Equations of the library as rows: what each gives, when it counts, and which of them count where some names are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.library.notation import equation


class Row(NamedTuple):
    """One equation: what it gives, the expression, the conventions under which it holds, and what it is in words."""

    symbol: Symbol
    expr: n.Expr
    when: frozenset[str]
    says: str


def rows_of(*texts: str) -> tuple[Row, ...]:
    """Lines of `name = right side | conventions | what it is`, read by our own reader.

    >>> [(str(row.symbol), row.when) for row in rows_of("Y = X W | scaled | the product")]
    [('Y', frozenset({'scaled'}))]
    """
    return tuple(_row(line) for text in texts for line in text.strip().splitlines())


def counted(rows: Iterable[Row], known: set[Symbol], conventions: frozenset[str]) -> Iterator[Row]:
    """The rows that count where some names are known; what they give is known from there on."""
    known = set(known)
    for row in rows:
        if row.symbol not in known and row.when <= conventions and known.issuperset(n.names_in(row.expr)):
            known.add(row.symbol)
            yield row


def renamed(expr: n.Expr, names: dict[Symbol, Symbol]) -> n.Expr:
    """An expression of a row in the names of a program."""
    return n.rewrite(
        expr, lambda node: n.Name(names.get(node.symbol, node.symbol)) if isinstance(node, n.Name) else node
    )


def _row(line: str) -> Row:
    written, when, says = line.split("|")
    left, right = equation(written)
    assert isinstance(left, n.Name)
    return Row(left.symbol, n.rewrite(right, _plainly), frozenset(when.split()), says.strip())


def _plainly(node: n.Expr) -> n.Expr:
    """A node as a program has it: a softmax goes along rows, and nothing remembers where it was written."""
    if isinstance(node, n.Softmax):
        return n.Softmax(node.arg, 1, by_rows=True)
    return n.Name(node.symbol) if isinstance(node, n.Name) else node
