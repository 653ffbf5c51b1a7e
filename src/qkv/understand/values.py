"""What a link of a chain is: a name, a formula, numbers still to be combined, or a plain value."""

from __future__ import annotations

from enum import Enum

from qkv.expr import nodes as n
from qkv.records import replace


class Form(Enum):
    """What a link is."""

    NAME = "a name"
    FORMULA = "an expression with names"
    WORKING = "numbers still to be combined"
    VALUE = "a plain value"


def form(expr: n.Expr) -> Form:
    """What kind of link an expression is."""
    if isinstance(expr, n.Number) or (isinstance(expr, n.Matrix) and n.is_plain(expr) and any(expr.rows)):
        return Form.VALUE
    if isinstance(expr, n.Name) or (isinstance(expr, n.Transpose) and isinstance(expr.arg, n.Name)):
        return Form.NAME
    if not n.is_literal(expr):
        return Form.FORMULA
    return Form.WORKING if plain_value(expr) is None else Form.VALUE


def plain_value(expr: n.Expr) -> n.Matrix | None:
    """A printed matrix, vector or number as a matrix of plain cells; None where something is still to be worked out.

    >>> plain_value(n.Negate(n.number("0.5"))).rows[0][0].value
    Fraction(-1, 2)
    """
    if isinstance(expr, n.Number):
        return n.Matrix(((expr,),), at=expr.at)
    if isinstance(expr, n.Transpose):
        inner = plain_value(expr.arg)
        return None if inner is None or inner.is_ragged else _transposed(inner)
    if isinstance(expr, n.Matrix):
        if n.is_plain(expr):
            return expr if any(expr.rows) else None
        rows = []
        for row in expr.rows:
            cells = []
            for cell in row:
                plain = cell if isinstance(cell, n.Number) else _plain_cell(cell)
                if plain is None:
                    return None
                cells.append(plain)
            rows.append(tuple(cells))
        return replace(expr, rows=tuple(rows)) if any(rows) else None
    value = _plain_cell(expr)
    return None if value is None else n.Matrix(((value,),), at=expr.at)


def _transposed(matrix: n.Matrix) -> n.Matrix:
    return n.Matrix(tuple(zip(*matrix.rows, strict=True)), at=matrix.at)


def _plain_cell(expr: n.Expr) -> n.Expr | None:
    match expr:
        case n.Number() | n.Infinite():
            return expr
        case n.Negate(arg=n.Number() as inner):
            return replace(inner, value=-inner.value, text="-" + inner.text)
        case n.Negate(arg=n.Quotient() as inner):
            fraction = _plain_cell(inner)
            return _plain_cell(n.Negate(fraction)) if isinstance(fraction, n.Number) else None
        case n.Negate(arg=n.Infinite(sign=sign)):
            return n.Infinite(-sign, at=expr.at)
        case n.Matrix(rows=((inner,),)):
            return _plain_cell(inner)
        case n.Quotient(numerator=a, denominator=b):
            return _plain_fraction(expr, _plain_cell(a), _plain_cell(b))
        case _:
            return None


def constant(expr: n.Expr) -> n.Matrix | None:
    """A matrix with cells such as √2, 10^{-3} or 3√2: numbers, though not printed as decimals, and no working."""
    if not isinstance(expr, n.Matrix) or expr.is_ragged:
        return None
    return expr if all(_is_constant(cell) for row in expr.rows for cell in row) else None


def _is_constant(cell: n.Expr) -> bool:
    match cell:
        case n.Number() | n.Infinite():
            return True
        case n.Negate(arg=a) | n.Root(arg=a) | n.Exp(arg=a):
            return _is_constant(a)
        case n.Power(base=a, exponent=b) | n.Quotient(numerator=a, denominator=b):
            return _is_constant(a) and _is_constant(b)
        case n.Product(left=a, right=b):
            return _is_constant(a) and isinstance(b, (n.Root, n.Power))
        case _:
            return False


def _plain_fraction(expr: n.Expr, a: n.Expr | None, b: n.Expr | None) -> n.Expr | None:
    """1/3 is a value; 4/1.732 is a working."""
    if not (isinstance(a, n.Number) and isinstance(b, n.Number)) or a.places != 0 or b.places != 0 or b.value == 0:
        return None
    return n.Number(a.value / b.value, None, f"{a.text}/{b.text}", at=expr.at)
