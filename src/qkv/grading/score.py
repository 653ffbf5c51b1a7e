"""REPORT → MARK: what a hand-in earns for each quantity that was asked for.

A slip costs once: it is charged to the quantity that it was made in, or, where nobody asked for that one, to the first
asked quantity that follows from it. What follows from a slip earns what the policy says of carried values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from qkv.check.model import BAD, GOOD, Claim, Report, Verdict, slips_behind
from qkv.grading.answers import Answer
from qkv.grading.asked import Asked, Assignment, Known
from qkv.grading.model import DEFAULT, FULL, NONE, Because, Earned, Mark, Per, Points, Policy, Slip
from qkv.regex import regex
from qkv.render.summary import says

SLIPS = (Verdict.WRONG, Verdict.MISREAD)
MISCOPIED = "copied wrongly from the assignment"
_NUMBER = regex(r"\d")


def mark_of(report: Report, answers: tuple[Answer, ...], assignment: Assignment, policy: Policy = DEFAULT) -> Mark:
    """The marks of a hand-in."""
    marking = _Marking(report, answers, assignment, policy)
    earned = tuple(marking.earned(asked) for asked in assignment.asked)
    judged, unjudged = report.coverage.judged, report.coverage.unjudged
    return Mark(report.file, earned, tuple(marking.slips), judged, unjudged, empty=marking.is_empty)


@dataclass(frozen=True)
class _Marking:
    """One hand-in while it is marked."""

    report: Report
    answers: tuple[Answer, ...]
    assignment: Assignment
    policy: Policy

    # — what is shown —

    @cached_property
    def claims(self) -> dict[int, Claim]:
        return {claim.id: claim for claim in self.report.claims}

    @cached_property
    def shown(self) -> dict[str, list[tuple[Claim, Answer]]]:
        """The claims about each quantity."""
        found: dict[str, list[tuple[Claim, Answer]]] = {}
        for answer in self.answers:
            claim = self.claims.get(answer.claim)
            if claim is not None and claim.verdict not in (Verdict.UNREAD, Verdict.STRUCK):
                found.setdefault(answer.name, []).append((claim, answer))
        return found

    @cached_property
    def steps(self) -> dict[int, str]:
        """The quantity that each claim is about."""
        return {answer.claim: answer.name for answer in self.answers}

    @property
    def is_empty(self) -> bool:
        return not self.report.claims and not _NUMBER.search(self.report.text)

    def _share(self, known: Known) -> Points:
        """Which share of a quantity's cells is shown."""
        cells = {cell for _, answer in self.shown.get(known.name, []) for cell in answer.cells}
        rows, columns = known.value.shape
        return Fraction(len(cells), rows * columns)

    # — slips —

    @property
    def slips(self) -> Iterator[Slip]:
        """The slips in the order of the document."""
        for claim in self.report.claims:
            if claim.verdict in SLIPS:
                step = self.steps.get(claim.id, claim.name)
                key, told = (claim.cause.mistake, claim.cause.says) if claim.cause else ("", "")
                if not key and any(each.given and each.name == step for each in self.assignment.known):
                    key = MISCOPIED
                yield Slip(claim.line, step, key, told, says(claim))

    @cached_property
    def charged(self) -> dict[str, Claim]:
        """Asked quantity → the slip that it pays for."""
        asked = {each.name for each in self.assignment.asked}
        found: dict[str, Claim] = {}
        mistakes: set[tuple[str, str]] = set()  # the same mistake in every head costs once
        for claim in self.report.claims:
            if claim.verdict is not Verdict.WRONG:
                continue
            name = self.steps.get(claim.id)
            payer = name if name in asked else self._first_following(claim, asked)
            mistake = (claim.cause.mistake, self._role(payer)) if claim.cause and payer else None
            if payer is None or (mistake in mistakes and payer not in found):
                continue
            found.setdefault(payer, claim)
            if mistake is not None:
                mistakes.add(mistake)
        return found

    def _role(self, name: str) -> str:
        return next((each.role.value for each in self.assignment.known if each.name == name), "")

    def _first_following(self, slip: Claim, asked: set[str]) -> str | None:
        """The first asked quantity that follows from a slip."""
        for claim in self.report.claims:
            follows = claim.verdict is Verdict.CARRIED and slip in slips_behind([claim], self.claims)
            if follows and self.steps.get(claim.id) in asked:
                return self.steps[claim.id]
        return None

    def _is_trivial(self, slip: Claim) -> bool:
        """Whether a false answer is too simple to carry on from: another shape, all the same number, an identity."""
        cells = [text for row in slip.shown for text in row]
        if len(cells) < 2:
            return False
        identity = [["1" if i == j else "0" for j in range(len(row))] for i, row in enumerate(slip.shown)]
        return (not slip.cells and bool(slip.reason)) or len(set(cells)) == 1 or [*map(list, slip.shown)] == identity

    # — points —

    def earned(self, asked: Asked) -> Earned:
        """What one quantity earns."""
        low, high, because, line = self._credit(asked)
        return Earned(asked.label, asked.name, asked.points, low * asked.points, high * asked.points, because, line)

    def _credit(self, asked: Asked) -> tuple[Points, Points, Because, int | None]:
        """The least and the greatest share of its points, why, and the line to look at."""
        policy, claims = self.policy, [claim for claim, _ in self.shown.get(asked.name, [])]
        line = claims[0].line if claims else None
        if (slip := self.charged.get(asked.name)) is not None:
            share = self._cost(asked, slip)
            why = Because.SLIP if slip in claims else Because.CHARGED
            return *(FULL - share * (FULL - policy.wrong),) * 2, why, slip.line
        if any(claim.verdict is Verdict.MISREAD for claim in claims):
            return NONE, FULL, Because.DAMAGED, line
        proven = self._proven(asked)
        if claims:
            least, because, line = self._worst(claims)
            if max(self._share(asked.known), proven) == 1:
                return least, least, because, line
            return self._share(asked.known) * least, FULL, Because.PARTLY, line
        if proven == 1:
            return policy.implied, policy.implied, Because.IMPLIED, None
        if proven:
            return proven * policy.implied, FULL, Because.PARTLY, None
        if self._may_be_unread:
            return NONE, FULL, Because.UNREAD, None
        return policy.missing, policy.missing, Because.MISSING, None

    @property
    def _may_be_unread(self) -> bool:
        return self.report.coverage.unjudged > 0 or (not self.report.claims and not self.is_empty)

    def _cost(self, asked: Asked, slip: Claim) -> Points:
        """Which share of a quantity a slip touches."""
        if self.policy.per is Per.QUANTITY:
            return FULL
        rows, columns = asked.known.value.shape
        touched = {
            (claim.id, cell.row, cell.column)
            for claim, _ in self.shown.get(asked.name, [])
            for cell in claim.cells
            if cell.verdict in BAD and (claim is slip or slip in slips_behind([claim], self.claims))
        }
        return Fraction(len(touched), rows * columns) if touched else FULL

    def _of(self, claim: Claim) -> tuple[Points, Because]:
        """The share of points that a claim earns in which no new slip was made, and why."""
        if claim.verdict is Verdict.CARRIED:
            if any(self._is_trivial(slip) for slip in slips_behind([claim], self.claims)):
                return self.policy.trivial, Because.TRIVIAL
            return self.policy.carried, Because.CARRIED
        if claim.verdict is Verdict.WRONG:
            return self.policy.carried, Because.AGAIN
        if claim.verdict is Verdict.MISROUNDED:
            return self.policy.misrounded, Because.ROUNDING
        return self.policy.drifted if claim.verdict is Verdict.DRIFTED else FULL, Because.SHOWN

    def _worst(self, claims: list[Claim]) -> tuple[Points, Because, int]:
        """What the claims about a quantity earn together: as little as the worst of them, the first of equals."""
        found = [(*self._of(claim), claim.line) for claim in claims]
        return min(found, key=lambda each: (each[0], each[1] is Because.SHOWN))

    def _proven(self, asked: Asked) -> Points:
        """How far later quantities prove that a quantity was worked out: the largest share that is shown of a quantity
        which follows from it, and whose claims are right, carried, or explained by a known mistake."""
        above = [each for each in self.assignment.known if asked.name in each.needs and each.name in self.shown]
        sound = [each for each in above if all(_proves(claim) for claim, _ in self.shown[each.name])]
        return max((self._share(each) for each in sound), default=NONE)


def _proves(claim: Claim) -> bool:
    if claim.verdict is Verdict.WRONG:
        return claim.cause is not None
    return claim.verdict in GOOD | {Verdict.DRIFTED, Verdict.CARRIED, Verdict.MISROUNDED}
