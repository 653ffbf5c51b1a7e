"""Keys and values of one block: where the caller left them, or widened to float32 in a thread's own memory."""

from __future__ import annotations

from typing import Any, NamedTuple

from qkv.kernel.jit import compiled
from qkv.kernel.job import HALF
from qkv.kernel.memory import peek_brain, peek_half, poke, store, widen_brain, widen_half
from qkv.kernel.panel import Unit
from qkv.kernel.vectors import lane_count, size_of


class Keys(NamedTuple):
    """Addresses of key `start` and its value, and the steps in bytes from token to token and column to column."""

    start: int
    k: int
    k_n: int
    k_d: int
    v: int
    v_n: int
    v_d: int


@compiled
def keys_of(job: Any, unit: Unit, start: int, end: int, memory: int, one: float) -> Keys:
    """Keys and values start … end − 1 as float32 or float64."""
    k = job.k + unit.batch * job.k_b + unit.kv_head * job.k_h + start * job.k_n
    v = job.v + unit.batch * job.v_b + unit.kv_head * job.v_h + start * job.v_n
    if job.storage == 0:
        return Keys(start, k, job.k_n, job.k_d, v, job.v_n, job.v_d)
    size, rows = size_of(one), end - start
    values = memory + rows * job.d * size
    widen(k, job.k_n, job.k_d, rows, job.d, memory, job.storage, one)
    widen(v, job.v_n, job.v_d, rows, job.d_v, values, job.storage, one)
    return Keys(start, memory, job.d * size, size, values, job.d_v * size, size)


@compiled
def widen(
    source: int, by_row: int, by_column: int, rows: int, columns: int, target: int, storage: int, one: float
) -> None:
    """Copy a matrix of float16 or bfloat16 to close-packed float32."""
    size, lanes = size_of(one), lane_count(one)
    whole = columns // lanes * lanes if by_column == 2 else 0
    for row in range(rows):
        at, to = source + row * by_row, target + row * columns * size
        for column in range(0, whole, lanes):
            if storage == HALF:
                store(to + column * size, widen_half(at + 2 * column, one))
            else:
                store(to + column * size, widen_brain(at + 2 * column, one))
        for column in range(whole, columns):
            if storage == HALF:
                poke(to + column * size, peek_half(at + column * by_column, one))
            else:
                poke(to + column * size, peek_brain(at + column * by_column, one))
