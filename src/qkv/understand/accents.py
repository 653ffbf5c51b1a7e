"""Hats and bars: \\hat α beside α is a quantity of its own; where only the one is used, the accent says nothing."""

from __future__ import annotations

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.records import replace
from qkv.sheet.model import Statement

ACCENTS = frozenset({"hat", "bar"})


def without_idle_accents(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Statements without the accents of letters that come with that accent only."""
    exprs = [link.expr for s in statements for link in s.links if not isinstance(link.expr, n.Number)]
    names = {symbol for expr in exprs for symbol in n.names_in(expr)}
    accented = {symbol for symbol in names if not ACCENTS.isdisjoint(symbol.labels)}
    if not accented:
        return statements
    plain = {symbol.base for symbol in names - accented}
    idle = {symbol: _bare(symbol) for symbol in accented if symbol.base not in plain}

    def change(part: n.Expr) -> n.Expr:
        return replace(part, symbol=idle[part.symbol]) if isinstance(part, n.Name) and part.symbol in idle else part

    return tuple(
        replace(s, links=tuple(replace(link, expr=n.rewrite(link.expr, change)) for link in s.links))
        for s in statements
    )


def _bare(symbol: Symbol) -> Symbol:
    return symbol._replace(labels=tuple(label for label in symbol.labels if label not in ACCENTS))
