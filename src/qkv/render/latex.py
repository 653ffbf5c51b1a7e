"""Worked solutions and reports as LaTeX documents of their own; what a solution writes here, the reader reads back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from qkv.check.model import Report
from qkv.interpret.trace import Trace
from qkv.program.model import Answer, Step
from qkv.render import formulas
from qkv.render.options import DEFAULT, Depth, Options
from qkv.render.shown import above_advice, steps_shown
from qkv.render.summary import by_id, count, covered, details, listed, says, sentence, totals, unjudged

# Characters that mean something to LaTeX, and those of our own notes that its fonts lack in text.
ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "√": r"$\surd$",
    "−": r"$-$",
    "∞": r"$\infty$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "≈": r"$\approx$",
    "ᵀ": r"$^\top$",
    "…": r"\dots{}",
    "–": "--",
    "—": "---",
    "’": "'",
    "‘": "`",
    "“": "``",
    "”": "''",
}
SMALLEST_LIMIT = 10  # columns that amsmath allows in a matrix unless told otherwise
LAST_LATIN = 0x24F
PREAMBLE = r"""\documentclass{{article}}
\usepackage{{iftex}}
\ifPDFTeX
  \usepackage[T1]{{fontenc}}
{foreign}\else
  \usepackage{{fontspec}}
\fi
\usepackage[margin=25mm]{{geometry}}
\usepackage{{amsmath}}
{columns}\allowdisplaybreaks
\begin{{document}}
"""


def solution(traces: Iterable[Trace], options: Options = DEFAULT, advice: Sequence[str] = ()) -> str:
    """The worked solution as a document that compiles on its own."""
    worked = list(traces)
    lines = [line for trace in worked for line in _problem(trace, options)]
    if advice or not lines:
        lines += [above_advice(worked), *map(_advice, advice)]
    body = "\n".join(lines)
    return PREAMBLE.format(columns=_columns(worked), foreign=_foreign(body)) + body + "\n\\end{document}\n"


def _advice(line: str) -> str:
    """What would help; a command stands on lines of its own."""
    says, *command = line.split("\n")
    return "\n\n".join([f"\n{escape(says)}", *(f"\\noindent\\texttt{{{escape(part)}}}" for part in command)])


def reports(found: Iterable[Report], options: Options = DEFAULT) -> str:
    """Reports as one document that compiles on its own."""
    body = "\n".join(line for report in found for line in _report(report, options))
    return PREAMBLE.format(columns="", foreign=_foreign(body)) + body + "\n\\end{document}\n"


def _report(report: Report, options: Options) -> Iterator[str]:
    yield f"\\section*{{{escape(report.file or 'Report')}}}"
    yield f"\\textbf{{{escape(sentence(report))}}}\n"
    whole = [f"{count(len(report.claims), 'claim')}: {totals(report.summary)}"] if report.claims else []
    yield escape("; ".join([*whole, *filter(None, [covered(report)])])) + "\n"
    yield from (f"{escape(line)}\n" for line in unjudged(report))
    claims, known = listed(report, options.only_wrong), by_id(report)
    if claims:
        yield "\\begin{description}"
    for claim in claims:
        yield f"\\item[{escape(f'line {claim.line}: {claim.verdict}')}] {escape(says(claim))}"
        yield from (f"\\par {escape(detail)}" for detail in details(claim, known))
    if claims:
        yield "\\end{description}"


def _columns(traces: list[Trace]) -> str:
    widest = max((value.shape[1] for trace in traces for value in trace.values().values()), default=0)
    return f"\\setcounter{{MaxMatrixCols}}{{{widest}}}\n" if widest > SMALLEST_LIMIT else ""


def _foreign(body: str) -> str:
    """Characters that pdfTeX has no font for become question marks there; other engines show them."""
    found = sorted({x for x in body if ord(x) > LAST_LATIN})
    return "".join(f"  \\DeclareUnicodeCharacter{{{ord(x):04X}}}{{?}}\n" for x in found)


def _problem(trace: Trace, options: Options) -> Iterator[str]:
    program = trace.program
    title = " ".join(program.title.split())
    yield f"\\section*{{{escape(title or program.kind.capitalize())}}}"
    if title:
        yield f"\\emph{{{escape(program.kind)}}}"
    if program.givens:
        yield "\n\\paragraph{Given}"
    for given in program.givens:
        yield f"\\[ {formulas.given(trace, given, options)} \\]"
    for step in steps_shown(trace, options):
        yield from _step(trace, step, options)
    for note in program.notes:
        yield f"\n\\noindent\\emph{{{escape(' '.join(note.split()))}}}"
    if program.answers:
        yield "\\subsection*{Answers}"
    for answer in program.answers:
        yield from _answer(trace, answer, options)


def _answer(trace: Trace, answer: Answer, options: Options) -> Iterator[str]:
    """A question under its own label, and the quantities that answer it."""
    label = escape(answer.label) or r"$\bullet$"
    yield f"\n\\noindent\\textbf{{{label}}} {escape(answer.text)}"
    for part in answer.parts:
        yield f"\\[ {formulas.part(trace, answer, part, options)} \\]"
    said = [
        answer.says,
        answer.missing and f"not answered: {answer.missing}",
        *(f"assumed: {x}" for x in answer.assumed),
    ]
    yield from (f"\n\\noindent {escape(line)}" for line in said if line)


def _step(trace: Trace, step: Step, options: Options) -> Iterator[str]:
    says, rest = formulas.caption(trace, step)
    yield f"\n\\paragraph{{{escape(says)}}}{rest}"
    yield f"\\[ {formulas.step(trace, step, options)} \\]"
    if options.depth is not Depth.BRIEF:
        for row, column, text in formulas.workings(trace, step, options):
            yield f"Cell ({row}, {column}): $\\displaystyle {text}$.\\par"


def escape(text: str) -> str:
    """Any text, safe in LaTeX.

    >>> print(escape("50% of W_Q"))
    50\\% of W\\_Q
    """
    return "".join(ESCAPES.get(x, x) for x in text)
