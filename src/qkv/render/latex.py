"""Worked solutions and reports as LaTeX documents of their own; what a solution writes here, the reader reads back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from qkv.check.model import Report
from qkv.interpret.trace import Trace
from qkv.render import formulas
from qkv.render.options import DEFAULT, Options
from qkv.render.shown import above_advice
from qkv.render.summary import by_id, count, covered, details, listed, says, sentence, totals, unjudged

# Characters that mean something to LaTeX, and those of our own notes that its fonts lack in text.
ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "√": r"$\surd$", "−": r"$-$", "∞": r"$\infty$", "×": r"$\times$", "·": r"$\cdot$", "≈": r"$\approx$",
    "ᵀ": r"$^\top$", "…": r"\dots{}", "–": "--", "—": "---", "’": "'", "‘": "`", "“": "``", "”": "''",
}  # fmt: skip
SMALLEST_LIMIT = 10  # columns that amsmath allows in a matrix unless told otherwise
LAST_LATIN = 0x24F
BULLET = r"$\bullet$"
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
    lines = [_WRITTEN[kind](*held) for trace in worked for kind, *held in formulas.pieces(trace, options)]
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


def escape(text: str) -> str:
    """Any text, safe in LaTeX.

    >>> print(escape("50% of W_Q"))
    50\\% of W\\_Q
    """
    return "".join(ESCAPES.get(x, x) for x in text)


# How each piece of a worked problem is written, see formulas.pieces.
_WRITTEN: Mapping[str, Callable[..., str]] = {
    "title": lambda text: f"\\section*{{{escape(text)}}}",
    "kind": lambda text: f"\\emph{{{escape(text)}}}",
    "given": lambda: "\n\\paragraph{Given}",
    "formula": lambda text: f"\\[ {text} \\]",
    "step": lambda says, rest: f"\n\\paragraph{{{escape(says)}}}{rest}",
    "workings": lambda rows: "\n".join(f"Cell ({i}, {j}): $\\displaystyle {text}$.\\par" for i, j, text in rows),
    "note": lambda text: f"\n\\noindent\\emph{{{escape(text)}}}",
    "answers": lambda: "\\subsection*{Answers}",
    "asked": lambda label, text: f"\n\\noindent\\textbf{{{escape(label) or BULLET}}} {escape(text)}",
    "says": lambda text: f"\n\\noindent {escape(text)}",
    "missing": lambda text: f"\n\\noindent {escape(f'not answered: {text}')}",
    "assumed": lambda text: f"\n\\noindent {escape(f'assumed: {text}')}",
}
