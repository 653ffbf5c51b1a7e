"""Names that are given together: (α_1, α_2) = (0.7, 0.3), (k_1, v_1) = ((2, 0), (1, 0)) are an equation for each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qkv.expr import nodes as n
from qkv.reading.equation import Equation, Kind, kind_of


def each_named(equation: Equation) -> Iterator[Equation]:
    """An equation for each name of a list, where the other side lists as many values; else the equation itself."""
    names = _listed(equation.items[0].expr) if len(equation.items) == 2 else []
    values = _values(equation.items[-1].expr, len(names))
    if len(names) < 2 or len(values) != len(names):
        yield equation
        return
    for name, value in zip(names, values, strict=True):
        first = replace(equation.items[0], expr=name, kind=Kind.NAME, text=str(name.symbol), options=())
        last = replace(equation.items[1], expr=value, kind=kind_of(value), options=())
        yield replace(equation, items=(first, last))


def _listed(expr: n.Expr) -> list[n.Name]:
    """The small names of a list; capitals in brackets are blocks of a matrix."""
    parts: tuple[n.Expr, ...] = ()
    if isinstance(expr, n.Matrix) and len(expr.rows) == 1:
        parts = expr.rows[0]
    elif isinstance(expr, n.Concat):
        parts = expr.parts
    elif isinstance(expr, n.Call) and expr.function == "list":
        parts = expr.args
    names = [part for part in parts if isinstance(part, n.Name) and part.symbol.base[:1].islower()]
    return names if len(names) == len(parts) and not any(name.symbol.base == "head" for name in names) else []


def _values(expr: n.Expr, count: int) -> list[n.Expr]:
    if not isinstance(expr, n.Matrix) or expr.is_ragged or not n.is_literal(expr):
        return []
    if expr.shape == (1, count):
        return list(expr.rows[0])
    return [n.Matrix((row,), at=expr.at) for row in expr.rows] if expr.shape[0] == count and expr.shape[1] > 1 else []
