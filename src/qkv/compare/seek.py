"""Seeking arrays among those that were made: as multisets of values, so that layout and names do not matter."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from qkv.compare.formula import Array
from qkv.compare.record.recording import Recording

ROUNDINGS = 64  # so many roundings of the coarsest precision are not told from an error
FINEST = 1e-6  # relative to the largest value: constants may have been rounded to float32, and no mistake is so small
LOWEST = -1e4  # below this a score is masked, whatever number stands for −∞


def tolerance(recording: Recording) -> float:
    """How far apart two arrays may be, relative to their largest value."""
    return max(FINEST, ROUNDINGS * recording.rounding)


def close(one: Array, other: Array, within: float) -> bool:
    """Whether two arrays of a shape agree; NaN agrees with NaN, −inf with −inf."""
    largest = float(np.max(np.abs(other), where=np.isfinite(other), initial=0.0))
    with np.errstate(invalid="ignore"):
        near = np.abs(one - other) <= within * max(largest, 1e-30)
    if near.all():
        return True
    rest, wanted = one[~near], other[~near]
    return bool(((rest == wanted) | (np.isnan(rest) & np.isnan(wanted))).all())


def sorted_values(array: Array) -> Array:
    """The values in order; whatever stands for −∞ counts as the same."""
    flat = array.ravel()
    return np.sort(np.where(flat < LOWEST, LOWEST, flat))


class Shelf:
    """The real arrays that an implementation made, to be looked up by what they hold."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.within = tolerance(recording)

    @cached_property
    def arrays(self) -> list[Array]:
        """Every array of floats once."""
        held = [node.value for node in self.recording.made if node.value.dtype.kind == "f" and node.value.size > 1]
        return [*held, self.recording.output]

    @cached_property
    def _sorted(self) -> dict[int, list[Array]]:
        by_size: dict[int, list[Array]] = {}
        for array in self.arrays:
            by_size.setdefault(array.size, []).append(sorted_values(array))
        return by_size

    def holds(self, array: Array) -> bool:
        """Whether an array was made: as a whole, or a head, a sequence or one head of one sequence at a time."""
        if self._whole(array):
            return True
        if array.ndim < 3:
            return False
        parts: list[Iterable[Array]] = [(array[:, h] for h in range(array.shape[1])), array]
        if array.ndim > 3:
            parts.append(array.reshape(-1, *array.shape[2:]))
        return any(all(map(self._whole, part)) for part in parts)

    def _whole(self, array: Array) -> bool:
        wanted = sorted_values(array)
        return any(close(held, wanted, self.within) for held in self._sorted.get(array.size, ()))

    def factors(self, array: Array) -> list[float]:
        """The factors f, in the order of making, for which f · array was made."""
        wanted = np.sort(array.ravel())
        largest = np.abs(wanted).max()
        found: list[float] = []
        for held in self._sorted.get(array.size, ()):
            factor = float(np.abs(held).max() / largest) if largest else 0.0
            if factor and np.isfinite(factor) and close(held, factor * wanted, self.within):
                found.append(factor)
        return found

    def placed(self, array: Array) -> bool:
        """Whether an array was made cell by cell: its axes may be in another order, or each sequence on its own."""
        return self._placed(array) or (array.ndim == 3 and all(map(self._placed, array)))

    def _placed(self, array: Array) -> bool:
        held = (a for a in self.arrays if a.size == array.size)
        return any(close(turned, array, self.within) for a in held for turned in arrangements(a, array.shape))

    def aligned(self, array: Array) -> Array | None:
        """The array made that agrees with the given one in most cells, its axes brought into the same order."""
        best, most = None, -1.0
        for held in self.arrays:
            if held.size == array.size:
                for turned in arrangements(held, array.shape):
                    same = float(
                        np.isclose(
                            turned,
                            array,
                            rtol=0,
                            atol=self.within * np.nanmax(np.abs(np.where(np.isfinite(array), array, 0))),
                        ).mean()
                    )
                    if same > most:
                        best, most = turned, same
        return best


def arrangements(array: Array, shape: tuple[int, ...]) -> Iterable[Array]:
    """An array in some shape: as it is, with two axes swapped, or (n · b) for (b · n) rows."""
    yield array.reshape(shape)
    if len(shape) >= 3:
        for i in range(len(shape)):
            for j in range(i):
                order = list(shape)
                order[i], order[j] = order[j], order[i]
                yield array.reshape(order).swapaxes(i, j)
