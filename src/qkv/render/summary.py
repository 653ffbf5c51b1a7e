"""A report in one sentence: what went wrong first, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping

from qkv.check.model import BAD, SEVERITY, CellVerdict, Claim, Report, Verdict
from qkv.render.grid import pretty
from qkv.render.plainly import plainly

# How verdicts look where there is no colour, how they are said of several claims, and what they mean.
SYMBOLS = {
    Verdict.RIGHT: "✓",
    Verdict.ROUNDED: "✓",
    Verdict.DRIFTED: "~",
    Verdict.STRUCK: "–",
    Verdict.UNREAD: "?",
    Verdict.MISROUNDED: "≉",
    Verdict.CARRIED: "↳",
    Verdict.MISREAD: "¿",
    Verdict.WRONG: "✗",
}
MEANINGS = {
    Verdict.RIGHT: "equals the true value",
    Verdict.ROUNDED: "is the true value, rounded to the digits shown",
    Verdict.DRIFTED: "is what the author's own rounded numbers give",
    Verdict.STRUCK: "was crossed out by its author",
    Verdict.UNREAD: "could not be judged",
    Verdict.MISROUNDED: "is one off in its last digit",
    Verdict.CARRIED: "follows from an earlier wrong value",
    Verdict.MISREAD: "is damaged text, and one repair makes it agree",
    Verdict.WRONG: "is a slip made here",
}


def sentence(report: Report) -> str:
    """What went wrong, in one sentence.

    >>> slip = Claim(1, 38, 38, "E", "Q K^T", "", Verdict.WRONG)
    >>> sentence(Report("", (slip, Claim(2, 41, 41, "A", "", "", Verdict.CARRIED, follows_from=(1,)))))
    'One slip (line 38) explains 1 carried claim.'
    """
    judged = [claim for claim in report.claims if claim.verdict not in (Verdict.UNREAD, Verdict.STRUCK)]
    slips = _of(report, Verdict.WRONG, Verdict.MISREAD)
    carried = _of(report, Verdict.CARRIED)
    misrounded = _of(report, Verdict.MISROUNDED)
    if slips:
        return _slips(slips, carried) + _also(misrounded)
    if carried:
        follow = "follows" if len(carried) == 1 else "follow"
        return f"{count(len(carried), 'claim')} ({lines(carried)}) {follow} from an earlier wrong value."
    if misrounded:
        return f"Nothing is wrong but the last digit of {count(len(misrounded), 'claim')} ({lines(misrounded)})."
    if judged:
        return (
            "The one claim is right." if len(judged) == 1 else f"All {len(judged)} claims that were judged are right."
        )
    return "No claim could be judged." if report.claims else "No claim was found."


def _slips(slips: list[Claim], carried: list[Claim]) -> str:
    first = slips[0]
    word = "damaged text" if first.verdict is Verdict.MISREAD else "slip"
    if len(slips) == 1:
        start = f"One {'piece of ' if word != 'slip' else ''}{word} ({place(first)})"
        return f"{start} explains {count(len(carried), 'carried claim')}." if carried else f"{start}, and nothing else."
    tail = f"; they explain {count(len(carried), 'carried claim')}" if carried else ""
    return f"{len(slips)} slips, the first at {place(first)}{tail}."


def _also(misrounded: list[Claim]) -> str:
    if not misrounded:
        return ""
    verb = "is" if len(misrounded) == 1 else "are"
    return f" {count(len(misrounded), 'claim')} ({lines(misrounded)}) {verb} one off in the last digit."


def place(claim: Claim) -> str:
    """Where a claim goes wrong: its line and its first bad cell."""
    bad = [cell for cell in claim.cells if cell.verdict is claim.verdict]
    where = f", cell ({bad[0].row},{bad[0].column})" if bad else ""
    return f"line {claim.line}{where}"


def count(number: int, noun: str) -> str:
    """1 claim, 2 claims."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def lines(claims: list[Claim]) -> str:
    """The lines of some claims: 'line 3', 'lines 3, 5 and 9'."""
    numbers = [str(number) for number in dict.fromkeys(claim.line for claim in claims)]
    if len(numbers) > 6:
        return f"lines {', '.join(numbers[:5])} and {len(numbers) - 5} more"
    return f"line {numbers[0]}" if len(numbers) == 1 else f"lines {', '.join(numbers[:-1])} and {numbers[-1]}"


def says(claim: Claim) -> str:
    """What a claim says, on one line: its name, its formula and its value, as far as they are known.

    >>> says(Claim(1, 1, 1, "E", "Q K^T", r"\\begin{bmatrix} 2 & 4 \\end{bmatrix}", Verdict.RIGHT))
    'E = Q K^T = [2 4]'
    """
    name, formula, value = (plainly(part) for part in (claim.name, claim.formula, claim.text))
    parts = list(dict.fromkeys(part for part in (name, formula) if part))
    value = value.lstrip("=≈⇒→ ")
    for part in parts:  # a text that begins with its own name or formula need not say it twice
        if value.startswith(part) and value[len(part) :].lstrip()[:1] in ("", "=", "≈"):
            value = value[len(part) :].lstrip("=≈ ")
    return " = ".join([*parts, value] if value else parts)


def by_id(report: Report) -> dict[int, Claim]:
    """The claims of a report by their numbers."""
    return {claim.id: claim for claim in report.claims}


def sources(claim: Claim, known: Mapping[int, Claim]) -> str:
    """The lines that a claim follows from."""
    found = [known[number] for number in claim.follows_from if number in known]
    return f"follows from {lines(found)}" if found else ""


def told(cell: CellVerdict, verdict: Verdict) -> str:
    """One cell of a claim with a verdict: what is shown, and what it should be.

    >>> told(CellVerdict(2, 3, "18", "12", "12", Verdict.WRONG), Verdict.WRONG)
    'cell (2,3): 18 is shown, 12 is right'
    """
    text = f"cell ({cell.row},{cell.column}): {pretty(cell.shown)} is shown"
    if cell.expected is not None:
        expected = pretty(cell.expected)
        text += f", {expected} is right" if cell.verdict in BAD else f"; more exactly {expected}"
    return text if cell.verdict is verdict else f"{text} ({cell.verdict})"


def truly(cells: tuple[CellVerdict, ...], most: int) -> str:
    """The true values of carried cells: what would stand there without the slip."""
    known = [cell for cell in cells if cell.verdict is Verdict.CARRIED and cell.expected is not None]
    values = [f"({cell.row},{cell.column}) {pretty(cell.expected or '')}" for cell in known[:most]]
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return f"without the slip: {', '.join(values)}{more}" if values else ""


def listed(report: Report, only_wrong: bool) -> list[Claim]:
    """The claims that are listed."""
    return [claim for claim in report.claims if claim.verdict in BAD or not only_wrong]


def totals(counts: dict[str, int]) -> str:
    """1 wrong, 4 carried, 20 right: the worst first."""
    ordered = sorted(counts.items(), key=lambda item: -SEVERITY[Verdict(item[0])])
    return ", ".join(f"{number} {verdict}" for verdict, number in ordered)


def _of(report: Report, *verdicts: Verdict) -> list[Claim]:
    return [claim for claim in report.claims if claim.verdict in verdicts]
