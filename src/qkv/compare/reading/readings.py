"""What an implementation may rightly mean: every setting that is consistent with what was said and recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from qkv.compare.formula import Array, Rope, Setting
from qkv.compare.reading.options import Options
from qkv.compare.reading.projections import Layer, layer_of
from qkv.compare.record.held import Given
from qkv.compare.record.recording import Recording
from qkv.compare.seek import LOWEST, Shelf

USUAL_BASE = 10_000.0


@dataclass(frozen=True, eq=False)
class Reading:
    """A setting, and the output in the shape that the setting gives it."""

    setting: Setting
    observed: Array
    target: str  # "output", or "mixed" for (batch, heads, tokens, d)
    adopted: str = ""  # what was taken over from the implementation, since nothing says otherwise

    @property
    def slack(self) -> float:
        """What angles that were worked out in float32 add to the error: they grow with the position."""
        return 3e-7 * self.setting.k.shape[1] if self.setting.rope else 0.0


def readings(recording: Recording, given: Given, options: Options) -> list[Reading]:
    """Every right way to understand an implementation, the likeliest first."""
    made: list[Reading] = []
    for shaped in _shapes(recording, given, options):
        for allowed in _masks(shaped.setting, given, options):
            for rope in _ropes(shaped.setting, recording, given, options):
                made.append(replace(shaped, setting=replace(allowed, rope=rope)))
    return made


def _shapes(recording: Recording, given: Given, options: Options) -> Iterator[Reading]:
    layer = layer_of(recording)
    if layer is not None:
        yield from _layers(layer, recording, options)
        return
    arrays = (
        given.arrays
        if len(given.arrays) >= 3
        else (given.arrays[0],) * 3
        if len(given.arrays) == 1
        else (*given.arrays, given.arrays[-1])
    )
    q, k, v = arrays[:3]
    out = recording.output
    if q.ndim == 4:
        yield from _in_heads(q, k, v, out, options)
    elif q.ndim in (2, 3):
        flat = [x[None] if x.ndim == 2 else x for x in (q, k, v)]
        yield from _flat(flat, out[None] if out.ndim == 2 else out, options)


def _in_heads(q: Array, k: Array, v: Array, out: Array, options: Options) -> Iterator[Reading]:
    """Heads have an axis of their own: before the tokens, or behind them."""
    for axis in (1, 2):
        if q.shape[axis] % max(k.shape[axis], 1) or k.shape[:3] != v.shape[:3]:
            continue
        flat = [np.moveaxis(x, axis, 2).reshape(x.shape[0], x.shape[3 - axis], -1) for x in (q, k, v)]
        heads, kv_heads = q.shape[axis], k.shape[axis]
        if options.heads is not None and options.heads != heads:
            continue
        setting = _setting(flat[0], flat[1], flat[2], heads, kv_heads, options)
        if out.ndim == 4:
            yield Reading(setting, out if axis == 1 else out.swapaxes(1, 2), "mixed")
        else:
            yield Reading(setting, out, "output")


def _flat(flat: Sequence[Array], out: Array, options: Options) -> Iterator[Reading]:
    for tokens_first in _orders(flat[0], options):
        q, k, v = (x.swapaxes(0, 1) for x in flat) if tokens_first else flat
        for heads in [options.heads] if options.heads else _divisors(q.shape[-1]):
            kv_heads = options.kv_heads or _kv_heads(heads, q.shape[-1], k.shape[-1])
            if q.shape[-1] % heads == 0 and kv_heads and k.shape[-1] % kv_heads == 0 and v.shape[-1] % kv_heads == 0:
                seen = out.swapaxes(0, 1) if tokens_first and out.ndim == 3 else out
                yield Reading(_setting(q, k, v, heads, kv_heads, options), seen, "output")


def _layers(layer: Layer, recording: Recording, options: Options) -> Iterator[Reading]:
    out = recording.output[None] if recording.output.ndim == 2 else recording.output
    for tokens_first in _orders(layer.tokens["q"], options):
        q, k, v = (layer.tokens[name].swapaxes(0, 1) if tokens_first else layer.tokens[name] for name in "qkv")
        seen = out.swapaxes(0, 1) if tokens_first and out.ndim >= 2 else out
        for heads in _likely_heads(layer, recording, options, q.shape[0] * min(q.shape[1], seen.shape[1]) * k.shape[1]):
            for fused in ([options.fused] if options.fused else ["blocks", "interleaved"]) if layer.fused else [None]:
                weights, biases = _unfused(layer, fused, heads)
                widths = [
                    weights[n].shape[1] if n in weights else x.shape[-1] for n, x in zip("qkv", (q, k, v), strict=True)
                ]
                kv_heads = options.kv_heads or _kv_heads(heads, *widths[:2])
                if not kv_heads or widths[0] % heads or widths[2] % kv_heads:
                    continue
                last = q[:, -seen.shape[1] :] if seen.ndim == 3 else q  # with a cache, only the last tokens ask
                made = Setting(
                    last, k, v, heads, kv_heads, weights, biases, options.scale or (widths[0] // heads) ** -0.5,
                    fused=fused, heads_said=options.heads is not None,
                )  # fmt: skip
                yield Reading(made, seen, "output")


def _unfused(layer: Layer, fused: str | None, heads: int) -> tuple[dict[str, Array], dict[str, Array]]:
    """The three matrices that one fused matrix holds, in either layout."""
    weights, biases = dict(layer.weights), dict(layer.biases)
    if fused == "interleaved":
        for held in (weights, biases):
            if "q" in held:
                whole = np.concatenate([held[name] for name in "qkv"], axis=-1)
                parts = whole.reshape(*whole.shape[:-1], heads, 3, -1)
                held.update({name: parts[..., i, :].reshape(*whole.shape[:-1], -1) for i, name in enumerate("qkv")})
    return weights, biases


def _setting(q: Array, k: Array, v: Array, heads: int, kv_heads: int, options: Options) -> Setting:
    scale = options.scale or (q.shape[-1] // heads) ** -0.5
    return Setting(q, k, v, heads, kv_heads, {}, {}, scale, heads_said=options.heads is not None)


def _divisors(width: int) -> list[int]:
    return [h for h in range(1, width + 1) if width % h == 0]


def _kv_heads(heads: int, q_width: int, k_width: int) -> int:
    """How many key heads there are if keys are as wide as queries; 0 if that does not come out even."""
    d = q_width // heads
    count = k_width // d if d and k_width % d == 0 else 0
    return count if count and heads % count == 0 else 0


def _likely_heads(layer: Layer, recording: Recording, options: Options, cells: int) -> list[int]:
    """How many heads there may be: such that scores of so many heads were made, if any were."""
    if options.heads:
        return [options.heads]
    width = layer.weights["q"].shape[1] if "q" in layer.weights else layer.tokens["q"].shape[-1]
    possible = _divisors(width)
    products = [
        node.value.size for node in recording.made
        if node.contraction and not any(recording.nodes[s].constant for s in node.sources)
    ]  # fmt: skip
    likely = [h for h in possible if cells * h in products or products.count(cells) >= h > 1]
    return likely or possible


def _orders(tokens: Array, options: Options) -> list[bool]:
    """Whether tokens come before the batch. Unless it is said, the longer of the two axes may be that of the tokens."""
    if options.batch_first is not None:
        return [not options.batch_first]
    return [False, True] if tokens.shape[0] > tokens.shape[1] else [False]


def _masks(setting: Setting, given: Given, options: Options) -> Iterator[Setting]:
    """The setting with each mask that may be meant."""
    n_q, n_k = setting.q.shape[1], setting.k.shape[1]
    shift = 0 if options.causal == "upper-left" else n_k - n_q
    triangle = np.tri(n_q, n_k, shift, dtype=bool)
    for handed, bias in _handed(setting, given, options):
        for causal in [bool(options.causal)] if options.causal is not None else [False, True]:
            allowed = triangle if causal else None
            if handed is not None:
                allowed = handed if allowed is None else allowed & handed
            yield replace(setting, allowed=allowed, causal=causal, mask=handed, bias=bias)


def _handed(setting: Setting, given: Given, options: Options) -> Iterator[tuple[Array | None, Array | None]]:
    """The mask that was said or handed over, True for keys to be used; and what it adds to the scores."""
    shape = setting.q.shape[0], setting.heads, setting.q.shape[1], setting.k.shape[1]
    if options.lengths is not None:
        yield np.arange(shape[3]) < np.asarray(options.lengths).reshape(-1, 1, 1, 1), None
        return
    said = (np.asarray(options.mask),) if options.mask is not None else given.masks
    fitting = [fit for mask in said if (fit := _fitted(mask, shape)) is not None]
    if not fitting:
        yield None, None
        return
    kept = np.logical_and.reduce(np.broadcast_arrays(*(_kept(mask) for mask in fitting)))
    added = [np.where(_kept(mask), mask, 0) for mask in fitting if mask.dtype.kind == "f"]
    bias = sum(added[1:], added[0]) if added and any(map(np.any, added)) and not _zero_one(fitting[0]) else None
    yield kept, bias
    if given.drops and options.mask is None:
        yield ~kept, None


def _zero_one(mask: Array) -> bool:
    return bool(np.isin(mask, (0, 1)).all())


def _kept(mask: Array) -> Array:
    """Which keys a mask keeps: True, 1, or what lowers no score to nothing."""
    return (
        mask.astype(bool) if _zero_one(mask) and (mask.dtype.kind != "f" or mask.any()) else np.asarray(mask > LOWEST)
    )


def _fitted(mask: Array, shape: tuple[int, int, int, int]) -> Array | None:
    """A mask with four axes: (queries, keys), (batch, keys), (batch, queries, keys), (batch · heads, queries, keys)."""
    batch, heads, n_q, n_k = shape
    forms = [
        (n_q, n_k), (batch, 1, 1, n_k), (batch, 1, n_q, n_k), (batch, heads, n_q, n_k), (heads, n_q, n_k), (n_k,),
    ]  # fmt: skip
    shapes = [(n_q, n_k), (batch, n_k), (batch, n_q, n_k), (batch * heads, n_q, n_k), (heads, n_q, n_k), (n_k,)]
    for seen, form in zip(shapes, forms, strict=True):
        if mask.shape == seen:
            return mask.reshape((1,) * (4 - len(form)) + form)
    if mask.ndim <= 4 and mask.ndim and all(m in (1, s) for m, s in zip(mask.shape[::-1], shape[::-1], strict=False)):
        return mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
    return None


def _ropes(setting: Setting, recording: Recording, given: Given, options: Options) -> list[Rope | None]:
    """Rotary positions as they are said; if nothing is said and something was turned, either kind."""
    seen = _base_seen(setting, recording)
    base = options.rope_base or given.base or USUAL_BASE
    if options.rope:
        return [Rope(base, options.rope == "pairs", seen=seen)]
    turning = {"cos", "sin", "polar", "view_as_complex", "complex"} & {node.op for node in recording.nodes}
    if not (turning or seen or options.rope_base) or setting.d_k % 2:
        return [None]
    return [None, Rope(base, False, seen=seen), Rope(base, True, seen=seen)]


def _base_seen(setting: Setting, recording: Recording) -> float | None:
    """The base of the angles that the implementation uses: cosines that are 1 at the first position tell it."""
    d, n = setting.d_k, setting.k.shape[1]
    for node in recording.nodes:
        value = node.value
        if value.dtype.kind not in "fc" or value.ndim < 2 or value.shape[-1] not in (d, d // 2) or n < 2 or d < 4:
            continue
        table = value.real.reshape(-1, value.shape[-1])
        if len(table) >= n and np.allclose(table[0], 1) and (np.abs(table) <= 1).all() and not np.allclose(table[1], 1):
            angles = np.arccos(
                table[1][[0, 1]] if value.shape[-1] == d // 2 or table[1][0] != table[1][1] else table[1][[0, 2]]
            )
            if np.isclose(angles[0], 1, atol=1e-3) and 0 < angles[1] < 1:
                return float(angles[1] ** (-d / 2))
    return None


def adopted(reading: Reading, shelf: Shelf, scaled: Array) -> Iterator[Reading]:
    """Masks and biases of the implementation's own, taken over where nothing says what is meant."""
    for held in shelf.arrays:
        if held.size != scaled.size or held.shape[-1] != scaled.shape[-1]:
            continue
        values = held.reshape(scaled.shape)
        used = values > 0
        if not used.all() and (values >= 0).all() and np.allclose(values.sum(-1), 1):  # weights
            yield replace(reading, setting=replace(reading.setting, allowed=used), adopted="a mask of its own")
        kept = values > LOWEST
        largest = float(np.abs(scaled).max())
        if (
            not kept.all()
            and kept.any(-1).all()
            and np.allclose(values[kept], scaled[kept], rtol=0, atol=shelf.within * largest)
        ):
            yield replace(reading, setting=replace(reading.setting, allowed=kept), adopted="a mask of its own")
        elif kept.all() and _adds_bias(values - scaled, shelf.recording):
            yield replace(reading, setting=replace(reading.setting, bias=values - scaled), adopted="a bias of its own")


def _adds_bias(difference: Array, recording: Recording) -> bool:
    """Whether the difference of two arrays of scores is a constant of the implementation, but no mask of 0 and 1."""
    if _zero_one(np.round(difference, 5)) or _zero_one(np.round(-difference, 5)):
        return False
    distinct = np.unique(np.round(difference, 6))
    constants = [n.value for n in recording.nodes if n.constant and n.value.dtype.kind == "f" and n.value.size > 1]
    return any(set(distinct) <= set(np.unique(np.round(value, 6))) for value in constants)
