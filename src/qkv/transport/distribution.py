"""Masses on points, as they are written on the command line and in Python."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flint import fmpq

from qkv.errors import ShapeError, ValueRefused
from qkv.transport.exact import rational

Point = tuple[fmpq, ...]


@dataclass(frozen=True, slots=True)
class Distribution:
    """Masses and the points they sit on; points may be left out where a cost matrix is given."""

    masses: tuple[fmpq, ...]
    points: tuple[Point, ...]

    @classmethod
    def of(cls, masses: Iterable[object], points: Iterable[object] | None = None) -> Distribution:
        """From numbers; without points the masses sit on 1, 2, 3, …

        >>> Distribution.of(["1/2", "1/2"], [(0, 0), (3, 4)]).total
        1
        """
        weights = tuple(rational(mass) for mass in masses)
        spots: Iterable[object] = range(1, len(weights) + 1) if points is None else points
        return cls(weights, tuple(_point(spot) for spot in spots)).checked()

    @classmethod
    def parse(cls, text: str) -> Distribution:
        """From `point:mass, …`; a point of several coordinates is in brackets; masses alone sit on 1, 2, 3, …

        >>> Distribution.parse("(0,0):1/2, (3,4):1/2").points[1]
        (3, 4)
        """
        entries = [entry.strip() for entry in re.split(r"[,;](?![^(\[]*[)\]])", text) if entry.strip()]
        with_point = [entry.rsplit(":", 1) for entry in entries if ":" in entry]
        if with_point and len(with_point) != len(entries):
            raise ValueRefused(f"Either every entry of {text!r} has a point (point:mass) or none has.")
        if not with_point:
            return cls.of(entries)
        return cls.of((mass for _, mass in with_point), (_coordinates(point) for point, _ in with_point))

    @property
    def total(self) -> fmpq:
        """The sum of all masses."""
        return sum(self.masses, fmpq(0))

    @property
    def dimension(self) -> int:
        """How many coordinates a point has."""
        return len(self.points[0])

    def checked(self) -> Distribution:
        """Itself, or an error that says which entry makes no sense."""
        if not self.masses:
            raise ValueRefused("A distribution needs at least one point with a mass.")
        if len(self.masses) != len(self.points):
            raise ShapeError(f"There are {len(self.masses)} masses for {len(self.points)} points.")
        for number, mass in enumerate(self.masses, 1):
            if mass < 0:
                raise ValueRefused(f"Mass {number} is {mass}; a mass cannot be negative.")
        for point in self.points:
            if len(point) != self.dimension:
                raise ShapeError(f"The points have {self.dimension} and {len(point)} coordinates; they must agree.")
        return self


def _coordinates(text: str) -> Sequence[str]:
    return [part for part in re.split(r"[,;\s]+", text.strip().strip("()[]").strip()) if part] or [text]


def _point(spot: object) -> Point:
    if isinstance(spot, Iterable) and not isinstance(spot, str):
        return tuple(rational(coordinate) for coordinate in spot)
    return (rational(spot),)


def same_total(source: Distribution, target: Distribution) -> None:
    """Refuse what cannot be moved onto each other, with the two totals."""
    if source.total != target.total:
        raise ValueRefused(
            f"The masses do not balance: {source.total} to move, {target.total} to fill; the totals must be equal."
        )
    if source.total == 0:
        raise ValueRefused("All masses are zero; there is nothing to move.")
