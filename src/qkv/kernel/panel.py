"""Panels: a few registers' worth of query rows that walk over the keys together, one row per lane.

A unit is what shares keys and values: one query head, or, when there are few queries, all query heads of a group. Its
rows are numbered head by head; a panel is 1 to 3 registers of consecutive rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from qkv.kernel.jit import compiled
from qkv.kernel.memory import load, peek, poke, store, transpose
from qkv.kernel.tile import TILE_VECTORS
from qkv.kernel.vectors import (
    LN_2,
    LOG2_E,
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
def row_address(base: int, job: Any, unit: Unit, row: int, by_batch: int, by_head: int, by_token: int) -> int:
    """Where a row's numbers begin, from an array's base address and strides."""
    head: int = unit.head + row // job.n_q
    query: int = row % job.n_q
    return base + unit.batch * by_batch + head * by_head + query * by_token


@compiled
def whole_square(job: Any, unit: Unit, row: int, lanes: int) -> bool:
    """Whether the rows row … row + lanes − 1 exist and are evenly spaced in memory."""
    return bool(row + lanes <= unit.rows) and row // job.n_q == (row + lanes - 1) // job.n_q


@compiled
def pack_queries(job: Any, unit: Unit, panel: Panel, target: int, one: float) -> None:
    """Lay the panel's queries down transposed and scaled, [d][rows]; rows past the end are zeros."""
    size, lanes = size_of(one), lane_count(one)
    width = panel.vectors * lanes * size
    scale = splat(like(job.scale * LOG2_E, one))
    for vector in range(panel.vectors):
        row, column = panel.first + vector * lanes, target + vector * lanes * size
        squares = job.d // lanes if job.q_d == size and whole_square(job, unit, row, lanes) else 0
        source = row_address(job.q, job, unit, row, job.q_b, job.q_h, job.q_n)
        for square in range(squares):
            transpose(source + square * lanes * size, job.q_n, column + square * lanes * width, width, one)
        if squares * lanes < job.d:
            _pack_singly(job, unit, row, squares * lanes, column, width, one)
        for d in range(job.d):
            at = column + d * width
            store(at, multiply(load(at, one), scale))


@compiled
def _pack_singly(job: Any, unit: Unit, row: int, start: int, column: int, width: int, one: float) -> None:
    size = size_of(one)
    for lane in range(lane_count(one)):
        source = row_address(job.q, job, unit, min(row + lane, unit.rows - 1), job.q_b, job.q_h, job.q_n)
        for d in range(start, job.d):
            value = peek(source + d * job.q_d, one) if row + lane < unit.rows else like(0.0, one)
            poke(column + d * width + lane * size, value)


@compiled
def start_panel(job: Any, unit: Unit, panel: Panel, m: int, total: int, split: int, one: float) -> None:
    """Before any key: a maximum of −inf and a sum of 0, or the row's sink, which counts as one key without a value.

    Where the keys are split, the first part counts the sink.
    """
    size = size_of(one)
    for lane in range(panel.vectors * lane_count(one)):
        best, weight = -np.inf, 0.0
        if job.sinks and split == 0:
            row = min(panel.first + lane, unit.rows - 1)
            best = peek(job.sinks + size * (unit.head + row // job.n_q), one) * LOG2_E
            weight = 1.0 if best > -np.inf else 0.0
        poke(m + lane * size, like(best, one))
        poke(total + lane * size, like(weight, one))


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


@compiled
def finish_panel(job: Any, unit: Unit, panel: Panel, o: int, m: int, total: int, seen: bool, one: float) -> None:
    """Divide by the sums and write the rows out; a row that saw no key is zeros, with an lse of −inf."""
    size, lanes = size_of(one), lane_count(one)
    width = panel.vectors * lanes * size
    for lane in range(min(panel.vectors * lanes, unit.rows - panel.first)):
        weight = peek(total + lane * size, one)
        if job.lse:
            row = panel.first + lane
            place = (unit.batch * job.heads + unit.head + row // job.n_q) * job.n_q + row % job.n_q
            best = peek(m + lane * size, one)
            poke(job.lse + place * size, like((best + np.log2(np.float64(weight))) * LN_2, one))
        inverse = 1.0 / weight if weight != 0.0 else 0.0
        poke(total + lane * size, like(inverse, one))
    for vector in range(panel.vectors):
        column = o + vector * lanes * size
        inverses = load(total + vector * lanes * size, one)
        for d in range(job.d_v):
            at = column + d * width
            store(at, multiply(load(at, one), inverses) if seen else splat(one - one))
        _write_rows(job, unit, panel.first + vector * lanes, column, width, one)


@compiled
def _write_rows(job: Any, unit: Unit, row: int, column: int, width: int, one: float) -> None:
    """One register of rows, from [d_v][rows] to where the caller wants them."""
    size, lanes = size_of(one), lane_count(one)
    squares = job.d_v // lanes if job.out_d == size and whole_square(job, unit, row, lanes) else 0
    target = row_address(job.out, job, unit, row, job.out_b, job.out_h, job.out_n)
    for square in range(squares):
        transpose(column + square * lanes * width, width, target + square * lanes * size, job.out_n, one)
    if squares * lanes == job.d_v:
        return
    for lane in range(min(lanes, unit.rows - row)):
        target = row_address(job.out, job, unit, row + lane, job.out_b, job.out_h, job.out_n)
        for d in range(squares * lanes, job.d_v):
            poke(target + d * job.out_d, peek(column + d * width + lane * size, one))
