"""`qkv.attention_backward`: gradients of queries, keys and values."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from qkv.errors import ShapeError
from qkv.kernel.arguments import Array, Causal, Problem, Window, problem
from qkv.kernel.formula import gradients
from qkv.kernel.gradient import CHUNK, backward
from qkv.kernel.plan import TASKS_WANTED
from qkv.kernel.pool import run, thread_count
from qkv.kernel.request import make_job
from qkv.records import replace


def attention_backward(
    dout: ArrayLike,
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    out: ArrayLike,
    lse: ArrayLike,
    *,
    causal: Causal = False,
    window: Window | None = None,
    mask: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    lengths: ArrayLike | None = None,
    sinks: ArrayLike | None = None,
    threads: int | None = None,
) -> tuple[Array, Array, Array]:
    """dq, dk and dv from the gradient of the output, the inputs, and the output and lse that `attention` gave.

    >>> import numpy as np
    >>> from qkv.kernel import attention
    >>> q, k, v = np.array([[1.0, 0.0]]), np.eye(2), np.array([[1.0], [3.0]])
    >>> out, lse = attention(q, k, v, return_lse=True)
    >>> dq, dk, dv = attention_backward(np.ones((1, 1)), q, k, v, out, lse)
    >>> dv.round(4).tolist()
    [[0.6698], [0.3302]]
    """
    p = problem(
        q, k, v, causal=causal, window=window, mask=mask, bias=bias, scale=scale, softcap=softcap, lengths=lengths,
        sinks=sinks,
    )  # fmt: skip
    rows = (*p.rows_shape, p.v.shape[3])
    slope, result = (_as_rows(name, x, (*p.lead, *rows[2:]), p) for name, x in (("dout", dout), ("out", out)))
    stored = np.ascontiguousarray(_as_rows("lse", lse, (*p.lead, rows[2]), p))
    empty = 0 in p.q.shape or 0 in p.v.shape
    if empty or not (np.isfinite(p.k).all() and np.isfinite(p.v).all()):
        dq, dk, dv = gradients(p, slope, stored)
    else:
        dq, dk, dv = _blocked(p, slope, result, stored, thread_count(threads))
    shapes = [np.shape(x) for x in (q, k, v)]
    grads = (_unspread(x, p.lead[:-1], shape) for x, shape in zip((dq, dk, dv), shapes, strict=True))
    first, second, third = (x.astype(p.dtype, copy=False) for x in grads)
    return first, second, third


def _as_rows(name: str, given: ArrayLike, shape: tuple[int, ...], p: Problem) -> Array:
    array = np.asarray(given)
    if array.shape != shape:
        raise ShapeError(f"{name} has shape {array.shape}; expected {shape}, that of the rows of the output")
    batch, heads, n_q = p.rows_shape
    tail = array.shape[len(p.lead) :]
    return array.astype(p.compute, copy=False).reshape(batch, heads, n_q, *tail[1:])


def _unspread(array: Array, lead: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """Bring back the shape of an input, summing over batch axes along which it was repeated."""
    wide = array.reshape(*lead, *array.shape[1:])
    axes = (1,) * (wide.ndim - len(shape)) + shape
    repeated = tuple(axis for axis, length in enumerate(lead) if length != axes[axis])
    summed: Array = wide.sum(axis=repeated) if repeated else wide
    return summed.reshape(shape)


def _blocked(p: Problem, dout: Array, out: Array, lse: Array, threads: int) -> tuple[Array, Array, Array]:
    p = replace(p, k=p.k.astype(p.compute, copy=False), v=p.v.astype(p.compute, copy=False))
    batch, heads, n_q, d = p.q.shape
    kv_heads, n_k = p.k.shape[1:3]
    splits = min(-(-n_k // CHUNK), -(-TASKS_WANTED // (2 * batch * kv_heads)))
    dq = np.zeros((splits, batch, heads, n_q, d), p.compute)
    dk, dv = np.empty(p.k.shape, p.compute), np.empty(p.v.shape, p.compute)
    delta = np.einsum("bhnd,bhnd->bhn", dout, out)
    job, kept = make_job(p, out, lse, None)
    for axis, stride in zip("bhnd", dout.strides, strict=True):
        job[f"dout_{axis}"] = stride
    for name, array in (("dout", dout), ("delta", delta), ("dq", dq), ("dk", dk), ("dv", dv)):
        job[name] = array.ctypes.data
    job["group"], job["panels"], job["splits"], job["tasks"] = 1, 1, splits, batch * kv_heads * splits
    run(backward, job.ctypes.data, job.view(np.int64), p.compute.type(1), threads)
    del kept
    return dq[0] if splits == 1 else dq.sum(axis=0), dk, dv
