"""An implementation that does not let itself be watched, asked with values that show its weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from qkv.compare.formula import Array, Arrays
from qkv.compare.reading.readings import Reading
from qkv.compare.record.calls import Call, output_of
from qkv.compare.seek import close

Stages = Mapping[str, Arrays]
LOOSE = 1e-5  # what logarithms of weights make of rounding


def stage_asked(call: Call, right: Stages, reading: Reading) -> str | None:
    """The stage at which a function of q, k and v departs, or None where it cannot be asked."""
    weights = _weights(call, reading)
    if weights is None:
        return None
    setting, v = reading.setting, right["split"]["v"]
    mixed = reading.observed if reading.target == "mixed" else reading.observed[:, None]
    if not close(mixed, weights @ v, LOOSE):
        return "mix"
    kept = np.broadcast_to(True if setting.allowed is None else setting.allowed, weights.shape)
    if not np.array_equal(np.abs(weights) > 1e-12, kept):
        return "mask"
    if not np.allclose(weights.sum(-1), 1, atol=LOOSE) or (weights < 0).any():
        return "softmax"
    return _scores_or_scale(weights, right["scale"]["scaled"], kept)


def _weights(call: Call, reading: Reading) -> Array | None:
    """The weights: values that are the rows of an identity come out as the weights themselves."""
    if len(call.args) < 3 or reading.setting.weights or not hasattr(call.args[2], "shape"):
        return None
    shape = tuple(call.args[2].shape)
    heads = shape[1] if len(shape) == 4 else 1
    n_k, d = shape[-2:]
    if reading.setting.kv_heads != heads or reading.setting.k.shape[1] != n_k:
        return None
    columns = []
    for start in range(0, n_k, d):
        v = np.broadcast_to(np.eye(n_k, d, -start), shape).copy()
        columns.append(output_of(replace(call, args=(*call.args[:2], v, *call.args[3:]))))
    made = np.concatenate(columns, -1)[..., :n_k]
    return made.reshape(reading.setting.q.shape[0], heads, -1, n_k)


def _scores_or_scale(weights: Array, scaled: Array, kept: Array) -> str:
    """Logarithms of weights are scores, up to a number for each row: another slope is another scale."""
    logs = _centred(np.log(np.where(kept, weights, 1)), kept)
    wanted = _centred(np.where(kept, scaled, 0), kept)
    slope = float((logs * wanted).sum() / (wanted**2).sum())
    return "scale" if close(logs, slope * wanted, LOOSE) else "scores"


def _centred(x: Array, kept: Array) -> Array:
    mean = np.where(kept, x, 0).sum(-1, keepdims=True) / kept.sum(-1, keepdims=True)
    return np.where(kept, x - mean, 0)
