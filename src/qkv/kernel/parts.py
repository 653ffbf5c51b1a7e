"""Split keys in the blocked forward pass: each part leaves its panels' sums, the last one to finish joins them.

This is for few panels over many keys, which would leave threads without work.
"""

from __future__ import annotations

from typing import Any

from qkv.kernel.jit import compiled
from qkv.kernel.memory import load, store
from qkv.kernel.panel import BLOCK, Panel, Unit, panel_of
from qkv.kernel.tile import TILE_ROWS, TILE_VECTORS
from qkv.kernel.vectors import (
    add,
    exp2,
    finite_or_zero,
    fma,
    lane_count,
    like,
    maximum,
    multiply,
    size_of,
    splat,
    subtract,
)


@compiled
def part_of_panel(job: Any, unit: Unit, index: int, split: int, lanes: int) -> Panel:
    """Panel number `index`, and of the keys that it sees those of one part."""
    panel = panel_of(job, unit, index, lanes)
    share = ((job.n_k + job.splits - 1) // job.splits + BLOCK - 1) // BLOCK * BLOCK
    low, high = max(panel.low, split * share), min(panel.high, (split + 1) * share)
    return Panel(panel.first, panel.vectors, low, high, panel.all_low, panel.all_high)


@compiled
def part_size(job: Any, one: float) -> int:
    """Bytes that one panel leaves: weighted values, maxima and sums of its rows."""
    width: int = TILE_VECTORS * lane_count(one) * size_of(one)
    d_v: int = (job.d_v + TILE_ROWS - 1) // TILE_ROWS * TILE_ROWS
    return (d_v + 2) * width


@compiled
def leave_part(job: Any, panel: Panel, o: int, m: int, total: int, seen: bool, place: int, one: float) -> None:
    """Write a panel's values, maxima and sums to a place among the parts."""
    size = lane_count(one) * size_of(one)
    width, nothing = panel.vectors * size, splat(like(0.0, one))
    for at in range(0, job.d_v * width, size):
        store(place + at, load(o + at, one) if seen else nothing)
    sums = place + job.d_v * width
    for at in range(0, width, size):
        store(sums + at, load(m + at, one))
        store(sums + width + at, load(total + at, one))


@compiled
def join_parts(job: Any, panel: Panel, o: int, m: int, total: int, first: int, step: int, one: float) -> None:
    """The panel from what its parts left, `step` bytes apart, in their order."""
    size = lane_count(one) * size_of(one)
    width, sums = panel.vectors * size, first + job.d_v * panel.vectors * size
    for column in range(0, width, size):
        best = load(sums + column, one)
        for split in range(1, job.splits):
            best = maximum(load(sums + split * step + column, one), best)
        top = finite_or_zero(best)
        whole = splat(like(0.0, one))
        for split in range(job.splits):
            at = sums + split * step + column
            share = exp2(subtract(load(at, one), top))
            whole = fma(load(at + width, one), share, whole)
            for row in range(column, job.d_v * width, width):
                value = multiply(load(first + split * step + row, one), share)
                store(o + row, add(load(o + row, one), value) if split else value)
        store(m + column, best)
        store(total + column, whole)
