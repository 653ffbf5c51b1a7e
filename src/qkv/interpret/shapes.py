"""Shapes: how large every quantity is, and the place where two do not fit."""

from __future__ import annotations

from collections.abc import Mapping

from qkv.expr import nodes as n
from qkv.expr.functions import Function
from qkv.expr.names import Symbol
from qkv.interpret import fit
from qkv.interpret.fit import Shape
from qkv.interpret.loop import run
from qkv.program.model import Program


class Shapes:
    """The algebra of shapes: a value is its rows and columns. Sizes may be symbols, see fit.py."""

    def number(self, node: n.Number) -> Shape:
        return 1, 1

    def infinite(self, sign: int) -> Shape:
        return 1, 1

    def table(self, matrix: n.Matrix) -> Shape:
        return matrix.shape

    def stack(self, rows: list[list[Shape]]) -> Shape:
        return fit.stack_shape(rows)

    def add(self, a: Shape, b: Shape) -> Shape:
        return fit.sum_shape(a, b)

    def negate(self, a: Shape) -> Shape:
        return a

    root = absolute = exp = negate

    def multiply(self, a: Shape, b: Shape) -> Shape:
        return fit.product_shape(a, b)

    def divide(self, a: Shape, b: Shape) -> Shape:
        return fit.quotient_shape(a, b)

    def power(self, a: Shape, b: Shape) -> Shape:
        return fit.power_shape(a, b)

    def transpose(self, a: Shape) -> Shape:
        return a[1], a[0]

    def softmax(self, a: Shape, axis: int | None) -> Shape:
        return a

    normalise = softmax

    def concat(self, parts: list[Shape], axis: int) -> Shape:
        return fit.concat_shape(parts, axis)

    def mask(self, a: Shape, pattern: Shape | None, truth: bool) -> Shape:
        return fit.mask_shape(a, pattern)

    def entry(self, a: Shape, node: n.Entry) -> Shape:
        return fit.entry_shape(a, node)

    def apply(self, function: Function, args: list[Shape]) -> Shape:
        return fit.function_shape(function.kind, args)


class StrictShapes(Shapes):
    """Shapes where a row is never taken for a column: for matrices that come with their layout, not from a page."""

    def multiply(self, a: Shape, b: Shape) -> Shape:
        if a[1] != b[0]:
            raise fit.no_product(a, b)
        return a[0], b[1]


def shapes(
    program: Program, known: Mapping[Symbol, Shape] | None = None, *, strict: bool = False
) -> dict[Symbol, Shape]:
    """The shape of every quantity of a program; `known` replaces the shapes of givens (by symbolic sizes, say).

    Where two do not fit it says so with both names: 'Q = X W_Q: X is 3×4 and W_Q is 3×3, so 4 columns meet 3 rows'.
    """
    return run(program, StrictShapes() if strict else Shapes(), known)
