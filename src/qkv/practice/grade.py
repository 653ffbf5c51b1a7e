"""A report on a practice sheet against its key: what was found, missed, and accused without reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import field

from qkv.check.mistakes.rewrites import RARE, STRUCTURAL
from qkv.check.model import BAD, Claim, Report, Verdict
from qkv.practice.sheet import Expected, Practice
from qkv.practice.slips import CUT
from qkv.records import dataclass

ACCUSED = BAD - {Verdict.CARRIED}
SAID_WRONG = frozenset({Verdict.WRONG, Verdict.MISREAD})
NOTHING = "nothing"  # no claim was found where the key has one


@dataclass(frozen=True, slots=True)
class Fault:
    """One disagreement between a report and a key."""

    what: str  # accused, missed, not carried, unread, misnamed
    line: int
    detail: str = ""


@dataclass(frozen=True)
class Grade:
    """All disagreements, and how often each verdict was given where each was due."""

    faults: tuple[Fault, ...]
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)
    named: Counter[str] = field(default_factory=Counter)  # "table named", "cell unnamed", "part misnamed" …
    unnamed: tuple[Fault, ...] = ()  # mistakes of the table that show, and were not called by their name

    def of(self, what: str) -> list[Fault]:
        """The faults of one sort."""
        return [fault for fault in self.faults if fault.what == what]


def graded(practice: Practice, report: Report) -> Grade:
    """Hold a report against the key of a practice sheet."""
    faults: list[Fault] = []
    confusion: Counter[tuple[str, str]] = Counter()
    named: Counter[str] = Counter()
    unnamed: list[Fault] = []
    seen: set[int] = set()
    for expected in practice.key:
        claims = [claim for claim in report.claims if expected.line <= claim.line <= expected.end_line]
        value = claims[-1] if claims else None
        if value is not None:
            seen.add(value.id)
        confusion[expected.verdict, value.verdict if value else NOTHING] += 1
        faults.extend(_faults(expected, value))
        told = value is not None and value.verdict is Verdict.MISROUNDED and expected.mistake == CUT
        if value is not None and (told or (value.verdict is Verdict.WRONG and expected.verdict == "wrong")):
            how = _naming(expected, value)
            named[how] += 1
            if how in ("table unnamed", "table misnamed"):
                said = value.cause.mistake if value.cause else NOTHING
                unnamed.append(Fault(how, expected.line, f"{expected.name}: {expected.mistake}, said {said}"))
    faults.extend(_accusations(report, seen))
    return Grade(tuple(faults), confusion, named, tuple(unnamed))


def _faults(expected: Expected, claim: Claim | None) -> list[Fault]:
    line = expected.line
    if claim is None or claim.verdict is Verdict.UNREAD:
        return [Fault("unread", line, f"{expected.name} ({claim.reason if claim else NOTHING})")]
    wrong = _cells(claim, SAID_WRONG)
    faults = []
    if extra := wrong - expected.slipped:
        faults.append(Fault("accused", line, f"{expected.name} {sorted(extra)} {expected.verdict}"))
    elif _cells(claim, frozenset({Verdict.MISROUNDED})) - expected.slipped:
        faults.append(Fault("accused", line, f"{expected.name} misrounded"))
    if expected.misfit and claim.verdict != expected.verdict:
        what = "missed" if expected.verdict == "wrong" else "not carried"
        faults.append(Fault(what, line, f"{expected.name} of another shape: {claim.verdict}"))
    if missed := expected.wrong - wrong:
        faults.append(Fault("missed", line, f"{expected.name} {sorted(missed)}: {claim.verdict}"))
    if missed := expected.carried - _cells(claim, frozenset({Verdict.CARRIED})):
        faults.append(Fault("not carried", line, f"{expected.name} {sorted(missed)}: {claim.verdict}"))
    return faults


def _cells(claim: Claim, verdicts: frozenset[Verdict]) -> frozenset[tuple[int, int]]:
    return frozenset((cell.row, cell.column) for cell in claim.cells if cell.verdict in verdicts)


def _accusations(report: Report, seen: set[int]) -> list[Fault]:
    """Accusations of anything else: a copied operand, a given, a formula."""
    return [
        Fault("accused", claim.line, f"{claim.name}: {claim.verdict}, not a value of the key")
        for claim in report.claims
        if claim.id not in seen and claim.verdict in ACCUSED
    ]


def _naming(expected: Expected, claim: Claim) -> str:
    keys = claim.cause.mistake.split(" or ") if claim.cause else []
    how = "named" if expected.mistake in keys else "misnamed" if keys else "unnamed"
    if expected.mistake in RARE and how == "misnamed" and set(keys) <= STRUCTURAL - RARE:
        return "twin of a common one"  # which gives the same numbers, or it would not be named
    by_table = expected.mistake in STRUCTURAL or expected.mistake == CUT
    kind = "part" if not expected.whole else "table" if by_table else "cell"
    return f"{kind} {how}"
