"""A report: one verdict for each cell of each claim of a checked sheet, and the slips that carried ones come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Verdict(StrEnum):
    """What is said of a shown value, from best to worst."""

    RIGHT = "right"  # equals the true value
    ROUNDED = "rounded"  # is the true value rounded to the digits shown
    DRIFTED = "drifted"  # is not, but is what the author's own rounded numbers give
    STRUCK = "struck"  # was crossed out by its author
    UNREAD = "unread"  # could not be judged: why is said
    MISROUNDED = "misrounded"  # within one unit of its last place, and not the nearest
    CARRIED = "carried"  # is false, and follows correctly from an earlier wrong value
    MISREAD = "misread"  # damaged text: exactly one repair makes it agree
    WRONG = "wrong"  # is false, and does not follow: a slip made here

    __hash__ = str.__hash__  # much faster than Enum's own


SEVERITY = {verdict: rank for rank, verdict in enumerate(Verdict)}
GOOD = frozenset({Verdict.RIGHT, Verdict.ROUNDED})
BAD = frozenset({Verdict.MISROUNDED, Verdict.CARRIED, Verdict.MISREAD, Verdict.WRONG})


@dataclass(frozen=True, slots=True)
class CellVerdict:
    """One cell that is not simply right or rounded; rows and columns count from 1."""

    row: int
    column: int
    shown: str
    expected: str | None
    from_own: str | None
    verdict: Verdict
    working: str = ""  # how the expected value comes about: 2·2 + 2·3 + 2·1 = 12


@dataclass(frozen=True, slots=True)
class Cause:
    """A known mistake that reproduces what is shown."""

    mistake: str
    says: str


@dataclass(frozen=True, slots=True)
class Claim:
    """One judged equation of the document."""

    id: int
    line: int
    end_line: int
    name: str
    formula: str
    text: str
    verdict: Verdict
    cells: tuple[CellVerdict, ...] = ()
    follows_from: tuple[int, ...] = ()
    cause: Cause | None = None
    repair: str | None = None
    reason: str | None = None
    column: int = 1
    shown: tuple[tuple[str, ...], ...] = field(default=(), repr=False)  # the printed cells, where they are known

    @property
    def numbers(self) -> int:
        """How many printed numbers it is about."""
        return sum(map(len, self.shown)) or 1


@dataclass(frozen=True, slots=True)
class Left:
    """Numbers of a line that are in no claim and are not given either: nobody read them, and why."""

    line: int
    numbers: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Advice:
    """Why claims in some lines could not be judged, and what to write so that they can be."""

    lines: tuple[int, ...]
    says: str
    hint: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many printed numbers were judged, how many were not, in which lines, and how many are given."""

    judged: int
    unjudged: int
    lines: tuple[int, ...]
    given: int = 0

    @property
    def printed(self) -> int:
        """All printed numbers that are not given."""
        return self.judged + self.unjudged


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that was said of one document.

    `given` counts the printed numbers that are given, so that there is nothing to judge about them; `left` are numbers
    that nobody read; `advice` says why claims could not be judged, and what would help."""

    file: str
    claims: tuple[Claim, ...]
    text: str = field(default="", repr=False)
    notes: tuple[str, ...] = ()
    given: int = 0
    left: tuple[Left, ...] = ()
    advice: tuple[Advice, ...] = ()

    @property
    def coverage(self) -> Coverage:
        """How much of the document was judged; what its author crossed out counts on neither side."""
        unread = [claim for claim in self.claims if claim.verdict is Verdict.UNREAD]
        judged = sum(c.numbers for c in self.claims if c.verdict not in (Verdict.UNREAD, Verdict.STRUCK))
        unjudged = sum(claim.numbers for claim in unread) + sum(left.numbers for left in self.left)
        lines = {claim.line for claim in unread} | {left.line for left in self.left}
        return Coverage(judged, unjudged, tuple(sorted(lines)), self.given)

    @property
    def summary(self) -> dict[str, int]:
        """How many claims got each verdict, worst last; verdicts that did not occur are left out."""
        counts = Counter(claim.verdict for claim in self.claims)
        return {verdict.value: counts[verdict] for verdict in Verdict if counts[verdict]}

    @property
    def is_empty(self) -> bool:
        """Whether nothing was judged: there are no claims, or none could be read."""
        return all(claim.verdict in (Verdict.UNREAD, Verdict.STRUCK) for claim in self.claims)

    @property
    def is_whole(self) -> bool:
        """Whether every claim that was found could be judged, and all that looks like mathematics was read."""
        return not self.left and all(claim.verdict is not Verdict.UNREAD for claim in self.claims)

    @property
    def is_clean(self) -> bool:
        """Whether nothing is wrong, carried, misrounded or misread."""
        return not any(claim.verdict in BAD for claim in self.claims)


def slips_behind(claims: Iterable[Claim], known: Mapping[int, Claim]) -> list[Claim]:
    """Where the trails of carried claims end, in the order of the document; `known` are the claims by their numbers."""
    found, waiting = dict[int, Claim](), list(claims)
    seen = set[int]()
    while waiting:
        claim = waiting.pop()
        earlier = [known[number] for number in claim.follows_from if number in known]
        if claim.id in seen:
            continue
        seen.add(claim.id)
        if claim.verdict is Verdict.CARRIED and earlier:
            waiting += earlier
        else:
            found[claim.id] = claim
    return [found[number] for number in sorted(found)]
