"""Mistakes in the scores and their scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from qkv.compare.formula import Array, Arrays, Setting, Step, softmax_along
from qkv.compare.mistakes.model import Mistake, Way, Ways, always, given, never


def _scores_of(one: str, other: str) -> Step:
    return lambda t, s: {"scores": t[one] @ t[other].swapaxes(-1, -2)}


def _swapped_values(t: Arrays, s: Setting) -> Arrays:
    return {"scores": t["q"] @ t["v"].swapaxes(-1, -2), "k": t["v"], "v": t["k"]}


def _not_transposed(t: Arrays, s: Setting) -> Arrays:
    k = t["k"]
    return {"scores": t["q"] @ k.reshape(*k.shape[:2], k.shape[3], k.shape[2])}


def _cosines(t: Arrays, s: Setting) -> Arrays:
    q, k = (t[name] / np.linalg.norm(t[name], axis=-1, keepdims=True) for name in "qk")
    return {"scores": q @ k.swapaxes(-1, -2)}


def _scaled(factor: Callable[[Setting], float | None]) -> Ways:
    """Scores times another factor; none where it does not differ from the right one, or makes no sense."""

    def ways(s: Setting) -> Iterator[Way]:
        f = factor(s)
        if f is not None and not np.isclose(f, s.scale):
            yield Way({"scale": lambda t, s: {"scaled": t["scores"] * f}}, f"{f * s.d_k**0.5:.4g}")

    return ways


def _scaled_once(right: Mapping[str, Arrays], s: Setting) -> tuple[Array, ...]:
    once = {**right["split"], **right["position"]}
    return right["scale"]["scaled"], once["q"] * s.scale, once["k"] * s.scale


def _unscaled(t: Arrays, s: Setting) -> Arrays:
    return {"scaled": t["scores"]}


def _scaled_late(t: Arrays, s: Setting) -> Arrays:
    return {"weights": softmax_along(t["masked"], -1) * s.scale}


# What does not fit into float16 shows only when an implementation runs in float16: half.py does that.
TOO_LARGE = Mistake(
    "scores overflow float16",
    "scores",
    "scores above 65,504 do not fit into float16",
    "scale q before the product: (q / math.sqrt(d_k)) @ k.transpose(-2, -1)",
    never,
)

ROWS: tuple[Mistake, ...] = (
    TOO_LARGE,
    Mistake(
        "K and V swapped",
        "scores",
        "queries were compared with the values, and keys were mixed",
        "scores = q @ k.transpose(-2, -1); out = weights @ v",
        always(scores=_swapped_values),
    ),
    Mistake(
        "Q and K swapped",
        "scores",
        "the scores are K Qᵀ, the transpose of Q Kᵀ",
        "scores = q @ k.transpose(-2, -1)",
        given(lambda s: s.q.shape[1] == s.k.shape[1], scores=_scores_of("k", "q")),
    ),
    Mistake(
        "K not transposed",
        "scores",
        "K was reshaped to (d, keys), not transposed",
        "k.transpose(-2, -1), not k.view or reshape",
        always(scores=_not_transposed),
    ),
    Mistake(
        "queries against queries",
        "scores",
        "the scores are Q Qᵀ",
        "scores = q @ k.transpose(-2, -1)",
        always(scores=_scores_of("q", "q")),
    ),
    Mistake(
        "keys against keys",
        "scores",
        "the scores are K Kᵀ",
        "scores = q @ k.transpose(-2, -1)",
        always(scores=_scores_of("k", "k")),
    ),
    Mistake(
        "cosines for dot products",
        "scores",
        "queries and keys were brought to length 1 first",
        "scores = q @ k.transpose(-2, -1)",
        always(scores=_cosines),
    ),
    Mistake(
        "no scale",
        "scale",
        "the scores were not divided by √d_k",
        "scores / math.sqrt(q.shape[-1])",
        _scaled(lambda s: 1.0),
    ),
    Mistake(
        "sqrt(d_model) for sqrt(d_k)",
        "scale",
        "the scores were divided by √d_model, the size of a token, instead of √d_k, the size of a head",
        "scores / math.sqrt(d_model // heads)",
        _scaled(lambda s: s.columns("q") ** -0.5),
    ),
    Mistake(
        "scaled twice",
        "scale",
        "the scores were divided by √d_k twice",
        "divide q or the scores by √d_k, not both",
        _scaled(lambda s: s.scale**2),
        shows=_scaled_once,
    ),
    Mistake(
        "divided by d_k",
        "scale",
        "the scores were divided by d_k instead of √d_k",
        "scores / math.sqrt(d_k)",
        _scaled(lambda s: 1 / s.d_k),
    ),
    Mistake(
        "multiplied by the scale",
        "scale",
        "the scores were multiplied by √d_k instead of divided",
        "scores / math.sqrt(d_k), or scores * d_k ** -0.5",
        _scaled(lambda s: 1 / s.scale),
    ),
    Mistake(
        "sqrt(heads) for sqrt(d_k)",
        "scale",
        "the scores were divided by the root of the number of heads instead of √d_k",
        "scores / math.sqrt(d_model // heads)",
        _scaled(lambda s: s.heads**-0.5),
    ),
    Mistake(
        "sqrt(n) for sqrt(d_k)",
        "scale",
        "the scores were divided by the root of the number of keys instead of √d_k",
        "scores / math.sqrt(q.shape[-1])",
        _scaled(lambda s: s.k.shape[1] ** -0.5),
    ),
    Mistake(
        "sqrt(d_v) for sqrt(d_k)",
        "scale",
        "the scores were divided by √d_v, the size of a value, instead of √d_k",
        "scores / math.sqrt(q.shape[-1])",
        _scaled(lambda s: (s.columns("v") // s.kv_heads) ** -0.5),
    ),
    Mistake(
        "divided by d_model",
        "scale",
        "the scores were divided by d_model instead of √d_k",
        "scores / math.sqrt(d_model // heads)",
        _scaled(lambda s: 1 / s.columns("q")),
    ),
    Mistake(
        "divided by the number of heads",
        "scale",
        "the scores were divided by the number of heads instead of √d_k",
        "scores / math.sqrt(d_model // heads)",
        _scaled(lambda s: 1 / s.heads),
    ),
    Mistake(
        "multiplied by d_k",
        "scale",
        "the scores were multiplied by d_k instead of divided by √d_k",
        "scores / math.sqrt(d_k)",
        _scaled(lambda s: float(s.d_k)),
    ),
    Mistake(
        "half a scale",
        "scale",
        "only one of q and k was scaled by d_k to the power −1/4",
        "scale both by d_k ** -0.25, or the scores by d_k ** -0.5",
        _scaled(lambda s: s.scale**0.5),
    ),
    Mistake(
        "scale doubled",
        "scale",
        "the scores are twice as large as they should be",
        "scores / math.sqrt(d_k)",
        _scaled(lambda s: 2 * s.scale),
    ),
    Mistake(
        "scale halved",
        "scale",
        "the scores are half as large as they should be",
        "scores / math.sqrt(d_k)",
        _scaled(lambda s: s.scale / 2),
    ),
    Mistake(
        "scaled after the softmax",
        "scale",
        "the weights were divided by √d_k; the scores must be, before the softmax",
        "(scores / math.sqrt(d_k)).softmax(-1)",
        always(scale=_unscaled, softmax=_scaled_late),
    ),
)
