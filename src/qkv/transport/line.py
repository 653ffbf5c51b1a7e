"""The closed form on a line: what has piled up has to be carried on, from each point to the next."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from flint import fmpq

from qkv.transport.distribution import Distribution


@dataclass(frozen=True, slots=True)
class Stretch:
    """From one point to the next: the surplus that crosses it, and what that costs."""

    start: fmpq
    end: fmpq
    mass_here: fmpq  # p − q at the start
    surplus: fmpq  # what has piled up so far: the difference of the two cumulated distributions
    cost: fmpq


def along_the_line(source: Distribution, target: Distribution) -> tuple[Stretch, ...]:
    """The steps of W₁ = Σ |F_p − F_q| · gap; their costs sum to the earth mover's distance.

    >>> from qkv.transport.distribution import Distribution
    >>> steps = along_the_line(Distribution.parse("3,2,1,4"), Distribution.parse("1,2,4,3"))
    >>> [str(step.surplus) for step in steps], sum(step.cost for step in steps)
    (['2', '2', '-1'], 5)
    """
    here: dict[fmpq, fmpq] = {}
    for distribution, direction in ((source, 1), (target, -1)):
        for (point,), mass in zip(distribution.points, distribution.masses, strict=True):
            here[point] = here.get(point, fmpq(0)) + direction * mass
    points = sorted(here)
    surplus = fmpq(0)
    steps = []
    for start, end in pairwise(points):
        surplus += here[start]
        steps.append(Stretch(start, end, here[start], surplus, abs(surplus) * (end - start)))
    return tuple(steps)
