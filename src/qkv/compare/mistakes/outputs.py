"""Mistakes from the softmax to the output."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from qkv.compare.formula import Array, Arrays, Setting, Step, projected, softmax_along
from qkv.compare.mistakes.model import Way, Ways, always, given, never


def _weights(make: Callable[[Array], Array]) -> Step:
    return lambda t, s: {"weights": make(t["masked"])}


def _by_sum(x: Array) -> Array:
    kept = np.where(np.isfinite(x), x, 0)
    return np.asarray(kept / kept.sum(-1, keepdims=True))


def _one_more(x: Array) -> Array:
    e = np.exp(x)
    return np.asarray(e / (1 + e.sum(-1, keepdims=True)))


def _twice(x: Array) -> Array:
    once = softmax_along(x, -1)
    return softmax_along(np.where(np.isfinite(x), once, -np.inf), -1)


EXPONENTIALS: tuple[Callable[[Array], Array], ...] = (
    lambda x: np.exp(x),
    lambda x: np.exp(x - x.max(-1, keepdims=True)),
    lambda x: np.exp(x - x.max()),
)


def _some(*makes: Callable[[Array], Array]) -> Ways:
    return lambda s: tuple(Way({"softmax": _weights(make)}) for make in makes)


def _mixed(make: Callable[[Array, Arrays], Array]) -> Step:
    """Weights and all that was made before → what is mixed of them."""
    return lambda t, s: {"mixed": make(t["weights"], t)}


def _several(s: Setting) -> bool:
    return s.heads > 1


def _square(s: Setting) -> bool:
    return bool(s.q.shape[1] == s.k.shape[1])


def _viewed(t: Arrays, s: Setting) -> Arrays:
    z = t["mixed"]
    return {"merged": z.reshape(z.shape[0], z.shape[2], -1)}


def _woven(t: Arrays, s: Setting) -> Arrays:
    z = t["mixed"].transpose(0, 2, 3, 1)
    return {"merged": z.reshape(*z.shape[:2], -1)}


def _backwards(t: Arrays, s: Setting) -> Arrays:
    z = t["mixed"][:, ::-1].swapaxes(1, 2)
    return {"merged": z.reshape(*z.shape[:2], -1)}


def _batch_and_heads(t: Arrays, s: Setting) -> Arrays:
    batch, heads, n, d = t["mixed"].shape
    z = t["mixed"].reshape(heads, batch, n, d).transpose(1, 2, 0, 3)
    return {"merged": z.reshape(batch, n, -1)}


def _together(join: Callable[..., Array]) -> Step:
    return lambda t, s: {"merged": join(t["mixed"], axis=1)}


def _with(changed: Setting) -> Step:
    return lambda t, s: {"output": projected(t["merged"], changed, "o")}


def _without_projection(s: Setting) -> Iterator[Way]:
    if s.weights.get("o") is not None:
        yield Way({"output": lambda t, s: {"output": t["merged"]}})


def _without_bias(s: Setting) -> Iterator[Way]:
    if s.biases.get("o") is not None:
        yield Way({"output": _with(replace(s, biases={k: b for k, b in s.biases.items() if k != "o"}))})


def _turned(s: Setting) -> Iterator[Way]:
    w = s.weights.get("o")
    if w is not None and w.shape[0] == w.shape[1]:
        yield Way({"output": _with(replace(s, weights={**s.weights, "o": w.T}))})


WAYS: dict[str, Ways] = {
    "softmax down the columns": _some(lambda x: softmax_along(x, -2)),
    "softmax over the heads": given(_several, softmax=_weights(lambda x: softmax_along(x, 1))),
    "softmax over the batch": given(lambda s: s.q.shape[0] > 1, softmax=_weights(lambda x: softmax_along(x, 0))),
    "softmax over the whole matrix": _some(lambda x: softmax_along(x, (-1, -2))),
    "softmax left out": _some(lambda x: np.where(np.isfinite(x), x, 0), lambda x: x),
    "softmax twice": _some(_twice, lambda x: softmax_along(softmax_along(x, -1), -1)),
    "normalised by the plain sum": _some(_by_sum),
    "not normalised": _some(*EXPONENTIALS),
    "another base than e": _some(
        lambda x: softmax_along(x * np.log(2), -1),
        lambda x: softmax_along(x * np.log(10), -1),
        lambda x: softmax_along(x / np.log(2), -1),
    ),
    "exponents negated": _some(lambda x: softmax_along(np.where(np.isfinite(x), -x, -np.inf), -1)),
    "sigmoid for softmax": _some(lambda x: 1 / (1 + np.exp(-x))),
    "one added to the sum": _some(_one_more),
    "all weight on the greatest score": _some(lambda x: (x == x.max(-1, keepdims=True)).astype(float)),
    "logarithm of the softmax": _some(lambda x: np.log(softmax_along(x, -1))),
    "dropout active": never,
    "weights transposed": given(_square, mix=_mixed(lambda a, t: a.swapaxes(-1, -2) @ t["v"])),
    "keys mixed for values": always(mix=_mixed(lambda a, t: a @ t["k"])),
    "queries mixed for values": given(_square, mix=_mixed(lambda a, t: a @ t["q"])),
    "values of the other head": given(_several, mix=_mixed(lambda a, t: a @ np.roll(t["v"], 1, axis=1))),
    "mean for sum": always(mix=_mixed(lambda a, t: a @ t["v"] / t["v"].shape[2])),
    "merged without transpose": given(_several, merge=_viewed),
    "heads merged woven": given(_several, merge=_woven),
    "heads concatenated in another order": given(_several, merge=_backwards),
    "batch and heads mixed up": given(lambda s: s.heads > 1 and s.q.shape[0] > 1, merge=_batch_and_heads),
    "averaged heads": given(_several, merge=_together(np.mean)),
    "added heads": given(_several, merge=_together(np.sum)),
    "projection left out": _without_projection,
    "W_O transposed": _turned,
    "b_O forgotten": _without_bias,
}
