"""A report in one sentence: what went wrong first, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from qkv.check.model import BAD, SEVERITY, CellVerdict, Claim, Report, Verdict, slips_behind
from qkv.regex import regex
from qkv.render.grid import pretty
from qkv.render.plainly import plainly

MOST_CELLS = 8  # of one claim; how many more there are is said


class Look(NamedTuple):
    """How a verdict looks: its sign, its colour in the terminal, and what it means."""

    sign: str
    colour: str
    means: str


LOOKS = {
    Verdict.RIGHT: Look("✓", "green", "equals the true value"),
    Verdict.ROUNDED: Look("✓", "green", "is the true value, rounded to the digits shown"),
    Verdict.DRIFTED: Look("~", "cyan", "is what the author's own rounded numbers give"),
    Verdict.STRUCK: Look("–", "dim", "was crossed out by its author"),
    Verdict.UNREAD: Look("?", "dim", "could not be judged"),
    Verdict.MISROUNDED: Look("≉", "yellow", "is one off in its last digit"),
    Verdict.CARRIED: Look("↳", "magenta", "follows from an earlier wrong value"),
    Verdict.MISREAD: Look("¿", "bold yellow", "is damaged text, and one repair makes it agree"),
    Verdict.WRONG: Look("✗", "bold red", "is a slip made here"),
}


def sentence(report: Report) -> str:
    """What went wrong, in one sentence.

    >>> slip = Claim(1, 38, 38, "E", "Q K^T", "", Verdict.WRONG)
    >>> sentence(Report("", (slip, Claim(2, 41, 41, "A", "", "", Verdict.CARRIED, follows_from=(1,)))))
    'One slip (line 38) explains 1 carried claim.'

    Where one mistake explains many cells it names the mistake: 'The softmax runs down the columns (line 7); 2 later
    claims follow from it.'
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
    return _nothing(report)


def _nothing(report: Report) -> str:
    """Why there is nothing to judge: nothing is claimed, or nothing of it could be judged."""
    coverage = report.coverage
    if coverage.unjudged:
        return f"Nothing could be judged: {count(coverage.unjudged, 'printed number')} ({_in_lines(coverage.lines)})."
    if coverage.given:
        verb = "is" if coverage.given == 1 else "are"
        return f"Nothing to judge: {count(coverage.given, 'printed number')} {verb} given, and none is claimed."
    return "Nothing to judge: no numbers are claimed here."


def covered(report: Report) -> str:
    """How much of a document was judged, and where the rest stands.

    >>> read, unread = Claim(1, 3, 3, "a", "", "", Verdict.RIGHT), Claim(2, 5, 5, "b", "", "", Verdict.UNREAD)
    >>> covered(Report("", (read, unread)))
    '1 of 2 printed numbers judged; not judged: 1 (line 5)'
    """
    coverage = report.coverage
    if report.is_empty:
        return ""
    given = f"; {coverage.given} more are given" if coverage.given else ""
    if not coverage.unjudged:
        return f"all {count(coverage.printed, 'printed number')} judged{given}"
    left = f"not judged: {coverage.unjudged} ({_in_lines(coverage.lines)})"
    return f"{coverage.judged} of {count(coverage.printed, 'printed number')} judged; {left}{given}"


def unjudged(report: Report) -> list[str]:
    """Why claims could not be judged and what would help: each reason once, with its lines.

    >>> from qkv.check.model import Advice
    >>> unjudged(Report("", (), advice=(Advice((3, 9), "the keys (K) are not on the page", '--let "K = @5"'),)))
    ['lines 3 and 9: the keys (K) are not on the page. What would help: --let "K = @5"']
    """
    return [f"{_in_lines(each.lines)}: {each.says}. What would help: {each.hint}" for each in report.advice]


def _slips(slips: list[Claim], carried: list[Claim]) -> str:
    first = slips[0]
    if mistake := _method(first):
        return _named(mistake, slips, carried)
    word = "damaged text" if first.verdict is Verdict.MISREAD else "slip"
    if len(slips) == 1:
        start = f"One {'piece of ' if word != 'slip' else ''}{word} ({place(first)})"
        return f"{start} explains {count(len(carried), 'carried claim')}." if carried else f"{start}, and nothing else."
    tail = f"; they explain {count(len(carried), 'carried claim')}" if carried else ""
    if all(slip.verdict is Verdict.MISREAD for slip in slips):
        return f"{len(slips)} pieces of damaged text, the first at {place(first)}{tail}."
    return f"{len(slips)} slips, the first at {place(first)}{tail}."


