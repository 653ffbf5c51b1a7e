"""Names that a page gives no numbers of their own, but puts numbers in for: Q = X W = [..] [..] tells X and W."""

from __future__ import annotations

from collections.abc import Iterator

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.reading.align import aligned, leaf
from qkv.reading.equation import Equation, Kind
from qkv.reading.repair import similar

Given = tuple[Symbol, n.Matrix, Equation]


def put_in(equations: tuple[Equation, ...], known: set[Symbol]) -> Iterator[Given]:
    """Names that nothing else defines (what is defined is `known`), with the numbers that workings put in for them.

    A copy of what was put in before is no new value, nor is one of which most cells agree: that is miscopied."""
    printed: dict[Symbol, n.Matrix] = {}
    last: dict[Symbol, n.Matrix] = {}
    for equation in equations:
        if not equation.struck:
            for symbol, matrix in _told(equation, printed):
                if symbol not in known and not (symbol in last and similar(last[symbol], matrix)):
                    last[symbol] = matrix
                    yield symbol, matrix, equation
        for item in equation.of(Kind.VALUE)[-1:]:
            if isinstance(item.expr, n.Matrix):
                printed.update(dict.fromkeys(equation.names, item.expr))


def _told(equation: Equation, printed: dict[Symbol, n.Matrix]) -> Iterator[tuple[Symbol, n.Matrix]]:
    for formula in equation.of(Kind.FORMULA):
        for working in equation.of(Kind.WORKING):
            pairs = [found for part, numbers in aligned(formula.expr, working.expr) if (found := leaf(part, numbers))]
            if all(name.symbol not in printed or similar(printed[name.symbol], matrix) for name, matrix in pairs):
                telling = [(name, matrix) for name, matrix in pairs if n.is_plain(matrix) and max(matrix.shape) > 1]
                yield from ((name.symbol, matrix) for name, matrix in telling)
