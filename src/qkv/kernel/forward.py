"""The blocked forward pass: each panel of queries walks over blocks of keys with a running maximum and sum."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from qkv.kernel.atomics import fetch_add
from qkv.kernel.careful import add_used, not_finite, note_used
from qkv.kernel.few import copy_keys, score_few, write_few
from qkv.kernel.jit import compiled, entry, spliced
from qkv.kernel.job import DONE, NEXT, WORD, job_at
from qkv.kernel.keys import Keys, keys_of
from qkv.kernel.memory import peek, poke
from qkv.kernel.panel import BLOCK, Panel, Unit, panel_count, panel_of, soften, start_panel, unit_of
from qkv.kernel.parts import join_parts, leave_part, part_of_panel, part_size
from qkv.kernel.rows import finish_panel, pack_queries, write_lse
from qkv.kernel.scores import (
    Span,
    apply_bias,
    apply_mask,
    apply_softcap,
    clip,
    finish_weights,
    keep_tile,
    open_weights,
    read_bias,
    read_mask,
)
from qkv.kernel.tile import TILE_ROWS, TILE_VECTORS, multiply_tiles
from qkv.kernel.vectors import lane_count, like, size_of

TWO_SUMS = 32  # from this d on, scores are added up in two halves: smaller errors for a few percent of the time


class Work(NamedTuple):
    """Addresses of one thread's own memory; the first five hold one part per panel of a task."""

    q: int
    o: int
    m: int
    total: int
    seen: int  # whether o holds anything yet
    tile: int
    factor: int
    limits: int
    ones: int
    words: int
    bias: int
    used: int
    places: int  # where rows begin
    keys: int


@compiled
def _rows_of(count: int, one: float) -> int:
    """Rows of memory for so many columns of q, k or v, whole registers and whole tiles of them."""
    step: int = max(lane_count(one), TILE_ROWS)
    return (count + step - 1) // step * step


