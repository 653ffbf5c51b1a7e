"""Printed decimals as what they may stand for."""

from __future__ import annotations

from collections.abc import Container
from fractions import Fraction

from qkv.check.compare import loosened, shown_number
from qkv.expr import nodes as n
from qkv.interpret.cells import Cell, rational
from qkv.interpret.certified import Certified


class Loose(Certified):
    """Certified arithmetic in which a printed decimal stands for everything that rounds to it; those of the `inputs`
    are meant exactly, unless the same number was printed as a `rounded` one."""

    def __init__(self, inputs: Container[Fraction] = (), rounded: Container[Fraction] = ()) -> None:
        self.inputs, self.rounded = inputs, rounded

    def cell(self, node: n.Number) -> Cell:
        whole = node.places == 0 and "." not in node.text and node.value.denominator == 1
        exact = whole or (node.value in self.inputs and node.value not in self.rounded)
        return rational(node.value) if exact else loosened(shown_number(node))
