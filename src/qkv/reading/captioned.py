"""Names at the end of a caption: 'Output output = P V' names the output, 'Gewichte nach Softmax P = softmax(S)' P."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.reader.model import Relation
from qkv.reading.equations import Equation, Item, Kind


def with_names(equations: Iterable[Equation]) -> Iterator[Equation]:
    """The equations of a page; one that has no name gets the last word before it, if that is a name that a formula
    uses and that nothing else defines."""
    made = tuple(equations)
    wanted = {symbol for equation in made for item in equation.of(Kind.FORMULA) for symbol in n.names_in(item.expr)}
    wanted -= {symbol for equation in made if len(equation.items) > 1 for symbol in equation.names}
    for equation in made:
        yield _named(equation, wanted) if wanted and not equation.names and equation.of(Kind.VALUE) else equation


def _named(equation: Equation, wanted: set[Symbol]) -> Equation:
    *words, last = equation.label.split() or [""]
    first = equation.items[0]
    if words and first.kind is Kind.FORMULA and (symbol := Symbol(last)) in wanted:
        wanted.discard(symbol)
        name = Item(Kind.NAME, n.Name(symbol), Relation.FIRST, first.line, first.column, last)
        items = (name, replace(first, relation=Relation.EQUAL), *equation.items[1:])
        return replace(equation, items=items, label=" ".join(words))
    only = _only_name(first.expr) if last and len(equation.items) > 2 and first.kind is Kind.FORMULA else None
    if only is not None and only.symbol in wanted and equation.items[1].kind is Kind.FORMULA:
        wanted.discard(only.symbol)
        return replace(equation, items=(replace(first, kind=Kind.NAME, expr=only), *equation.items[1:]))
    return equation


def _only_name(expr: n.Expr) -> n.Name | None:
    """The name behind a word of the caption that was read as a function of it: 'nach Softmax P'."""
    inner = expr.arg if isinstance(expr, n.Softmax) else None
    return inner if isinstance(inner, n.Name) else None
