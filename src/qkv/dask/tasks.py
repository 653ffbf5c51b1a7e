"""What a worker does with one pair of blocks.

Dask runs tasks side by side, so each of them keeps to one thread. Results are in the compute type: what has float16
is rounded once, when all parts are joined.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qkv.kernel import attention, attention_backward
from qkv.kernel.arguments import Array

DType = np.dtype[Any]


def attend(q: Array, k: Array, v: Array, compute: DType, **options: Any) -> tuple[Array, Array]:
    """One block of queries over one block of keys: out and lse."""
    part: tuple[Array, Array] = attention(q.astype(compute, copy=False), k, v, return_lse=True, threads=1, **options)
    return part


def attend_nothing(shape: tuple[int, ...], compute: DType, sinks: Array | None) -> tuple[Array, Array]:
    """A block of queries over no keys at all: only a sink has weight, and it has no value."""
    lse = np.full(shape[:-1], -np.inf, compute)
    if sinks is not None:
        lse[...] = sinks[:, None] if len(shape) > 2 else sinks
    return np.zeros(shape, compute), lse


def slopes(
    dout: Array, q: Array, k: Array, v: Array, out: Array, lse: Array, compute: DType, **options: Any
) -> tuple[Array, ...]:
    """What one pair of blocks adds to dq, dk and dv; `out` and `lse` are those over all keys."""
    return attention_backward(dout, q.astype(compute, copy=False), k, v, out, lse, threads=1, **options)


def add(*terms: Array) -> Array:
    """The sum of blocks, in order."""
    total = terms[0].copy()
    for term in terms[1:]:
        total += term
    return total
