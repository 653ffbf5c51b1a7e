"""Mistakes in the mask."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from qkv.compare.formula import Array, Arrays, Setting, Step, softmax_along
from qkv.compare.mistakes.model import Mistake, Way, given, never

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


# What does not fit into float16 shows only when an implementation runs in float16: half.py does that.
OVERFLOW = Mistake(
    "-1e9 in float16",
    "mask",
    "-1e9 does not fit into float16: it becomes −∞, and 0 · ∞ or a row of −∞ becomes NaN",
    "torch.finfo(scores.dtype).min, or masked_fill(~allowed, float('-inf'))",
    never,
)

ROWS: tuple[Mistake, ...] = (
    OVERFLOW,
    Mistake(
        "mask forgotten", "mask", "{} not put on", "scores.masked_fill(~allowed, -inf) before the softmax", _forgotten
    ),
    Mistake(
        "mask the wrong way round",
        "mask",
        "the mask has the other polarity: {} (SDPA keeps True, nn.MultiheadAttention drops it)",
        "negate the mask: masked_fill(~allowed, -inf), or attn_mask=allowed for SDPA",
        _wrong_way_round,
    ),
    Mistake(
        "causal mask turned round",
        "mask",
        "each query sees its own key and later ones instead of earlier ones",
        "torch.ones(n, n).tril(), not triu()",
        _turned_round,
    ),
    Mistake(
        "mask one off",
        "mask",
        "the causal mask is shifted by one: {}",
        "tril(diagonal=0) keeps, triu(diagonal=1) drops",
        _one_off,
    ),
    Mistake(
        "causal corner",
        "mask",
        "the causal mask begins at the upper left corner; with a cache the last query must see the last key",
        "tril(diagonal=n_k - n_q)",
        _corner,
    ),
    Mistake(
        "mask after softmax",
        "mask",
        "the mask was put on after the softmax, so the rows no longer add up to 1",
        "scores.masked_fill(~allowed, -inf).softmax(-1)",
        _after_softmax,
    ),
    Mistake(
        "masked with 0 in place of -inf",
        "mask",
        "forbidden scores were set to 0, but e^0 = 1 still counts: they must be −∞",
        "masked_fill(~allowed, float('-inf')); mind 1e-9 for -1e9",
        given(_masked, mask=_filled(lambda x, a: np.where(a, x, 0.0))),
    ),
    Mistake(
        "mask added as 0 and 1",
        "mask",
        "the mask was added as numbers: {}",
        "scores.masked_fill(~allowed, -inf), or add a mask of 0 and −inf",
        _added,
    ),
    Mistake(
        "masked too weakly",
        "mask",
        "forbidden scores were {}, and still count",
        "masked_fill(~allowed, float('-inf'))",
        _weak,
    ),
    Mistake(
        "masked with plus infinity",
        "mask",
        "forbidden scores became large instead of −∞",
        "masked_fill(~allowed, float('-inf'))",
        given(_masked, mask=_filled(lambda x, a: np.where(a, x, 1e9))),
    ),
    Mistake(
        "padding on the wrong side",
        "mask",
        "the mask drops keys at the other end of the sequence",
        "arange(n_k) < lengths[:, None] for padding on the right",
        _flipped,
    ),
    Mistake(
        "mask on the queries",
        "mask",
        "the mask was laid over the queries instead of the keys",
        "mask[:, None, None, :], so that its last axis is the keys",
        _transposed,
    ),
    Mistake(
        "mask in another order than the heads",
        "mask",
        "masks of the batch meet the heads in the wrong order",
        "mask.repeat_interleave(heads, dim=0) for (batch · heads, n, n)",
        _across_heads,
    ),
    Mistake(
        "a row masked everywhere",
        "mask",
        "a query may use no key, and {}; its output must be 0",
        "weights.masked_fill(~allowed.any(-1, keepdim=True), 0)",
        _everywhere,
    ),
)
