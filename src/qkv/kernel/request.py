"""From a checked problem to the record of its job."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.kernel.arguments import Array, Problem, is_brain
from qkv.kernel.jit import vector_unit
from qkv.kernel.job import ADDRESSES, BRAIN, HALF, JOB, NATIVE, SHARING, UNBOUNDED

NOWHERE = (0, 0, 0, 0)  # strides of an array that is not there


def storage_of(p: Problem) -> int | None:
    """How keys and values lie in memory; None for types that must be converted beforehand."""
    if p.k.dtype == p.v.dtype == p.compute:
        return NATIVE
    if p.k.dtype == p.v.dtype and p.compute == np.float32 and vector_unit().width >= 32:
        if p.k.dtype == np.float16:
            return HALF
        if is_brain(p.k.dtype):
            return BRAIN
    return None


def _address(array: Array | None) -> int:
    return 0 if array is None else int(array.__array_interface__["data"][0])


def make_job(p: Problem, out: Array, lse: Array | None, weights: Array | None) -> tuple[NDArray[Any], list[Array]]:
    """The job for `out` (batch, heads, n_q, d_v), and lse and weights where wanted; and the arrays it points into."""
    storage = storage_of(p)
    q = p.q.astype(p.compute, copy=False)
    k, v = (p.k, p.v) if storage is not None else (p.k.astype(p.compute), p.v.astype(p.compute))
    used = (q, k, v, out, lse, weights, p.mask, p.bias, p.sinks, p.lengths, p.offsets)
    limited = p.left < UNBOUNDED or p.right < UNBOUNDED
    masked = limited or p.mask is not None or p.bias is not None
    values = [0] * len(ADDRESSES)
    values[: len(used)] = map(_address, used)
    values += (*q.shape[:2], k.shape[1], q.shape[2], *k.shape[2:], v.shape[3])
    for array in (q, k, v, out, p.mask, p.bias, None):
        values += NOWHERE if array is None else array.strides
    values += (p.left, p.right, masked, storage or NATIVE, *[0] * len(SHARING))
    return np.array([(*values, p.scale, p.softcap or 0.0)], JOB), [x for x in used if x is not None]
