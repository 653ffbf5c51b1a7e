"""`qkv.attention_backward`: gradients of queries, keys, values, bias and sinks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Never

import numpy as np
from numpy.typing import ArrayLike

from qkv.errors import ShapeError, ValueRefused
from qkv.kernel.arguments import Array, Causal, Problem, Window, is_brain, problem
from qkv.kernel.formula import gradients
from qkv.kernel.gradient import CHUNK, backward
from qkv.kernel.plan import TASKS_WANTED
from qkv.kernel.pool import run, thread_count
from qkv.kernel.request import make_job
from qkv.kernel.synonyms import refuse


@dataclass(frozen=True, slots=True)
class Incoming:
    """What comes back to each row of the output, in the problem's four axes and compute type."""

    dout: Array  # (batch, heads, n_q, d_v)
    lse: Array  # (batch, heads, n_q)
    delta: Array  # (batch, heads, n_q): Σ dout · out − dlse, what the softmax takes off the slope of each score


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
    offset: ArrayLike | None = None,
    dlse: ArrayLike | None = None,
    return_dbias: bool = False,
    return_dsinks: bool = False,
    threads: int | None = None,
    **others: Never,
) -> tuple[Array, ...]:
    """dq, dk and dv from the gradient of the output, the inputs, and the output and lse that `attention` gave.

    dout: the gradient of the output.
    q, k, v: the inputs that `attention` was given.
    out, lse: what it gave, with `return_lse=True`.

    The options are those of `attention`, with the values that it was given: causal, window, mask, bias, scale, softcap,
    lengths, sinks, offset; `threads` says how many to use at most. `dlse` is the gradient of the lse, where that was
    used too. With `return_dbias` and `return_dsinks` the gradients of bias and sinks follow, in the shapes that those
    were given in.

    >>> import numpy as np
    >>> from qkv.kernel import attention
    >>> q, k, v = np.array([[1.0, 0.0]]), np.eye(2), np.array([[1.0], [3.0]])
    >>> bias = np.array([0.0, 1.0])
    >>> out, lse = attention(q, k, v, bias=bias, return_lse=True)
    >>> dq, dk, dv, dbias = attention_backward(np.ones((1, 1)), q, k, v, out, lse, bias=bias, return_dbias=True)
    >>> dv.round(4).tolist(), dbias.round(4).tolist()
    ([[0.4273], [0.5727]], [-0.4894, 0.4894])
    """
    if others:
        refuse(attention_backward, others)
    for name, wanted, given in (("bias", return_dbias, bias), ("sinks", return_dsinks, sinks)):
        if wanted and given is None:
            raise ValueRefused(f"return_d{name} asks for the gradient of {name}, but no {name} are given")
    p = problem(
        q, k, v, causal=causal, window=window, mask=mask, bias=bias, scale=scale, softcap=softcap, lengths=lengths,
        sinks=sinks, offset=offset,
    )  # fmt: skip
    back = _incoming(p, dout, out, lse, dlse)
    shape = np.shape(bias) if return_dbias else None  # type: ignore[arg-type]
    dq, dk, dv, dbias = _slopes(p, back, shape, thread_count(threads))
    wide = (x.reshape(*p.lead[:-1], *x.shape[1:]) for x in (dq, dk, dv))
    asked = [_summed(x, np.shape(given)).astype(p.dtype, copy=False) for x, given in zip(wide, (q, k, v), strict=True)]
    if dbias is not None:
        asked.append(dbias.astype(_own_type(bias, p), copy=False))
    if return_dsinks:
        asked.append(_summed(_sink_slopes(p, back), np.shape(sinks)).astype(_own_type(sinks, p)))  # type: ignore[arg-type]
    return tuple(asked)


def _incoming(p: Problem, dout: ArrayLike, out: ArrayLike, lse: ArrayLike, dlse: ArrayLike | None) -> Incoming:
    shape = (*p.lead, p.q.shape[2])
    slope, result = (_as_rows(name, x, (*shape, p.v.shape[3]), p) for name, x in (("dout", dout), ("out", out)))
    delta = np.einsum("bhnd,bhnd->bhn", slope, result)
    if dlse is not None:
        delta -= _as_rows("dlse", dlse, shape, p)
    return Incoming(slope, np.ascontiguousarray(_as_rows("lse", lse, shape, p)), delta)


def _as_rows(name: str, given: ArrayLike, shape: tuple[int, ...], p: Problem) -> Array:
    array = np.asarray(given)
    if array.shape != shape:
        raise ShapeError(f"{name} has shape {array.shape}; expected {shape}, that of the rows of the output")
    batch, heads, n_q = p.rows_shape
    tail = array.shape[len(p.lead) :]
    return array.astype(p.compute, copy=False).reshape(batch, heads, n_q, *tail[1:])


