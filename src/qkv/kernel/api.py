"""`qkv.attention`: from what the caller has to the kernel that suits it."""

from __future__ import annotations

from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike

from qkv.errors import ShapeError, ValueRefused
from qkv.kernel.arguments import Array, Causal, Problem, Window, problem
from qkv.kernel.foreign import adapter_of
from qkv.kernel.formula import trace
from qkv.kernel.launch import launch
from qkv.kernel.plan import settle_job
from qkv.kernel.pool import thread_count
from qkv.kernel.quick import quick
from qkv.kernel.request import make_job
from qkv.kernel.synonyms import refuse


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
    offset: ArrayLike | None = None,
    return_lse: bool = False,
    return_weights: bool = False,
    out: Array | None = None,
    threads: int | None = None,
    **others: Never,
) -> Any:
    """Exact softmax attention, softmax(scale · Q Kᵀ) V.

    q, k, v: (…, heads, tokens, d) or (tokens, d): arrays of NumPy, tensors of torch on the CPU (with gradients), arrays
        of JAX (with gradients, under jit and vmap too); the result is of the same kind. The heads of q may be a
        multiple of those of k and v, and v may have another d. The axes before the heads broadcast.
    causal: True for no key after the query. Where queries and keys are equally many, query i sits at key i; otherwise
        the last query sits at the last key, as with a cache. "upper-left": query 0 sits at key 0, whatever the sizes,
        as in torch. "lower-right": the last query sits at the last key.
    window: (left, right), so many keys before and after the query's own; None or -1 for no end.
    mask: true where a key may be used; or numbers to add to the scores, −inf to forbid a key. Broadcasts to the
        scores, (…, heads, queries, keys).
    bias: numbers to add to the scores; broadcasts in the same way.
    scale: what the scores are multiplied by; 1/√d if not given.
    softcap: scores become softcap · tanh(score / softcap), before bias and mask.
    lengths: how many keys of each batch entry count, for batches that are padded on the right.
    sinks: a score for each query head that takes its share of the softmax and has no value.
    offset: where query 0 sits among the keys, one number or one per batch entry, if that is neither corner.
    return_lse: also give log Σ exp(score) of each row, for `merge_attention` and `attention_backward`.
    return_weights: also give the weights, (…, heads, queries, keys); they carry no gradient.
    out: an array to write the result to.
    threads: how many to use at most.

    Gives the output, or a tuple (output, lse, weights) of what was asked for. A row that may use no key is zeros. The
    first call compiles and takes some seconds; `qkv warmup` on the command line does that ahead.

    >>> import numpy as np
    >>> q = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> k = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> v = np.array([[10.0], [20.0]])
    >>> attention(q, k, v, causal=True, scale=1.0).round(4).tolist()
    [[10.0], [17.3106]]
    >>> out, lse, weights = attention(q, k, v, return_lse=True, return_weights=True)
    >>> weights.round(4).tolist()
    [[0.6698, 0.3302], [0.3302, 0.6698]]

    Two sequences of one and two tokens, padded to two: what stands in the padding does not matter.

    >>> q, k, v = (np.stack([x, x])[:, None] for x in (q, k, v))  # (batch, heads, tokens, d)
    >>> attention(q, k, v, causal=True, lengths=[1, 2], scale=1.0)[0, 0, 0].tolist()
    [10.0]
    """
    if others:
        refuse(attention, others)
    usual = softcap is None and lengths is None and offset is None and sinks is None and out is None
    if type(q) is np.ndarray and type(k) is np.ndarray and type(v) is np.ndarray:
        result = None
        if usual and threads is None and not (return_lse or return_weights):
            result = quick(q, k, v, causal, scale, window, mask, bias)
        if result is not None:
            return result
    elif (adapter := adapter_of(q, k, v)) is not None:
        return adapter.attention(
            q, k, v, causal=causal, window=window, mask=mask, bias=bias, scale=scale, softcap=softcap, lengths=lengths,
            sinks=sinks, offset=offset, return_lse=return_lse, return_weights=return_weights, out=out, threads=threads,
        )  # fmt: skip
    p = problem(
        q, k, v, causal=causal, window=window, mask=mask, bias=bias, scale=scale, softcap=softcap, lengths=lengths,
        sinks=sinks, offset=offset,
    )  # fmt: skip
    return _worked_out(p, out, return_lse, return_weights, threads)


def _worked_out(p: Problem, out: Array | None, return_lse: bool, return_weights: bool, threads: int | None) -> Any:
    """The output of a problem that was found to make sense, with what was asked for beside it."""
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
