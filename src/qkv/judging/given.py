"""Numbers under a name: given, so that there is nothing to judge, or a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qkv.judging.beside import share_of
from qkv.reading.equation import Equation, Kind

if TYPE_CHECKING:
    from qkv.judging.walk import Walk


def is_given(walk: Walk, equation: Equation) -> bool:
    """Whether numbers alone define a name, so that there is nothing to judge."""
    if equation.index in walk.system.choices.claimed or equation.of(Kind.FORMULA, Kind.WORKING):
        return False
    if any(share_of(symbol, equation, walk.system.page) is not None for symbol in equation.names):
        return False
    return bool(equation.names) or equation.index in dict(walk.system.choices.arrays)