MANY = 2  # cells that a mistake of method changes at least


def _method(claim: Claim) -> str:
    """The one mistake that explains several cells of a claim, in a few words; nothing where a slip in one is enough."""
    wrong = sum(cell.verdict is Verdict.WRONG for cell in claim.cells)
    if claim.cause is None or wrong < MANY or "; or " in claim.cause.says:
        return ""
    return (claim.cause.says or claim.cause.mistake).partition(", but ")[0].rstrip(".")


def _named(mistake: str, slips: list[Claim], carried: list[Claim]) -> str:
    """A headline that names a mistake, the lines where it is made, and what follows from it."""
    same = [slip for slip in slips if _method(slip) == mistake]
    others = [slip for slip in slips if slip not in same]
    text = f"{mistake[:1].upper()}{mistake[1:]} ({lines(same)})"
    if carried:
        verb, what = ("follows" if len(carried) == 1 else "follow"), "it" if not others else "that or another slip"
        text += f"; {count(len(carried), 'later claim')} {verb} from {what}"
    return f"{text}. {count(len(others), 'more slip')}, the first at {place(others[0])}." if others else f"{text}."


def _also(misrounded: list[Claim]) -> str:
    if not misrounded:
        return ""
    verb = "is" if len(misrounded) == 1 else "are"
    return f" {count(len(misrounded), 'claim')} ({lines(misrounded)}) {verb} one off in the last digit."


def place(claim: Claim) -> str:
    """Where a claim goes wrong: its line and its first bad cell."""
    bad = [cell for cell in claim.cells if cell.verdict is claim.verdict]
    where = f", cell ({bad[0].row},{bad[0].column})" if bad and not is_number(claim) else ""
    return f"line {claim.line}{where}"


def is_number(claim: Claim) -> bool:
    """Whether a claim is about one number, which needs no row and column to be found."""
    return len(claim.shown) == 1 and len(claim.shown[0]) == 1


