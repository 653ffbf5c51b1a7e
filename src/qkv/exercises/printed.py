"""Exercises on paper: the blank sheet with room for its answers; key and marking scheme as their Markdown says."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from qkv.exercises import written
from qkv.exercises.model import Exercise, Question
from qkv.exercises.written import ASKING, formula, points_said
from qkv.expr.show import symbol_latex
from qkv.render import mathml, pdf
from qkv.render.marked import unmarked

LINE = "_" * 30


def sheet(exercise: Exercise, student: str = "") -> bytes:
    """The blank sheet as PDF: what is given, then each question with a matrix to be filled in."""
    return pdf.made(written.title(exercise), "\n".join(body(exercise, student)))


def body(exercise: Exercise, student: str = "") -> Iterator[str]:
    """The blank sheet as the body of a page of ours."""
    yield f"<p>{ASKING[exercise.language].name}: {escape(student) or LINE}</p>"
    if exercise.own is not None:
        yield unmarked(exercise.own.text)
        yield from (f'<div class="whole"><p>{escape(q.label)}.</p>{_blank(q)}</div>' for q in exercise.questions)
        return
    yield f"<h1>{escape(written.title(exercise))}</h1>"
    yield from (f"<p>{escape(line)}</p>" for line in written.said(exercise))
    shown = map(written.stated, written.shown_givens(exercise))
    yield f'<div class="givens">{"".join(f"<div>{mathml.shown(latex)}</div>" for latex in shown)}</div>'
    yield f'<p class="soft">{escape(written.rounding(exercise))}</p>'
    yield from (_question(exercise, question) for question in exercise.questions)


def _question(exercise: Exercise, question: Question) -> str:
    before, after = exercise.words.task.split("{}")
    says, points = written.caption(exercise, question.step), points_said(exercise, question.points)
    asked = f"{escape(before)}{mathml.shown(formula(question.step), display=False)}{escape(after)}"
    said = f"{question.label}. {escape(says)}: {asked} ({escape(points)})"
    return f'<div class="whole"><p>{said}</p>{_blank(question)}</div>'


def _blank(question: Question) -> str:
    """A matrix to be filled in."""
    name = mathml.shown(f"{symbol_latex(question.step.symbol)} =", display=False)
    rows, columns = len(question.answer), len(question.answer[0])
    return f'<div class="blank" data-rows="{rows}" data-columns="{columns}">{name}</div>'


def document(markdown: str) -> bytes:
    """A document of ours (a key, a marking scheme) as PDF."""
    head = next((line.lstrip("# ") for line in markdown.splitlines() if line.startswith("#")), "qkv")
    return pdf.made(head, unmarked(markdown))
