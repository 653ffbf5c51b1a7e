"""Numbers under a name: given, so that there is nothing to judge, or a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qkv.expr import nodes as n
from qkv.judging.beside import share_of
from qkv.reading.definitions import Source
from qkv.reading.equation import Equation, Item, Kind
from qkv.reading.naming import SIZED
from qkv.reading.system import System

if TYPE_CHECKING:
    from qkv.judging.walk import Walk


def is_given(walk: Walk, equation: Equation) -> bool:
    """Whether numbers alone define a name, so that there is nothing to judge."""
    if _is_size_in_a_list(walk, equation):
        return True
    if equation.index in dict(walk.system.choices.arrays):
        return True
    if equation.index in walk.system.choices.claimed or equation.of(Kind.FORMULA, Kind.WORKING):
        return False
    if any(share_of(symbol, equation, walk.system.page) is not None for symbol in equation.names):
        return False
    return bool(equation.names) or _is_told(walk, equation)


def _is_told(walk: Walk, equation: Equation) -> bool:
    """Whether somebody told what an array without a name is, by its rows or its line."""
    told = (item.expr for other in walk.system.page.equations if other.told for item in other.of(Kind.VALUE))
    return any(item.expr in told for item in equation.of(Kind.VALUE)[:1] if isinstance(item.expr, n.Matrix))


def is_cell_of_given(expr: n.Expr, system: System) -> bool:
    """Whether an expression is a cell of what is given by its numbers alone, as W[0] is: where something else is worked
    out for it ('W[0] = ∂L/∂z × x[0] = …', a slip of the pen for ∂L/∂W[0]), what was given stands."""
    if not isinstance(expr, n.Entry) or not isinstance(expr.arg, n.Name):
        return False
    found = system.page.definitions.get(expr.arg.symbol, ())
    return bool(found) and all(d.source is Source.GIVEN and d.equation not in system.choices.claimed for d in found)


def formulas_of(equation: Equation, system: System) -> list[Item]:
    """The formulas and workings of an equation, whose value is printed in it."""
    found = equation.of(Kind.FORMULA, Kind.WORKING)
    return [item for item in found if not is_cell_of_given(item.expr, system)]


def _is_size_in_a_list(walk: Walk, equation: Equation) -> bool:
    """Whether a size is listed among other numbers, as examples begin: 'T = 2, N = 3, d_k = 2' is no slip in D/h."""
    places = [walk.system.place(symbol) for symbol in equation.names]
    if not places or any(place is None or place.role not in SIZED for place in places):
        return False
    line = [e for e in walk.system.page.equations if e.line == equation.line and e.scope == equation.scope]
    return len(line) > 2 and all(len(e.names) == 1 and len(e.of(Kind.VALUE)) == len(e.items) - 1 for e in line)
