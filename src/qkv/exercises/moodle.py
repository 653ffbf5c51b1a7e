"""Exercises for Moodle: a Cloze question each, a gap for each cell, and a feedback for what each mistake gives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from html import escape

from qkv.exercises import written
from qkv.exercises.model import Exercise, Question
from qkv.exercises.prose import prose
from qkv.exercises.written import formula, points_said
from qkv.expr.show import symbol_latex
from qkv.interpret.trace import Table
from qkv.practice.chains import given_texts
from qkv.practice.hand import MINUS_INFINITY
from qkv.regex import regex

ENDLESS = ("-inf", "-∞", "−∞", "-oo")  # what counts for −∞, which is no number to Moodle
_SPECIAL = regex(r'([\\}#~/"])')  # has a meaning inside of a gap


def quiz(exercises: Iterable[Exercise]) -> str:
    """A question bank to be imported: Question bank › Import › Moodle XML format."""
    questions = "\n".join(map(_question, exercises))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<quiz>\n{questions}\n</quiz>\n'


def _question(exercise: Exercise) -> str:
    text = "\n".join(_body(exercise)).replace("]]>", "]]&gt;")
    return (
        f'<question type="cloze">\n<name><text>{escape(exercise.name)}</text></name>\n'
        f'<questiontext format="html"><text><![CDATA[{text}]]></text></questiontext>\n'
        '<generalfeedback format="html"><text></text></generalfeedback>\n<penalty>0.3333333</penalty>\n'
        f"<hidden>0</hidden>\n<idnumber>qkv-{escape(exercise.name)}</idnumber>\n</question>"
    )


def _body(exercise: Exercise) -> Iterator[str]:
    if exercise.own is not None:
        yield prose(exercise.own.text, "\\(", "\\)")
    else:
        yield from (f"<p>{escape(line)}</p>" for line in written.said(exercise))
        for given in written.shown_givens(exercise):
            yield f"<p>\\( {symbol_latex(given.symbol)} = \\)</p>{_table(given_texts(given))}"
    for question in exercise.questions:
        yield f"<p>{escape(question.label)}. {_asked(exercise, question)}</p>"
        yield _table(tuple(tuple(row) for row in _gaps(exercise, question)))
    yield f"<p>{escape(written.rounding(exercise))}</p>"


def _asked(exercise: Exercise, question: Question) -> str:
    """What a question asks for; of a teacher's own sheet, which says that itself, its name."""
    points = escape(points_said(exercise, question.points))
    if exercise.own is not None:
        return f"\\( {symbol_latex(question.step.symbol)} = \\) ({points})"
    return f"{escape(written.caption(exercise, question.step))}: \\( {formula(question.step)} \\) ({points})"


def _table(rows: Table) -> str:
    cells = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
    return f"<table><tbody>{''.join(f'<tr>{row}</tr>' for row in cells)}</tbody></table>"


def _gaps(exercise: Exercise, question: Question) -> Iterator[list[str]]:
    tolerance = f"{1.1 * 10**-exercise.places:.5f}".rstrip("0")  # one unit of the last place
    for i, row in enumerate(question.answer):
        weight = question.points * exercise.share  # Moodle wants whole numbers
        yield [_gap(cell, question, i, j, tolerance, weight) for j, cell in enumerate(row)]


def _gap(right: str, question: Question, i: int, j: int, tolerance: str, weight: Fraction) -> str:
    """A gap for a number, with what known mistakes give in this cell, where that is another number."""
    if right == MINUS_INFINITY:
        return f"{{{weight}:SHORTANSWER:{'~'.join(f'={text}' for text in ENDLESS)}}}"
    answers = [f"={right}:{tolerance}"]
    seen = [float(right)]
    for wrong in question.wrong:
        text = wrong.answer[i][j]
        if text != MINUS_INFINITY and all(abs(float(text) - other) > 2 * float(tolerance) for other in seen):
            seen.append(float(text))
            answers.append(f"%0%{text}:{tolerance}#{_SPECIAL.sub(_escaped, wrong.says)}")
    return f"{{{weight}:NUMERICAL:{'~'.join(answers)}}}"


def _escaped(found: re.Match[str]) -> str:
    return "\\" + found[1]
