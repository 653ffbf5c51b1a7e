"""Backwards through one expression: what the gradient of its value makes of each name in it.

Each kind of node has one rule: what the gradient g of its value makes of its parts. A quantity that is used several
times adds up what comes back from each use. Rules write expressions, so gradients are worked out, counted and printed
like everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from qkv.errors import ValueRefused
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.expr.show import plain
from qkv.interpret.fit import Shape, Way, product_way
from qkv.interpret.loop import evaluate
from qkv.interpret.shapes import Shapes

Span = tuple[int, int]
Share = tuple[n.Expr, Span | None]  # what comes back from one use, of all columns or of some


def added(shares: list[Share], width: int) -> n.Expr:
    """All shares together; blocks of columns that cover everything are put side by side."""
    spans = sorted(span for _, span in shares if span is not None)
    edges = [(0, 0), *spans, (width + 1, width + 1)]
    if len(spans) == len(shares) and all(b[0] == a[1] + 1 for a, b in pairwise(edges)):
        blocks = sorted(((span, expr) for expr, span in shares if span is not None), key=lambda block: block[0])
        return n.Concat(tuple(expr for _, expr in blocks), 1)
    whole = [expr if span is None else n.Product(expr, _selecting(span, width)) for expr, span in shares]
    return whole[0] if len(whole) == 1 else n.Sum(tuple(whole))


def ones(rows: int, columns: int) -> n.Matrix:
    """A matrix of ones."""
    return n.Matrix(((n.number(1),) * columns,) * rows)


def turned(expr: n.Expr) -> n.Expr:
    """The transpose, with transposes taken inside of products: (Qᵀ dS)ᵀ is dSᵀ Q."""
    if isinstance(expr, n.Transpose):
        return expr.arg
    if isinstance(expr, n.Product):
        return n.Product(turned(expr.right), turned(expr.left))
    return n.Transpose(expr)


def _selecting(span: Span, width: int) -> n.Matrix:
    """The matrix that puts a block of columns in its place among zeros."""
    return n.Matrix(
        tuple(tuple(n.number(int(j == i)) for j in range(1, width + 1)) for i in range(span[0], span[1] + 1))
    )


class Backward:
    """The way back through one expression; what comes to names is noted in `found`."""

    def __init__(self, shapes: Mapping[Symbol, Shape], found: dict[Symbol, list[Share]]) -> None:
        self.shapes, self.found = shapes, found

    def through(self, node: n.Expr, g: n.Expr, value: n.Expr, span: Span | None = None) -> None:
        """Send the gradient g of a node (of some of its columns) on to its parts; `value` is a short name for the node,
        or the node itself."""
        if isinstance(node, n.Name):
            self.found.setdefault(node.symbol, []).append((g, span))
        elif n.names_in(node):
            g = g if span is None else n.Product(g, _selecting(span, self.shape(node)[1]))
            rule = RULES.get(node.function if isinstance(node, n.Call) else type(node))
            if rule is None:
                raise ValueRefused(f"the gradient of {plain(node)} is not worked out")
            for part, made in rule(self, node, g, value):
                if n.names_in(part):
                    self._on(part, made)

    def _on(self, part: n.Expr, g: n.Expr) -> None:
        if isinstance(part, n.Entry) and part.columns is not None and part.row is None:
            first, last = part.columns
            self.through(part.arg, g, part.arg, (first, last or self.shape(part.arg)[1]))
        else:
            self.through(part, g, part)

    def shape(self, node: n.Expr) -> Shape:
        """How large a part is."""
        return evaluate(node, self.shapes, Shapes())

    def fitted(self, g: n.Expr, node: n.Expr, part: n.Expr) -> n.Expr:
        """A gradient of the shape of a node, added up over what its part was spread along."""
        (rows, columns), (high, wide) = self.shape(node), self.shape(part)
        if (rows, columns) == (high, wide):
            return g
        if (high, wide) == (1, 1):
            return n.Call("sum", (g,))
        if (rows, columns) == (wide, high):
            return turned(g)
        return n.Product(ones(1, rows), g) if high == 1 else n.Call("rowsum", (g,))


Parts = Iterator[tuple[n.Expr, n.Expr]]  # parts of a node, each with its gradient


def _sum(way: Backward, node: n.Sum, g: n.Expr, value: n.Expr) -> Parts:
    for term in node.terms:
        yield term, way.fitted(g, node, term)


def _product(way: Backward, node: n.Product, g: n.Expr, value: n.Expr) -> Parts:
    a, b = node.left, node.right
    kind = product_way(way.shape(a), way.shape(b))
    scaled = (way.shape(a) == (1, 1)) + (way.shape(b) == (1, 1))
    if kind is Way.SCALE_RIGHT and scaled == 1:
        yield a, n.Call("sum", (n.Call("hadamard", (g, b)),))
        yield b, n.Product(a, g)
    elif kind is Way.SCALE_LEFT:
        yield a, n.Product(b, g)
        yield b, n.Call("sum", (n.Call("hadamard", (g, a)),))
    elif kind is Way.DOT:
        yield a, n.Product(g, b)
        yield b, n.Product(g, a)
    elif kind is Way.COLUMN:
        yield a, n.Product(g, b)
        yield b, n.Product(turned(g), a)
    elif kind is Way.ROW:
        yield a, n.Product(b, turned(g))
        yield b, n.Product(a, g)
    else:
        yield a, n.Product(g, turned(b))
        yield b, n.Product(turned(a), g)


def _quotient(way: Backward, node: n.Quotient, g: n.Expr, value: n.Expr) -> Parts:
    yield node.numerator, n.Quotient(g, node.denominator)
    if n.names_in(node.denominator):
        back = way.fitted(n.Call("hadamard", (g, value)), node, node.denominator)
        yield node.denominator, n.Negate(n.Quotient(back, node.denominator))


def _power(way: Backward, node: n.Power, g: n.Expr, value: n.Expr) -> Parts:
    if not isinstance(node.exponent, n.Number):
        raise ValueRefused(f"the gradient of {plain(node)} is not worked out")
    less = n.number(node.exponent.value - 1)
    slope = node.base if less.value == 1 else n.Power(node.base, less)
    yield node.base, n.Product(node.exponent, n.Call("hadamard", (g, slope)))


def _softmax(way: Backward, node: n.Softmax, g: n.Expr, value: n.Expr) -> Parts:
    rows, columns = way.shape(node)
    column = columns == 1 < rows and node.axis == 1 and not node.by_rows  # a column of scores is one distribution
    if (rows, columns)[node.axis] == 1 and not column:
        return  # one weight is always 1
    down = node.axis == 0
    a, d = (turned(value), turned(g)) if down else (value, g)
    made = n.Call("hadamard", (a, n.Sum((d, n.Negate(n.Call("rowsum", (n.Call("hadamard", (a, d)),)))))))
    yield node.arg, turned(made) if down else made


def _concat(way: Backward, node: n.Concat, g: n.Expr, value: n.Expr) -> Parts:
    first = 1
    for part in node.parts:
        last = first + way.shape(part)[node.axis] - 1
        block = n.Entry(g if node.axis else turned(g), columns=(first, last))
        yield part, block if node.axis else turned(block)
        first = last + 1


def _matrix(way: Backward, node: n.Matrix, g: n.Expr, value: n.Expr) -> Parts:
    if any(way.shape(cell) != (1, 1) for row in node.rows for cell in row):
        raise ValueRefused(f"the gradient of {plain(node)} is not worked out")
    for i, row in enumerate(node.rows, 1):
        for j, cell in enumerate(row, 1):
            yield cell, n.Entry(g, row=i, column=j)


def _entry(way: Backward, node: n.Entry, g: n.Expr, value: n.Expr) -> Parts:
    """A row, a column or a cell: zeros stand around what comes back."""
    rows, columns = way.shape(node.arg)
    if node.columns is not None and node.row is None:
        yield node, g  # a block of columns is noted with its place
        return
    if node.columns is not None:
        raise ValueRefused(f"the gradient of {plain(node)} is not worked out")
    if node.row is not None:
        g = n.Product(n.Matrix(tuple((n.number(int(i == node.row)),) for i in range(1, rows + 1))), g)
    if node.column is not None:
        g = n.Product(g, n.Matrix((tuple(n.number(int(j == node.column)) for j in range(1, columns + 1)),)))
    yield node.arg, g


def _mean(way: Backward, node: n.Call, g: n.Expr, value: n.Expr) -> Parts:
    x = node.args[0]
    yield x, n.Quotient(_spread(way, g, x), n.number(_length(way, x)))


def _rowsum(way: Backward, node: n.Call, g: n.Expr, value: n.Expr) -> Parts:
    yield node.args[0], _spread(way, g, node.args[0])


def _total(way: Backward, node: n.Call, g: n.Expr, value: n.Expr) -> Parts:
    for part in node.args:
        yield part, n.Product(g, ones(*way.shape(part)))


def _spread(way: Backward, g: n.Expr, x: n.Expr) -> n.Expr:
    """A number for each row in every cell of that row; a column counts as one row."""
    rows, columns = way.shape(x)
    return n.Product(ones(rows, 1), g) if columns == 1 else n.Product(g, ones(1, columns))


def _length(way: Backward, x: n.Expr) -> int:
    rows, columns = way.shape(x)
    return rows if columns == 1 else columns


def _variance(way: Backward, node: n.Call, g: n.Expr, value: n.Expr) -> Parts:
    x = node.args[0]
    apart = n.Sum((x, n.Negate(n.Call("mean", (x,)))))
    yield x, n.Quotient(n.Call("hadamard", (g, apart)), n.Quotient(n.number(_length(way, x)), n.number(2)))


def _deviation(way: Backward, node: n.Call, g: n.Expr, value: n.Expr) -> Parts:
    x = node.args[0]
    apart = n.Sum((x, n.Negate(n.Call("mean", (x,)))))
    yield x, n.Quotient(n.Call("hadamard", (n.Quotient(g, value), apart)), n.number(_length(way, x)))


def _norm(way: Backward, node: n.Call, g: n.Expr, value: n.Expr) -> Parts:
    yield node.args[0], n.Call("hadamard", (n.Quotient(g, value), node.args[0]))


def _hadamard(way: Backward, node: n.Call, g: n.Expr, value: n.Expr) -> Parts:
    a, b = node.args
    yield a, way.fitted(n.Call("hadamard", (g, b)), node, a)
    yield b, way.fitted(n.Call("hadamard", (g, a)), node, b)


def _cellwise(slope: Callable[[n.Expr, n.Expr], n.Expr]) -> Rule:
    """A function taken cell by cell: its slope by its argument and its value."""

    def rule(way: Backward, node: n.Expr, g: n.Expr, value: n.Expr) -> Parts:
        (arg,) = n.children(node)
        yield arg, n.Call("hadamard", (g, slope(arg, value)))

    return rule


def _over(divisor: Callable[[n.Expr, n.Expr], n.Expr]) -> Rule:
    """A function whose slope is one over something."""

    def rule(way: Backward, node: n.Expr, g: n.Expr, value: n.Expr) -> Parts:
        (arg,) = n.children(node)
        yield arg, n.Quotient(g, divisor(arg, value))

    return rule


def _slope(function: str) -> Rule:
    return _cellwise(lambda x, y: n.Call(function, (x,)))


Rule = Callable[[Backward, n.Expr, n.Expr, n.Expr], Parts]
RULES: Mapping[object, Callable[..., Parts]] = {
    n.Sum: _sum,
    n.Product: _product,
    n.Quotient: _quotient,
    n.Power: _power,
    n.Softmax: _softmax,
    n.Concat: _concat,
    n.Matrix: _matrix,
    n.Entry: _entry,
    n.Negate: lambda way, node, g, value: iter([(node.arg, n.Negate(g))]),
    n.Transpose: lambda way, node, g, value: iter([(node.arg, turned(g))]),
    n.Mask: lambda way, node, g, value: iter([(node.arg, g)]),  # a weight of 0 sends nothing back
    n.Exp: _cellwise(lambda x, y: y),
    "tanh": _cellwise(lambda x, y: n.Sum((n.number(1), n.Negate(n.Call("hadamard", (y, y)))))),
    n.Root: _over(lambda x, y: n.Sum((y, y))),
    "ln": _over(lambda x, y: x),
    "mean": _mean,
    "sum": _total,
    "rowsum": _rowsum,
    "var": _variance,
    "std": _deviation,
    "hadamard": _hadamard,
    "norm": _norm,
    **{name: _slope(f"d{name}") for name in ("relu", "gelu", "gelutanh", "silu", "elu")},
    "sin": _cellwise(lambda x, y: n.Call("cos", (x,))),
    "cos": _cellwise(lambda x, y: n.Negate(n.Call("sin", (x,)))),
}
