"""One row of what an expression gives, without the others: one row is enough to rule most mistakes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.certified import Value
from qkv.interpret.fit import Shape, Way, product_way
from qkv.interpret.loop import evaluate
from qkv.interpret.shapes import Shapes
from qkv.records import dataclass, replace


@dataclass(frozen=True)
class Sizes(Mapping[Symbol, Shape]):
    """The shapes of values by name."""

    held: Mapping[Symbol, Value]

    def __getitem__(self, symbol: Symbol) -> Shape:
        return self.held[symbol].shape

    def __contains__(self, symbol: object) -> bool:
        return symbol in self.held

    def __iter__(self) -> Iterator[Symbol]:
        return iter(self.held)

    def __len__(self) -> int:
        return len(self.held)

    def of(self, expr: n.Expr) -> Shape:
        """The shape of an expression; raises where it has none."""
        return evaluate(expr, self, Shapes())


def row_of(expr: n.Expr, i: int, shape: Callable[[n.Expr], Shape]) -> n.Expr:
    """Row i (from 1) of an expression: what can be picked before it is worked out, is.

    >>> from qkv.expr.show import plain
    >>> q, k = n.Name(Symbol("Q")), n.Name(Symbol("K"))
    >>> plain(row_of(n.Softmax(n.Product(q, n.Transpose(k))), 2, lambda part: (3, 3)))
    'softmax(Q[2] K^T)'
    """

    def row(part: n.Expr) -> n.Expr:
        return row_of(part, i, shape)

    match expr:
        case n.Product():
            return _of_product(expr, i, shape)
        case n.Sum(terms=terms):
            whole = shape(expr)
            shapes = [shape(term) for term in terms]
            if all(one in (whole, (1, whole[1])) for one in shapes):
                parts = zip(terms, shapes, strict=True)
                return n.Sum(tuple(row(term) if one == whole else term for term, one in parts))
        case n.Quotient(numerator=a, denominator=b):
            return n.Quotient(row(a), b if shape(b) == (1, 1) else row(b))
        case n.Softmax(arg=a, axis=1) | n.Normalise(arg=a, axis=1) if expr.by_rows or shape(a)[1] > 1:
            return replace(expr, arg=row(a))
        case n.Exp(arg=a) | n.Tanh(arg=a) | n.Negate(arg=a) | n.Root(arg=a) | n.Absolute(arg=a):
            return replace(expr, arg=row(a))
        case n.Transpose(arg=a):
            return n.Transpose(n.Entry(a, column=i))
        case n.Concat(parts=parts, axis=1):
            return n.Concat(tuple(_beside(parts, row)))
        case n.Matrix(rows=rows) if n.is_plain(expr) and not expr.is_ragged:
            return n.Matrix((rows[i - 1],))
        case n.Mask(arg=a, pattern=None):
            return n.Mask(row(a), _seen(shape(a), i), truth=True)
        case n.Mask(arg=a, pattern=pattern) if pattern is not None:
            return n.Mask(row(a), row(pattern), expr.truth)
    return n.Entry(expr, row=i)


def _beside(parts: tuple[n.Expr, ...], row: Callable[[n.Expr], n.Expr]) -> Iterator[n.Expr]:
    """The rows of parts that stand side by side; columns of one matrix are picked from one row of it."""
    wholes: dict[int, n.Expr] = {}
    for part in parts:
        if isinstance(part, n.Entry) and part.row is None:
            if id(part.arg) not in wholes:
                wholes[id(part.arg)] = row(part.arg)
            yield replace(part, arg=wholes[id(part.arg)])
        else:
            yield row(part)


def _of_product(expr: n.Product, i: int, shape: Callable[[n.Expr], Shape]) -> n.Expr:
    match product_way(shape(expr.left), shape(expr.right)):
        case Way.MATRIX | Way.SCALE_LEFT:
            return n.Product(row_of(expr.left, i, shape), expr.right)
        case Way.SCALE_RIGHT:
            return n.Product(expr.left, row_of(expr.right, i, shape))
        case _:
            return n.Entry(expr, row=i)


def _seen(shape: Shape, i: int) -> n.Matrix:
    """Row i of a causal pattern: 1 for the keys that query i may see."""
    last = i + max(shape[1] - shape[0], 0)
    return n.Matrix((tuple(n.number(int(j <= last)) for j in range(1, shape[1] + 1)),))
