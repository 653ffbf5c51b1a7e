"""The second try of a panel whose result is NaN: a value that is not finite may stand at a key that nobody may use.

Weight 0 times NaN is NaN, so there the products must be left out instead of multiplied by 0. That is slow and rare.
"""

from __future__ import annotations

import numpy as np

from qkv.kernel.jit import compiled
from qkv.kernel.memory import load, peek, poke
from qkv.kernel.vectors import fma, lane_count, like, size_of, splat, total


@compiled
def not_finite(at: int, registers: int, one: float) -> bool:
    """Whether any number in so many registers' worth of memory is NaN or infinite: 0 times it is not 0."""
    nothing = splat(like(0.0, one))
    found = nothing
    for i in range(registers):
        found = fma(load(at + i * lane_count(one) * size_of(one), one), nothing, found)
    return bool(total(found) != 0.0)


@compiled
def note_used(tile: int, used: int, count: int, one: float) -> None:
    """Which keys each row may use, a byte each, from the scores: a masked one is −inf."""
    for i in range(count):
        poke(used + i, np.int8(peek(tile + i * size_of(one), one) != -np.inf))


@compiled
def add_used(
    o: int, tile: int, used: int, factor: int, v: int, v_n: int, v_d: int, count: int, d_v: int, lanes: int, one: float
) -> None:
    """o[d, row] = o[d, row] · factor[row] + Σ weight · value over the keys that the row may use."""
    size = size_of(one)
    for lane in range(lanes):
        shrink = peek(factor + lane * size, one)
        for d in range(d_v):
            at = o + (d * lanes + lane) * size
            sum_ = peek(at, one) * shrink
            for key in range(count):
                if peek(used + key * lanes + lane, np.int8(0)) != 0:
                    weight = peek(tile + (key * lanes + lane) * size, one)
                    sum_ += weight * peek(v + key * v_n + d * v_d, one)
            poke(at, sum_)
