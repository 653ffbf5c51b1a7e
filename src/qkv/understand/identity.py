"""Identity matrices by name: I_2, I_{3×3}, ½ I_2."""

from __future__ import annotations

from fractions import Fraction

from qkv.expr import nodes as n
from qkv.expr.names import Symbol


def with_identity(expr: n.Expr) -> n.Expr:
    """I_2, or a number times the identity matrix, written out; anything else as it is.

    >>> with_identity(n.Name(Symbol("I", (), ("2",)))).shape
    (2, 2)
    """
    if isinstance(expr, n.Name):
        size = _size(expr.symbol)
        return _identity(size, n.number(1)) if size else expr
    if isinstance(expr, n.Product) and (scale := _fraction(expr.left)) is not None and _is_identity(expr.right):
        return _identity(len(expr.right.rows), n.Number(scale, None))  # type: ignore[union-attr]
    return expr


def _size(symbol: Symbol) -> int:
    sizes = set(symbol.indices)
    size = sizes.pop() if symbol.base == "I" and not symbol.labels and len(sizes) == 1 else ""
    return int(size) if size.isdigit() and len(size) < 3 else 0


def _identity(size: int, scale: n.Number) -> n.Matrix:
    return n.Matrix(tuple(tuple(scale if i == j else n.number(0) for j in range(size)) for i in range(size)))


def _is_identity(expr: n.Expr) -> bool:
    return isinstance(expr, n.Matrix) and bool(expr.rows) and expr == _identity(len(expr.rows), n.number(1))


def _fraction(expr: n.Expr) -> Fraction | None:
    """The value of a number or a plain fraction."""
    if isinstance(expr, n.Number):
        return expr.value
    if isinstance(expr, n.Quotient) and isinstance(expr.numerator, n.Number) and isinstance(expr.denominator, n.Number):
        return expr.numerator.value / expr.denominator.value if expr.denominator.value else None
    return None
