"""Worked solutions and reports in Markdown with LaTeX; what is written here, the reader reads back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from qkv.check.model import Claim, Report
from qkv.interpret.trace import Trace
from qkv.program.model import Answer, Step
from qkv.render import formulas
from qkv.render.options import DEFAULT, Depth, Options
from qkv.render.plainly import shortened
from qkv.render.shown import above_advice, steps_shown
from qkv.render.summary import SYMBOLS, by_id, count, covered, listed, says, sentence, sources, told, totals, unjudged

if TYPE_CHECKING:
    from qkv.reader.model import Unread


def solution(
    traces: Iterable[Trace], options: Options = DEFAULT, unread: Iterable[Unread] = (), advice: Sequence[str] = ()
) -> str:
    """The worked solution, a heading for each problem."""
    worked = list(traces)
    blocks = [block for trace in worked for block in _problem(trace, options)]
    if advice or not blocks:
        blocks += [above_advice(worked), *map(_advice, advice)]
    return "\n\n".join([*blocks, *_unread(unread)]) + "\n"


def _advice(line: str) -> str:
    """What would help; a command stands on lines of its own."""
    says, *command = line.split("\n")
    return "\n".join(
        [f"> {code(says, 1000)}", *([">", "> ```", *(f"> {part}" for part in command), "> ```"] if command else ())]
    )


def _problem(trace: Trace, options: Options) -> Iterator[str]:
    program = trace.program
    title = " ".join(program.title.split())
    yield f"# {title or program.kind.capitalize()}"
    if title:
        yield f"*{program.kind}*"
    if program.givens:
        yield "**Given**"
    for given in program.givens:
        yield f"$${formulas.given(trace, given, options)}$$"
    for step in steps_shown(trace, options):
        yield from _step(trace, step, options)
    for note in program.notes:
        yield f"> {' '.join(note.split())}"
    if program.answers:
        yield "## Answers"
    for answer in program.answers:
        yield from _answer(trace, answer, options)


def _answer(trace: Trace, answer: Answer, options: Options) -> Iterator[str]:
    """A question under its own label, and the quantities that answer it."""
    yield f"**{answer.label or '•'}** {code(answer.text, 400)}"
    for part in answer.parts:
        yield f"$${formulas.part(trace, answer, part, options)}$$"
    if answer.says:
        yield f"{answer.says}."
    if answer.missing:
        yield f"> not answered: {code(answer.missing, 1000)}"
    yield from (f"> assumed: {note}" for note in answer.assumed)


def _step(trace: Trace, step: Step, options: Options) -> Iterator[str]:
    says, rest = formulas.caption(trace, step)
    yield f"**{says}**{rest}"
    yield f"$${formulas.step(trace, step, options)}$$"
    rows = [f"- cell ({i}, {j}): ${text}$" for i, j, text in formulas.workings(trace, step, options)]
    if rows and options.depth is not Depth.BRIEF:
        yield "\n".join(rows)


def _unread(unread: Iterable[Unread]) -> Iterator[str]:
    found = list(unread)
    if found:
        yield "**Not read**"
        yield "\n".join(f"- line {item.line}: {code(item.text)} ({item.reason})" for item in found)


def report(report: Report, options: Options = DEFAULT) -> str:
    """A report: the summary sentence, a table of claims, and what there is to say about each that is not right."""
    blocks = [f"# {code(report.file)}" if report.file else "# Report", f"**{sentence(report)}**"]
    if report.claims:
        whole = [f"{count(len(report.claims), 'claim')}: {totals(report.summary)}.", _covered(report)]
        blocks.append(" ".join(filter(None, whole)))
        blocks.append(_table(listed(report, options.only_wrong)))
    known = by_id(report)
    blocks += [_detail(claim, known) for claim in report.claims if _has_detail(claim)]
    blocks += (
        ["**Not judged**", "\n".join(f"- {code(line, 1000)}" for line in unjudged(report))] if report.advice else []
    )
    blocks += [f"> {note}" for note in report.notes]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _covered(report: Report) -> str:
    said = covered(report)
    return f"{said[:1].upper()}{said[1:]}." if said else ""


def _table(claims: list[Claim]) -> str:
    if not claims:
        return ""
    rows = ["| line | verdict | claim |", "|---:|---|---|"]
    rows += [f"| {c.line} | {SYMBOLS[c.verdict]} {c.verdict} | {code(says(c), 80)} |" for c in claims]
    return "\n".join(rows)


def _has_detail(claim: Claim) -> bool:
    return bool(claim.cells or claim.cause or claim.repair or claim.reason or claim.follows_from)


def _detail(claim: Claim, known: Mapping[int, Claim]) -> str:
    lines = [f"**Line {claim.line}: {claim.verdict}** {code(says(claim), 80)}", ""]
    for cell in claim.cells:
        lines.append(f"- {told(claim, cell)}" + (f": {code(cell.working)}" if cell.working else ""))
    if claim.reason:
        lines.append(f"- {claim.reason}")
    if follows := sources(claim, known):
        lines.append(f"- {follows}")
    if claim.cause:
        lines.append(f"- likely cause: {claim.cause.says or claim.cause.mistake}")
    if claim.repair:
        lines.append(f"- read as {code(claim.repair)}")
    return "\n".join(lines)


def code(text: str, most: int = 200) -> str:
    """Any text as a code span that nothing in it can end; safe in a table.

    >>> code("a|b"), code("`x`")
    ('`a\\\\|b`', '`` `x` ``')
    """
    line = shortened(" ".join(text.split()), most).replace("|", "\\|")
    longest = max((len(run) for run in _runs(line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _runs(line: str) -> list[str]:
    return "".join(x if x == "`" else " " for x in line).split()
