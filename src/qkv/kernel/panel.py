"""Panels: a few registers' worth of query rows that walk over the keys together, one row per lane.

A unit is what shares keys and values: one query head, or, when there are few queries, all query heads of a group. Its
rows are numbered head by head; a panel is 1 to 3 registers of consecutive rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from qkv.kernel.jit import compiled
from qkv.kernel.memory import load, peek, poke, store
from qkv.kernel.tile import TILE_VECTORS
from qkv.kernel.vectors import (
    LOG2_E,
    add,
    exp2,
    finite_or_zero,
    fma,
    lane_count,
    like,
    maximum,
    size_of,
    splat,
    subtract,
)

BLOCK = 128  # keys per block: a tile of 128 × 48 weights stays in the first-level cache
UNROLLED = 4  # keys per step of the softmax: enough independent chains to hide the latency of an addition


class Unit(NamedTuple):
    """Rows that share keys: addresses of its first head's arrays, and how far the keys of this batch entry go."""

    batch: int
    head: int
    kv_head: int
    rows: int
    length: int
    offset: int  # the position of query 0 among the keys


class Panel(NamedTuple):
    """Rows first … first + lanes·vectors − 1 of a unit, and which keys all or any of them may see."""

    first: int
    vectors: int
    low: int  # the first key that any row sees
    high: int  # one past the last key that any row sees
    all_low: int  # the first key that no row is too late for
    all_high: int  # one past the last key that no row is too early for


@compiled
def unit_of(job: Any, index: int) -> Unit:
    per_batch = job.heads // job.group
    batch, place = index // per_batch, index % per_batch
    head = place * job.group
    length = job.n_k
    if job.lengths:
        length = peek(job.lengths + 8 * batch, np.int64(0))
    offset = length - job.n_q  # the last query stands at the last key
    if job.offsets:
        offset = peek(job.offsets + 8 * batch, np.int64(0))
    kv_head = head // (job.heads // job.kv_heads)
    return Unit(batch, head, kv_head, job.group * job.n_q, length, offset)


@compiled
def panel_count(rows: int, lanes: int) -> int:
    vectors = (rows + lanes - 1) // lanes
    return (vectors + TILE_VECTORS - 1) // TILE_VECTORS


@compiled
def panel_of(job: Any, unit: Unit, index: int, lanes: int) -> Panel:
    """Panel number `index`; the registers are dealt out so that panels differ by one at most."""
    vectors = (unit.rows + lanes - 1) // lanes
    count = panel_count(unit.rows, lanes)
    each, extra = vectors // count, vectors % count
    first = (index * each + min(index, extra)) * lanes
    mine = each + (1 if index < extra else 0)
    earliest, latest = first, min(first + mine * lanes, unit.rows) - 1
    if job.group > 1:
        earliest, latest = 0, job.n_q - 1
    earliest, latest = earliest + unit.offset, latest + unit.offset
    low = max(0, earliest - job.left)
    high = min(unit.length, latest + job.right + 1)
    return Panel(first, mine, low, high, latest - job.left, min(unit.length, earliest + job.right + 1))


@compiled
def start_panel(job: Any, unit: Unit, panel: Panel, m: int, total: int, split: int, one: float) -> None:
    """Before any key: a maximum of −inf and a sum of 0, or the row's sink, which counts as one key without a value.

    Where the keys are split, the first part counts the sink.
    """
    size, lanes = size_of(one), lane_count(one)
    for at in range(0, panel.vectors * lanes * size, lanes * size):
        store(m + at, splat(like(-np.inf, one)))
        store(total + at, splat(like(0.0, one)))
    if not job.sinks or split != 0:
        return
    for lane in range(panel.vectors * lanes):
        row = min(panel.first + lane, unit.rows - 1)
        best = peek(job.sinks + size * (unit.head + row // job.n_q), one) * LOG2_E
        poke(m + lane * size, like(best, one))
        poke(total + lane * size, like(1.0 if best > -np.inf else 0.0, one))


@compiled
def soften(tile: int, keys: int, m: int, total: int, factor: int, vectors: int, one: float) -> None:
    """Scores to weights, in place: new maximum, 2**(score − maximum), their sum, and the factor for what came before.

    The tile is [keys][rows]; it has room for keys to be filled up to a multiple of UNROLLED with −inf.
    """
    size = size_of(one) * lane_count(one)
    width = vectors * size
    step = UNROLLED * width
    rounded = (keys + UNROLLED - 1) // UNROLLED * UNROLLED
    nothing = splat(like(-np.inf, one))
    for at in range(tile + keys * width, tile + rounded * width, size):
        store(at, nothing)
    for column in range(0, width, size):
        start = tile + column
        old = load(m + column, one)
        a, b, c, d = old, old, old, old
        for at in range(start, start + rounded * width, step):
            a = maximum(load(at, one), a)
            b = maximum(load(at + width, one), b)
            c = maximum(load(at + 2 * width, one), c)
            d = maximum(load(at + 3 * width, one), d)
        new = maximum(maximum(a, b), maximum(c, d))
        best = finite_or_zero(new)
        shrink = exp2(subtract(old, best))
        a, b, c, d = splat(one - one), splat(one - one), splat(one - one), splat(one - one)
        for at in range(start, start + rounded * width, step):
            w, x = exp2(subtract(load(at, one), best)), exp2(subtract(load(at + width, one), best))
            y, z = exp2(subtract(load(at + 2 * width, one), best)), exp2(subtract(load(at + 3 * width, one), best))
            store(at, w)
            store(at + width, x)
            store(at + 2 * width, y)
            store(at + 3 * width, z)
            a, b, c, d = add(a, w), add(b, x), add(c, y), add(d, z)
        store(m + column, new)
        store(factor + column, shrink)
        store(total + column, fma(load(total + column, one), shrink, add(add(a, b), add(c, d))))
