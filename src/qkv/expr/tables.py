"""Matrices that follow from sizes and counts alone: positions, one-hot rows, rotations, slopes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from qkv.expr import nodes as n


def one_hot(ids: Sequence[int], width: int) -> n.Matrix:
    """A row for each id, counted from 0: 1 at its place, 0 elsewhere.

    >>> from qkv.expr.show import plain
    >>> plain(one_hot([2, 0], 3))
    '[0, 0, 1; 1, 0, 0]'
    """
    return n.Matrix(tuple(tuple(n.number(int(j == i)) for j in range(width)) for i in ids))


def sinusoids(tokens: int, width: int, base: n.Number, first: int = 0) -> n.Matrix:
    """Sinusoidal positions: sin(p / base^(2i/d)) in the even columns (from 0), cos of the same in the odd ones.

    >>> from qkv.expr.show import plain
    >>> plain(sinusoids(1, 3, n.number(10000), 1))
    '[sin(1), cos(1), sin(1 / 10000^(2 / 3))]'
    """
    return n.Matrix(tuple(tuple(_wave(first + p, j, width, base) for j in range(width)) for p in range(tokens)))


def angles(tokens: int, width: int, base: n.Number, first: int, halves: bool) -> n.Matrix:
    """The angle p / base^(2i/d) of every position and column; the two columns of a pair have the same one."""
    columns = [j % (width // 2) if halves else j // 2 for j in range(width)]
    return n.Matrix(tuple(tuple(_angle(first + p, 2 * i, width, base) for i in columns) for p in range(tokens)))


def frequencies(width: int, base: n.Number) -> tuple[n.Expr, ...]:
    """The angle of each pair for one position: 1 / base^(2i/d)."""
    return tuple(_angle(1, 2 * i, width, base) for i in range(width // 2))


def quarter_turn(width: int, halves: bool) -> n.Matrix:
    """The matrix that turns every pair (a, b) of columns into (−b, a).

    >>> from qkv.expr.show import plain
    >>> plain(quarter_turn(2, False))
    '[0, 1; -1, 0]'
    """
    pairs = [(j, j + width // 2) for j in range(width // 2)] if halves else [(j, j + 1) for j in range(0, width, 2)]
    cells = dict.fromkeys(pairs, 1) | {(b, a): -1 for a, b in pairs}
    return n.Matrix(tuple(tuple(n.number(cells.get((i, j), 0)) for j in range(width)) for i in range(width)))


def distances(queries: int, keys: int, slope: Fraction) -> n.Matrix:
    """ALiBi: every key costs its distance from the query, times its slope; the last query is the last key."""
    late = keys - queries
    return n.Matrix(tuple(tuple(n.number(-slope * abs(i + late - j)) for j in range(keys)) for i in range(queries)))


def band(queries: int, keys: int, before: int, after: int) -> n.Matrix:
    """A sliding window: 0 for so many keys before and after a query's own, −∞ elsewhere.

    >>> from qkv.expr.show import plain
    >>> plain(band(2, 3, 1, 0))
    '[0, 0, -∞; -∞, 0, 0]'
    """
    late = max(keys - queries, 0)
    seen = [[-before <= j - i - late <= after for j in range(keys)] for i in range(queries)]
    return n.Matrix(tuple(tuple(n.number(0) if ok else n.Infinite(-1) for ok in row) for row in seen))


def _angle(position: int, exponent: int, width: int, base: n.Number) -> n.Expr:
    if exponent == 0:
        return n.number(position)
    return n.Quotient(n.number(position), n.Power(base, n.Quotient(n.number(exponent), n.number(width))))


def _wave(position: int, column: int, width: int, base: n.Number) -> n.Expr:
    return n.Call("cos" if column % 2 else "sin", (_angle(position, column - column % 2, width, base),))
