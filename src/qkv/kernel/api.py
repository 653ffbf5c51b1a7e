"""`qkv.attention`: from what the caller has to the kernel that suits it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from qkv.errors import ShapeError, ValueRefused
from qkv.kernel.arguments import Array, Causal, Problem, Window, problem
from qkv.kernel.formula import trace
from qkv.kernel.launch import launch
from qkv.kernel.plan import settle_job
from qkv.kernel.pool import thread_count
from qkv.kernel.quick import quick
from qkv.kernel.request import make_job


def attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    causal: Causal = False,
    window: Window | None = None,
    mask: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    lengths: ArrayLike | None = None,
    sinks: ArrayLike | None = None,
    return_lse: bool = False,
    return_weights: bool = False,
    out: Array | None = None,
    threads: int | None = None,
) -> Any:
    """Exact softmax attention, softmax(scale · Q Kᵀ) V, on arrays of shape (…, heads, tokens, d) or (tokens, d).

    Gives the output, or a tuple (output, lse, weights) of what was asked for.

    >>> import numpy as np
    >>> q = np.array([[1.0, 0.0]])
    >>> k = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> v = np.array([[10.0], [20.0]])
    >>> attention(q, k, v, scale=1.0).round(4).tolist()
    [[12.6894]]
    >>> out, lse = attention(q, k, v, scale=1.0, return_lse=True)
    >>> lse.round(4).tolist()
    [1.3133]
    """
    bare = window is None and mask is None and bias is None and softcap is None and lengths is None
    plain = bare and sinks is None and out is None and threads is None and not (return_lse or return_weights)
    if plain and type(q) is np.ndarray and type(k) is np.ndarray and type(v) is np.ndarray:
        result = quick(q, k, v, causal, scale)
        if result is not None:
            return result
    p = problem(
        q, k, v, causal=causal, window=window, mask=mask, bias=bias, scale=scale, softcap=softcap, lengths=lengths,
        sinks=sinks,
    )  # fmt: skip
    if threads is not None:
        thread_count(threads)
    shape = (*p.lead, p.q.shape[2], p.v.shape[3])
    if out is not None:
        _check_out(out, shape, p.dtype)
    result, lse, weights = _compute(p, _target(p, out), return_lse, return_weights, threads)
    final = result.astype(p.dtype, copy=False).reshape(shape)
    if out is not None:
        if not np.shares_memory(out, result):
            out[...] = final
        final = out
    asked: list[Array] = [final]
    if lse is not None:
        asked.append(lse.reshape(shape[:-1]))
    if weights is not None:
        asked.append(weights.astype(p.dtype, copy=False).reshape(*shape[:-1], p.k.shape[2]))
    return tuple(asked) if len(asked) > 1 else final


def _check_out(out: object, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if not isinstance(out, np.ndarray):
        raise ValueRefused(f"out is a {type(out).__name__}; expected an array")
    if out.shape != shape or out.dtype != dtype:
        raise ShapeError(f"out has shape {out.shape} and dtype {out.dtype}; expected {shape} and {dtype}")
    if not out.flags.writeable:
        raise ValueRefused("out cannot be written to; expected a writeable array")


def _target(p: Problem, out: Array | None) -> Array:
    """Where the kernel writes: straight to `out` where it can, (batch, heads, n_q, d_v) in the compute type."""
    shape = (*p.rows_shape, p.v.shape[3])
    given = (p.q, p.k, p.v, p.mask, p.bias)
    if (
        out is not None
        and out.dtype == p.compute
        and not any(x is not None and np.may_share_memory(out, x) for x in given)
    ):
        view = out.view()
        try:
            view.shape = shape
        except AttributeError:  # its strides do not allow it
            return np.empty(shape, p.compute)
        return view
    return np.empty(shape, p.compute)


def _compute(
    p: Problem, out: Array, return_lse: bool, return_weights: bool, threads: int | None
) -> tuple[Array, Array | None, Array | None]:
    if 0 in p.q.shape or 0 in p.v.shape:  # nothing to multiply: the formula says what is left
        stages = trace(p, p.compute)
        out[...] = stages.output
        return out, stages.lse if return_lse else None, stages.weights if return_weights else None
    lse = np.empty(p.rows_shape, p.compute) if return_lse else None
    weights = np.empty((*p.rows_shape, p.k.shape[2]), p.compute) if return_weights else None
    one = p.compute.type(1)
    job, kept = make_job(p, out, lse, weights)
    launch(settle_job(job.ctypes.data, one), job.view(np.int64), one, threads)
    del kept
    return out, lse, weights
