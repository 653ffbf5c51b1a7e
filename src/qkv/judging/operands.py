"""The parts of a working: whole matrices, decimals, a softmax that is written out, and versions side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from qkv.check.cells import Grid, Loose
from qkv.expr import nodes as n
from qkv.judging.seen import agreeing, worth
from qkv.reading.equation import Equation, Kind
from qkv.reading.evidence import printed_grid


def as_softmax(expr: n.Expr) -> n.Expr:
    """A softmax that is written out, as one: [e^2/(e^2 + e^4), e^4/(e^2 + e^4)] is softmax([2, 4])."""
    if not isinstance(expr, n.Matrix) or len(expr.rows) != 1 or len(expr.rows[0]) < 2:
        return expr
    above = [
        cell.numerator.arg if isinstance(cell, n.Quotient) and isinstance(cell.numerator, n.Exp) else None
        for cell in expr.rows[0]
    ]
    if not all(isinstance(x, (n.Number, n.Negate)) for x in above):
        return expr
    for cell in expr.rows[0]:
        below = cell.denominator if isinstance(cell, n.Quotient) else None
        terms = (
            [term.arg if isinstance(term, n.Exp) else term for term in below.terms] if isinstance(below, n.Sum) else []
        )
        if Counter(terms) != Counter(above):  # type: ignore[comparison-overlap]
            return expr
    return n.Softmax(n.Matrix((tuple(x for x in above if x is not None),), at=expr.at), at=expr.at)


def rivals(expr: n.Expr) -> set[int]:
    """[A] [A'] [V]: what may be a second version of a factor, of the same shape and right beside it."""
    parts = n.factors(expr)
    pairs = pairwise(parts) if sum(isinstance(part, n.Matrix) for part in parts) > 2 else ()
    return {id(b) for a, b in pairs if isinstance(a, n.Matrix) and isinstance(b, n.Matrix) and a.shape == b.shape}


def versions(expr: n.Expr) -> Iterator[n.Expr]:
    """A product without one of two factors that stand side by side as versions of each other."""
    parts = n.factors(expr)
    beside = rivals(expr)
    for i in range(1, len(parts)):
        if id(parts[i]) in beside:
            for left in (parts[:i] + parts[i + 1 :], parts[: i - 1] + parts[i:]):
                made = left[0]
                for part in left[1:]:
                    made = n.Product(made, part)
                yield made


def is_doubled(equation: Equation, expr: n.Expr) -> bool:
    """Whether a product holds two versions of a factor: with one left out it gives a result, as a whole none."""
    grids = [grid for item in equation.of(Kind.VALUE) if (grid := printed_grid(item)) is not None]
    without = [value for version in versions(expr) if (value := worth(version, {}, Loose())) is not None]
    whole = worth(expr, {}, Loose()) if without else None
    if whole is None or any(agreeing(grid, whole) for grid in grids):
        return False
    return any(2 * agreeing(grid, value) >= len(grid) * len(grid[0]) for grid in grids for value in without)


def is_stochastic(grid: Grid) -> bool:
    """Whether every row adds up to about one."""
    rows = [[shown.value for shown in row] for row in grid]
    return all(
        None not in row
        and abs(sum(x for x in row if x is not None) - 1) * 50 <= 1
        and min(x for x in row if x is not None) >= 0
        for row in rows
    )


def are_shares(grid: Grid) -> bool:
    """Whether every row is meant to add up to one, as weights are: those of an author who erred may miss it."""
    rows = [[shown.value for shown in row if shown.value is not None] for row in grid]
    whole = all(len(row) == len(line) for row, line in zip(rows, grid, strict=True))
    return whole and all(min(row) >= 0 and max(row) <= 1 and abs(sum(row) - 1) * 8 <= 1 for row in rows)


def is_centred(grid: Grid) -> bool:
    """Whether every row adds up to about zero, and is not zero."""
    rows = [[shown.value for shown in row if shown.value is not None] for row in grid]
    whole = all(len(row) == len(line) for row, line in zip(rows, grid, strict=True))
    return whole and all(any(row) and abs(sum(row)) * 50 <= max(map(abs, row)) for row in rows)


def operands(expr: n.Expr) -> list[n.Matrix]:
    """The whole matrices of a working."""
    return [
        x for x in n.walk(expr) if isinstance(x, n.Matrix) and not x.is_ragged and x is not expr and max(x.shape) > 1
    ]


def is_claim(operand: n.Matrix, working: n.Expr) -> bool:
    """Whether an operand says enough to be a claim: a matrix, or what a softmax is taken of."""
    return min(operand.shape) > 1 or any(isinstance(x, n.Softmax) and x.arg is operand for x in n.walk(working))


def decimals(expr: n.Expr) -> list[n.Number]:
    """The numbers of a working outside its matrices that were rounded, or have three digits and more."""
    inside = {id(cell) for x in n.walk(expr) if isinstance(x, n.Matrix) for row in x.rows for cell in row}
    return [
        x
        for x in n.walk(expr)
        if isinstance(x, n.Number) and id(x) not in inside and ((x.places or 0) > 0 or abs(x.value) >= 100)
    ]
