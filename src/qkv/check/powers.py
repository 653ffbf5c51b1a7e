"""The exponentials that a softmax adds up, as expressions: each may be printed alone, and so may their sum."""

from __future__ import annotations

from qkv.expr import nodes as n


def row_sum(scores: n.Expr, i: int, columns: int) -> n.Expr:
    """The sum of the exponentials of a row of scores."""
    return n.Product(n.Matrix((exponentials(scores, i, columns),)), ones(columns))


def exponentials(scores: n.Expr, i: int, columns: int) -> tuple[n.Expr, ...]:
    """The exponentials of a row of scores, one by one: each may be printed alone."""
    return tuple(n.Exp(n.Entry(scores, i, j)) for j in range(1, columns + 1))


def scores_raised(expr: n.Expr) -> n.Expr | None:
    """The scores that an exponential, or the sum of a row of exponentials, is of."""
    if isinstance(expr, n.Product) and isinstance(expr.left, n.Matrix):
        return scores_raised(expr.left.rows[0][0])
    if not isinstance(expr, n.Exp):
        return None
    return expr.arg.arg if isinstance(expr.arg, n.Entry) else expr.arg


def ones(rows: int) -> n.Matrix:
    """A column of ones: what a row is multiplied by to add it up."""
    return n.Matrix(((n.number(1),),) * rows)
