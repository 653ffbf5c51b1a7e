"""Matrices that follow from sizes and counts alone: positions, one-hot rows, rotations, slopes."""

from __future__ import annotations

from collections.abc import Sequence

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
    '[sin(1 / 10000^(0 / 3)), cos(1 / 10000^(0 / 3)), sin(1 / 10000^(2 / 3))]'
    """
    return n.Matrix(tuple(tuple(_wave(first + p, j, width, base) for j in range(width)) for p in range(tokens)))


def _wave(position: int, column: int, width: int, base: n.Number) -> n.Expr:
    exponent = n.Quotient(n.number(column - column % 2), n.number(width))
    angle = n.Quotient(n.number(position), n.Power(base, exponent))
    return n.Call("cos" if column % 2 else "sin", (angle,))
