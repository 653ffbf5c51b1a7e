"""A working held beside its formula: which numbers were put in for which names."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from qkv.expr import nodes as n

Pair = tuple[n.Expr, n.Expr]  # a part of a formula, and the numbers that stand in its place


def aligned(formula: n.Expr, working: n.Expr) -> Iterator[Pair]:
    """The parts of a formula with what was put in for each; nothing where the two are not alike.

    >>> from qkv.expr.names import Symbol
    >>> formula = n.Product(n.Name(Symbol("X")), n.Name(Symbol("W")))
    >>> len(list(aligned(formula, n.Product(n.matrix([[1, 2]]), n.matrix([[3], [4]])))))
    2
    """
    found = _pairs(formula, working)
    if found is not None:
        yield from found


def _pairs(formula: n.Expr, working: n.Expr) -> list[Pair] | None:
    if n.is_literal(formula):
        return [] if formula == working or not n.holds(working, n.Matrix) else None
    if is_leaf(formula) or (isinstance(working, n.Matrix) and not isinstance(formula, n.Matrix)):
        return [(formula, working)]
    if isinstance(formula, n.Product) and isinstance(working, n.Product):
        parts, numbers = n.factors(formula), n.factors(working)
    elif type(formula) is type(working) and not isinstance(formula, n.Matrix):
        if isinstance(formula, n.Call) and formula.function != working.function:  # type: ignore[union-attr]
            return None
        parts, numbers = list(n.children(formula)), list(n.children(working))
    else:
        return None
    return place_by_place(parts, numbers, _pairs)


def place_by_place(
    parts: list[n.Expr], numbers: list[n.Expr], pairs: Callable[[n.Expr, n.Expr], list[Pair] | None]
) -> list[Pair] | None:
    """The pairs of all places of two expressions, one place after the other; None where they are not built alike."""
    if len(parts) != len(numbers):
        return None
    found: list[Pair] = []
    for part, number in zip(parts, numbers, strict=True):
        below = pairs(part, number)
        if below is None:
            return None
        found += below
    return found


def is_leaf(part: n.Expr) -> bool:
    """A name, a transposed name, a row of something named."""
    while isinstance(part, (n.Transpose, n.Entry)):
        part = part.arg
    return isinstance(part, n.Name)


def turned(matrix: n.Matrix) -> n.Matrix:
    """A printed matrix transposed."""
    return n.Matrix(tuple(zip(*matrix.rows, strict=True)), at=matrix.at)


def leaf(part: n.Expr, numbers: n.Expr) -> tuple[n.Name, n.Matrix] | None:
    """The name in a part of a formula, and the matrix that this makes it: for Kᵀ the numbers are turned back."""
    if not isinstance(numbers, n.Matrix) or numbers.is_ragged:
        return None
    if isinstance(part, n.Transpose) and isinstance(part.arg, n.Name):
        return part.arg, turned(numbers)
    return (part, numbers) if isinstance(part, n.Name) else None
