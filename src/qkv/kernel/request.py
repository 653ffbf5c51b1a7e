"""From a checked problem to the record of its job."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.kernel.arguments import Array, Problem, is_brain
from qkv.kernel.jit import vector_unit
from qkv.kernel.job import BRAIN, HALF, JOB, NATIVE, UNBOUNDED

FIELDS: dict[str, int] = {name: i for i, name in enumerate(JOB.names or ())}


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


def make_job(p: Problem, out: Array, lse: Array | None, weights: Array | None) -> tuple[NDArray[Any], list[Array]]:
    """The job for `out` (batch, heads, n_q, d_v), and lse and weights where wanted; and the arrays it points into."""
    storage = storage_of(p)
    q = p.q.astype(p.compute, copy=False)
    k, v = (p.k, p.v) if storage is not None else (p.k.astype(p.compute), p.v.astype(p.compute))
    values: list[float] = [0] * len(FIELDS)
    for name, array in (("q", q), ("k", k), ("v", v), ("out", out), ("mask", p.mask), ("bias", p.bias)):
        if array is not None:
            values[FIELDS[name]] = array.__array_interface__["data"][0]
            first = FIELDS[f"{name}_b"]
            values[first : first + 4] = array.strides
    for name, array in (("lse", lse), ("weights", weights), ("lengths", p.lengths), ("sinks", p.sinks)):
        if array is not None:
            values[FIELDS[name]] = array.__array_interface__["data"][0]
    first = FIELDS["batch"]
    values[first : first + 7] = (*q.shape[:2], k.shape[1], q.shape[2], *k.shape[2:], v.shape[3])
    limited = p.left < UNBOUNDED or p.right < UNBOUNDED
    masked = limited or p.mask is not None or p.bias is not None
    first = FIELDS["left"]
    values[first : first + 5] = (p.left, p.right, p.lower, masked, storage or NATIVE)
    values[FIELDS["scale"]], values[FIELDS["softcap"]] = p.scale, p.softcap or 0.0
    return np.array(tuple(values), JOB), [x for x in (q, k, v, p.mask, p.bias, p.lengths, p.sinks) if x is not None]
