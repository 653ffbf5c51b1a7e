"""Worked solutions and reports in Markdown with LaTeX; what is written here, the reader reads back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from qkv.check.model import Claim, Report
from qkv.interpret.trace import Trace
from qkv.render import formulas
from qkv.render.options import DEFAULT, Options
from qkv.render.plainly import shortened
from qkv.render.shown import above_advice
from qkv.render.summary import LOOKS, by_id, count, covered, listed, says, sentence, sources, told, totals, unjudged

if TYPE_CHECKING:
    from qkv.reader.model import Unread


def solution(
    traces: Iterable[Trace], options: Options = DEFAULT, unread: Iterable[Unread] = (), advice: Sequence[str] = ()
) -> str:
    """The worked solution, a heading for each problem."""
    worked = list(traces)
    blocks = [_WRITTEN[kind](*held) for trace in worked for kind, *held in formulas.pieces(trace, options)]
    if advice or not blocks:
        blocks += [above_advice(worked), *map(_advice, advice)]
    return "\n\n".join([*blocks, *_unread(unread)]) + "\n"


def _advice(line: str) -> str:
    """What would help; a command stands on lines of its own."""
    says, *command = line.split("\n")
    return "\n".join(
        [f"> {code(says, 1000)}", *([">", "> ```", *(f"> {part}" for part in command), "> ```"] if command else ())]
    )


# How each piece of a worked problem is written, see formulas.pieces.
_WRITTEN: Mapping[str, Callable[..., str]] = {
    "title": "# {}".format,
    "kind": "*{}*".format,
    "given": "**Given**".format,
    "formula": "$${}$$".format,
    "step": "**{}**{}".format,
    "workings": lambda rows: "\n".join(f"- cell ({i}, {j}): ${text}$" for i, j, text in rows),
    "note": "> {}".format,
    "answers": "## Answers".format,
    "asked": lambda label, text: f"**{label or '•'}** {code(text, 400)}",
    "says": "{}.".format,
    "missing": lambda text: f"> not answered: {code(text, 1000)}",
    "assumed": "> assumed: {}".format,
}


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
    rows += [f"| {c.line} | {LOOKS[c.verdict].sign} {c.verdict} | {code(says(c), 80)} |" for c in claims]
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
