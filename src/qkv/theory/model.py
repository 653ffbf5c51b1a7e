"""A claim about theory and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Judged(StrEnum):
    """What is said of a claim."""

    RIGHT = "right"
    WRONG = "wrong"
    CARRIED = "carried"  # follows from a claim that is wrong
    ASSUMED = "assumed"  # Var(q_i) = 1: a premise
    OPEN = "open"  # not understood for certain


@dataclass(frozen=True, slots=True)
class TheoryClaim:
    """One claim: where it stands, what it says, what is true, and why."""

    line: int
    text: str
    about: str
    verdict: Judged
    truth: str
    says: str = ""
    places: frozenset[tuple[int, int]] = frozenset()  # where the links of its statement begin
