"""Few keys for many queries: nothing is transposed.

With so little to multiply, laying the queries down by lanes would take longest. Here each key looks at the rows of
queries where they are, and each row of the result is written at once.
"""

from __future__ import annotations

from typing import Any

from qkv.kernel.dots import dots
from qkv.kernel.jit import compiled
from qkv.kernel.keys import Keys
from qkv.kernel.memory import load, load_part, peek, store, store_part
from qkv.kernel.panel import Panel, Unit
from qkv.kernel.rows import row_address
from qkv.kernel.vectors import LOG2_E, fma, inverse, lane_count, like, multiply, size_of, splat
from qkv.kernel.vectors import total as sum_of

FEW_KEYS = 4  # up to so many keys this is faster


@compiled
def _key_size(job: Any, one: float) -> int:
    """Bytes of a key in whole registers."""
    lanes: int = lane_count(one)
    size: int = size_of(one)
    registers: int = (job.d + lanes - 1) // lanes
    return registers * lanes * size


@compiled
def copy_keys(job: Any, keys: Keys, target: int, one: float) -> None:
    """The keys, scaled and filled up with zeros."""
    size, lanes, scale = size_of(one), lane_count(one), splat(like(job.scale * LOG2_E, one))
    for key in range(job.n_k):
        source, to = keys.k + key * keys.k_n, target + key * _key_size(job, one)
        for d in range(0, job.d, lanes):
            store(to + d * size, multiply(load_part(source + d * size, job.d - d, one), scale))


@compiled
def score_few(job: Any, unit: Unit, panel: Panel, keys: int, tile: int, start: int, end: int, one: float) -> None:
    """Scores of a panel's rows with the copied keys start … end − 1, [keys][rows]."""
    size, lanes = size_of(one), lane_count(one)
    width, rows = panel.vectors * lanes * size, min(panel.vectors * lanes, unit.rows - panel.first)
    q = row_address(job.q, job, unit, panel.first, job.q_b, job.q_h, job.q_n)
    for key in range(start, end):
        scores = tile + (key - start) * width
        dots(keys + key * _key_size(job, one), q, job.q_n, rows, job.d, scores, key == start, one)


@compiled
def write_few(
    job: Any, unit: Unit, panel: Panel, keys: Keys, start: int, end: int, tile: int, total: int, one: float
) -> bool:
    """The panel's rows of the result from its weights over the keys start … end − 1; whether all of it is finite."""
    size, lanes = size_of(one), lane_count(one)
    width, rows = panel.vectors * lanes * size, min(panel.vectors * lanes, unit.rows - panel.first)
    target = row_address(job.out, job, unit, panel.first, job.out_b, job.out_h, job.out_n)
    v, nothing = keys.v + (start - keys.start) * keys.v_n, splat(like(0.0, one))
    for at in range(total, total + width, lanes * size):
        store(at, inverse(load(at, one)))
    strange = nothing
    for lane in range(rows):
        share = splat(peek(total + lane * size, one))
        for d in range(0, job.d_v, lanes):
            sums = nothing
            for key in range(end - start):
                weight = splat(peek(tile + key * width + lane * size, one))
                sums = fma(load_part(v + key * keys.v_n + d * size, job.d_v - d, one), weight, sums)
            store_part(target + lane * job.out_n + d * size, job.d_v - d, multiply(sums, share))
            strange = fma(sums, nothing, strange)
    return bool(sum_of(strange) == 0.0)
