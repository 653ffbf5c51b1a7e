"""Names under 'Head 1' and again under 'Head 2' are names of these heads: Q under both is Q_1 and Q_2."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.library.words import head_said
from qkv.reader.model import Sheet
from qkv.reading.equation import Equation


def headed(made: Sequence[Equation], sheet: Sheet) -> list[Equation]:
    """Equations in which names that several heads have in common carry the number of their head."""
    heads = {part: head for part, title in enumerate(p.title for p in sheet.parts) if (head := head_said(title or ""))}
    if len(set(heads.values())) < 2:
        return list(made)
    under: dict[Symbol, set[str]] = defaultdict(set)
    for equation in made:
        for symbol in equation.names if equation.part in heads else ():
            under[symbol].add(heads[equation.part])
    common = {symbol for symbol, found in under.items() if len(found) > 1 and not symbol.indices}
    return [_of_head(e, common, heads[e.part]) if e.part in heads and common else e for e in made]


def _of_head(equation: Equation, common: set[Symbol], head: str) -> Equation:
    def change(node: n.Expr) -> n.Expr:
        if isinstance(node, n.Name) and node.symbol in common:
            return replace(node, symbol=node.symbol._replace(indices=(head,)))
        return node

    items = (replace(i, expr=n.rewrite(i.expr, change), options=()) for i in equation.items)
    return replace(equation, items=tuple(items))
