"""The second try of a panel whose result is NaN: a value that is not finite may stand at a key that nobody may use.

Weight 0 times NaN is NaN, so there the products must be left out instead of multiplied by 0. That is slow and rare.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qkv.kernel.jit import compiled
from qkv.kernel.keys import Keys
from qkv.kernel.vectors import fma, lane_count, like, load, peek, size_of, splat, total


@compiled
def not_finite(at: int, registers: int, one: float) -> bool:
    """Whether any number in so many registers' worth of memory is NaN or infinite: 0 times it is not 0."""
    nothing = splat(like(0.0, one))
    found = nothing
    for i in range(registers):
        found = fma(load(at + i * lane_count(one) * size_of(one), one), nothing, found)
    return bool(total(found) != 0.0)


@compiled
def note_used(tile: int, used: Any, one: float) -> None:
    """Which keys each row may use, from the scores: a masked one is −inf."""
    for i in range(used.size):
        used[i] = peek(tile + i * size_of(one), one) != -np.inf


@compiled
def add_used(
    o: Any, tile: int, used: Any, factor: int, keys: Keys, start: int, count: int, lanes: int, one: float
) -> None:
    """o[d, row] = o[d, row] · factor[row] + Σ weight · value over the keys that the row may use."""
    size = size_of(one)
    for lane in range(lanes):
        shrink = peek(factor + lane * size, one)
        for d in range(o.shape[0]):
            value_at = keys.v + (start - keys.start) * keys.v_n + d * keys.v_d
            sum_ = o[d, lane] * shrink
            for key in range(count):
                if used[key * lanes + lane]:
                    weight = peek(tile + (key * lanes + lane) * size, one)
                    sum_ += weight * peek(value_at + key * keys.v_n, one)
            o[d, lane] = sum_
