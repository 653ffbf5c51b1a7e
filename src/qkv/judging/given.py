"""Numbers under a name: given, so that there is nothing to judge, or a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qkv.judging.beside import share_of
from qkv.reading.equation import Equation, Kind
from qkv.reading.naming import SIZED

if TYPE_CHECKING:
    from qkv.judging.walk import Walk


def is_given(walk: Walk, equation: Equation) -> bool:
    """Whether numbers alone define a name, so that there is nothing to judge."""
    if _is_size_in_a_list(walk, equation):
        return True
    if equation.index in walk.system.choices.claimed or equation.of(Kind.FORMULA, Kind.WORKING):
        return False
    if any(share_of(symbol, equation, walk.system.page) is not None for symbol in equation.names):
        return False
    return bool(equation.names) or equation.index in dict(walk.system.choices.arrays)


def _is_size_in_a_list(walk: Walk, equation: Equation) -> bool:
    """Whether a size is listed among other numbers, as examples begin: 'T = 2, N = 3, d_k = 2' is no slip in D/h."""
    places = [walk.system.place(symbol) for symbol in equation.names]
    if not places or any(place is None or place.role not in SIZED for place in places):
        return False
    line = [e for e in walk.system.page.equations if e.line == equation.line and e.scope == equation.scope]
    return len(line) > 2 and all(len(e.names) == 1 and len(e.of(Kind.VALUE)) == len(e.items) - 1 for e in line)
