"""Few queries over many keys: keys and values are read once, for all rows that share them, and the work is cut along
the keys. Each part leaves its maximum, sum and weighted values; the last one to finish joins the parts in order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from qkv.kernel.atomics import fetch_add
from qkv.kernel.careful import not_finite
from qkv.kernel.dots import TOGETHER, dots, dots_together
from qkv.kernel.jit import compiled, entry, spliced
from qkv.kernel.job import DONE, NEXT, job_at
from qkv.kernel.keys import Keys, keys_of
from qkv.kernel.memory import keep_flags, load, load_part, peek, poke, store, store_part
from qkv.kernel.panel import BLOCK, Unit, unit_of
from qkv.kernel.rows import row_address
from qkv.kernel.scores import apply_softcap
from qkv.kernel.tile import SPAN, add_rows, add_together
from qkv.kernel.vectors import (
    LN_2,
    LOG2_E,
    add,
    add_bias,
    exp2,
    fma,
    lane_count,
    largest,
    like,
    maximum,
    multiply,
    size_of,
    splat,
    subtract,
    total,
)

FACTORS = 8  # registers that hold the same factor, as many as `add_rows` updates at once


class DecodeWork(NamedTuple):
    """Addresses of one thread's own memory."""

    q: int  # [rows][d], scaled
    scores: int  # of one row over one block
    weights: int  # [rows] over one block
    factor: int
    partial: int  # [rows] of (maximum, sum, weighted values) when the keys are not split
    before: int  # the values of one row
    keys: int


@compiled
def round_up(count: int, step: int) -> int:
    return (count + step - 1) // step * step


@compiled
def padded_rows(rows: int) -> int:
    """Rows that there is memory for: several look at a key at the same time."""
    return round_up(rows, TOGETHER) if rows > 1 else rows


@compiled
def partial_line(job: Any, one: float) -> int:
    """Bytes of one row's part: weighted values in whole registers, then the maximum and the sum."""
    lanes: int = lane_count(one)
    size: int = size_of(one)
    return (round_up(job.d_v, lanes) + lanes) * size


@compiled
def lay_out_decode(job: Any, base: int, one: float) -> tuple[DecodeWork, int]:
    size, rows = size_of(one), padded_rows(job.group * job.n_q)
    scores = base + rows * round_up(job.d, lane_count(one)) * size
    weights = scores + BLOCK * size
    factor = weights + rows * BLOCK * size
    partial = factor + FACTORS * lane_count(one) * size
    before = partial + (rows * partial_line(job, one) if job.splits == 1 else 0)
    keys = before + partial_line(job, one)
    end = keys + (BLOCK * (job.d + job.d_v) * size if job.storage else 0)
    return DecodeWork(base, scores, weights, factor, partial, before, keys), end - base


