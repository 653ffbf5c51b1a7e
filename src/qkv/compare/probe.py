"""Inputs for implementations that are handed none. All sizes differ, so that every mistake gives another result."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from qkv.compare.formula import Array
from qkv.compare.reading.options import Options

BATCH, HEADS, TOKENS, D = 2, 3, 5, 8


def probes(options: Options) -> Iterator[tuple[Array, Array, Array]]:
    """Queries, keys and values: in heads, in sequences, as one sequence. The first shape that is taken is used."""
    rng = np.random.default_rng(7)
    batch = BATCH if options.lengths is None else len(np.asarray(options.lengths))
    heads = options.heads or HEADS
    kv_heads = options.kv_heads or heads
    if options.mask is not None and np.ndim(options.mask):
        n_k = np.shape(options.mask)[-1]
        n_q = np.shape(options.mask)[-2] if np.ndim(options.mask) != 2 or np.shape(options.mask)[0] != batch else n_k
        n_q = n_k if n_q == 1 else n_q
        batch = (
            np.shape(options.mask)[0] if np.ndim(options.mask) in (3, 4) and np.shape(options.mask)[0] > 1 else batch
        )
    else:
        n_q = n_k = TOKENS if options.lengths is None else max(TOKENS, int(np.max(options.lengths)))
    in_heads = (batch, heads, n_q, D), (batch, kv_heads, n_k, D)
    side_by_side = (batch, n_q, heads * D), (batch, n_k, kv_heads * D)
    single = (batch, n_q, D), (batch, n_k, D)
    shapes = [in_heads, side_by_side, single, (single[0][1:], single[1][1:])]
    for q, k in shapes if options.heads is None else [side_by_side, in_heads]:
        yield rng.standard_normal(q), rng.standard_normal(k), rng.standard_normal(k)


def grouped(q: Array, k: Array, v: Array) -> tuple[Array, Array, Array] | None:
    """Four query heads over two key heads."""
    if q.ndim != 4:
        return None
    rng = np.random.default_rng(11)
    wide = rng.standard_normal((q.shape[0], 4, *q.shape[2:]))
    return wide, rng.standard_normal((k.shape[0], 2, *k.shape[2:])), rng.standard_normal((v.shape[0], 2, *v.shape[2:]))
