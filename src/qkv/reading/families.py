"""Calls that are names with indices: PE(pos, 2i) = … and PE(1, 0) = … speak of the cells of one array."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from qkv.expr import nodes as n
from qkv.expr.functions import BY_KEY
from qkv.expr.names import Symbol
from qkv.library.defined import defined
from qkv.reading.equation import Equation, Item, kind_of


def with_families(equations: Iterable[Equation]) -> list[Equation]:
    """The equations with such calls as names: of functions that are called with two numbers somewhere on the page."""
    made = list(equations)
    calls = [c for equation in made for item in equation.items for c in n.walk(item.expr) if isinstance(c, n.Call)]
    found = {c.function for c in calls if len(c.args) == 2 and all(isinstance(arg, n.Number) for arg in c.args)}
    found = {function for function in found if function not in BY_KEY and not defined(function)}
    return [replace(e, items=tuple(_item(item, found) for item in e.items)) for e in made] if found else made


def _item(item: Item, found: set[str]) -> Item:
    expr = n.rewrite(item.expr, lambda node: _as_name(node, found))
    return item if expr == item.expr else replace(item, expr=expr, kind=kind_of(expr))


def _as_name(node: n.Expr, found: set[str]) -> n.Expr:
    if not isinstance(node, n.Call) or node.function not in found or not 0 < len(node.args) < 3:
        return node
    indices = [_index(arg) for arg in node.args]
    return n.Name(Symbol(node.function, (), tuple(i for i in indices if i)), at=node.at) if all(indices) else node


def _index(arg: n.Expr) -> str:
    """An argument as an index: 3, pos, 2i, 2i+1; nothing where it is none."""
    if isinstance(arg, n.Number) and arg.value.denominator == 1:
        return str(arg.value.numerator)
    if isinstance(arg, n.Name) and arg.symbol == Symbol(arg.symbol.base):
        return arg.symbol.base
    if isinstance(arg, n.Product):
        parts = _index(arg.left), _index(arg.right)
        return "".join(parts) if parts[0].isdigit() and parts[1].isalpha() else ""
    if isinstance(arg, n.Sum) and len(arg.terms) == 2:
        parts = _index(arg.terms[0]), _index(arg.terms[1])
        return "+".join(parts) if parts[0] and parts[1].isdigit() else ""
    return ""
