"""A comparison of two implementations: the reference decides which kind of attention is meant."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from qkv.compare.diagnose import agrees
from qkv.compare.formula import Setting, run
from qkv.compare.reading.options import Options
from qkv.compare.reading.projections import layer_of
from qkv.compare.reading.readings import Reading, adopted, readings
from qkv.compare.record.calls import Seen
from qkv.compare.seek import Shelf
from qkv.errors import ValueRefused


def meant_by(theirs: Seen, mine: Seen, options: Options) -> list[Reading]:
    """The readings of the reference that are right, with the output of the other implementation to be explained."""
    shelf = Shelf(theirs.recording)
    possible = readings(theirs.recording, theirs.handed.given, options)
    right = [reading for reading in possible if _right(reading, shelf)]
    if not right:
        right = [
            other
            for r in possible
            for other in adopted(r, shelf, run(r.setting)["scale"]["scaled"])
            if _right(other, shelf)
        ]
    if not right:
        raise ValueRefused("the reference is not attention as we know it; compare it alone to see where it departs")
    return [
        replace(reading, setting=_fused_as(reading.setting, mine), observed=_observed(reading, theirs, mine))
        for reading in right[:1]
    ]


def _right(reading: Reading, shelf: Shelf) -> bool:
    return agrees(run(reading.setting), reading, shelf.within)


def _observed(reading: Reading, theirs: Seen, mine: Seen) -> np.ndarray:  # type: ignore[type-arg]
    """My output, turned as theirs had to be."""
    out, seen = mine.recording.output, reading.observed
    if (out.shape == theirs.recording.output.shape and out.shape != seen.shape) or not np.array_equal(
        theirs.recording.output.reshape(-1), seen.reshape(-1)
    ):
        for a in range(out.ndim):
            for b in range(a):
                if theirs.recording.output.swapaxes(a, b).shape == seen.shape and np.array_equal(
                    theirs.recording.output.swapaxes(a, b), seen
                ):
                    return np.asarray(out.swapaxes(a, b))
    return np.asarray(out.reshape(seen.shape) if out.size == seen.size else out)


def _fused_as(setting: Setting, mine: Seen) -> Setting:
    """How a fused matrix of mine is meant to be read: as the matrices of the reference stand in it."""
    layer = layer_of(mine.recording)
    if layer is None or not layer.fused or not {"q", "k", "v"} <= setting.weights.keys():
        return setting
    whole = np.concatenate([layer.weights[name] for name in "qkv"], axis=1)
    parts = [setting.weights[name] for name in "qkv"]
    blocks = np.concatenate(parts, axis=1)
    woven = np.concatenate([p.reshape(p.shape[0], setting.heads, 1, -1) for p in parts], axis=2).reshape(blocks.shape)
    for name, layout in (("blocks", blocks), ("interleaved", woven)):
        if layout.shape == whole.shape and np.allclose(layout, whole, rtol=1e-5):
            return replace(setting, fused=name)
    return setting
