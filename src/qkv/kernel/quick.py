"""The short way in for most calls: array headers are read by compiled code, so that a tiny call stays tiny.

NumPy's array object begins with its address, number of axes, shape, strides, base, type and flags, in this order; that
is part of its binary interface. It is checked once, at import; where it does not hold, the general way serves all.
"""

from __future__ import annotations

import ctypes
import math
from math import isfinite
from typing import Any

import numpy as np
from numpy import empty

from qkv.kernel.arguments import Array
from qkv.kernel.jit import compiled, entry
from qkv.kernel.job import JOB, UNBOUNDED, WORD, job_at
from qkv.kernel.launch import launch
from qkv.kernel.memory import peek
from qkv.kernel.plan import give_room, settle, to_launch

HEADER = object.__basicsize__  # bytes before the fields of an array object
ALIGNED = 0x0100
FLOAT32, FLOAT64, BOOL = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.bool_)
ONE32, ONE64 = np.float32(1), np.float64(1)
JOB_BYTES = JOB.itemsize
SPARE = 1 << 15  # bytes behind a job: enough for the parts of split keys of most calls
JOB_WORDS = (JOB_BYTES + SPARE) // WORD
WHOLE = np.dtype(np.int64)
DEFAULT = math.nan  # for the scale


def _headers_hold() -> bool:
    """Whether array objects look as described above."""
    probe = np.zeros((2, 3, 5), np.float32)[:, ::2]
    word = ctypes.sizeof(ctypes.c_void_p)
    if word != 8 or HEADER % word:
        return False
    fields = (ctypes.c_int64 * 7).from_address(id(probe) + HEADER)
    shape, strides = ((ctypes.c_int64 * 3).from_address(fields[i]) for i in (2, 3))
    axes, flags = fields[1] & 0xFFFFFFFF, fields[6] & 0xFFFFFFFF
    return (
        (fields[0], axes, fields[5]) == (probe.ctypes.data, 3, id(FLOAT32))
        and (tuple(shape), tuple(strides)) == (probe.shape, probe.strides)
        and bool(flags & ALIGNED)
    )


USABLE = _headers_hold()


@compiled
def _extent(array: int, axis: int) -> int:
    """Length of an axis counted from the last one; 1 where there are not so many."""
    axes = peek(array + HEADER + 8, np.int32(0))
    if axis > axes:
        return 1
    return peek(peek(array + HEADER + 16, 0) + 8 * (axes - axis), 0)  # type: ignore[no-any-return]


@compiled
def _stride(array: int, axis: int) -> int:
    """Bytes between neighbours along an axis counted from the last one; 0 where there are not so many."""
    axes = peek(array + HEADER + 8, np.int32(0))
    if axis > axes:
        return 0
    return peek(peek(array + HEADER + 24, 0) + 8 * (axes - axis), 0)  # type: ignore[no-any-return]


@compiled
def _strides(array: int) -> tuple[int, int, int, int, int]:
    """Address, and the strides by batch, head, token and column."""
    return peek(array + HEADER, 0), _stride(array, 4), _stride(array, 3), _stride(array, 2), _stride(array, 1)


@compiled
def _spread(array: int) -> tuple[int, int, int, int, int]:
    """As `_strides`; an axis of length 1 stays where it is."""
    address, batch, head, token, column = _strides(array)
    return (
        address,
        batch if _extent(array, 4) > 1 else 0,
        head if _extent(array, 3) > 1 else 0,
        token if _extent(array, 2) > 1 else 0,
        column if _extent(array, 1) > 1 else 0,
    )


@compiled
def _spreads(array: int, q: int, k: int) -> bool:
    """Whether a mask or bias broadcasts to the scores; 0 for none, which does."""
    if array == 0:
        return True
    fits: bool = peek(array + HEADER + 8, np.int32(0)) <= peek(q + HEADER + 8, np.int32(0))
    fits &= peek(array + HEADER + 48, np.int32(0)) & ALIGNED != 0
    for axis, extent in ((1, _extent(k, 2)), (2, _extent(q, 2)), (3, _extent(q, 3)), (4, _extent(q, 4))):
        mine = _extent(array, axis)
        fits &= mine == 1 or mine == extent
    return fits


