"""What theory holds: claims of a sheet with their verdicts, and answers to its questions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Judged(StrEnum):
    """The verdict on a claim about theory."""

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


@dataclass(frozen=True, slots=True)
class Value:
    """A value that can be checked by a program: rows of numbers, as text, and how they come about."""

    name: str
    formula: str
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a theory question: in words, with values, and with the steps that lead to it, a line each."""

    title: str
    words: str
    values: tuple[Value, ...] = ()
    details: tuple[str, ...] = ()
    line: int = 0  # of the question
