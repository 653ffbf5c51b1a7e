"""Rows to lanes and back: queries are laid down transposed, results are written out as rows again.

A register holds one number of each of several rows. Squares of whole registers are transposed where they lie; at the
end of the rows or columns, and where a group goes on in another head, each row is looked up by itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qkv.kernel.jit import compiled
from qkv.kernel.memory import load, peek, poke, store, transpose, transpose_in, transpose_out
from qkv.kernel.panel import Panel, Unit
from qkv.kernel.vectors import LN_2, LOG2_E, inverse, lane_count, like, multiply, size_of, splat


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
def _list_rows(
    job: Any, unit: Unit, row: int, first: int, by_head: int, by_token: int, places: int, lanes: int
) -> None:
    """Where the rows row, row + 1, … begin, to `places`; the first one begins at `first`."""
    query, at = row % job.n_q, first
    for lane in range(lanes):
        poke(places + 8 * lane, at)
        query, at = query + 1, at + by_token
        if query == job.n_q:
            query, at = 0, at + by_head - job.n_q * by_token


@compiled
def pack_queries(job: Any, unit: Unit, panel: Panel, target: int, places: int, one: float) -> None:
    """Lay the panel's queries down transposed and scaled, [d][rows]; rows past the end are zeros.

    There is room for d to be filled up to whole registers.
    """
    size, lanes = size_of(one), lane_count(one)
    width = panel.vectors * lanes * size
    scale = splat(like(job.scale * LOG2_E, one))
    for vector in range(panel.vectors):
        row, column = panel.first + vector * lanes, target + vector * lanes * size
        if job.q_d == size:
            _pack_squares(job, unit, row, column, width, places, one)
        else:
            _pack_singly(job, unit, row, column, width, one)
        for at in range(column, column + job.d * width, width):
            store(at, multiply(load(at, one), scale))


@compiled
def _pack_squares(job: Any, unit: Unit, row: int, column: int, width: int, places: int, one: float) -> None:
    size, lanes = size_of(one), lane_count(one)
    source = row_address(job.q, job, unit, row, job.q_b, job.q_h, job.q_n)
    whole = job.d // lanes * lanes if whole_square(job, unit, row, lanes) else 0
    for d in range(0, whole, lanes):
        transpose(source + d * size, job.q_n, column + d * width, width, one)
    if whole < job.d:
        _list_rows(job, unit, row, source, job.q_h, job.q_n, places, lanes)
    for d in range(whole, job.d, lanes):
        transpose_in(places, d * size, unit.rows - row, job.d - d, column + d * width, width, one)


@compiled
def _pack_singly(job: Any, unit: Unit, row: int, column: int, width: int, one: float) -> None:
    size = size_of(one)
    for lane in range(lane_count(one)):
        source = row_address(job.q, job, unit, min(row + lane, unit.rows - 1), job.q_b, job.q_h, job.q_n)
        for d in range(job.d):
            value = peek(source + d * job.q_d, one) if row + lane < unit.rows else like(0.0, one)
            poke(column + d * width + lane * size, value)


@compiled
def _write_rows(job: Any, unit: Unit, row: int, column: int, width: int, places: int, one: float) -> None:
    """One register of rows, from [d_v][rows] to where the caller wants them."""
    size, lanes = size_of(one), lane_count(one)
    target = row_address(job.out, job, unit, row, job.out_b, job.out_h, job.out_n)
    if job.out_d != size:
        _write_singly(job, unit, row, column, width, one)
        return
    whole = job.d_v // lanes * lanes if whole_square(job, unit, row, lanes) else 0
    for d in range(0, whole, lanes):
        transpose(column + d * width, width, target + d * size, job.out_n, one)
    if whole < job.d_v:
        _list_rows(job, unit, row, target, job.out_h, job.out_n, places, lanes)
    for d in range(whole, job.d_v, lanes):
        transpose_out(column + d * width, width, places, d * size, unit.rows - row, job.d_v - d, one)


@compiled
def _write_singly(job: Any, unit: Unit, row: int, column: int, width: int, one: float) -> None:
    size = size_of(one)
    for lane in range(min(lane_count(one), unit.rows - row)):
        target = row_address(job.out, job, unit, row + lane, job.out_b, job.out_h, job.out_n)
        for d in range(job.d_v):
            poke(target + d * job.out_d, peek(column + d * width + lane * size, one))


@compiled
def finish_panel(
    job: Any, unit: Unit, panel: Panel, o: int, m: int, total: int, seen: bool, places: int, one: float
) -> None:
    """Divide by the sums and write the rows out; a row that saw no key is zeros, with an lse of −inf."""
    size, lanes = size_of(one), lane_count(one)
    width = panel.vectors * lanes * size
    if job.lse:
        write_lse(job, unit, panel, m, total, one)
    for vector in range(panel.vectors):
        column, sums = o + vector * lanes * size, total + vector * lanes * size
        inverses = inverse(load(sums, one))
        store(sums, inverses)
        for at in range(column, column + job.d_v * width, width):
            store(at, multiply(load(at, one), inverses) if seen else splat(one - one))
        _write_rows(job, unit, panel.first + vector * lanes, column, width, places, one)


@compiled
def write_lse(job: Any, unit: Unit, panel: Panel, m: int, total: int, one: float) -> None:
    """log Σ exp(score) of the panel's rows."""
    size, lanes = size_of(one), lane_count(one)
    for lane in range(min(panel.vectors * lanes, unit.rows - panel.first)):
        row = panel.first + lane
        place = (unit.batch * job.heads + unit.head + row // job.n_q) * job.n_q + row % job.n_q
        best, weight = peek(m + lane * size, one), peek(total + lane * size, one)
        poke(job.lse + place * size, like((best + np.log2(np.float64(weight))) * LN_2, one))
