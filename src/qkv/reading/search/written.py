"""How blocks and transposes of an expression are written."""

from __future__ import annotations

from qkv.expr import nodes as n
from qkv.reading.search.tables import Shape


def transposed(expr: n.Expr) -> n.Expr:
    """The transpose of an expression, put at its operands where these are transposes themselves: (xᵀ Wᵀ)ᵀ is W x."""
    match expr:
        case n.Transpose(arg):
            return arg
        case n.Number() | n.Root(n.Number()):
            return expr
        case n.Entry(_, int(), int()):
            return expr
        case n.Product(left, right) if _is_turned(left) or _is_turned(right):
            return n.Product(transposed(right), transposed(left))
        case n.Concat(parts, axis):
            return n.Concat(tuple(map(transposed, parts)), 1 - axis)
        case n.Sum(terms) if any(map(_is_turned, terms)):
            return n.Sum(tuple(map(transposed, terms)))
        case n.Quotient(top, n.Number() | n.Root(n.Number()) as bottom) if _is_turned(top):
            return n.Quotient(transposed(top), bottom)
        case n.Softmax(arg, 1) if _is_turned(arg):
            return n.Softmax(transposed(arg), 0)
        case n.Exp(arg) if _is_turned(arg):
            return n.Exp(transposed(arg))
        case n.Tanh(arg) if _is_turned(arg):
            return n.Tanh(transposed(arg))
        case n.Negate(arg) if _is_turned(arg):
            return n.Negate(transposed(arg))
    return n.Transpose(expr)


def _is_turned(expr: n.Expr) -> bool:
    """Whether the transpose of an expression is simpler than the expression."""
    match expr:
        case n.Transpose():
            return True
        case n.Negate(arg) | n.Softmax(arg) | n.Exp(arg) | n.Tanh(arg) | n.Quotient(arg, n.Number() | n.Root()):
            return _is_turned(arg)
        case n.Product(left, right):
            return _is_turned(left) or _is_turned(right)
    return False


def block_expr(expr: n.Expr, shape: Shape, at: tuple[int, int], size: Shape) -> n.Expr:
    """A block of a value of this shape, as an expression: a cell, a row, columns, or columns of the transpose."""
    (i, j), (r, c), (height, width) = at, size, shape
    if (r, c) == shape:
        return expr
    if isinstance(expr, n.Transpose):
        return transposed(block_expr(expr.arg, (width, height), (j, i), (c, r)))
    if (r, c) == (1, 1):
        return n.Entry(expr, row=i + 1, column=j + 1)
    row = i + 1 if r == 1 < height else None
    if c < width:
        expr = n.Entry(expr, row=row, column=j + 1) if c == 1 else n.Entry(expr, row=row, columns=(j + 1, j + c))
    elif row is not None:
        expr = n.Entry(expr, row=row)
    if 1 < r < height:
        expr = n.Transpose(n.Entry(transposed(expr), columns=(i + 1, i + r)))
    return expr
