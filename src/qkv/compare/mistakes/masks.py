"""Mistakes in the mask."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from qkv.compare.formula import Array, Arrays, Setting, Step, softmax_along
from qkv.compare.mistakes.model import Way, Ways, given, never

# What people fill masked scores with when they mean −inf: each of them still counts in the softmax.
WEAK = (-1.0, -2.0, -5.0, -10.0, -20.0, -50.0, -100.0, 1.0)


def _biased(t: Arrays, s: Setting) -> Array:
    return np.asarray(t["scaled"] if s.bias is None else t["scaled"] + s.bias)


def _full(s: Setting, t: Arrays) -> Array:
    """Which keys may be used, in the shape of the scores."""
    return np.broadcast_to(np.True_ if s.allowed is None else s.allowed, t["scaled"].shape)


def _filled(fill: Callable[[Array, Array], Any]) -> Step:
    """Scores x and what is allowed → masked scores."""
    return lambda t, s: {"masked": fill(_biased(t, s), _full(s, t))}


def _triangle(s: Setting, shift: int = 0) -> Array:
    """The causal mask with its corner at the lower right, moved to the right by `shift`."""
    n_q, n_k = s.q.shape[1], s.k.shape[1]
    return np.tri(n_q, n_k, n_k - n_q + shift, dtype=bool)


def _mask(s: Setting) -> Array:
    return np.asarray(np.True_ if s.mask is None else s.mask)


def _instead(allowed: Array, detail: str = "") -> Way:
    return Way({"mask": lambda t, s: {"masked": np.where(allowed, _biased(t, s), -np.inf)}}, detail)


def _forgotten(s: Setting) -> Iterator[Way]:
    if s.causal and s.mask is not None:
        yield _instead(_triangle(s), "the mask that was handed over was")
        yield _instead(_mask(s), "the causal mask was")
    if s.allowed is not None:
        yield _instead(np.asarray(np.True_), "the causal mask was" if s.causal else "the mask was")


def _wrong_way_round(s: Setting) -> Iterator[Way]:
    if s.causal and s.mask is not None:
        yield _instead(_triangle(s) & ~_mask(s), "keys to be dropped are kept")
        yield _instead(~_triangle(s) & _mask(s), "keys of the future are kept")
    if s.allowed is not None:
        yield _instead(~s.allowed, "keys of the future are kept" if s.causal else "keys to be dropped are kept")


def _turned_round(s: Setting) -> Iterator[Way]:
    if s.causal:
        n_q, n_k = s.q.shape[1], s.k.shape[1]
        yield _instead(~_triangle(s, -1) & _mask(s))
        if n_q != n_k:
            yield _instead(~np.tri(n_q, n_k, -1, dtype=bool) & _mask(s))


def _one_off(s: Setting) -> Iterator[Way]:
    if s.causal:
        yield _instead(_triangle(s, 1) & _mask(s), "each query sees the next key too")
        yield _instead(_triangle(s, -1) & _mask(s), "no query sees its own key")


def _corner(s: Setting) -> Iterator[Way]:
    n_q, n_k = s.q.shape[1], s.k.shape[1]
    if s.causal and n_q != n_k:
        yield _instead(np.tri(n_q, n_k, dtype=bool) & _mask(s))


def _flipped(s: Setting) -> Iterator[Way]:
    if s.mask is not None and s.mask.ndim and s.mask.shape[-1] > 1:
        flipped = np.flip(s.mask, -1)
        if not np.array_equal(flipped, s.mask):
            yield _instead(flipped & (_triangle(s) if s.causal else np.True_))


def _transposed(s: Setting) -> Iterator[Way]:
    n_q, n_k = s.q.shape[1], s.k.shape[1]
    if s.mask is not None and s.mask.ndim >= 2 and n_q == n_k:
        yield _instead(s.mask.swapaxes(-1, -2) & (_triangle(s) if s.causal else np.True_))


def _across_heads(s: Setting) -> Iterator[Way]:
    """Masks of a batch laid over (batch · heads) in the wrong order."""
    if s.mask is not None and s.mask.ndim == 4 and s.mask.shape[0] > 1 and s.mask.shape[1] == 1 and s.heads > 1:
        batch = s.mask.shape[0]
        tiled = np.tile(s.mask[:, 0], (s.heads, 1, 1)).reshape(batch, s.heads, *s.mask.shape[2:])
        yield _instead(tiled & (_triangle(s) if s.causal else np.True_))


def _after_softmax(s: Setting) -> Iterator[Way]:
    if s.allowed is not None:
        unmasked: Step = lambda t, s: {"masked": _biased(t, s)}  # noqa: E731
        yield Way({"mask": unmasked, "softmax": lambda t, s: {"weights": softmax_along(t["masked"], -1) * _full(s, t)}})


def _added(s: Setting) -> Iterator[Way]:
    if s.allowed is not None:
        yield Way({"mask": _filled(lambda x, a: x + a)}, "1 was added to the scores of keys to be kept")
        yield Way({"mask": _filled(lambda x, a: x + ~a)}, "1 was added to the scores of keys to be dropped")
        yield Way({"mask": _filled(lambda x, a: x - ~a)}, "1 was taken from the scores of keys to be dropped")


def _set_to(value: float) -> Step:
    return _filled(lambda x, a: np.where(a, x, value))


def _lowered_by(value: float) -> Step:
    return _filled(lambda x, a: np.where(a, x, x - value))


def _weak(s: Setting) -> Iterator[Way]:
    if s.allowed is not None:
        yield from (Way({"mask": _set_to(value)}, f"set to {value:g}") for value in WEAK)
        yield from (Way({"mask": _lowered_by(-value)}, f"lowered by {-value:g}") for value in WEAK if value < 0)


def _masked(s: Setting) -> bool:
    return s.allowed is not None


def _nothing_left(s: Setting) -> bool:
    """Whether some query may use no key."""
    return s.allowed is not None and not np.all(np.any(s.allowed, axis=-1))


def _empty_rows(value: float | None) -> Step:
    """Rows without any key: filled with a number, or with the plain softmax of what was masked."""

    def softmax(t: Arrays, s: Setting) -> Arrays:
        empty = ~_full(s, t).any(-1, keepdims=True)
        instead = softmax_along(_biased(t, s), -1) if value is None else value
        return {"weights": np.where(empty, instead, softmax_along(t["masked"], -1))}

    return softmax


def _everywhere(s: Setting) -> Iterator[Way]:
    if _nothing_left(s):
        yield Way({"softmax": _empty_rows(np.nan)}, "it became NaN")
        yield Way({"softmax": _empty_rows(1 / s.k.shape[1])}, "it became the mean of all values")
        yield Way({"softmax": _empty_rows(None)}, "its mask cancels out")


WAYS: dict[str, Ways] = {
    "-1e9 in float16": never,
    "mask forgotten": _forgotten,
    "mask the wrong way round": _wrong_way_round,
    "causal mask turned round": _turned_round,
    "mask one off": _one_off,
    "causal corner": _corner,
    "mask after softmax": _after_softmax,
    "masked with 0 in place of -inf": given(_masked, mask=_filled(lambda x, a: np.where(a, x, 0.0))),
    "mask added as 0 and 1": _added,
    "masked too weakly": _weak,
    "masked with plus infinity": given(_masked, mask=_filled(lambda x, a: np.where(a, x, 1e9))),
    "padding on the wrong side": _flipped,
    "mask on the queries": _transposed,
    "mask in another order than the heads": _across_heads,
    "a row masked everywhere": _everywhere,
}
