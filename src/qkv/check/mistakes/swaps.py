"""Rows or columns that change places. There are many pairs, all of one value: it is worked out once for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from qkv.check.cells import Grid
from qkv.check.compare import Shown, agree
from qkv.expr import nodes as n
from qkv.interpret.cells import Cell


def what_is_swapped(swapped: n.Expr) -> tuple[n.Expr, int]:
    """The whole that the rows or columns of a swap are taken from; and 1 for columns."""
    assert isinstance(swapped, n.Concat)
    entry = swapped.parts[0]
    assert isinstance(entry, n.Entry)
    return entry.arg, swapped.axis


def swap_shown(grid: Grid, made: Sequence[Sequence[Cell]], rows: Sequence[int], axis: int) -> int | None:
    """Which pair of rows or columns, in the order of `rules.swapped`, has to change places for a value to be what is
    shown in some rows; None where none does. A swap leaves all others where they are."""
    shown: Sequence[Sequence[Shown]] = grid
    lines: Sequence[int] = rows
    if axis == 1:
        shown, made = list(zip(*[grid[i] for i in rows], strict=True)), list(zip(*[made[i] for i in rows], strict=True))
        lines = range(len(shown))
    off: set[int] = set()
    for i in lines:
        if not agree(shown[i], made[i]):
            off.add(i)
            if len(off) > 2:
                return None
    for k, pair in enumerate(combinations(range(len(shown)), 2)):
        if off.issubset(pair) and all(agree(shown[i], made[j]) for i, j in (pair, pair[::-1]) if i in lines):
            return k
    return None
