"""Right ways to write attention, generated: layout, scale, mask and softmax each in many dresses. Nothing here imports qkv."""

from __future__ import annotations

from itertools import product

import numpy as np

LAYOUTS = ("bhnd", "bnhd", "bnd", "nd")
SCALES = ("scores", "queries", "keys", "both", "einsum")
MASKS = ("none", "where", "finfo", "added", "factor", "index")
SOFTMAXES = ("shifted", "plain", "logsumexp", "two to the", "transposed")


def right(xp, layout, scale, mask, softmax):
    """One right function of q, k and v."""

    def mine(q, k, v):
        if layout == "bnhd":
            q, k, v = (xp.swapaxes(x, 1, 2) for x in (q, k, v))
        a = _weights(xp, _scores(xp, q, k, scale), mask, softmax)
        out = a @ v
        return xp.swapaxes(out, 1, 2) if layout == "bnhd" else out

    return mine


def _scores(xp, q, k, scale):
    d = q.shape[-1]
    if scale == "einsum":
        return xp.einsum("...id,...jd->...ij", q, k) * d**-0.5
    if scale == "queries":
        q = q / d**0.5
    if scale == "keys":
        k = k * d**-0.5
    if scale == "both":
        q, k = q * d**-0.25, k * d**-0.25
    s = q @ xp.swapaxes(k, -1, -2)
    return s / d**0.5 if scale == "scores" else s


def _weights(xp, s, mask, softmax):
    n_q, n_k = s.shape[-2:]
    allowed = xp.arange(n_k)[None, :] <= xp.arange(n_q)[:, None] + (n_k - n_q)
    if mask in ("where", "finfo"):
        s = xp.where(allowed, s, -np.inf if mask == "where" else -3.4e38)
    if mask == "added":
        s = s + xp.asarray(np.triu(np.full((n_q, n_k), -1e9), n_k - n_q + 1))
    if mask == "index":
        s = s - 1e30 * (1 - xp.asarray(np.tri(n_q, n_k, n_k - n_q)))
    if softmax == "logsumexp":
        top = xp.amax(s, axis=-1, keepdims=True)
        e = xp.exp(s - top - xp.log(xp.sum(xp.exp(s - top), axis=-1, keepdims=True)))
    elif softmax == "two to the":
        e = 2.0 ** (s * 1.4426950408889634)
    elif softmax == "transposed":
        t = xp.swapaxes(s, -1, -2)
        e = xp.swapaxes(xp.exp(t - xp.amax(t, axis=-2, keepdims=True)), -1, -2)
    else:
        e = xp.exp(s - (xp.amax(s, axis=-1, keepdims=True) if softmax == "shifted" else 0))
    if mask == "factor":
        e = e * allowed
    return e / xp.sum(e, axis=-1, keepdims=True)


ALL = tuple(product(LAYOUTS, SCALES, MASKS, SOFTMAXES))
SHAPES = {"bhnd": (2, 3, 5, 8), "bnhd": (2, 5, 3, 8), "bnd": (2, 5, 8), "nd": (5, 8)}


def arrays(layout, seed=3):
    rng = np.random.default_rng(seed)
    return tuple(rng.standard_normal(SHAPES[layout]) for _ in range(3))
