"""What the givens and steps of a program come to."""

from __future__ import annotations

from collections.abc import Iterable

from qkv.expr.names import Symbol
from qkv.interpret.certified import Certified, Value
from qkv.interpret.loop import evaluated
from qkv.program.model import Given, Step


def known_values(items: Iterable[Given | Step]) -> dict[Symbol, Value]:
    """The values of givens and steps, in their order; those that have none are left out."""
    known: dict[Symbol, Value] = {}
    for item in items:
        value = evaluated(item.expr, known, Certified())
        if value is not None:
            known[item.symbol] = value
    return known
