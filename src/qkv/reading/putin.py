"""Names that a page gives no numbers of their own, but puts numbers in for: Q = X W = [..] [..] tells X and W."""

from __future__ import annotations

from collections.abc import Iterator

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.reading.align import aligned, leaf
from qkv.reading.definitions import Source, has_decimals
from qkv.reading.equation import Equation, Kind
from qkv.reading.repair import similar

Told = tuple[Symbol, n.Expr, Source, Equation]


def put_in(equations: tuple[Equation, ...], known: set[Symbol]) -> Iterator[Told]:
    """Names that nothing else defines (what is defined is `known`), with the numbers that workings put in for them.

    A copy of what was put in before is no new value, nor is one of which most cells agree: that is miscopied. What
    copies the rounded result of a formula above is that formula: softmaxᵀ, where softmax(S) = [..] stands above."""
    printed: dict[Symbol, n.Matrix] = {}
    last: dict[Symbol, n.Matrix] = {}
    results: dict[tuple[tuple[n.Expr, ...], ...], n.Expr] = {}
    for equation in equations:
        if not equation.struck:
            for symbol, matrix in _told(equation, printed):
                if symbol not in known and not (symbol in last and similar(last[symbol], matrix)):
                    last[symbol] = matrix
                    meant = results.get(matrix.rows)
                    yield (symbol, *((matrix, Source.GIVEN) if meant is None else (meant, Source.STATED)), equation)
        for item in equation.of(Kind.VALUE)[-1:]:
            if isinstance(item.expr, n.Matrix):
                printed.update(dict.fromkeys(equation.names, item.expr))
                if not equation.names and has_decimals(item.expr) and equation.items[0] is not item:
                    results[item.expr.rows] = equation.items[0].expr


def only_mentioned(equations: tuple[Equation, ...]) -> frozenset[int]:
    """Equations that give a number to a name for which a working above puts in another one, and none this one.

    'For d_k = 64 they would be large', where √d_k = √2 stands above, says nothing of this page's d_k."""
    put = [(e, symbol, number) for e in equations for symbol, number in _numbers_in(e)]
    found = set()
    for equation in equations:
        value = equation.items[-1].expr
        if len(equation.items) == 2 and equation.names and isinstance(value, n.Number):
            same = [(e, x) for e, symbol, x in put if symbol == equation.names[0] and e.scope == equation.scope]
            if any(e.index < equation.index for e, _ in same) and all(x.value != value.value for _, x in same):
                found.add(equation.index)
    return frozenset(found)


def _numbers_in(equation: Equation) -> Iterator[tuple[Symbol, n.Number]]:
    """Names in formulas with the numbers that stand in their places beside; √d_k = 2 tells d_k."""
    for formula in equation.of(Kind.FORMULA):
        for working in equation.of(Kind.WORKING):
            for part, number in aligned(formula.expr, working.expr):
                if isinstance(part, n.Name) and isinstance(number, n.Number):
                    yield part.symbol, number
        root = formula.expr.arg if isinstance(formula.expr, n.Root) else None
        for value in (item.expr for item in equation.of(Kind.VALUE)):
            if isinstance(root, n.Name) and isinstance(value, n.Number) and not value.places:
                yield root.symbol, n.number(value.value**2)


def _told(equation: Equation, printed: dict[Symbol, n.Matrix]) -> Iterator[tuple[Symbol, n.Matrix]]:
    for formula in equation.of(Kind.FORMULA):
        for working in equation.of(Kind.WORKING):
            pairs = [found for part, numbers in aligned(formula.expr, working.expr) if (found := leaf(part, numbers))]
            if all(name.symbol not in printed or similar(printed[name.symbol], matrix) for name, matrix in pairs):
                telling = [(name, matrix) for name, matrix in pairs if n.is_plain(matrix) and max(matrix.shape) > 1]
                yield from ((name.symbol, matrix) for name, matrix in telling)