@entry
def decode(address: int, one: float) -> None:
    """Take tasks of the job at `address` until none is left; any number of threads may do so at once."""
    job = job_at(address)
    memory = np.empty(lay_out_decode(job, 0, one)[1] + 64, np.uint8)
    work, _ = lay_out_decode(job, (memory.ctypes.data + 63) // 64 * 64, one)
    task = fetch_add(address + NEXT, 1)
    while task < job.tasks:
        decode_task(job, work, task, one)
        fetch_add(address + DONE, 1)
        task = fetch_add(address + NEXT, 1)
    memory[0] = 0  # the last use, so that it is not freed before


@spliced
def decode_task(job: Any, work: DecodeWork, task: int, one: float) -> None:
    """One part of the keys of one unit, for all its rows."""
    index, split = task // job.splits, task % job.splits
    unit = unit_of(job, index)
    line = partial_line(job, one)
    whole = padded_rows(unit.rows) * line
    parts = job.partials + index * job.splits * whole if job.splits > 1 else work.partial
    mine = parts + split * whole
    for row in range(unit.rows):
        _start_row(job, unit, row, split, work.q, mine + row * line, one)
    query = round_up(job.d, lane_count(one)) * size_of(one)
    _clear(work.q + unit.rows * query, work.q + padded_rows(unit.rows) * query, one)
    _clear(mine + unit.rows * line, mine + whole, one)
    together = unit.rows > 1 and job.mask == 0 and job.bias == 0
    share = round_up((job.n_k + job.splits - 1) // job.splits, BLOCK)
    stop = min((split + 1) * share, unit.length)
    for block in range(split * share, stop, BLOCK):
        end = min(block + BLOCK, stop)
        keys = keys_of(job, unit, block, end, work.keys, one)
        low, high = _seen(job, unit, 0, block, end)
        if together and (low, high) == _seen(job, unit, job.n_q - 1, block, end):
            if low < high:
                _attend_together(job, unit, work, keys, low, high, mine, line, one)
            continue
        for row in range(unit.rows):
            low, high = _seen(job, unit, row % job.n_q, block, end)
            if low < high:
                _attend_row(job, unit, row, work, keys, low, high, mine + row * line, one)
    if job.splits == 1 or fetch_add(job.counters + 8 * index, 1) == job.splits - 1:
        _join(job, unit, parts, line, one)


@compiled
def _clear(start: int, end: int, one: float) -> None:
    """Zeros for rows that are not there: whatever stood there may be slow to multiply."""
    for at in range(start, end, lane_count(one) * size_of(one)):
        store(at, splat(like(0.0, one)))


@compiled
def _seen(job: Any, unit: Unit, query: int, start: int, end: int) -> tuple[int, int]:
    """Those of the keys start … end − 1 that a query may use; none where the first is not before the second."""
    position = query + unit.offset
    return max(start, position - job.left), min(end, position + job.right + 1)


@compiled
def _start_row(job: Any, unit: Unit, row: int, split: int, q: int, part: int, one: float) -> None:
    """Copy a query, scaled, and begin its part: the first one counts the sink."""
    size, lanes = size_of(one), lane_count(one)
    source = row_address(job.q, job, unit, row, job.q_b, job.q_h, job.q_n)
    target = q + row * round_up(job.d, lanes) * size
    scale = like(job.scale * LOG2_E, one)
    for d in range(0, job.d, lanes):
        if job.q_d == size:
            store(target + d * size, multiply(load_part(source + d * size, job.d - d, one), splat(scale)))
        else:
            for i in range(d, d + lanes):
                value = peek(source + i * job.q_d, one) * scale if i < job.d else like(0.0, one)
                poke(target + i * size, value)
    values = round_up(job.d_v, lanes)
    for at in range(part, part + values * size, lanes * size):
        store(at, splat(like(0.0, one)))
    best, weight = -np.inf, 0.0
    if job.sinks and split == 0:
        best = peek(job.sinks + size * (unit.head + row // job.n_q), one) * LOG2_E
        weight = 1.0 if best > -np.inf else 0.0
    poke(part + values * size, like(best, one))
    poke(part + (values + 1) * size, like(weight, one))


@compiled
def _trim(job: Any, unit: Unit, row: int, start: int, end: int) -> tuple[int, int]:
    """The keys start … end − 1 without those at either end that a mask forbids."""
    mask = row_address(job.mask, job, unit, row, job.mask_b, job.mask_h, job.mask_n)
    while start < end and peek(mask + start * job.mask_d, np.int8(0)) == 0:
        start += 1
    while start < end and peek(mask + (end - 1) * job.mask_d, np.int8(0)) == 0:
        end -= 1
    return start, end


@compiled
def _mask_row(job: Any, unit: Unit, row: int, scores: int, start: int, keys: int, one: float) -> None:
    """Bias and mask on one row of scores."""
    size, lanes, unit_of_log = size_of(one), lane_count(one), like(LOG2_E, one)
    bias = row_address(job.bias, job, unit, row, job.bias_b, job.bias_h, job.bias_n) + start * job.bias_d
    mask = row_address(job.mask, job, unit, row, job.mask_b, job.mask_h, job.mask_n) + start * job.mask_d
    close = (job.bias == 0 or job.bias_d == size) and (job.mask == 0 or job.mask_d == 1)
    whole = keys // lanes * lanes if close else 0
    for key in range(0, whole, lanes):
        wide = load(scores + key * size, one)
        if job.bias:
            wide = add_bias(wide, multiply(load(bias + key * size, one), splat(unit_of_log)))
        if job.mask:
            wide = keep_flags(mask + key, wide)
        store(scores + key * size, wide)
    for key in range(whole, keys):
        value = peek(scores + key * size, one)
        if job.bias:
            more = peek(bias + key * job.bias_d, one)
            value = value + more * unit_of_log if more > -np.inf or more != more else more
        if job.mask and peek(mask + key * job.mask_d, np.int8(0)) == 0:
            value = like(-np.inf, one)
        poke(scores + key * size, value)


@compiled
def _soften_row(scores: int, weights: int, keys: int, at: int, one: float) -> float:
    """Weights of one row over a block, its maximum and sum brought up to date; the factor for what came before."""
    size, lanes = size_of(one), lane_count(one)
    for key in range(keys, round_up(keys, lanes)):
        poke(scores + key * size, like(-np.inf, one))
    old = peek(at, one)
    top = splat(old)
    for key in range(0, keys, lanes):
        top = maximum(load(scores + key * size, one), top)
    new = largest(top)
    best = splat(new) if new != -np.inf else splat(like(0.0, one))
    shrinking = exp2(subtract(splat(old), best))
    sums = splat(like(0.0, one))
    for key in range(0, keys, lanes):
        weight = exp2(subtract(load(scores + key * size, one), best))
        store(weights + key * size, weight)
        sums = add(sums, weight)
    shrink = largest(shrinking)
    poke(at, new)
    poke(at + size, peek(at + size, one) * shrink + total(sums))
    return shrink  # type: ignore[no-any-return]


@compiled
def _weigh_row(
    job: Any, unit: Unit, row: int, work: DecodeWork, keys: Keys, start: int, end: int, part: int, one: float
) -> float:
    """Weights of one row over the keys start … end − 1 of a block; the factor for what came before."""
    size, lanes = size_of(one), lane_count(one)
    count, first = end - start, start - keys.start
    q, weights = work.q + row * round_up(job.d, lanes) * size, work.weights + row * BLOCK * size
    dots(q, keys.k + first * keys.k_n, keys.k_n, count, job.d, work.scores, row == 0, one)
    if job.softcap > 0.0:
        apply_softcap(work.scores, round_up(count, lanes) // lanes, job.softcap, one)
    if job.mask or job.bias:
        _mask_row(job, unit, row, work.scores, start, count, one)
    return _soften_row(work.scores, weights, count, part + round_up(job.d_v, lanes) * size, one)


@compiled
def _attend_row(
    job: Any, unit: Unit, row: int, work: DecodeWork, keys: Keys, start: int, end: int, part: int, one: float
) -> None:
    """One row over the keys start … end − 1 of a block."""
    size, lanes = size_of(one), lane_count(one)
    if job.mask:
        start, end = _trim(job, unit, row, start, end)
        if start == end:
            return
    shrink = _weigh_row(job, unit, row, work, keys, start, end, part, one)
    weights, values = work.weights + row * BLOCK * size, keys.v + (start - keys.start) * keys.v_n
    if not (job.mask or job.bias):
        _add_values(job, work, values, keys.v_n, weights, end - start, part, shrink, one)
        return
    registers = round_up(job.d_v, lanes) // lanes
    for at in range(0, registers * lanes * size, lanes * size):
        store(work.before + at, load(part + at, one))
    _add_values(job, work, values, keys.v_n, weights, end - start, part, shrink, one)
    if not_finite(part, registers, one):  # 0 times the value of a masked key may be NaN: once more, without those
        for at in range(0, registers * lanes * size, lanes * size):
            store(part + at, load(work.before + at, one))
        _add_used_values(job, work, values, keys.v_n, weights, end - start, part, shrink, one)


@compiled
def _add_used_values(
    job: Any, work: DecodeWork, v: int, step: int, weights: int, count: int, part: int, shrink: float, one: float
) -> None:
    """The same for runs of keys that may be used, so that what stands at the others is never read."""
    size, key, factor = size_of(one), 0, shrink
    while key < count:
        run = key
        while run < count and peek(work.scores + run * size, one) != -np.inf:
            run += 1
        if run > key:
            _add_values(job, work, v + key * step, step, weights + key * size, run - key, part, factor, one)
            factor = like(1.0, one)
        key = run + 1


@compiled
def _attend_together(
    job: Any, unit: Unit, work: DecodeWork, keys: Keys, start: int, end: int, part: int, line: int, one: float
) -> None:
    """All rows of a unit over the same keys start … end − 1, each value read once for all of them."""
    size, lanes = size_of(one), lane_count(one)
    count, first, step = end - start, start - keys.start, BLOCK * size
    query, values = round_up(job.d, lanes) * size, round_up(job.d_v, lanes) * size
    for row in range(0, unit.rows, TOGETHER):
        k, scores = keys.k + first * keys.k_n, work.weights + row * step
        dots_together(work.q + row * query, query, k, keys.k_n, count, job.d, scores, step, one)
    for row in range(unit.rows):
        mine, scores = part + row * line, work.weights + row * step
        if job.softcap > 0.0:
            apply_softcap(scores, round_up(count, lanes) // lanes, job.softcap, one)
        shrink = splat(_soften_row(scores, scores, count, mine + values, one))
        for at in range(mine, mine + values, lanes * size):
            store(at, multiply(load(at, one), shrink))
    for register in range(SPAN):
        store(work.factor + register * lanes * size, splat(one))
    for row in range(0, unit.rows, TOGETHER):
        v, to = keys.v + first * keys.v_n, part + row * line
        add_together(work.weights + row * step, step, v, keys.v_n, to, line, job.d_v // lanes, count, work.factor, one)
    for row in range(unit.rows):
        v, to = keys.v + first * keys.v_n, part + row * line
        _add_rest(job, v, keys.v_n, work.weights + row * step, count, to, one, one)


@compiled
def _add_values(
    job: Any, work: DecodeWork, v: int, step: int, weights: int, count: int, part: int, shrink: float, one: float
) -> None:
    size, lanes = size_of(one), lane_count(one)
    for register in range(FACTORS):
        store(work.factor + register * lanes * size, splat(shrink))
    add_rows(weights, v, step, part, job.d_v // lanes, count, work.factor, one)
    _add_rest(job, v, step, weights, count, part, shrink, one)


@compiled
def _add_rest(job: Any, v: int, step: int, weights: int, count: int, part: int, shrink: float, one: float) -> None:
    """Weighted values of the columns that do not fill a register, if there are any."""
    size, lanes = size_of(one), lane_count(one)
    left, at = job.d_v % lanes, job.d_v // lanes * lanes * size
    if left:
        sums = multiply(load(part + at, one), splat(shrink))
        for key in range(count):
            weight = splat(peek(weights + key * size, one))
            sums = fma(load_part(v + key * step + at, left, one), weight, sums)
        store(part + at, sums)


@compiled
def _join(job: Any, unit: Unit, parts: int, line: int, one: float) -> None:
    """The rows of a unit from its parts, always in the same order; the first part takes the sum."""
    size, lanes = size_of(one), lane_count(one)
    values, next_split = round_up(job.d_v, lanes) * size, padded_rows(unit.rows) * line
    for row in range(unit.rows):
        first = parts + row * line
        best = like(-np.inf, one)
        for split in range(job.splits):
            best = max(best, peek(first + split * next_split + values, one))
        top = best if best != -np.inf else like(0.0, one)
        weight = 0.0
        for split in range(job.splits):
            at = first + split * next_split + values
            share = np.exp2(peek(at, one) - top)
            weight += np.float64(share) * peek(at + size, one)
            shares = splat(like(share, one))
            for column in range(0, values, lanes * size):
                old = load(first + column, one) if split else splat(like(0.0, one))
                store(first + column, fma(load(at - values + column, one), shares, old))
        _write_row(job, unit, row, first, like(1.0 / weight if weight != 0.0 else 0.0, one), one)
        if job.lse:
            place = (unit.batch * job.heads + unit.head + row // job.n_q) * job.n_q + row % job.n_q
            poke(job.lse + place * size, like((best + np.log2(weight)) * LN_2, one))


@compiled
def _write_row(job: Any, unit: Unit, row: int, values: int, inverse: float, one: float) -> None:
    """The values of a row times the inverse of its sum, to where the caller wants them."""
    size, lanes = size_of(one), lane_count(one)
    target = row_address(job.out, job, unit, row, job.out_b, job.out_h, job.out_n)
    if job.out_d == size:
        for d in range(0, job.d_v, lanes):
            wide = multiply(load(values + d * size, one), splat(inverse))
            store_part(target + d * size, job.d_v - d, wide)
        return
    for d in range(job.d_v):
        poke(target + d * job.out_d, peek(values + d * size, one) * inverse)
