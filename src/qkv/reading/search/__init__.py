"""One short expression over earlier values that gives every digit of a printed grid, blind to names and words.

A printed grid is held against candidates, cheapest first:

    depth 0   an earlier value, its transpose, a row, a column, a cell, a block of it
    depth 1   a function of one value (softmax, division by √d, layer norm …); two values together (A B, A Bᵀ, A + B …)
    depth 2   a function of two values together; A B + C, (A B) C, softmax(A Bᵀ/√d) C

Each kind of candidate is a generator of trials. Shapes rule out most candidates, one cell rules out nearly all others,
and only what is left is worked out as a whole. Floats with first-order error bounds do this: they rule out, they never
decide. The expression that is returned can be evaluated in certified arithmetic, and its value has the printed shape.

What a match is worth is counted in bits: what the digits tell, less the precision that wide operands lose, less the
logarithm of the number of candidates tried. No later candidate can be worth more than the digits less that logarithm:
the search ends when this falls below what is needed, or below what has been found. So the order of the pool
matters: put what most likely explains the grid first.

Inside, a printed column is searched for as a row, and vectors are taken as rows; only the result is turned back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from qkv.check.compare import Shown
from qkv.expr import nodes as n
from qkv.reading.search.deeper import deeper
from qkv.reading.search.operands import (
    Known,
    Scene,
    Trials,
    gain,
    known,
    parts_of,
    scene_of,
    transpose_of,
    transposed,
    whole_of,
)
from qkv.reading.search.pairs import pairs
from qkv.reading.search.single import functions_of_one
from qkv.reading.search.tables import RELATIVE
from qkv.reading.search.target import Target, target_of

__all__ = ["NEED", "Found", "Known", "known", "search"]

NEED: Final = 4.0
LIMIT: Final = 40_000
PRIOR: Final = 2.0  # bits that any searched expression costs


class Found(NamedTuple):
    """An expression that gives a printed grid, in the grid's shape; what that is worth; the pool values it uses."""

    expr: n.Expr
    bits: float
    uses: tuple[int, ...]


def search(
    grid: Sequence[Sequence[Shown]], pool: Sequence[Known], sizes: Sequence[int], need: float = NEED, limit: int = LIMIT
) -> Found | None:
    """The best expression at the least depth that explains a printed grid by at least `need` bits, or None.

    `sizes` are the numbers d that scores may be divided by, as √d or as d. No more than `limit` candidates are tried.
    """
    target = target_of(grid)
    if target is None or target.total - PRIOR < need:
        return None
    best: Found | None = None
    tried = 0
    for depth in _depths(target, pool, sizes):
        for count, made in depth:
            tried += count
            cost = math.log2(tried + 1) + PRIOR
            if made is not None:
                bits = gain(target, made) - cost - made.extra
                if bits >= need and (best is None or bits > best.bits):
                    expr = transposed(made.expr) if target.is_column else made.expr
                    best = Found(expr, bits, tuple(sorted(set(made.uses))))
            if tried > limit or target.total - cost < (need if best is None else best.bits + RELATIVE):
                return best
        if best is not None:
            return best
    return None


def _depths(target: Target, pool: Sequence[Known], sizes: Sequence[int]) -> Iterator[Trials]:
    """The candidates, depth by depth; rows, columns and cells are taken apart only if no whole value will do."""
    wholes = tuple(whole_of(i, value) for i, value in enumerate(pool))
    matrices = tuple(a for a in wholes if 1 not in a.shape)
    turns = tuple(map(transpose_of, matrices))
    yield parts_of(target, (*wholes, *turns) if target.kind else wholes)
    scene = scene_of(target, wholes, matrices, turns, tuple(d for d in dict.fromkeys(sizes) if d > 1))
    yield _depth_1(target, scene)
    yield deeper(target, scene)


def _depth_1(target: Target, scene: Scene) -> Trials:
    yield from functions_of_one(target, scene)
    yield from pairs(target, scene)
