"""Tables of floats and what their rows may be."""

from __future__ import annotations

import math
from typing import Final, TypeAlias

Row: TypeAlias = tuple[float, ...]
Table: TypeAlias = tuple[Row, ...]
Shape: TypeAlias = tuple[int, int]
Line: TypeAlias = tuple[Row, Row]  # centres and errors
INFINITY: Final = math.inf
STAND_IN: Final = -1000.0  # code writes numbers below this for −∞
RELATIVE, ABSOLUTE = 1e-9, 1e-13  # what floats may be off


def is_same(x: float, error: float, printed: float, half: float) -> bool:
    """Whether a number may be what is printed; −∞ may be printed as a very negative number, and the other way round."""
    if x == -INFINITY or printed == -INFINITY:
        return x <= STAND_IN and printed <= STAND_IN
    return abs(x - printed) <= half + error


def turn(table: Table) -> Table:
    return tuple(zip(*table, strict=True))


def adds_to(total: float, row: Row, halves: Row) -> bool:
    """Whether the cells of a printed line may add up to a number."""
    return abs(sum(row) - total) <= sum(halves)


def are_shares(row: Row, halves: Row) -> bool:
    return adds_to(1, row, halves)


def are_weights(row: Row, halves: Row) -> bool:
    return adds_to(1, row, halves) and all(x >= -h for x, h in zip(row, halves, strict=True))
