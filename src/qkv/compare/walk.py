"""Where an implementation departs, stage by stage, when no known mistake explains it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from qkv.compare.formula import STAGES, Array, Arrays, softmax_along
from qkv.compare.reading.readings import Reading
from qkv.compare.seek import LOWEST, Shelf, arrangements

Stages = Mapping[str, Arrays]


def stages_found(made: Stages, shelf: Shelf) -> int:
    """How many stages of a computation were made by an implementation."""
    return sum(_found(stage, made, shelf) for stage in STAGES if stage not in ("split", "output"))


def _found(stage: str, made: Stages, shelf: Shelf) -> bool:
    arrays = made[stage].values()
    return all(map(shelf.placed if stage in ("merge", "output") else shelf.holds, arrays))


def departure(right: Stages, reading: Reading, shelf: Shelf) -> str:
    """The first stage that was not made as it should be. A stage that was made shows that all before it was right."""
    made = [stage for stage in STAGES if stage != "split" and right[stage] and _found(stage, right, shelf)]
    last = made[-1] if made else ""
    if last in ("projection", "position"):
        return _before_scores(right, reading, shelf)
    if last == "scores":
        return _after_scores(right, shelf)
    if last == "scale" or (last == "mask" and reading.setting.allowed is None):
        return _mask_or_softmax(right, reading, shelf)
    if last == "mix":
        return _mix_or_merge(right, reading, shelf)
    weights, merged = right["softmax"]["weights"], right["merge"]["merged"]
    if last == "softmax" and _factors(shelf).holds(weights):
        return "mix"
    if last == "merge" and "o" in reading.setting.weights and not _factors(shelf).placed(merged):
        return "merge"
    return {"": "projection", "mask": "softmax", "softmax": "softmax"}.get(last, "output")


def _before_scores(right: Stages, reading: Reading, shelf: Shelf) -> str:
    """Projections are right, scores are not: other rows went into their product, or the right ones in another way."""
    if shelf.factors(right["scores"]["scores"]):
        return "scale"
    q, k = ({**right["split"], **right["position"]}[name] for name in "qk")
    pair = _score_factors(shelf, q.shape[-1])
    if pair is None or _rows_of(pair, (q, k)) or _rows_of(pair, (k, q)):
        return "scores"
    if all(any(_same_values(x, right["projection"][name]) for name in "qk") for x in pair):
        return "split"
    turned = reading.setting.rope is not None or any(_by_position(x, right["split"]) for x in pair)
    return "position" if turned else "projection"


def _score_factors(shelf: Shelf, d: int) -> tuple[Array, Array] | None:
    """Queries and keys as they went into the first product that may be scores: rows of d numbers."""
    nodes = shelf.recording.nodes
    for node in nodes:
        at = node.contraction
        if at is not None and len(at.left_axes) == 1:
            one, other = nodes[node.sources[at.left]], nodes[node.sources[at.right]]
            a, b = np.moveaxis(one.value, at.left_axes[0], -1), np.moveaxis(other.value, at.right_axes[0], -1)
            if not one.constant and not other.constant and a.shape[-1] == d:
                return a, b
    return None


def _rows_of(held: tuple[Array, Array], wanted: tuple[Array, Array]) -> bool:
    return all(_same(a, b) for a, b in zip(held, wanted, strict=True))


def _same_values(held: Array, wanted: Array) -> bool:
    return _same(held.reshape(-1, 1), wanted.reshape(-1, 1))


def _same(held: Array, wanted: Array) -> bool:
    """Whether two arrays have the same rows in any order, up to one factor; repeated rows count once."""
    d = wanted.shape[-1]
    one, other = (np.unique(np.round(x.reshape(-1, d) / np.abs(x).max(), 5), axis=0) for x in (held, wanted))
    return one.shape == other.shape and bool(np.allclose(one, other, atol=2e-5))


def _by_position(held: Array, heads: Arrays) -> bool:
    """Whether queries or keys were changed by their positions: turned, so that rows keep their length, or by adding the
    same to every sequence, but not to every token."""
    if _same(held, heads["q"]) or _same(held, heads["k"]):
        return False
    for wanted in (heads["q"], heads["k"]):
        if held.size == wanted.size:
            lengths, meant = (np.sort(np.linalg.norm(x.reshape(-1, x.shape[-1]), axis=1)) for x in (held, wanted))
            added = [x - wanted for x in arrangements(held, wanted.shape)]
            alike = [x for x in added if len(x) > 1 and np.allclose(x, x[:1]) and not np.allclose(x, x[:, :, :1])]
            if alike or np.allclose(lengths, meant, rtol=1e-5):
                return True
    return False


def _after_scores(right: Stages, shelf: Shelf) -> str:
    """Scores are right and scaled scores were not made: another factor, none, or something else was done to them."""
    scores = right["scores"]["scores"]
    unscaled = softmax_along(scores, -1)
    other_factor = any(not np.isclose(f, 1) for f in shelf.factors(scores))
    return "scale" if other_factor or shelf.holds(unscaled) else "scores"


def _mask_or_softmax(right: Stages, reading: Reading, shelf: Shelf) -> str:
    """Whether other keys were masked or something was added to the scores; else the weights were made otherwise."""
    allowed, weights, scaled = reading.setting.allowed, right["softmax"]["weights"], right["scale"]["scaled"]
    alike = [
        a.reshape(weights.shape) for a in shelf.arrays if a.size == weights.size and a.shape[-1] == weights.shape[-1]
    ]
    for held in alike:
        with np.errstate(invalid="ignore"):
            added = np.round(np.where(held < LOWEST, -np.inf, held) - scaled, 5)
        dropped = np.isinf(added)
        everywhere = len(added) > 1 and np.array_equal(added, np.broadcast_to(added[:1], added.shape))
        if np.any(added) and (everywhere or not np.any(added[~dropped])):
            return "mask"
    if allowed is None:
        return "softmax"
    kept = np.broadcast_to(allowed, weights.shape)
    used = next((held > 1e-12 for held in reversed(alike) if (held >= 0).all() and held.any()), None)
    return "softmax" if used is not None and np.array_equal(used, kept) else "mask"


def _factors(shelf: Shelf) -> Shelf:
    """What went into products."""
    nodes = shelf.recording.nodes
    used = [nodes[source] for node in nodes if node.contraction is not None for source in node.sources]
    return Shelf(replace(shelf.recording, nodes=tuple(used)))


def _mix_or_merge(right: Stages, reading: Reading, shelf: Shelf) -> str:
    """Heads are right: what was made of them has the same numbers in other places, or other numbers."""
    if "o" in reading.setting.weights:
        return "merge" if _factors(shelf).holds(right["mix"]["mixed"]) else "mix"
    same = np.allclose(
        np.sort(reading.observed, axis=None), np.sort(right["mix"]["mixed"], axis=None), rtol=1e-5, atol=1e-8
    )
    return "merge" if same else "mix"