@compiled
def lay_out(job: Any, base: int, one: float) -> tuple[Work, int]:
    """One thread's working memory from `base` on, and how much it is."""
    size = size_of(one)
    width = TILE_VECTORS * lane_count(one) * size
    q = base
    o = q + job.panels * _rows_of(job.d, one) * width
    m = o + job.panels * _rows_of(job.d_v, one) * width
    total = m + job.panels * width
    tile = total + job.panels * width
    factor = tile + BLOCK * width
    limits = factor + width
    ones = limits + 2 * width
    seen = ones + width
    words = seen + 8 * job.panels
    bias = words + (2 * TILE_VECTORS * BLOCK if job.mask else 0)
    used = bias + (BLOCK * width if job.bias else 0)
    places = used + (BLOCK * width // size if job.masked else 0)
    keys = places + 8 * lane_count(one)
    end = keys + (BLOCK * (job.d + job.d_v) * size if job.storage else 0)
    return Work(q, o, m, total, seen, tile, factor, limits, ones, words, bias, used, places, keys), end - base


@compiled
def _part(job: Any, work: Work, index: int, one: float) -> Work:
    """The same memory, as panel number `index` of a task sees it."""
    width = TILE_VECTORS * lane_count(one) * size_of(one)
    q, o = work.q + index * _rows_of(job.d, one) * width, work.o + index * _rows_of(job.d_v, one) * width
    m, total, seen = work.m + index * width, work.total + index * width, work.seen + 8 * index
    return Work(
        q,
        o,
        m,
        total,
        seen,
        work.tile,
        work.factor,
        work.limits,
        work.ones,
        work.words,
        work.bias,
        work.used,
        work.places,
        work.keys,
    )


@entry
def forward(address: int, one: float) -> None:
    """Take tasks of the job at `address` until none is left; any number of threads may do so at once."""
    job = job_at(address)
    memory = np.empty(lay_out(job, 0, one)[1] + 64, np.uint8)
    work, _ = lay_out(job, (memory.ctypes.data + 63) // 64 * 64, one)
    for lane in range(TILE_VECTORS * lane_count(one)):
        poke(work.ones + lane * size_of(one), one)
    task = fetch_add(address + NEXT, 1)
    while task < job.tasks:
        if job.few:
            _few_task(job, work, task, one)
        else:
            forward_task(job, work, task, one)
        fetch_add(address + DONE, 1)
        task = fetch_add(address + NEXT, 1)
    memory[0] = 0  # the last use, so that it is not freed before


@spliced
def forward_task(job: Any, work: Work, task: int, one: float) -> None:
    """A few neighbouring panels of one unit, which share each block of keys while it is in the cache."""
    lanes = lane_count(one)
    count = panel_count(job.group * job.n_q, lanes)
    shares = (count + job.panels - 1) // job.panels
    place, split = task // job.splits, task % job.splits
    unit = unit_of(job, place // shares)
    first = (shares - 1 - place % shares) * job.panels  # long causal rows first
    stop = min(first + job.panels, count)
    low, high = job.n_k, 0
    for index in range(first, stop):
        panel, mine = part_of_panel(job, unit, index, split, lanes), _part(job, work, index - first, one)
        _start(job, unit, panel, mine, split, one)
        low, high = min(low, panel.low), max(high, panel.high)
    for block in range(low, high, BLOCK):
        keys = keys_of(job, unit, block, min(block + BLOCK, high), work.keys, one)
        for index in range(first, stop):
            panel = part_of_panel(job, unit, index, split, lanes)
            start, end = max(block, panel.low), min(block + BLOCK, panel.high)
            if start < end:
                _attend(job, unit, panel, _part(job, work, index - first, one), keys, start, end, one)
    size, step = part_size(job, one), job.panels * part_size(job, one)
    parts = job.partials + place * job.splits * step
    for index in range(first, stop):
        panel, mine = part_of_panel(job, unit, index, split, lanes), _part(job, work, index - first, one)
        _finish(job, unit, panel, mine, split, parts + split * step + (index - first) * size, one)
    if job.splits > 1 and fetch_add(job.counters + WORD * place, 1) == job.splits - 1:
        for index in range(first, stop):
            panel, mine = part_of_panel(job, unit, index, split, lanes), _part(job, work, index - first, one)
            join_parts(job, panel, mine.o, mine.m, mine.total, parts + (index - first) * size, step, one)
            finish_panel(job, unit, panel, mine.o, mine.m, mine.total, True, mine.places, one)


@spliced
def _start(job: Any, unit: Unit, panel: Panel, work: Work, split: int, one: float) -> None:
    pack_queries(job, unit, panel, work.q, work.places, one)
    start_panel(job, unit, panel, work.m, work.total, split, one)
    poke(work.seen, 0)
    if job.weights:
        open_weights(job, unit, panel, one)


@compiled
def _multiply_keys(job: Any, panel: Panel, work: Work, keys: Keys, start: int, count: int, one: float) -> None:
    """Products of a panel's queries with so many keys from `start` on."""
    width = panel.vectors * lane_count(one) * size_of(one)
    k, tile, ones = keys.k + (start - keys.start) * keys.k_n, work.tile, work.ones
    half = job.d // 2 if job.d >= TWO_SUMS else job.d
    multiply_tiles(k, keys.k_n, count, keys.k_d, work.q, width, tile, width, half, 0, panel.vectors, one)
    if half < job.d:
        k, q, rest = k + half * keys.k_d, work.q + half * width, job.d - half
        multiply_tiles(k, keys.k_n, count, keys.k_d, q, width, tile, width, rest, ones, panel.vectors, one)


@compiled
def score(job: Any, unit: Unit, panel: Panel, work: Work, keys: Keys, start: int, end: int, one: float) -> Span:
    """Fill the tile with the scores of one panel over the keys start … end − 1, or of those that are not masked."""
    span = Span(start, end, True)
    if job.mask:
        span = read_mask(job, unit, panel, work.words, start, end, one)
    if job.bias and span.start < span.end and not read_bias(job, unit, panel, work.bias, span.start, span.end, one):
        return Span(start, start, True)
    count = span.end - span.start
    if count == 0:
        return span
    if job.few:
        score_few(job, unit, panel, work.q, work.tile, span.start, span.end, one)
    else:
        _multiply_keys(job, panel, work, keys, span.start, count, one)
    if job.softcap > 0.0:
        apply_softcap(work.tile, count * panel.vectors, job.softcap, one)
    if job.bias:
        apply_bias(work.tile, work.bias, count * panel.vectors, one)
    if job.mask:
        apply_mask(work.tile, work.words + 2 * (span.start - start), count, panel.vectors, one)
    if panel.all_low > span.start or panel.all_high < span.end:
        clip(job, unit, panel, work.tile, work.limits, span.start, count, one)
    return span


@compiled
def _attend(job: Any, unit: Unit, panel: Panel, work: Work, keys: Keys, start: int, end: int, one: float) -> None:
    """One panel over the keys start … end − 1: scores, softmax so far, values."""
    span = score(job, unit, panel, work, keys, start, end, one)
    count = span.end - span.start
    if count == 0:
        return
    if job.weights:  # scores so far; `finish_weights` makes weights of them
        keep_tile(job.weights, job, unit, panel, work.tile, span.start, count, one)
    soften(work.tile, count, work.m, work.total, work.factor, panel.vectors, one)
    width = panel.vectors * lane_count(one) * size_of(one)
    v = keys.v + (span.start - keys.start) * keys.v_n
    factor = work.factor if peek(work.seen, 0) else 0
    multiply_tiles(v, keys.v_d, job.d_v, keys.v_n, work.tile, width, work.o, width, count, factor, panel.vectors, one)
    poke(work.seen, 1)


@spliced
def _finish(job: Any, unit: Unit, panel: Panel, work: Work, split: int, place: int, one: float) -> None:
    """What a panel has found, to where it is wanted, or to a place among the parts."""
    seen = peek(work.seen, 0) != 0
    if job.masked and seen and not_finite(work.o, job.d_v * panel.vectors, one):
        _attend_again(job, unit, panel, work, split, one)
    if job.splits > 1:
        leave_part(job, panel, work.o, work.m, work.total, seen, place, one)
        return
    finish_panel(job, unit, panel, work.o, work.m, work.total, seen, work.places, one)
    if job.weights:
        finish_weights(job, unit, panel, work.m, work.total, one)


@compiled
def _few_task(job: Any, work: Work, task: int, one: float) -> None:
    """A few neighbouring panels of one unit where there are few keys."""
    lanes = lane_count(one)
    count = panel_count(job.n_q, lanes)
    shares = (count + job.panels - 1) // job.panels
    unit, first = unit_of(job, task // shares), task % shares * job.panels
    keys = keys_of(job, unit, 0, job.n_k, work.keys, one)
    copy_keys(job, keys, work.q, one)
    for index in range(first, min(first + job.panels, count)):
        panel = panel_of(job, unit, index, lanes)
        start_panel(job, unit, panel, work.m, work.total, 0, one)
        span = Span(0, 0, True)
        if panel.low < panel.high:
            span = score(job, unit, panel, work, keys, panel.low, panel.high, one)
        if span.start < span.end:
            soften(work.tile, span.end - span.start, work.m, work.total, work.factor, panel.vectors, one)
        if job.lse:
            write_lse(job, unit, panel, work.m, work.total, one)
        finite = write_few(job, unit, panel, keys, span.start, span.end, work.tile, work.total, one)
        if job.masked and not finite:
            _attend_again(job, unit, panel, work, 0, one)
            finish_panel(job, unit, panel, work.o, work.m, work.total, True, work.places, one)


@compiled
def _attend_again(job: Any, unit: Unit, panel: Panel, work: Work, split: int, one: float) -> None:
    """The whole panel once more, with unused values left out one by one."""
    lanes = panel.vectors * lane_count(one)
    for i in range(job.d_v * lanes):
        poke(work.o + i * size_of(one), like(0.0, one))
    start_panel(job, unit, panel, work.m, work.total, split, one)
    for block in range(panel.low, panel.high, BLOCK):
        end = min(block + BLOCK, panel.high)
        keys = keys_of(job, unit, block, end, work.keys, one)
        span = score(job, unit, panel, work, keys, block, end, one)
        count = span.end - span.start
        if count > 0:
            note_used(work.tile, work.used, count * lanes, one)
            soften(work.tile, count, work.m, work.total, work.factor, panel.vectors, one)
            v = keys.v + (span.start - keys.start) * keys.v_n
            add_used(work.o, work.tile, work.used, work.factor, v, keys.v_n, keys.v_d, count, job.d_v, lanes, one)