def _summed(wide: Array, shape: tuple[int, ...]) -> Array:
    """Bring back the shape of an input, summing over the axes along which it was repeated."""
    axes = (1,) * (wide.ndim - len(shape)) + shape
    repeated = tuple(axis for axis, length in enumerate(wide.shape) if length != axes[axis])
    summed: Array = wide.sum(axis=repeated) if repeated else wide
    return summed.reshape(shape)


def _own_type(given: ArrayLike | None, p: Problem) -> np.dtype[np.generic]:
    """A gradient has the type of what it is the gradient of, if that has fractions."""
    dtype = np.asarray(given).dtype
    return dtype if dtype.kind == "f" or is_brain(dtype) else p.dtype


def _slopes(
    p: Problem, back: Incoming, bias_shape: tuple[int, ...] | None, threads: int
) -> tuple[Array, Array, Array, Array | None]:
    """dq, dk and dv as wide as the problem, and the bias's gradient if its shape is given."""
    empty = 0 in p.q.shape or 0 in p.v.shape
    if empty or not (np.isfinite(p.k).all() and np.isfinite(p.v).all()):
        dq, dk, dv, dscores = gradients(p, back.dout, back.lse, back.delta)
        wide = dscores.reshape(*p.lead, *dscores.shape[2:])
        return dq, dk, dv, None if bias_shape is None else _summed(wide, bias_shape)
    p = replace(p, k=p.k.astype(p.compute, copy=False), v=p.v.astype(p.compute, copy=False))
    if bias_shape is None:
        return *_blocked(p, back, None, threads), None
    return _with_bias(p, back, bias_shape, threads)


def _with_bias(
    p: Problem, back: Incoming, shape: tuple[int, ...], threads: int
) -> tuple[Array, Array, Array, Array | None]:
    """One batch entry after the other, so that the scores' gradients of only one are ever in memory."""
    lead = p.lead or (1,)
    axes = (1,) * (len(lead) + 2 - len(shape)) + shape
    dbias = np.zeros(axes, p.compute)
    parts = []
    for b, place in enumerate(np.ndindex(lead[:-1])):
        dscores = np.zeros((1, *p.q.shape[1:3], p.k.shape[2]), p.compute)  # what is masked stays 0
        parts.append(_blocked(*_entry(p, back, b), dscores, threads))
        dbias[tuple(i % n for i, n in zip(place, axes, strict=False))] += _summed(dscores[0], axes[-3:])
    dq, dk, dv = (np.concatenate(x) for x in zip(*parts, strict=True))
    return dq, dk, dv, dbias.reshape(shape)


def _entry(p: Problem, back: Incoming, b: int) -> tuple[Problem, Incoming]:
    """Batch entry b as a problem of its own."""
    one = slice(b, b + 1)
    given = {name: getattr(p, name) for name in ("q", "k", "v", "mask", "bias", "lengths", "offsets")}
    alone = replace(p, **{name: x[one] for name, x in given.items() if x is not None})
    return alone, Incoming(back.dout[one], back.lse[one], back.delta[one])


def _blocked(p: Problem, back: Incoming, dscores: Array | None, threads: int) -> tuple[Array, Array, Array]:
    """dq, dk and dv by the kernel; it fills `dscores`, the gradient of what is added to the scores, if given."""
    batch, heads, n_q, d = p.q.shape
    kv_heads, n_k = p.k.shape[1:3]
    splits = min(-(-n_k // CHUNK), -(-TASKS_WANTED // (2 * batch * kv_heads)))
    dq = np.zeros((splits, batch, heads, n_q, d), p.compute)
    dk, dv = np.empty(p.k.shape, p.compute), np.empty(p.v.shape, p.compute)
    job, kept = make_job(p, back.dout, back.lse, None)
    for axis, stride in zip("bhnd", back.dout.strides, strict=True):
        job[f"dout_{axis}"] = stride
    written = {"dout": back.dout, "delta": back.delta, "dq": dq, "dk": dk, "dv": dv, "dbias": dscores}
    for name, array in written.items():
        if array is not None:
            job[name] = array.ctypes.data
    job["group"], job["panels"], job["splits"], job["tasks"] = 1, 1, splits, batch * kv_heads * splits
    run(backward, job.ctypes.data, job.view(np.int64), p.compute.type(1), threads)
    del kept
    return dq[0] if splits == 1 else dq.sum(axis=0), dk, dv


def _sink_slopes(p: Problem, back: Incoming) -> Array:
    """A sink is a score without a value: its weight is exp(sink − lse), and its slope that times −delta."""
    assert p.sinks is not None
    with np.errstate(invalid="ignore"):
        weights = np.exp(p.sinks[:, None] - back.lse)
    slopes: Array = np.where(back.lse == -np.inf, 0, -weights * back.delta).sum(axis=(0, 2))
    return slopes