def count(number: int, noun: str) -> str:
    """1 claim, 2 claims."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def lines(claims: list[Claim]) -> str:
    """The lines of some claims: 'line 3', 'lines 3, 5 and 9'."""
    return _in_lines(claim.line for claim in claims)


def _in_lines(found: Iterable[int]) -> str:
    numbers = list(map(str, dict.fromkeys(found)))
    if len(numbers) > 6:
        return f"lines {', '.join(numbers[:5])} and {len(numbers) - 5} more"
    return f"line {numbers[0]}" if len(numbers) == 1 else f"lines {', '.join(numbers[:-1])} and {numbers[-1]}"


def says(claim: Claim) -> str:
    """What a claim says, on one line: its name, its formula and its value, as far as they are known.

    >>> says(Claim(1, 1, 1, "E", "Q K^T", r"\\begin{bmatrix} 2 & 4 \\end{bmatrix}", Verdict.RIGHT))
    'E = Q K^T = [2 4]'
    """
    parts = title(claim)
    value = _table(claim) or plainly(claim.text).lstrip("=≈⇒→ ")
    for part in parts:  # a text that begins with its own name or formula need not say it twice
        if value.startswith(part) and value[len(part) :].lstrip()[:1] in ("", "=", "≈"):
            value = value[len(part) :].lstrip("=≈ ")
    return " = ".join([*parts, value] if value else parts)


def _table(claim: Claim) -> str:
    """A table of plain numbers in one way, however it is written: [2 4; 4 16]."""
    cells = [plainly(cell) for row in claim.shown for cell in row]
    if len(cells) < 2 or not all(_NUMBER.fullmatch(cell) for cell in cells):
        return ""
    return f"[{'; '.join(' '.join(map(plainly, row)) for row in claim.shown)}]"


_NUMBER = regex(r"[-−+]?(?:[\d.,]+(?:/\d+)?%?|∞)")


def title(claim: Claim) -> list[str]:
    """What a claim is about: its name and its formula, as far as they are known."""
    parts = [plainly(part) for part in (claim.name, claim.formula) if part]
    return list({part.replace(" ", ""): part for part in parts}.values())  # QK^T and Q K^T are the same


def by_id(report: Report) -> dict[int, Claim]:
    """The claims of a report by their numbers."""
    return {claim.id: claim for claim in report.claims}


def sources(claim: Claim, known: Mapping[int, Claim]) -> str:
    """The slips that a claim follows from, and the lines in between that it took them from.

    >>> slip = Claim(1, 20, 20, "S", "", "", Verdict.WRONG)
    >>> weights = Claim(2, 24, 24, "A", "", "", Verdict.CARRIED, (), (1,))
    >>> sources(Claim(3, 28, 28, "Z", "", "", Verdict.CARRIED, (), (2,)), {1: slip, 2: weights})
    'follows from line 20 by way of line 24'
    """
    direct = [known[number] for number in claim.follows_from if number in known]
    slips = slips_behind(direct, known)
    between = [each for each in direct if each not in slips]
    text = f"follows from {lines(slips or direct)}" if direct else ""
    return f"{text} by way of {lines(between)}" if slips and between else text


def told(claim: Claim, cell: CellVerdict) -> str:
    """One cell of a claim: what is shown, and what it should be.

    >>> claim = Claim(1, 38, 38, "E", "", "", Verdict.WRONG)
    >>> told(claim, CellVerdict(2, 3, "18", "12", "12", Verdict.WRONG))
    'cell (2,3): 18 is shown, 12 is right'
    """
    where = "" if is_number(claim) else f"cell ({cell.row},{cell.column}): "
    text = f"{where}{pretty(plainly(cell.shown))} is shown"
    if cell.expected is not None:
        expected = pretty(cell.expected)
        text += f", {expected} is right" if cell.verdict in BAD else f"; more exactly {expected}"
    return text if cell.verdict is claim.verdict else f"{text} ({cell.verdict})"


def to_tell(claim: Claim, most: int) -> tuple[list[CellVerdict], str]:
    """The cells of a claim to tell one by one, carried ones aside, and how many more there are.

    If some cells are wrong, cells that only drifted are counted, not told.
    """
    own = [cell for cell in claim.cells if cell.verdict is not Verdict.CARRIED]
    bad = [cell for cell in own if cell.verdict in BAD]
    told_now = bad or own
    drifted = len(own) - len(told_now)
    parts = [count(len(told_now) - most, "more cell")] if len(told_now) > most else []
    parts += [f"{count(drifted, 'cell')} as the author's own rounding gives"] if drifted else []
    return told_now[:most], f"and {' and '.join(parts)}" if parts else ""


def truly(claim: Claim, most: int) -> str:
    """The true values of carried cells: what would stand there without the slip."""
    known = [cell for cell in claim.cells if cell.verdict is Verdict.CARRIED and cell.expected is not None]
    place = "" if is_number(claim) else "({0.row},{0.column}) "
    values = [place.format(cell) + pretty(cell.expected or "") for cell in known[:most]]
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return f"without the slip: {', '.join(values)}{more}" if values else ""


def details(claim: Claim, known: Mapping[int, Claim]) -> Iterator[str]:
    """What there is to say about a claim that is not simply right."""
    follows, true = sources(claim, known), truly(claim, MOST_CELLS)
    cells, more = to_tell(claim, MOST_CELLS)
    for cell in cells:
        yield told(claim, cell) + (f": {cell.working}" if cell.working else "")
    if more:
        yield more
    if claim.reason and claim.verdict is not Verdict.STRUCK:  # its mark says it
        yield claim.reason
    if follows or true:
        yield "; ".join(part for part in (follows, true) if part)
    if claim.cause:
        yield f"likely cause: {claim.cause.says or claim.cause.mistake}"
    if claim.repair:
        yield f"read as: {claim.repair}"


def listed(report: Report, only_wrong: bool) -> list[Claim]:
    """The claims that are listed."""
    return [claim for claim in report.claims if claim.verdict in BAD or not only_wrong]


def totals(counts: dict[str, int]) -> str:
    """1 wrong, 4 carried, 20 right: the worst first."""
    ordered = sorted(counts.items(), key=lambda item: -SEVERITY[Verdict(item[0])])
    return ", ".join(f"{number} {verdict}" for verdict, number in ordered)


def _of(report: Report, *verdicts: Verdict) -> list[Claim]:
    return [claim for claim in report.claims if claim.verdict in verdicts]
