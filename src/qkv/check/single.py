"""One cell of a product or a sum, without the others: one number rules most mistakes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import mul

from flint import arb, fmpq

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.cells import NEG_INF, Cell
from qkv.interpret.certified import Value

ZERO = fmpq(0)


def single_cell(expr: n.Expr, i: int, j: int, values: Mapping[Symbol, Value]) -> Cell | None:
    """The cell in row i and column j (from 0) of what an expression gives, if it has a value; None where there is
    no such cell, or where only the whole tells it.

    >>> q, k = n.Name(Symbol("Q")), n.Name(Symbol("K"))
    >>> values = {q.symbol: Value(((fmpq(2), fmpq(3)),)), k.symbol: Value(((fmpq(5), fmpq(7)),))}
    >>> single_cell(n.Product(q, n.Transpose(k)), 0, 0, values), single_cell(n.Softmax(q), 0, 0, values)
    (31, None)
    """
    if type(expr) is n.Product:
        return _dot(_line(expr.left, i, 0, values), _line(expr.right, j, 1, values))
    if type(expr) is n.Negate:
        cell = single_cell(expr.arg, i, j, values)
        return None if cell is None or cell is NEG_INF else -cell
    if type(expr) is n.Sum:
        total: Cell = ZERO
        for term in expr.terms:
            cell = single_cell(term, i, j, values)
            if cell is None or cell is NEG_INF:
                return None
            total += cell
        return total
    for part in expr.parts if type(expr) is n.Concat and expr.axis == 1 else (expr,):
        line = _line(part, i, 0, values)
        if line is None or j < len(line):
            return None if line is None else line[j]
        j -= len(line)
    return None


def _dot(row: Sequence[Cell] | None, column: Sequence[Cell] | None) -> Cell | None:
    """Where as many numbers meet, this is how they are multiplied, also if one side is a single number."""
    if row is None or column is None or len(row) != len(column) or NEG_INF in row or NEG_INF in column:
        return None
    total = sum(map(mul, row, column), ZERO)
    return None if type(total) is arb and not total.is_finite() else total


def _line(expr: n.Expr, k: int, axis: int, values: Mapping[Symbol, Value]) -> Sequence[Cell] | None:
    """Row k (axis 0) or column k (axis 1) of a quantity, turned or not, or of a row or column of one."""
    if type(expr) is n.Transpose:
        return _line(expr.arg, k, 1 - axis, values)
    if type(expr) is n.Name:
        rows = values[expr.symbol].rows
        if k >= (len(rows[0]) if axis else len(rows)):
            return None
        return [row[k] for row in rows] if axis else rows[k]
    if type(expr) is not n.Entry or expr.columns is not None or (expr.row is None) == (expr.column is None):
        return None
    picked, along = (expr.row, 0) if expr.row is not None else (expr.column, 1)
    if picked is None:
        return None
    if axis == along:
        return _line(expr.arg, picked - 1, axis, values) if k == 0 else None
    cell = single_cell(expr.arg, *((picked - 1, k) if along == 0 else (k, picked - 1)), values)
    return None if cell is None else (cell,)
