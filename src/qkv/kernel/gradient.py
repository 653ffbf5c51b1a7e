"""The blocked backward pass: weights are made again from the stored lse, tile by tile; no n × n matrix is kept.

A task is one part of the keys of one key head, for all query heads that share it: it alone writes the gradients of
those keys and values, and it adds to the queries' gradient of its own part, so every sum has one order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from qkv.kernel.atomics import fetch_add
from qkv.kernel.forward import Work, lay_out, score
from qkv.kernel.jit import compiled, entry, spliced
from qkv.kernel.job import DONE, NEXT, job_at
from qkv.kernel.keys import Keys, keys_of
from qkv.kernel.memory import load, peek, poke, store, transpose
from qkv.kernel.panel import BLOCK, Panel, Unit, panel_count, panel_of, unit_of
from qkv.kernel.rows import row_address
from qkv.kernel.scores import keep_tile
from qkv.kernel.tile import TILE_ROWS, TILE_VECTORS, add_product, multiply_tiles
from qkv.kernel.vectors import LN_2, LOG2_E, chain, exp2, lane_count, like, multiply, size_of, splat, subtract

CHUNK = 1024  # keys whose gradients a task holds at once


class Slopes(NamedTuple):
    """Addresses of one thread's own memory, besides that of the forward pass; a panel's rows are `wide` numbers."""

    q_rows: int  # [rows][d]
    dout_rows: int  # [rows][d_v]
    dout: int  # [d_v][rows]
    dq: int  # [d][rows]
    lse: int
    delta: int
    tile: int  # dP, then dS, [keys][rows]
    dk: int  # [keys of the chunk][d]
    dv: int
    dbias: int  # dS before the softcap's slope, [keys][rows], where the gradient of the bias is wanted


@compiled
def padded(count: int, one: float) -> int:
    """A count rounded up to whole registers."""
    lanes: int = lane_count(one)
    return (count + lanes - 1) // lanes * lanes


@compiled
def lay_out_slopes(job: Any, base: int, one: float) -> tuple[Slopes, int]:
    size = size_of(one)
    width = TILE_VECTORS * lane_count(one) * size
    rows, d, d_v = TILE_VECTORS * lane_count(one), padded(job.d, one), padded(job.d_v, one)
    dout_rows = base + rows * d * size
    dout = dout_rows + rows * d_v * size
    dq = dout + d_v * width
    lse = dq + (d + TILE_ROWS) * width
    delta, tile = lse + width, lse + 2 * width
    dk = tile + BLOCK * width
    dv = dk + (CHUNK + TILE_ROWS) * d * size
    dbias = dv + (CHUNK + TILE_ROWS) * d_v * size
    end = dbias + (BLOCK * width if job.dbias else 0)
    return Slopes(base, dout_rows, dout, dq, lse, delta, tile, dk, dv, dbias), end - base


@entry
def backward(address: int, one: float) -> None:
    """Take tasks of the job at `address` until none is left; any number of threads may do so at once."""
    job = job_at(address)
    used = (lay_out(job, 0, one)[1] + 63) // 64 * 64
    memory = np.empty(used + lay_out_slopes(job, 0, one)[1] + 64, np.uint8)
    base = (memory.ctypes.data + 63) // 64 * 64
    work, _ = lay_out(job, base, one)
    slopes, _ = lay_out_slopes(job, base + used, one)
    for lane in range(TILE_VECTORS * lane_count(one)):
        poke(work.ones + lane * size_of(one), one)
    task = fetch_add(address + NEXT, 1)
    while task < job.tasks:
        _backward_task(job, work, slopes, task, one)
        fetch_add(address + DONE, 1)
        task = fetch_add(address + NEXT, 1)
    memory[0] = 0  # the last use, so that it is not freed before


@spliced
def _backward_task(job: Any, work: Work, slopes: Slopes, task: int, one: float) -> None:
    """One part of the keys of one key head, a chunk at a time."""
    size, lanes = size_of(one), lane_count(one)
    place, split = task // job.splits, task % job.splits
    heads = job.heads // job.kv_heads
    batch, kv_head = place // job.kv_heads, place % job.kv_heads
    share = (job.n_k + job.splits - 1) // job.splits
    stop = min((split + 1) * share, job.n_k)
    for start in range(split * share, stop, CHUNK):
        end = min(start + CHUNK, stop)
        for at in range(slopes.dk, slopes.dv + (end - start + TILE_ROWS) * padded(job.d_v, one) * size, lanes * size):
            store(at, splat(like(0.0, one)))
        for head in range(kv_head * heads, (kv_head + 1) * heads):
            unit = unit_of(job, batch * job.heads + head)
            for index in range(panel_count(unit.rows, lanes)):
                panel = panel_of(job, unit, index, lanes)
                first, last = max(start, panel.low), min(end, panel.high)
                if first < last:
                    _panel_slopes(job, unit, panel, work, slopes, start, first, last, split, one)
        line = (batch * job.kv_heads + kv_head) * job.n_k + start
        _write_slopes(slopes.dk, job.dk + line * job.d * size, end - start, job.d, job.scale, one)
        _write_slopes(slopes.dv, job.dv + line * job.d_v * size, end - start, job.d_v, 1.0, one)


@spliced
def _panel_slopes(
    job: Any, unit: Unit, panel: Panel, work: Work, slopes: Slopes, chunk: int, start: int, end: int, split: int,
    one: float,
) -> None:  # fmt: skip
    """One panel of queries over the keys start … end − 1 of a chunk."""
    size, lanes = size_of(one), lane_count(one)
    width = panel.vectors * lanes * size
    d, d_v = padded(job.d, one), padded(job.d_v, one)
    q = row_address(job.q, job, unit, panel.first, job.q_b, job.q_h, job.q_n)
    dout = row_address(job.dout, job, unit, panel.first, job.dout_b, job.dout_h, job.dout_n)
    rows = min(panel.vectors * lanes, unit.rows - panel.first)
    _lay_down(q, job.q_n, job.q_d, rows, job.d, panel.vectors, slopes.q_rows, work.q, job.scale * LOG2_E, one)
    _lay_down(dout, job.dout_n, job.dout_d, rows, job.d_v, panel.vectors, slopes.dout_rows, slopes.dout, 1.0, one)
    line = (unit.batch * job.heads + unit.head) * job.n_q + panel.first
    for lane in range(panel.vectors * lanes):
        seen = lane < rows and peek(job.lse + (line + lane) * size, one) != -np.inf
        lse = peek(job.lse + (line + lane) * size, one) * LOG2_E if seen else np.inf  # 2**(x − inf) is 0
        poke(slopes.lse + lane * size, like(lse, one))
        poke(slopes.delta + lane * size, peek(job.delta + (line + lane) * size, one) if seen else like(0.0, one))
    for at in range(slopes.dq, slopes.dq + d * width, lanes * size):
        store(at, splat(like(0.0, one)))
    for block in range(start, end, BLOCK):
        last = min(block + BLOCK, end)
        keys = keys_of(job, unit, block, last, work.keys, one)
        span = score(job, unit, panel, work, keys, block, last, one)
        count = span.end - span.start
        if count:
            _tile_slopes(job, panel, work, slopes, keys, span.start, count, one)
            if job.dbias:
                keep_tile(job.dbias, job, unit, panel, slopes.dbias, span.start, count, one)
            into = span.start - chunk
            full = (count + TILE_ROWS - 1) // TILE_ROWS * TILE_ROWS
            add_product(
                work.tile, width, full, size, slopes.dout_rows, d_v * size, slopes.dv + into * d_v * size, d_v * size,
                panel.vectors * lanes, work.ones, d_v // lanes, one,
            )  # fmt: skip
            add_product(
                slopes.tile, width, full, size, slopes.q_rows, d * size, slopes.dk + into * d * size, d * size,
                panel.vectors * lanes, work.ones, d // lanes, one,
            )  # fmt: skip
    _add_queries(job, unit, panel, rows, slopes.dq, split, one)


@compiled
def _tile_slopes(
    job: Any, panel: Panel, work: Work, slopes: Slopes, keys: Keys, start: int, count: int, one: float
) -> None:
    """From scores to weights P, and dS = P (dP − delta), with rows of zeros up to a whole tile; then dQ += dS K."""
    size, lanes = size_of(one), lane_count(one)
    width = panel.vectors * lanes * size
    v = keys.v + (start - keys.start) * keys.v_n
    multiply_tiles(v, keys.v_n, count, keys.v_d, slopes.dout, width, slopes.tile, width, job.d_v, 0, panel.vectors, one)
    capped = job.softcap > 0.0
    inward = splat(like(LN_2 / job.softcap if capped else 0.0, one))
    for column in range(0, width, lanes * size):
        lse, delta = load(slopes.lse + column, one), load(slopes.delta + column, one)
        for row in range(0, count * width, width):
            at = row + column
            raw = load(work.tile + at, one)
            weight = exp2(subtract(raw, lse))
            slope = splat(one)
            if capped:  # d tanh = 1 − tanh²
                bent = multiply(subtract(raw, load(work.bias + at, one)) if job.bias else raw, inward)
                slope = subtract(splat(one), multiply(bent, bent))
            difference = subtract(load(slopes.tile + at, one), delta)
            if job.dbias:
                store(slopes.dbias + at, chain(weight, difference, splat(one)))
            store(work.tile + at, weight)
            store(slopes.tile + at, chain(weight, difference, slope))
    nothing = splat(like(0.0, one))
    for at in range(count * width, (count + TILE_ROWS - 1) // TILE_ROWS * TILE_ROWS * width, lanes * size):
        store(work.tile + at, nothing)
        store(slopes.tile + at, nothing)
    k = keys.k + (start - keys.start) * keys.k_n
    multiply_tiles(
        k, keys.k_d, job.d, keys.k_n, slopes.tile, width, slopes.dq, width, count, work.ones, panel.vectors, one
    )


@compiled
def _lay_down(
    source: int, by_row: int, by_column: int, rows: int, columns: int, vectors: int, flat: int, turned: int,
    scale: float, one: float,
) -> None:  # fmt: skip
    """Copy rows to [rows][columns] padded with zeros, and scaled to [columns][rows]."""
    size, lanes = size_of(one), lane_count(one)
    line, width = padded(columns, one) * size, vectors * lanes * size
    for row in range(vectors * lanes):
        for column in range(padded(columns, one)):
            inside = row < rows and column < columns
            value = peek(source + row * by_row + column * by_column, one) if inside else like(0.0, one)
            poke(flat + row * line + column * size, value)
    for vector in range(vectors):
        for square in range(0, line, lanes * size):
            to = turned + square // size * width + vector * lanes * size
            transpose(flat + vector * lanes * line + square, line, to, width, one)
    factor = splat(like(scale, one))
    for at in range(turned, turned + columns * width, lanes * size):
        store(at, multiply(load(at, one), factor))


@compiled
def _add_queries(job: Any, unit: Unit, panel: Panel, rows: int, dq: int, split: int, one: float) -> None:
    """Add a panel's [d][rows] to the queries' gradient, [splits][batch][heads][n_q][d]."""
    size = size_of(one)
    width = panel.vectors * lane_count(one) * size
    line = ((split * job.batch + unit.batch) * job.heads + unit.head) * job.n_q + panel.first
    scale = like(job.scale, one)
    for row in range(rows):
        at = job.dq + (line + row) * job.d * size
        for d in range(job.d):
            poke(at + d * size, peek(at + d * size, one) + peek(dq + d * width + row * size, one) * scale)


@compiled
def _write_slopes(source: int, target: int, rows: int, columns: int, scale: float, one: float) -> None:
    size, factor = size_of(one), like(scale, one)
    line = padded(columns, one) * size
    for row in range(rows):
        for column in range(columns):
            poke(target + (row * columns + column) * size, peek(source + row * line + column * size, one) * factor)
