"""Attention as the papers write it, in plain NumPy: the definition that the fast kernels are tested against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike

from qkv.kernel.arguments import Array, Causal, Problem, Window, problem
from qkv.kernel.synonyms import refuse


@dataclass(frozen=True, slots=True)
class AttentionTrace:
    """Every stage of one attention, each with all leading axes of q."""

    scores: Array  # Q Kᵀ
    scaled: Array  # scores · scale
    capped: Array  # softcap · tanh(scaled / softcap); the same as `scaled` without a softcap
    masked: Array  # plus bias, −inf where a key may not be used
    weights: Array  # softmax over the keys
    lse: Array  # log Σ exp of `masked` per row
    output: Array  # weights V


def allowed_keys(p: Problem) -> Array:
    """Which keys each query may use, (batch, heads, n_q, n_k)."""
    batch, _, n_q, _ = p.q.shape
    n_k = p.k.shape[2]
    lengths = np.full(batch, n_k) if p.lengths is None else p.lengths
    offsets = lengths - n_q if p.offsets is None else p.offsets
    query = np.arange(n_q)[:, None] + offsets[:, None, None, None]  # its position among the keys
    key = np.arange(n_k)
    allowed = (key >= query - p.left) & (key <= query + p.right) & (key < lengths[:, None, None, None])
    if p.mask is not None:
        allowed = allowed & p.mask
    if p.bias is not None:
        allowed = allowed & (p.bias != -np.inf)
    return np.broadcast_to(allowed, (batch, p.q.shape[1], n_q, n_k))


def weighted_sum(weights: Array, v: Array, allowed: Array) -> Array:
    """Σ weight · value over the keys that may be used; what stands in the others does not matter, NaN or not."""
    result = weights @ np.where(np.isfinite(v), v, 0)
    for b, h, j in np.argwhere(~np.isfinite(v).all(axis=-1)):
        used = allowed[b, h, :, j]
        result[b, h, used] += weights[b, h, used, j, None] * np.where(np.isfinite(v[b, h, j]), 0, v[b, h, j])
    return result


def trace(p: Problem, dtype: np.dtype[Any]) -> AttentionTrace:
    """All stages, computed in `dtype`; arrays have the problem's four axes."""
    group = p.q.shape[1] // p.k.shape[1] if p.k.shape[1] else 1
    q = p.q.astype(dtype)
    k, v = (np.repeat(x.astype(dtype), group, axis=1) for x in (p.k, p.v))
    allowed = allowed_keys(p)
    with np.errstate(invalid="ignore", over="ignore"):  # inf and NaN in unused keys are none of our business
        scores = q @ k.swapaxes(-1, -2)
        scaled = scores * dtype.type(p.scale)
        capped = scaled if p.softcap is None else np.tanh(scaled / dtype.type(p.softcap)) * dtype.type(p.softcap)
        masked = np.where(allowed, capped if p.bias is None else capped + p.bias.astype(dtype), -np.inf)
        sinks = np.full((1, q.shape[1], 1, 1), -np.inf, dtype)
        if p.sinks is not None:
            sinks = p.sinks.astype(dtype)[None, :, None, None]
        top = np.maximum(masked.max(axis=-1, keepdims=True, initial=-np.inf), sinks)
        top = np.where(top == -np.inf, dtype.type(0), top)
        weights = np.exp(masked - top)
        total = weights.sum(axis=-1, keepdims=True) + np.exp(sinks - top)
        empty = total == 0
        weights /= np.where(empty, dtype.type(1), total)
        lse = np.where(empty, -np.inf, np.log(np.where(empty, dtype.type(1), total)) + top)[..., 0].astype(dtype)
        return AttentionTrace(scores, scaled, capped, masked, weights, lse, weighted_sum(weights, v, allowed))


def gradients(p: Problem, dout: Array, lse: Array, delta: Array) -> tuple[Array, Array, Array, Array]:
    """dq, dk, dv and the gradient of what is added to the scores, from the plain formula with all weights in memory.

    Unused keys and values do not matter. `lse` and `delta`, Σ dout · out per row, may be those of more keys than the
    problem has: the result is what its own keys contribute.
    """
    dtype = p.compute
    kv_heads = p.k.shape[1]
    group = p.q.shape[1] // kv_heads if kv_heads else 1
    q = p.q.astype(dtype)
    k, v = (np.repeat(x.astype(dtype), group, axis=1) for x in (p.k, p.v))
    stages, allowed = trace(p, dtype), allowed_keys(p)
    with np.errstate(invalid="ignore", over="ignore"):
        weights = np.where(allowed, np.exp(stages.masked - np.where(lse == -np.inf, np.inf, lse)[..., None]), 0)
        dadded = dscores = np.where(allowed, weights * (dout @ v.swapaxes(-1, -2) - delta[..., None]), 0)
        if p.softcap is not None:
            dscores = np.where(allowed, dscores * (1 - (stages.capped / dtype.type(p.softcap)) ** 2), 0)
        dscores = dscores * dtype.type(p.scale)
        dq = weighted_sum(dscores, k, allowed)
        dk, dv = dscores.swapaxes(-1, -2) @ q, weights.swapaxes(-1, -2) @ dout
    shape = (p.q.shape[0], kv_heads, group)
    dk, dv = (x.reshape(*shape, *x.shape[2:]).sum(axis=2) for x in (dk, dv))
    return dq, dk, dv, dadded


def trace_attention(
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
    **others: Never,
) -> AttentionTrace:
    """Every stage of `attention` by name, from the plain formula: for looking, not for speed.

    q, k, v: (…, heads, tokens, d) or (tokens, d), as for `attention`, and so are all options: causal, window, mask,
        bias, scale, softcap, lengths, sinks and offset.

    Gives scores, scaled, capped, masked, weights, lse and output as fields.

    >>> import numpy as np
    >>> trace = trace_attention(np.eye(2), np.eye(2), np.array([[1.0], [3.0]]), scale=1.0, causal=True)
    >>> trace.masked.tolist()
    [[1.0, -inf], [0.0, 1.0]]
    >>> trace.output.round(4).tolist()
    [[1.0], [2.4621]]
    """
    if others:
        refuse(trace_attention, others)
    p = problem(
        q, k, v, causal=causal, window=window, mask=mask, bias=bias, scale=scale, softcap=softcap, lengths=lengths,
        sinks=sinks, offset=offset,
    )  # fmt: skip
    stages = trace(p, p.compute)

    def as_given(array: Array) -> Array:
        return array.reshape(*p.lead, *array.shape[2:])

    return AttentionTrace(
        *(
            as_given(getattr(stages, name))
            for name in ("scores", "scaled", "capped", "masked", "weights", "lse", "output")
        )
    )
