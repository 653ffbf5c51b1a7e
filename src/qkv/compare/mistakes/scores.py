"""Mistakes in the scores and their scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from qkv.compare.formula import Array, Arrays, Setting, Step, softmax_along
from qkv.compare.mistakes.model import Way, Ways, always, given, never


def _scores_of(one: str, other: str) -> Step:
    return lambda t, s: {"scores": t[one] @ t[other].swapaxes(-1, -2)}


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


def scaled_once(right: Mapping[str, Arrays], s: Setting) -> tuple[Array, ...]:
    """What an implementation has made that scales once and then again."""
    once = {**right["split"], **right["position"]}
    return right["scale"]["scaled"], once["q"] * s.scale, once["k"] * s.scale


WAYS: dict[str, Ways] = {
    "scores overflow float16": never,
    "K and V swapped": always(
        scores=lambda t, s: {"scores": t["q"] @ t["v"].swapaxes(-1, -2), "k": t["v"], "v": t["k"]}
    ),
    "Q and K swapped": given(lambda s: s.q.shape[1] == s.k.shape[1], scores=_scores_of("k", "q")),
    "K not transposed": always(scores=_not_transposed),
    "queries against queries": always(scores=_scores_of("q", "q")),
    "keys against keys": always(scores=_scores_of("k", "k")),
    "cosines for dot products": always(scores=_cosines),
    "no scale": _scaled(lambda s: 1.0),
    "sqrt(d_model) for sqrt(d_k)": _scaled(lambda s: s.columns("q") ** -0.5),
    "scaled twice": _scaled(lambda s: s.scale**2),
    "divided by d_k": _scaled(lambda s: 1 / s.d_k),
    "multiplied by the scale": _scaled(lambda s: 1 / s.scale),
    "sqrt(heads) for sqrt(d_k)": _scaled(lambda s: s.heads**-0.5),
    "sqrt(n) for sqrt(d_k)": _scaled(lambda s: s.k.shape[1] ** -0.5),
    "sqrt(d_v) for sqrt(d_k)": _scaled(lambda s: (s.columns("v") // s.kv_heads) ** -0.5),
    "divided by d_model": _scaled(lambda s: 1 / s.columns("q")),
    "divided by the number of heads": _scaled(lambda s: 1 / s.heads),
    "multiplied by d_k": _scaled(lambda s: float(s.d_k)),
    "half a scale": _scaled(lambda s: s.scale**0.5),
    "scale doubled": _scaled(lambda s: 2 * s.scale),
    "scale halved": _scaled(lambda s: s.scale / 2),
    "scaled after the softmax": always(
        scale=lambda t, s: {"scaled": t["scores"]},
        softmax=lambda t, s: {"weights": softmax_along(t["masked"], -1) * s.scale},
    ),
}
