"""A report on a practice sheet against its key: what was found, missed, and accused without reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from qkv.check.mistakes.rewrites import RARE, STRUCTURAL
from qkv.check.model import BAD, SEVERITY, Claim, Report, Verdict
from qkv.practice.sheet import Expected, Practice
from qkv.practice.slips import CUT

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
        claims = said_of(expected, claims_of(expected, report))
        value = merged(expected, claims)
        seen.update(claim.id for claim in claims)
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


def claims_of(expected: Expected, report: Report) -> list[Claim]:
    """The claims that stand where a value of the key stands."""
    return [claim for claim in report.claims if claim.line <= expected.end_line and claim.end_line >= expected.line]


def said_of(expected: Expected, claims: list[Claim]) -> tuple[Claim, ...]:
    """The claims about a value: the last one at its place, or one for each of its lines."""
    lines = [claim.line for claim in claims if claim.line == claim.end_line]
    by_line = len(lines) > 1 and lines == list(range(expected.line, expected.end_line + 1))
    return tuple(claims) if by_line else tuple(claims[-1:])


def merged(expected: Expected, claims: tuple[Claim, ...]) -> Claim | None:
    """The claims about a value as one, with the worst verdict of them."""
    if len(claims) < 2:
        return claims[0] if claims else None
    cells = (replace(cell, row=cell.row + claim.line - expected.line) for claim in claims for cell in claim.cells)
    return replace(max(claims, key=lambda claim: SEVERITY[claim.verdict]), cells=tuple(cells))


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
