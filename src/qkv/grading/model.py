"""What grading holds: a policy, the marks of one hand-in, and those of a class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

Points = Fraction
FULL, NONE = Fraction(1), Fraction(0)


class Per(StrEnum):
    """What a slip costs: the points of the quantity that it was made in, or only the share of its cells."""

    QUANTITY = "quantity"
    CELL = "cell"


@dataclass(frozen=True, slots=True)
class Policy:
    """Which share of its points a quantity earns, by what is said of it. `points` and `asks` are a teacher's own word
    on the questions of the assignment: points by question or quantity, and what a question asks for."""

    drifted: Points = FULL
    misrounded: Points = FULL
    carried: Points = FULL
    wrong: Points = NONE
    missing: Points = NONE
    implied: Points = FULL
    trivial: Points = NONE
    per: Per = Per.QUANTITY
    points: tuple[tuple[str, Points], ...] = ()
    asks: tuple[tuple[str, tuple[str, ...]], ...] = ()


DEFAULT = Policy()


class Because(StrEnum):
    """Why a quantity got its points."""

    SHOWN = "shown, and right"
    CARRIED = "follows from an earlier slip"
    AGAIN = "the same mistake in another head costs nothing more"
    IMPLIED = "not shown, but what stands on it is"
    ROUNDING = "only the last digit is off"
    SLIP = "a slip was made here"
    CHARGED = "an earlier slip is charged here"
    TRIVIAL = "follows from an answer that is too simple to carry on from"
    PARTLY = "only a part of it is shown"
    DAMAGED = "damaged text, read with a repair"
    UNREAD = "not found, and something could not be read"
    MISSING = "not handed in"


LOOKS = frozenset({Because.PARTLY, Because.DAMAGED, Because.UNREAD})  # a person has to decide


@dataclass(frozen=True, slots=True)
class Earned:
    """What one asked quantity brings: between `low` and `high` points, which differ where a person has to look."""

    label: str  # the number of the question
    name: str
    of: Points
    low: Points
    high: Points
    because: Because
    line: int | None = None  # where it is shown, or where the slip is that it is charged for


@dataclass(frozen=True, slots=True)
class Slip:
    """A slip that was found: where, in which quantity, and the known mistake behind it, if there is one."""

    line: int
    step: str
    mistake: str = ""
    says: str = ""
    shown: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """The marks of one hand-in. `trouble` says why a file could not be graded at all."""

    file: str
    earned: tuple[Earned, ...] = ()
    slips: tuple[Slip, ...] = ()
    judged: int = 0
    unread: int = 0
    trouble: str = ""
    empty: bool = False  # nothing was handed in: no number stands in it

    @property
    def of(self) -> Points:
        """The points that there were to earn."""
        return sum((each.of for each in self.earned), NONE)

    @property
    def low(self) -> Points:
        """The points that are certain."""
        return sum((each.low for each in self.earned), NONE)

    @property
    def high(self) -> Points:
        """The points that a person may come to."""
        return sum((each.high for each in self.earned), NONE)

    @property
    def share_judged(self) -> float:
        """Which share of the printed numbers that are not given could be judged."""
        found = self.judged + self.unread
        return self.judged / found if found else 0.0

    @property
    def looks(self) -> tuple[str, ...]:
        """Why a person has to look; nothing where nobody has to."""
        if self.trouble:
            return (self.trouble,)
        open_parts = [each for each in self.earned if each.because in LOOKS]
        return tuple(
            f"{', '.join(each.name for each in open_parts if each.because is why)}: {why.value}"
            for why in dict.fromkeys(each.because for each in open_parts)
        )


@dataclass(frozen=True, slots=True)
class ClassSummary:
    """A class at a glance: made of marks, one after the other."""

    marks: int = 0
    of: Points = NONE
    shares: tuple[float, ...] = ()  # of the points, for those that nobody has to look at
    mistakes: Counter[str] = field(default_factory=Counter)  # how many hand-ins made each known mistake
    examples: dict[str, tuple[str, Slip]] = field(default_factory=dict)  # the first hand-in that made it, and where
    steps: Counter[str] = field(default_factory=Counter)  # in which quantity hand-ins went wrong first
    looks: tuple[tuple[str, str], ...] = ()  # file and reason
    empty: tuple[str, ...] = ()
    lost: dict[tuple[str, str], tuple[Points, Points]] = field(default_factory=dict)  # question, name → earned, of


UNNAMED = "a slip without a known cause"


def summary_of(marks: Iterable[Mark]) -> ClassSummary:
    """The summary of a class."""
    mistakes: Counter[str] = Counter()
    steps: Counter[str] = Counter()
    examples: dict[str, tuple[str, Slip]] = {}
    lost: dict[tuple[str, str], tuple[Points, Points]] = {}
    shares: list[float] = []
    looks: list[tuple[str, str]] = []
    empty: list[str] = []
    count, of = 0, NONE
    for mark in marks:
        count, of = count + 1, max(of, mark.of)
        for key in dict.fromkeys(slip.mistake or UNNAMED for slip in mark.slips):
            mistakes[key] += 1
            first = next(slip for slip in mark.slips if (slip.mistake or UNNAMED) == key)
            examples.setdefault(key, (mark.file, first))
        if mark.slips:
            steps[mark.slips[0].step] += 1
        for each in mark.earned:
            got, all_of = lost.get((each.label, each.name), (NONE, NONE))
            lost[each.label, each.name] = got + each.low, all_of + each.of
        if mark.looks:
            looks.append((mark.file, "; ".join(mark.looks)))
        elif mark.of:
            shares.append(float(mark.low / mark.of))
        if mark.empty:
            empty.append(mark.file)
    return ClassSummary(count, of, tuple(shares), mistakes, examples, steps, tuple(looks), tuple(empty), lost)
