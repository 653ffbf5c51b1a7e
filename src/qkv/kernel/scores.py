"""What may happen to a tile of scores before the softmax: softcap, bias, mask, the diagonal; and keeping them.

A tile is [keys][rows of the panel]; scores are in units of log 2, so that the softmax can use 2**x.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from qkv.kernel.jit import compiled
from qkv.kernel.memory import keep_bits, load, load_part, pack_words, peek, poke, store, store_part, transpose
from qkv.kernel.panel import BLOCK, Panel, Unit
from qkv.kernel.rows import row_address, whole_square
from qkv.kernel.vectors import (
    LN_2,
    LOG2_E,
    add_bias,
    between,
    exp2,
    finite_or_zero,
    is_open,
    lane_count,
    like,
    maximum,
    multiply,
    ramp,
    size_of,
    splat,
    subtract,
    tanh,
    total,
)

FAR = 1 << 20  # keys: further away from a tile than any of its keys, and exact as a float32
WORDS = 16  # mask flags that are turned into words at once


class Span(NamedTuple):
    """Keys start … end − 1 of a block that some row may use; `whole` if every row may use every one of them."""

    start: int
    end: int
    whole: bool


@compiled
def read_mask(job: Any, unit: Unit, panel: Panel, words: int, start: int, end: int, one: float) -> Span:
    """Turn the mask over a tile into bits, [vectors][BLOCK] words of one bit per row, and trim masked keys off."""
    lanes = lane_count(one)
    for vector in range(panel.vectors):
        row, at = panel.first + vector * lanes, words + vector * BLOCK * 2
        source = row_address(job.mask, job, unit, row, job.mask_b, job.mask_h, job.mask_n) + start * job.mask_d
        key = 0
        if job.mask_d == 1:
            while key + WORDS <= end - start:
                pack_words(source + key, job.mask_n, unit.rows - row, at + 2 * key, one)
                key += WORDS
        while key < end - start:
            poke(at + 2 * key, _word(job, source + key * job.mask_d, min(lanes, unit.rows - row)))
            key += 1
    first, last = 0, end - start
    while first < last and not _any_bit(words + 2 * first, panel.vectors):
        first += 1
    while last > first and not _any_bit(words + 2 * (last - 1), panel.vectors):
        last -= 1
    return Span(start + first, start + last, False)


@compiled
def _word(job: Any, source: int, rows: int) -> np.int16:
    bits = 0
    for row in range(rows):
        if peek(source + row * job.mask_n, np.int8(0)) != 0:
            bits |= 1 << row
    return np.int16(bits)


@compiled
def _any_bit(at: int, vectors: int) -> bool:
    found = False
    for vector in range(vectors):
        found |= peek(at + vector * BLOCK * 2, np.int16(0)) != 0
    return found


@compiled
def apply_mask(tile: int, words: int, keys: int, vectors: int, one: float) -> None:
    """−inf where the bit of a key and row is not set."""
    size = size_of(one) * lane_count(one)
    for vector in range(vectors):
        for key in range(keys):
            at = tile + (key * vectors + vector) * size
            store(at, keep_bits(words + (vector * BLOCK + key) * 2, load(at, one)))


@compiled
def read_bias(job: Any, unit: Unit, panel: Panel, target: int, start: int, end: int, one: float) -> bool:
    """Lay the bias of a tile down as [keys][rows] in units of log 2; whether it leaves any key open."""
    size, lanes = size_of(one), lane_count(one)
    width, keys = panel.vectors * lanes * size, end - start
    for vector in range(panel.vectors):
        row, column = panel.first + vector * lanes, target + vector * lanes * size
        source = row_address(job.bias, job, unit, row, job.bias_b, job.bias_h, job.bias_n) + start * job.bias_d
        squares = keys // lanes if job.bias_d == size and whole_square(job, unit, row, lanes) else 0
        for square in range(squares):
            transpose(source + square * lanes * size, job.bias_n, column + square * lanes * width, width, one)
        for lane in range(lanes):
            last = min(lane, unit.rows - 1 - row)
            for key in range(squares * lanes, keys):
                value = peek(source + last * job.bias_n + key * job.bias_d, one)
                poke(column + key * width + lane * size, value)
    unit_of_log = splat(like(LOG2_E, one))
    found = splat(like(0.0, one))
    for at in range(target, target + keys * width, lanes * size):
        value = multiply(load(at, one), unit_of_log)
        found = maximum(is_open(value), found)
        store(at, value)
    return bool(total(found) > 0.0)


@compiled
def apply_bias(tile: int, bias: int, count: int, one: float) -> None:
    """Add the bias, laid down like the tile, to `count` registers of scores."""
    size = size_of(one) * lane_count(one)
    for at in range(0, count * size, size):
        store(tile + at, add_bias(load(tile + at, one), load(bias + at, one)))


@compiled
def apply_softcap(tile: int, count: int, softcap: float, one: float) -> None:
    """softcap · tanh(score / softcap) on `count` registers of scores."""
    size = size_of(one) * lane_count(one)
    inward, outward = splat(like(LN_2 / softcap, one)), splat(like(LOG2_E * softcap, one))
    for at in range(tile, tile + count * size, size):
        store(at, multiply(tanh(multiply(load(at, one), inward)), outward))


@compiled
def clip(job: Any, unit: Unit, panel: Panel, tile: int, limits: int, start: int, keys: int, one: float) -> None:
    """−inf where a key is too early or too late for a query; positions count from the first key of the tile."""
    size, lanes = size_of(one), lane_count(one)
    width = panel.vectors * lanes * size
    if job.group > 1:
        _list_limits(job, unit, panel, limits, start, keys, one)
    for column in range(0, width, lanes * size):
        position = panel.first + column // size + unit.offset - start
        first, last = max(position - job.left, -FAR), min(position + job.right, FAR)
        low, high = ramp(like(min(first, FAR), one)), ramp(like(max(last, -FAR), one))
        if job.group > 1:
            low, high = load(limits + column, one), load(limits + width + column, one)
        for key in range(keys):
            at = tile + key * width + column
            store(at, between(low, splat(like(key, one)), high, load(at, one)))


@compiled
def _list_limits(job: Any, unit: Unit, panel: Panel, limits: int, start: int, keys: int, one: float) -> None:
    """The first and the last key of each row, where rows of several heads stand in one panel."""
    size, lanes = size_of(one), panel.vectors * lane_count(one)
    for lane in range(lanes):
        row = min(panel.first + lane, unit.rows - 1)
        position = row % job.n_q + unit.offset - start
        poke(limits + lane * size, like(max(position - job.left, -1), one))
        poke(limits + (lanes + lane) * size, like(min(position + job.right, keys), one))


@compiled
def keep_tile(base: int, job: Any, unit: Unit, panel: Panel, tile: int, start: int, keys: int, one: float) -> None:
    """Write a tile to its place in a matrix over all queries and keys, which begins at `base`."""
    size, lanes = size_of(one), lane_count(one)
    width, line = panel.vectors * lanes * size, job.n_k * size
    for vector in range(panel.vectors):
        row, column = panel.first + vector * lanes, tile + vector * lanes * size
        target = matrix_row(base, job, unit, row, one) + start * size
        squares = keys // lanes if whole_square(job, unit, row, lanes) else 0
        for square in range(squares):
            transpose(column + square * lanes * width, width, target + square * lanes * size, line, one)
        for lane in range(min(lanes, unit.rows - row)):
            target = matrix_row(base, job, unit, row + lane, one) + start * size
            for key in range(squares * lanes, keys):
                poke(target + key * size, peek(column + key * width + lane * size, one))


@compiled
def matrix_row(base: int, job: Any, unit: Unit, row: int, one: float) -> int:
    """Where a row of an array over all queries and keys begins; it is our own, so its numbers lie close together."""
    line = job.n_k * size_of(one)
    return row_address(base, job, unit, row, job.heads * job.n_q * line, job.n_q * line, line)


@compiled
def open_weights(job: Any, unit: Unit, panel: Panel, one: float) -> None:
    """−inf for every key: what is never scored gets no weight."""
    for row in range(panel.first, min(panel.first + panel.vectors * lane_count(one), unit.rows)):
        at = matrix_row(job.weights, job, unit, row, one)
        for key in range(job.n_k):
            poke(at + key * size_of(one), like(-np.inf, one))


@compiled
def finish_weights(job: Any, unit: Unit, panel: Panel, m: int, inverse: int, one: float) -> None:
    """The scores that were kept become weights: 2**(score − maximum) / sum."""
    size, lanes = size_of(one), lane_count(one)
    for lane in range(min(panel.vectors * lanes, unit.rows - panel.first)):
        at = matrix_row(job.weights, job, unit, panel.first + lane, one)
        best = finite_or_zero(splat(peek(m + lane * size, one)))
        share = splat(peek(inverse + lane * size, one))
        for key in range(0, job.n_k, lanes):
            score = load_part(at + key * size, job.n_k - key, one)
            store_part(at + key * size, job.n_k - key, multiply(exp2(subtract(score, best)), share))
