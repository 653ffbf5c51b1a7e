"""A report in the terminal: the claims in order, each with its verdict, and for what is not right, why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group
from rich.text import Text

from qkv.check.model import BAD, Claim, Report, Verdict
from qkv.render.grid import grids
from qkv.render.lines import hanging
from qkv.render.options import DEFAULT, Options
from qkv.render.plainly import plainly, shortened
from qkv.render.summary import (
    LOOKS,
    by_id,
    count,
    covered,
    details,
    listed,
    says,
    sentence,
    title,
    totals,
    unjudged,
)

LINE = 6  # columns for the line number
WORD = 13  # columns for the symbol and the verdict


def report(report: Report, options: Options = DEFAULT, width: int = 100) -> Group:
    """The claims of a report in order, then one sentence that says what went wrong first."""
    parts: list[Text] = [Text(report.file, style="bold"), Text()] if report.file else []
    known = by_id(report)
    claims = listed(report, options.only_wrong)
    for claim in claims:
        parts += _claim(claim, known, width)
    if parts and not claims:
        parts.pop()
    return Group(*parts, Text(), *_notes(report, width), *_summary(report, width))


def _claim(claim: Claim, known: Mapping[int, Claim], width: int) -> Iterator[Text]:
    look = LOOKS[claim.verdict]
    head = Text().append(f"{claim.line:>{LINE - 2}}  ", style="dim")
    head.append(f"{look.sign} {claim.verdict:<{WORD - 2}}", style=look.colour)
    about = title(claim) if claim.verdict in BAD and len(claim.shown) > 1 else []  # then the table follows
    text = " = ".join([*about, ""]).rstrip() if about else says(claim)
    room = max(width - LINE - WORD, 12)
    head.append(shortened(text, room), style="" if claim.verdict in BAD else "dim")
    yield head
    if about:
        yield from _table(claim, width)
    for line in details(claim, known):
        yield from hanging(" " * (LINE + 2), line, width, "" if claim.verdict in BAD else "dim")


def _table(claim: Claim, width: int) -> Iterator[Text]:
    """What is shown, its cells in the colours of their verdicts."""
    indent = " " * (LINE + 2)
    colours = {(cell.row - 1, cell.column - 1): LOOKS[cell.verdict].colour for cell in claim.cells}
    shown = tuple(tuple(map(plainly, row)) for row in claim.shown)
    for grid in grids(shown, width - len(indent)):
        for line, spans in zip(grid.lines, grid.spans, strict=True):
            text = Text(indent + line)
            for span in spans:
                style = colours.get((span.row, span.column), "")
                text.stylize(style, span.start + len(indent), span.end + len(indent))
            yield text
        if grid.caption:
            yield Text(f"{indent}({grid.caption})", style="dim")


def _notes(report: Report, width: int) -> Iterator[Text]:
    for note in report.notes:
        yield from hanging("note: ", note, width, "italic")


def _summary(report: Report, width: int) -> Iterator[Text]:
    yield from hanging("", sentence(report), width, f"bold {_MARKS[_outcome(report)][1]}")
    if report.claims:
        yield _counts(report.summary)
    if said := covered(report):
        yield from hanging("", said, width, "dim")
    for line in unjudged(report):
        yield from hanging("? ", line, width, "yellow")


def _counts(summary: dict[str, int]) -> Text:
    text = Text().append(f"{count(sum(summary.values()), 'claim')}: ", style="dim")
    for i, piece in enumerate(totals(summary).split(", ")):
        text.append((", " if i else "") + piece, style=LOOKS[Verdict(piece.split()[1])].colour)
    return text


def overview(reports: Sequence[Report], width: int = 100) -> Group:
    """Several reports: a line each, and a total."""
    longest = max(len(each.file) for each in reports)
    lines = [line for each in reports for line in _line(each, longest, width)]
    total = Counter[str]()
    for each in reports:
        total.update(each.summary)
    ordered = {verdict.value: total[verdict.value] for verdict in Verdict if total[verdict.value]}
    outcomes = Counter(map(_outcome, reports))
    empty = f", {outcomes['empty']} with nothing to judge" if outcomes["empty"] else ""
    last = Text().append(f"{count(len(reports), 'file')}, {outcomes['clean']} without a fault{empty}; ", style="bold")
    return Group(*lines, Text(), last + _counts(ordered))


_MARKS = {"clean": ("✓", "green"), "empty": ("?", "yellow"), "faulty": ("✗", "red")}


def _outcome(report: Report) -> str:
    """What came of a document as a whole: nothing judged is not 'fine'."""
    return "empty" if report.is_empty else "clean" if report.is_clean else "faulty"


def _line(report: Report, longest: int, width: int) -> Iterator[Text]:
    """Mark, file and sentence; where that is too long for a line, the sentence stands below."""
    sign, colour = _MARKS[_outcome(report)]
    mark, said, style = (f"{sign} ", f"bold {colour}"), sentence(report), "dim" if report.is_clean else ""
    if report.coverage.unjudged and not report.is_empty:
        said += f" {report.coverage.unjudged} of {report.coverage.printed} numbers not judged."
    if longest + len(said) + 4 <= width:
        yield Text.assemble(mark, report.file.ljust(longest + 2), (said, style))
        return
    yield Text.assemble(mark, report.file, overflow="ignore", no_wrap=True)
    yield from hanging("    ", said, width, style)
