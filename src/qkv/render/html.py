"""Reports and worked solutions in HTML: one file, the document with each claim marked where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from qkv.check.model import BAD, SEVERITY, CellVerdict, Claim, Report, Verdict
from qkv.expr.names import Role
from qkv.interpret.trace import Trace
from qkv.program.model import Answer, Step
from qkv.render import formulas, mathml
from qkv.render.grid import pretty, shade
from qkv.render.marked import Marked
from qkv.render.options import DEFAULT, Options
from qkv.render.page import fragment, page
from qkv.render.plainly import plainly, shortened
from qkv.render.shown import Shown, above_advice, shown, steps_shown
from qkv.render.summary import (
    LOOKS,
    by_id,
    count,
    covered,
    is_number,
    listed,
    says,
    sentence,
    sources,
    to_tell,
    truly,
    unjudged,
)

if TYPE_CHECKING:
    from qkv.reader.model import Unread
    from qkv.render.targets import Worked

MOST_CELLS = 12


def reports(found: Sequence[Report], options: Options = DEFAULT) -> str:
    """Reports as one page."""
    return page(*reported(found, options))


def reported(found: Sequence[Report], options: Options = DEFAULT) -> tuple[str, str]:
    """The title and the body of a page of reports; the body is well-formed XML."""
    title = f"{found[0].file} checked" if len(found) == 1 else f"{count(len(found), 'document')} checked"
    return title, "\n".join(_report(each, options, f"r{k}-") for k, each in enumerate(found))


def report(report: Report, options: Options = DEFAULT) -> str:
    """A report as a piece of a notebook."""
    return fragment(_report(report, options, "r-"))


def body(report: Report) -> str:
    """A report as a piece of another page of ours."""
    return _report(report, DEFAULT, "r-")


def _report(report: Report, options: Options, prefix: str) -> str:
    tone = "none" if report.is_empty else "good" if report.is_clean else "bad"
    head = [
        f"<h1>{escape(report.file or 'Report')}</h1>",
        f'<p class="summary {tone}">{escape(sentence(report))}</p>',
        _legend(report),
        f'<p class="soft">{escape(covered(report))}</p>' if covered(report) else "",
    ]
    notes = [f'<p class="soft">{escape(note)}</p>' for note in (*unjudged(report), *report.notes)]
    claims = listed(report, options.only_wrong)
    known = by_id(report)
    cards = {claim.id: _note(claim, known, prefix) for claim in claims if _speaks(claim)}
    return "\n".join([*head, *notes, *Marked(report, claims, cards, prefix).rows()])


def _legend(report: Report) -> str:
    """The verdicts that occur, how often, and what they mean."""
    counts = sorted(report.summary.items(), key=lambda item: -SEVERITY[Verdict(item[0])])
    looks = [(word, number, LOOKS[Verdict(word)]) for word, number in counts]
    items = [
        f'<li class="{word}" title="{escape(look.means)}"><b>{look.sign} {number} {word}</b> '
        f'<span class="soft">{escape(look.means)}</span></li>'
        for word, number, look in looks
    ]
    return f'<ul class="legend">{"".join(items)}</ul>' if items else ""


def _speaks(claim: Claim) -> bool:
    """Whether there is more to say about a claim than its verdict."""
    more = bool(claim.reason or claim.repair or claim.cause or claim.cells)
    return claim.verdict in BAD or (more and claim.verdict is not Verdict.STRUCK)


def _note(claim: Claim, known: Mapping[int, Claim], prefix: str) -> str:
    head = f"<b>{LOOKS[claim.verdict].sign} {claim.verdict}</b> <code>{escape(shortened(says(claim), 70))}</code>"
    cells, more = to_tell(claim, MOST_CELLS)
    items = [f"<li>{_cell(claim, cell)}</li>" for cell in cells]
    if more:
        items.append(f"<li>{more}</li>")
    if follows := _follows(claim, known, prefix):
        items.append(f"<li>{follows}</li>")
    if claim.cause:
        items.append(f"<li>likely cause: {escape(claim.cause.says or claim.cause.mistake)}</li>")
    if claim.repair:
        items.append(f"<li>read as <code>{escape(claim.repair)}</code></li>")
    if claim.reason:
        items.append(f"<li>{escape(claim.reason)}</li>")
    return f'<div class="note {claim.verdict}" id="{prefix}n{claim.id}">{head}<ul>{"".join(items)}</ul></div>'


def _cell(claim: Claim, cell: CellVerdict) -> str:
    """One cell: what is shown (struck if it is false), what it should be, and how that comes about."""
    shown = escape(shortened(pretty(plainly(cell.shown)), 40))
    text = "" if is_number(claim) else f"({cell.row}, {cell.column}): "
    text += f'<span class="shown">{shown}</span>' if cell.verdict in BAD else shown
    if cell.expected is not None:
        expected = escape(pretty(cell.expected))
        text += f' <span class="should">{expected}</span>' if cell.verdict in BAD else f", more exactly {expected}"
    if cell.verdict is not claim.verdict:
        text += f" ({cell.verdict})"
    return text + (f' <span class="how">{escape(cell.working)}</span>' if cell.working else "")


def _follows(claim: Claim, known: Mapping[int, Claim], prefix: str) -> str:
    """Where a carried claim comes from, and what would stand there without the slip."""
    text, true = escape(sources(claim, known)), escape(truly(claim, MOST_CELLS))
    link = f'<a href="#{prefix}c{claim.follows_from[0]}">{text}</a>' if text else ""
    return "; ".join(part for part in (link, true) if part)


def solutions(worked: Sequence[Worked], options: Options = DEFAULT) -> str:
    """Worked solutions as one page."""
    return page(*solved(worked, options))


def solved(worked: Sequence[Worked], options: Options = DEFAULT) -> tuple[str, str]:
    """The title and the body of a page of worked solutions; the body is well-formed XML."""
    title = f"{worked[0].file} worked out" if len(worked) == 1 else f"{count(len(worked), 'document')} worked out"
    heads = [f"<h1>{escape(each.file)}</h1>" if each.file else "" for each in worked]
    bodies = [steps(each, options) for each in worked]
    return title, "\n".join(f"{head}\n{body}" for head, body in zip(heads, bodies, strict=True))


def solution(worked: Worked, options: Options = DEFAULT) -> str:
    """A worked solution as a piece of a notebook."""
    return fragment(steps(worked, options))


def steps(worked: Worked, options: Options) -> str:
    """The problems of a worked solution as a piece of another page of ours."""
    parts = [piece for trace in worked.traces for piece in _problem(trace, options)]
    if worked.advice or not parts:
        helps = "".join(map(_advice, worked.advice))
        parts.append(f'<p class="summary none">{above_advice(worked.traces)}</p><ul>{helps}</ul>')
    left = "".join(map(_left, worked.unread))
    return "\n".join([*parts, f"<h3>Not read</h3><ul>{left}</ul>" if left else ""])


def _advice(line: str) -> str:
    """What would help; a command stands on lines of its own."""
    says, _, command = line.partition("\n")
    return f"<li>{escape(says)}{f'<pre>{escape(command)}</pre>' if command else ''}</li>"


def _left(item: Unread) -> str:
    text, reason = escape(shortened(item.text, 80)), escape(item.reason)
    return f'<li>line {item.line}: <code>{text}</code> <span class="soft">{reason}</span></li>'


def _problem(trace: Trace, options: Options) -> Iterator[str]:
    program = trace.program
    title = " ".join(program.title.split())
    yield f'<h2>{escape(title or program.kind.capitalize())}</h2>\n<p class="kind">{escape(program.kind)}</p>'
    yield '<div class="givens">'
    for given in program.givens:
        yield f"<div>{_math(formulas.given(trace, given, options))}</div>"
    yield '</div>\n<ol class="steps">'
    for step in steps_shown(trace, options):
        yield _step(trace, step, options)
    yield "</ol>"
    for note in program.notes:
        yield f'<p class="soft">{escape(note)}</p>'
    if program.answers:
        yield "<h3>Answers</h3>"
    yield from (_answer(trace, answer, options) for answer in program.answers)


def _answer(trace: Trace, answer: Answer, options: Options) -> str:
    """A question under its own label, and the quantities that answer it."""
    head = f"<h4>{escape(answer.label or '•')} <span class='soft'>{escape(answer.text)}</span></h4>"
    parts = [_math(formulas.part(trace, answer, part, options)) for part in answer.parts]
    values = f'<div class="givens">{"".join(f"<div>{part}</div>" for part in parts)}</div>' if parts else ""
    said = [f"<b>{escape(answer.says)}</b>"] if answer.says else []
    said += [f"not answered: {escape(answer.missing)}"] if answer.missing else []
    said += [f'<span class="soft">assumed: {escape(note)}</span>' for note in answer.assumed]
    return head + values + "".join(f"<p>{line}</p>" for line in said)


def _step(trace: Trace, step: Step, options: Options) -> str:
    said, rest = formulas.caption(trace, step)
    value = shown(trace, step, options)
    heat = value if step.role is Role.WEIGHTS and not value.is_number else None
    pieces = [f"<h4>{escape(said)}<span class='soft'>{escape(rest)}</span></h4>"]
    pieces.append(f'<div class="display">{_math(formulas.step(trace, step, options), heat)}</div>')
    workings = [
        f'<div class="display soft">({row}, {column}): {_math(text)}</div>'
        for row, column, text in formulas.workings(trace, step, options)
    ]
    if options.unfolds and workings:
        workings = ["<details><summary>How each cell comes about</summary>", *workings, "</details>"]
    pieces += workings
    return f"<li>{''.join(pieces)}</li>"


def _math(latex: str, heat: Shown | None = None) -> str:
    """Our own LaTeX as MathML; weights are shaded by their size."""
    if heat is None:
        return mathml.shown(latex)
    root = mathml.tree(latex)
    if root is None:
        return f"<code>{escape(latex)}</code>"
    marks: dict[Element, str] = {}
    if tables := mathml.matrices(root):
        for cells, texts in zip(tables[-1], heat.rows, strict=True):
            marks |= {cell: f"heat h{shade(text)}" for cell, text in zip(cells, texts, strict=True)}
    return mathml.written(root, display=True, marks=marks)
