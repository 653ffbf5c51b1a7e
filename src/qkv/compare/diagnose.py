"""From a recording to a verdict: a right reading gives the output, or a known mistake does, or it departs somewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from qkv.compare.formula import STAGES, Array, Arrays, run
from qkv.compare.mistakes import DROPOUT, TABLE, Mistake, Way
from qkv.compare.reading.readings import Reading, adopted
from qkv.compare.record.recording import Recording
from qkv.compare.seek import Shelf, arrangements, close
from qkv.compare.walk import departure, stages_found
from qkv.errors import ShapeError

Stages = Mapping[str, Arrays]


@dataclass(frozen=True, eq=False)
class Explained:
    """A reading, and what it takes to give the output: nothing, a known mistake, or something that has no name."""

    reading: Reading
    right: Stages
    stage: str | None = None
    mistake: Mistake | None = None
    way: Way | None = None
    wrong: Stages | None = None
    error: float = 0.0


def explain(recording: Recording, readings: Sequence[Reading], free: bool) -> Explained:
    """The best explanation of an output. `free` says that nobody told which mask is meant."""
    shelf = Shelf(recording)
    worked: Sequence[tuple[Reading, Stages]] = [(reading, run(reading.setting)) for reading in readings]
    worked = [(reading, right) for reading, right in worked if _comparable(right, reading)]
    if not worked:
        raise ShapeError(_misfit(recording, readings))
    for reading, right in worked:
        if agrees(right, reading, shelf.within) or _goes_on(right, shelf):
            return Explained(reading, right, error=difference(right, reading))
    worked = _evident(worked, shelf)
    named = list(_named(worked, shelf))
    if named:
        return max(named, key=lambda e: _plausible(e, shelf))
    for reading, right in worked:
        if (weights := _dropped(right, reading, shelf)) is not None:
            wrong = {**right, "softmax": {"weights": weights}}
            return Explained(reading, right, "softmax", DROPOUT, Way({}), wrong, difference(right, reading))
    if free:
        for reading, right in worked:
            for other in adopted(reading, shelf, right["scale"]["scaled"]):
                if agrees(made := run(other.setting), other, shelf.within) or _goes_on(made, shelf):
                    return Explained(other, made, error=difference(made, other))
    reading, right = max(worked, key=lambda pair: stages_found(pair[1], shelf))
    return Explained(reading, right, departure(right, reading, shelf), error=difference(right, reading))


def _evident(worked: Sequence[tuple[Reading, Stages]], shelf: Shelf) -> Sequence[tuple[Reading, Stages]]:
    """The readings whose scores were made, up to a factor, if there are any: the others have other heads."""
    evident = [(reading, right) for reading, right in worked if shelf.factors(right["scores"]["scores"])]
    return evident or worked


def _misfit(recording: Recording, readings: Sequence[Reading]) -> str:
    if not readings:
        return (
            "no queries, keys and values were found; give (batch, heads, tokens, d), (batch, tokens, d) or (tokens, d)"
        )
    wanted = run(readings[0].setting)[_stage_of(readings[0])][readings[0].target].shape
    return f"the output has the shape {recording.output.shape}, attention gives {wanted}; return the output first"


def _stage_of(reading: Reading) -> str:
    return "mix" if reading.target == "mixed" else "output"


def final(made: Stages, reading: Reading) -> Array:
    """What a reading gives in the place of the output."""
    return made[_stage_of(reading)][reading.target]


def _comparable(made: Stages, reading: Reading) -> bool:
    return (
        final(made, reading).size == reading.observed.size
        or made["output"]["output"].shape[:2] == reading.observed.shape[:2]
    )


def agrees(made: Stages, reading: Reading, within: float, every_row: bool = True) -> bool:
    """Whether stages give the output. Rows without any key may hold anything if a mask is wrong."""
    wanted = final(made, reading)
    if wanted.shape != reading.observed.shape:
        return False
    observed = reading.observed
    if not every_row:
        telling = np.asarray(np.any(made["softmax"]["weights"], axis=-1))  # (batch, heads, queries)
        telling = telling if reading.target == "mixed" else np.asarray(np.all(telling, axis=1))
        if telling.shape == wanted.shape[: telling.ndim]:
            if not telling.any():
                return False
            wanted, observed = wanted[telling], observed[telling]
    return close(observed, wanted, within + reading.slack)


def difference(made: Stages, reading: Reading) -> float:
    """The largest difference of the output, relative to its largest value."""
    wanted = final(made, reading)
    if wanted.shape != reading.observed.shape:
        return float("inf")
    with np.errstate(invalid="ignore"):
        apart = np.abs(wanted - reading.observed)
    return float(np.max(np.where(np.isfinite(apart), apart, np.inf)) / max(float(np.abs(wanted).max()), 1e-30))


def _goes_on(right: Stages, shelf: Shelf) -> bool:
    """Whether the implementation goes on after attention: with a residual sum, or with parameters of another layer."""
    out = right["output"]["output"]
    nodes = shelf.recording.nodes
    made = next((i for i, node in enumerate(nodes) if not node.constant and _is(node.value, out, shelf.within)), None)
    if made is None or made == len(nodes) - 1:
        return False
    later = nodes[made + 1 :]
    residual = any(n.op.startswith("add") and sum(not nodes[s].constant for s in n.sources) == 2 for n in later)
    held = [p.value for p in shelf.recording.parameters]
    return residual or any(not n.sources and any(_is(n.value, p, 1e-6) for p in held) for n in later)


def _is(value: Array, wanted: Array, within: float) -> bool:
    """Whether a value is an array, up to the order of its axes."""
    if value.dtype.kind != "f" or value.size != wanted.size:
        return False
    return any(close(turned, wanted, within) for turned in arrangements(value, wanted.shape))


CLEARER = 1e-4  # a mistake that comes so much nearer than the right reading explains an output, although it is rounded
EVERYWHERE = "a row masked everywhere"  # the one mistake that shows only in rows without any key


def _named(worked: Sequence[tuple[Reading, Stages]], shelf: Shelf) -> Iterator[Explained]:
    """Known mistakes that give the output. If every row that may use a key is right, the mistake is in a row that may
    use none, so that only the mistake about such rows is tried."""
    for reading, right in worked:
        error = difference(right, reading)
        within = max(shelf.within, CLEARER * min(error, 1.0))
        rows_right = agrees(right, reading, shelf.within, every_row=False)
        for mistake in TABLE:
            if rows_right and mistake.key != EVERYWHERE:
                continue
            for way in mistake.ways(reading.setting):
                wrong = _tried(reading, way, right)
                if wrong is not None and agrees(wrong, reading, within, every_row=mistake.key == EVERYWHERE):
                    yield Explained(reading, right, mistake.stage, mistake, way, wrong, error)


def _dropped(right: Stages, reading: Reading, shelf: Shelf) -> Array | None:
    """The weights after dropout: some became 0, all others grew by one factor."""
    weights = right["softmax"]["weights"]
    for held in shelf.arrays:
        if held.size == weights.size and held.shape[-1] == weights.shape[-1]:
            seen = held.reshape(weights.shape)
            kept = (seen != 0) & (weights != 0)
            if kept.any() and ((seen == 0) & (weights > 1e-9)).any():
                ratio = seen[kept] / weights[kept]
                if ratio[0] > 1.001 and np.allclose(ratio, ratio[0], rtol=1e-4):
                    return np.asarray(seen)
    return None


def _tried(reading: Reading, way: Way, right: Stages) -> Stages | None:
    """The stages with a mistake in them, or None where shapes do not allow it."""
    try:
        return run(reading.setting, way.steps, right)
    except ValueError:
        return None


def _plausible(explained: Explained, shelf: Shelf) -> tuple[int, int]:
    """The rank of an explanation: first whether arrays that betray the mistake were recorded, then how many stages were
    recorded as the mistake makes them."""
    assert explained.wrong is not None
    assert explained.mistake is not None
    if explained.stage == "projection" and all(map(shelf.holds, explained.right["projection"].values())):
        return -1, 0  # what should be projected was
    shown = explained.mistake.shows
    extra = (
        0
        if shown is None
        else 1
        if any(shelf.holds(a) for a in shown(explained.right, explained.reading.setting))
        else -1
    )
    return extra, stages_found(explained.wrong, shelf)


def place(explained: Explained, shelf: Shelf) -> tuple[int | None, int | None, int | None]:
    """Head, row and column of the first cell that departs, at the stage itself or at the next one where it shows."""
    assert explained.stage is not None
    for stage in STAGES[STAGES.index(explained.stage) :]:
        for name, right in explained.right[stage].items():
            wrong = _departing(explained, stage, name, right, shelf)
            cell = (
                _first_apart(right, wrong, shelf.within) if wrong is not None and wrong.shape == right.shape else None
            )
            if cell is not None:
                return _in_head(cell, explained, stage)
    return None, None, None


def _departing(explained: Explained, stage: str, name: str, right: Array, shelf: Shelf) -> Array | None:
    """What an implementation has in the place of an array: what the mistake gives, else what comes nearest to it."""
    if explained.wrong is not None:
        return explained.wrong[stage].get(name)
    if stage == _stage_of(explained.reading):
        return explained.reading.observed
    return shelf.aligned(right)


def _first_apart(right: Array, wrong: Array, within: float) -> tuple[int, ...] | None:
    largest = float(np.max(np.abs(right), where=np.isfinite(right), initial=0.0))
    apart = ~np.isclose(right, wrong, rtol=0, atol=max(within, 1e-6) * largest, equal_nan=True)
    return tuple(map(int, np.argwhere(apart)[0])) if apart.any() else None


def _in_head(cell: tuple[int, ...], explained: Explained, stage: str) -> tuple[int | None, int | None, int | None]:
    if len(cell) == 4:
        return cell[1], cell[2], cell[3]
    d = explained.reading.setting.d_k
    if stage in ("projection", "merge"):
        return cell[2] // d, cell[1], cell[2] % d
    return None, cell[1], cell[2]
