"""Attention as a layer, in ten steps of plain NumPy: what every implementation is held against.

Each step takes the arrays made so far and the setting, and returns the arrays that it makes. A known mistake is
another function in the place of one step (mistakes.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Arrays = Mapping[str, Array]

STAGES = ("projection", "split", "position", "scores", "scale", "mask", "softmax", "mix", "merge", "output")


@dataclass(frozen=True)
class Rope:
    """Rotary positions: `pairs` turns neighbours (2i, 2i+1), else halves (i, i + d/2) are turned together."""

    base: float = 10_000.0
    pairs: bool = False
    share: float = 1.0  # of the columns of a head, the first so many are turned
    seen: float | None = None  # the base that an implementation's own angles have


@dataclass(frozen=True, eq=False)
class Setting:
    """One attention to be worked out. Arrays are (batch, tokens, features), masks (batch, heads, queries, keys)."""

    q: Array  # what the queries are made of; the queries themselves where there are no projections
    k: Array
    v: Array
    heads: int
    kv_heads: int
    weights: Arrays  # "q", "k", "v", "o" → (features in, features out); what is not there is not projected
    biases: Arrays
    scale: float
    allowed: Array | None = None  # which keys a query may use
    bias: Array | None = None  # added to the scaled scores
    rope: Rope | None = None
    fused: str | None = None  # how one matrix for q, k and v is laid out: "blocks" or "interleaved"
    causal: bool = False  # whether `allowed` comes from the order of the tokens
    heads_said: bool = False  # whether somebody asked for so many heads
    mask: Array | None = None  # a mask that was handed over, True for keys to be used; part of `allowed`

    @property
    def d_k(self) -> int:
        """The size of a query."""
        return int(self.columns("q") // self.heads)

    def columns(self, name: str) -> int:
        """How many columns the projected queries, keys or values have."""
        made = self.weights.get(name)
        return int((getattr(self, name) if made is None else made).shape[-1])


Step = Callable[[Arrays, Setting], Arrays]


def project(t: Arrays, s: Setting) -> Arrays:
    """Q = X W_Q + b_Q, and the same for K and V."""
    return {name: projected(t[name], s, name) for name in "qkv"}


def projected(x: Array, s: Setting, name: str) -> Array:
    """x W + b, with what there is of W and b."""
    x = x if s.weights.get(name) is None else x @ s.weights[name]
    return x if s.biases.get(name) is None else x + s.biases[name]


def split(t: Arrays, s: Setting) -> Arrays:
    """(batch, tokens, heads · d) → (batch, heads, tokens, d); key heads are repeated for the query heads they serve."""
    group = s.heads // s.kv_heads
    q, k, v = (in_heads(t[name], count) for name, count in zip("qkv", (s.heads, s.kv_heads, s.kv_heads), strict=True))
    return {"q": q, "k": np.repeat(k, group, axis=1), "v": np.repeat(v, group, axis=1)}


def in_heads(x: Array, heads: int) -> Array:
    """(batch, tokens, heads · d) → (batch, heads, tokens, d)."""
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


def position(t: Arrays, s: Setting) -> Arrays:
    """Turn queries and keys by their positions; the last query stands at the last key."""
    if s.rope is None:
        return {}
    n_q, n_k = t["q"].shape[2], t["k"].shape[2]
    return {"q": turned(t["q"], s.rope, n_k - n_q), "k": turned(t["k"], s.rope)}


def turned(x: Array, rope: Rope, first: float = 0.0, sign: float = 1.0) -> Array:
    """Rows turned by position · base^(−2i/d)."""
    d = 2 * int(x.shape[-1] * rope.share / 2)
    angles = (np.arange(x.shape[-2]) + first)[:, None] * sign * rope.base ** (-np.arange(0, d, 2) / d)
    one, other = (slice(0, d, 2), slice(1, d, 2)) if rope.pairs else (slice(0, d // 2), slice(d // 2, d))
    made = x.copy()
    made[..., one] = x[..., one] * np.cos(angles) - x[..., other] * np.sin(angles)
    made[..., other] = x[..., other] * np.cos(angles) + x[..., one] * np.sin(angles)
    return made


def scores(t: Arrays, s: Setting) -> Arrays:
    """Q Kᵀ."""
    return {"scores": t["q"] @ t["k"].swapaxes(-1, -2)}


def scale(t: Arrays, s: Setting) -> Arrays:
    """Scores times the scale, 1/√d_k as a rule."""
    return {"scaled": t["scores"] * s.scale}


def mask(t: Arrays, s: Setting) -> Arrays:
    """−inf where a key may not be used."""
    biased = t["scaled"] if s.bias is None else t["scaled"] + s.bias
    return {"masked": biased if s.allowed is None else np.where(s.allowed, biased, -np.inf)}


def softmax(t: Arrays, s: Setting) -> Arrays:
    """Weights: each row adds up to 1, or is 0 where no key may be used."""
    return {"weights": softmax_along(t["masked"], -1)}


def softmax_along(x: Array, axis: int | tuple[int, ...]) -> Array:
    """exp(x) over its sum along some axes."""
    top = x.max(axis=axis, keepdims=True)
    e = np.exp(x - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=axis, keepdims=True)
    return np.asarray(e / np.where(total == 0, 1, total))


def mix(t: Arrays, s: Setting) -> Arrays:
    """A V."""
    return {"mixed": t["weights"] @ t["v"]}


def merge(t: Arrays, s: Setting) -> Arrays:
    """Heads side by side: (batch, tokens, heads · d)."""
    z = t["mixed"].swapaxes(1, 2)
    return {"merged": z.reshape(*z.shape[:2], -1)}


def output(t: Arrays, s: Setting) -> Arrays:
    """Z W_O + b_O."""
    return {"output": projected(t["merged"], s, "o")}


STEPS: Mapping[str, Step] = dict(
    zip(STAGES, (project, split, position, scores, scale, mask, softmax, mix, merge, output), strict=True)
)


def run(
    s: Setting, wrong: Mapping[str, Step] | None = None, right: Mapping[str, Arrays] | None = None
) -> dict[str, Arrays]:
    """The arrays that each stage makes, by stage and name. `wrong` replaces some of the steps; what the stages before
    them make is taken from `right`, if that is known."""
    t: Arrays = {"q": s.q, "k": s.k, "v": s.v}
    made: dict[str, Arrays] = {}
    same = wrong is not None and right is not None
    with np.errstate(all="ignore"):  # a mistake may overflow or divide by zero: that is part of what it gives
        for stage in STAGES:
            step = STEPS[stage] if wrong is None else wrong.get(stage, STEPS[stage])
            same = same and step is STEPS[stage]
            made[stage] = right[stage] if same and right is not None else step(t, s)
            t = {**t, **made[stage]}
    return made