@compiled
def _fits(q: int, k: int, v: int) -> bool:
    """Whether the three arrays are a plain problem: same type, same axes, nothing empty, everything in place."""
    axes = peek(q + HEADER + 8, np.int32(0))
    fits = 2 <= axes <= 4
    for other in (k, v):
        fits &= peek(other + HEADER + 8, np.int32(0)) == axes
        fits &= peek(other + HEADER + 40, 0) == peek(q + HEADER + 40, 0)
        fits &= _extent(other, 4) == _extent(q, 4)
    for array in (q, k, v):
        fits &= peek(array + HEADER + 48, np.int32(0)) & ALIGNED != 0
        for axis in range(1, 5):
            fits &= _extent(array, axis) > 0
    fits &= _extent(k, 1) == _extent(q, 1) and _extent(v, 2) == _extent(k, 2) and _extent(v, 3) == _extent(k, 3)
    return fits and _extent(q, 3) % _extent(k, 3) == 0


@entry
def prepare(
    q: int, k: int, v: int, mask: int, bias: int, out: int, job_array: int, left: int, right: int, scale: float,
    one: float,
) -> int:  # fmt: skip
    """Fill in the job of a call from array objects; its address, or 0 where the general way must look at it."""
    if not (_fits(q, k, v) and _spreads(mask, q, k) and _spreads(bias, q, k)):
        return 0
    address: int = peek(job_array + HEADER, 0)
    job = job_at(address)
    job.q, job.q_b, job.q_h, job.q_n, job.q_d = _strides(q)
    job.k, job.k_b, job.k_h, job.k_n, job.k_d = _strides(k)
    job.v, job.v_b, job.v_h, job.v_n, job.v_d = _strides(v)
    job.out, job.out_b, job.out_h, job.out_n, job.out_d = _strides(out)
    job.lse, job.weights, job.mask, job.bias, job.sinks, job.lengths, job.offsets = 0, 0, 0, 0, 0, 0, 0
    if mask:
        job.mask, job.mask_b, job.mask_h, job.mask_n, job.mask_d = _spread(mask)
    if bias:
        job.bias, job.bias_b, job.bias_h, job.bias_n, job.bias_d = _spread(bias)
    job.batch, job.heads, job.kv_heads = _extent(q, 4), _extent(q, 3), _extent(k, 3)
    job.n_q, job.n_k, job.d, job.d_v = _extent(q, 2), _extent(k, 2), _extent(q, 1), _extent(v, 1)
    job.left, job.right, job.storage = left, right, 0
    job.masked = left < UNBOUNDED or right < UNBOUNDED or mask != 0 or bias != 0
    job.scale = scale if scale == scale else 1.0 / math.sqrt(job.d)
    job.softcap = 0.0
    job.next, job.done = 0, 0
    settle(job, one)
    if 0 < job.room <= SPARE:
        give_room(job, address + JOB_BYTES)
    return to_launch(address, job)


def _sides(causal: object, window: object) -> tuple[int, int] | None:
    """How many keys before and after its own a query may use, or None where the general way must look at it."""
    if causal is not False and causal is not True:
        return None
    left = right = UNBOUNDED
    if window is not None:
        if type(window) is not tuple or len(window) != 2 or type(window[0]) is not int or type(window[1]) is not int:
            return None
        left, right = window
        if not (0 <= left <= UNBOUNDED and 0 <= right <= UNBOUNDED):
            return None
    return left, 0 if causal else right


def quick(
    q: Array, k: Array, v: Array, causal: object, scale: object, window: object, mask: object, bias: object
) -> Array | None:
    """The result of a call with nothing else in it, or None where the general way must look at it."""
    dtype = q.dtype
    if dtype is FLOAT32:
        one: Any = ONE32
    elif dtype is FLOAT64:
        one = ONE64
    else:
        return None
    if scale is None:
        scale = DEFAULT
    elif type(scale) is not float or not isfinite(scale):
        return None
    sides = _sides(causal, window)
    if sides is None or not USABLE:
        return None
    flags = added = 0
    if mask is not None:
        if type(mask) is not np.ndarray or mask.dtype is not BOOL:
            return None
        flags = id(mask)
    if bias is not None:
        if type(bias) is not np.ndarray or bias.dtype is not dtype:
            return None
        added = id(bias)
    out = empty(q.shape[:-1] + v.shape[-1:], dtype)
    job = empty(JOB_WORDS, WHOLE)
    found = prepare(id(q), id(k), id(v), flags, added, id(out), id(job), *sides, scale, one)
    if not found:
        return None
    launch(found, job, one, None)
    return out
