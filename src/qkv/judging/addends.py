"""Workings one after the other: tanh(1) + tanh(3) = 0.762 + 1.365, where one number is not what stood in its place."""

from __future__ import annotations

from itertools import pairwise

from qkv.check.cells import shown_grid
from qkv.check.compare import Agreement, follows
from qkv.check.loose import Loose
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.interpret.loop import evaluate
from qkv.reading.equation import Equation, Item, Kind

Addend = tuple[Item, n.Expr, n.Expr]  # the working, the number that is off, and what it should be worth


def addends_off(equation: Equation) -> list[Addend]:
    """Numbers that are not what stood in their place one working earlier, where every other one is."""
    found = []
    for before, after in pairwise(item for item in equation.items if not item.struck):
        if before.kind is after.kind is Kind.WORKING:
            off = _off(before.expr, after.expr)
            if off is not None:
                found.append((after, *off))
    return found


def _off(before: n.Expr, after: n.Expr) -> tuple[n.Expr, n.Expr] | None:
    if not isinstance(before, n.Sum) or not isinstance(after, n.Sum) or len(before.terms) != len(after.terms):
        return None
    pairs = list(zip(before.terms, after.terms, strict=True))
    false = [(number, meant) for meant, number in pairs if not _agrees(meant, number)]
    if len(false) != 1 or len(pairs) < 2:
        return None
    number, meant = false[0]
    return (number, meant) if _is_number(number) and not _is_number(meant) else None


def _is_number(expr: n.Expr) -> bool:
    return isinstance(expr, n.Number) or (isinstance(expr, n.Negate) and isinstance(expr.arg, n.Number))


def _agrees(meant: n.Expr, number: n.Expr) -> bool:
    """Whether a number may be what an expression gives; what is no number must stand there unchanged."""
    if not _is_number(number):
        return meant == number
    try:
        grid, value = shown_grid(n.Matrix(((number,),)), True), evaluate(meant, {}, Loose())
    except (QkvError, ZeroDivisionError):
        return True
    return grid is None or value.shape != (1, 1) or follows(grid[0][0], value.cell) is not Agreement.APART
