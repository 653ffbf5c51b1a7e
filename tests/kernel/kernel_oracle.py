"""Attention row by row in float64: the slow, obvious definition that shares no code with the package."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def may_use(i: int, j: int, first: int, length: int, causal: Any, window: Any) -> bool:
    """Whether query i may look at key j, where query 0 stands at key `first`."""
    position = i + first
    left, right = window or (-1, -1)
    if causal and j > position:
        return False
    if left not in (-1, None) and j < position - left:
        return False
    if right not in (-1, None) and j > position + right:
        return False
    return j < length


def attend(
    q, k, v, *, causal=False, window=None, mask=None, bias=None, scale=None, softcap=None, lengths=None, sinks=None,
    offset=None,
):  # fmt: skip
    """(output, lse, weights) for arrays (batch, heads, tokens, d)."""
    q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
    batch, heads, n_q, d = q.shape
    n_k = k.shape[2]
    group = heads // k.shape[1]
    scale = 1 / math.sqrt(d) if scale is None else scale
    full = (batch, heads, n_q, n_k)
    bias = np.zeros(full) if bias is None else np.broadcast_to(np.asarray(bias, np.float64), full)
    mask = np.ones(full, bool) if mask is None else np.broadcast_to(mask, full)
    output, lse, weights = np.zeros((*full[:3], v.shape[3])), np.full(full[:3], -np.inf), np.zeros(full)
    for b, h, i in np.ndindex(full[:3]):
        length = n_k if lengths is None else int(np.broadcast_to(lengths, batch)[b])
        at_its_key = causal == "upper-left" or (causal in (True, False) and n_q == n_k)
        first = 0 if at_its_key else length - n_q
        if offset is not None:
            first = int(np.broadcast_to(offset, batch)[b])
        open_ = [
            j
            for j in range(n_k)
            if may_use(i, j, first, length, causal, window) and mask[b, h, i, j] and bias[b, h, i, j] != -np.inf
        ]
        scores = k[b, h // group, open_] @ q[b, h, i] * scale
        if softcap is not None:
            scores = softcap * np.tanh(scores / softcap)
        scores = scores + bias[b, h, i, open_]
        extra = [] if sinks is None else [float(np.broadcast_to(sinks, heads)[h])]
        everything = np.array([*scores, *extra])
        if everything.size == 0 or everything.max() == -np.inf:
            continue
        top = everything.max()
        total = np.exp(everything - top).sum()
        lse[b, h, i] = top + np.log(total)
        weights[b, h, i, open_] = np.exp(scores - top) / total
        output[b, h, i] = weights[b, h, i, open_] @ v[b, h // group, open_]
    return output, lse, weights
