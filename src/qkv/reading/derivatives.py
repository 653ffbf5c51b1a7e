"""Derivatives as names: ∂L/∂z_1, dL/dz and ∇_z L are quantities with the indices of what they stand over."""

from __future__ import annotations

from qkv.expr import nodes as n
from qkv.expr.names import Symbol

MARKS = frozenset(map(Symbol, ("partial", "∂", "d")))
_NABLA = frozenset({"nabla", "∇"})


def with_derivatives(expr: n.Expr) -> n.Expr:
    """An expression with its derivatives as names."""
    if not n.kinds_in(expr) & {n.Quotient, n.Product}:
        return expr
    return n.rewrite(expr, _as_name)


def _as_name(node: n.Expr) -> n.Expr:
    if isinstance(node, n.Quotient):
        over, under = _differential(node.numerator), _differential(node.denominator)
        if over is not None and under is not None:
            return n.Name(derivative(over, under), at=node.at)
    if isinstance(node, n.Product) and isinstance(node.left, n.Quotient):  # ∂p/∂z on one line
        whole = n.Quotient(node.left.numerator, n.Product(node.left.denominator, node.right))
        made = _as_name(whole) if _is_mark(node.left.denominator) else node
        return made if isinstance(made, n.Name) else node
    if isinstance(node, n.Product) and isinstance(node.left, n.Name) and node.left.symbol.base in _NABLA:
        by = node.left.symbol
        letters = (*by.labels, *by.indices)
        if isinstance(node.right, n.Name) and len(letters) == 1:
            return n.Name(derivative(node.right.symbol, Symbol(letters[0])), at=node.at)
    return node


def derivative(over: Symbol, under: Symbol) -> Symbol:
    """The name of a derivative: its indices are those of both."""
    return Symbol(f"∂{over.base}/∂{under.base}", under.labels, over.indices + under.indices)


def _differential(node: n.Expr) -> Symbol | None:
    """What ∂z or dz stands over."""
    if isinstance(node, n.Product) and _is_mark(node.left) and isinstance(node.right, n.Name):
        return node.right.symbol
    if isinstance(node, n.Name) and len(node.symbol.base) > 1 and node.symbol.base[0] in "d∂":
        return node.symbol._replace(base=node.symbol.base[1:])
    return None


def _is_mark(node: n.Expr) -> bool:
    return isinstance(node, n.Name) and node.symbol in MARKS
