"""Exercises for PrairieLearn: one question folder that draws a variant for each student and names known mistakes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from math import lcm
from typing import Any
from uuid import UUID

from qkv.exercises import written
from qkv.exercises.model import Exercise, Question
from qkv.exercises.prose import prose
from qkv.exercises.written import formula, points_said
from qkv.expr.show import symbol_latex
from qkv.practice.hand import MINUS_INFINITY
from qkv.render.jsonform import fields

TOPIC, TAGS = "Attention", ["qkv", "calculation"]
VARIANTS = "variants.json"

# A matrix is one input. One that holds −∞, which no numeric input takes, has a text input for each cell.
QUESTION = """<pl-question-panel>
  {{{params.sheet}}}
  {{#params.said}}<p>{{.}}</p>{{/params.said}}
  {{#params.givens}}<p>${{.}}$</p>{{/params.givens}}
  <p>{{params.rounding}}</p>
</pl-question-panel>
{{#params.questions}}
<pl-question-panel><p>{{label}}. {{says}}: ${{formula}}$ ({{points}})</p></pl-question-panel>
{{^rows}}<pl-matrix-component-input answers-name="{{name}}" label="${{symbol}} =$" comparison="relabs" rtol="0"
  atol="{{params.tolerance}}" weight="{{weight}}" allow-partial-credit="true"></pl-matrix-component-input>{{/rows}}
<table>{{#rows}}<tr>{{#cells}}<td><pl-string-input answers-name="{{name}}" size="8" weight="{{weight}}"
  remove-spaces="true"></pl-string-input></td>{{/cells}}</tr>{{/rows}}</table>
{{/params.questions}}
<pl-submission-panel>
  {{#feedback.mistakes}}<p>{{label}}. ${{symbol}}$: {{says}}.</p>{{/feedback.mistakes}}
</pl-submission-panel>
"""

SERVER = '''"""Written by qkv. Draws a variant of variants.json, and names the mistake behind a false matrix."""

import json
import math
import os
import random
from fractions import Fraction

import prairielearn as pl

ENDLESS = ("-inf", "-oo", "-∞", "−∞", "−inf", "-infinity")


def generate(data):
    with open(os.path.join(data["options"]["question_path"], "variants.json"), encoding="utf-8") as file:
        variants = json.load(file)
    data["params"].update(variants[random.randrange(len(variants))])
    for question in data["params"]["questions"]:
        if "rows" in question:
            for name, text in cells_of(question):
                data["correct_answers"][name] = text
        else:
            data["correct_answers"][question["name"]] = [[number(text) for text in row] for row in question["answer"]]


def parse(data):
    for question in data["params"]["questions"]:
        for name, _ in cells_of(question):
            typed = data["submitted_answers"].get(name)
            if name not in data["format_errors"] and number(typed) is None:
                data["format_errors"][name] = "This is no number: write 0.25, 1/4 or -inf."


def grade(data):
    tolerance, found = float(data["params"]["tolerance"]), []
    for question in data["params"]["questions"]:
        for name, right in cells_of(question):
            score = 1 if near(number(data["submitted_answers"].get(name)), number(right), tolerance) else 0
            data["partial_scores"][name] = {"score": score, "weight": question["weight"]}
        typed = typed_of(data, question)
        if typed is None or agree(typed, question["answer"], tolerance):
            continue
        says = [each["says"] for each in question["mistakes"] if agree(typed, each["answer"], tolerance)]
        if says:
            found.append({"label": question["label"], "symbol": question["symbol"], "says": says[0]})
    data["feedback"]["mistakes"] = found
    pl.set_weighted_score_data(data)


def cells_of(question):
    """The text inputs of a matrix, with what is right in them."""
    for row, texts in zip(question.get("rows", []), question["answer"]):
        for cell, text in zip(row["cells"], texts):
            yield cell["name"], text


def typed_of(data, question):
    """The matrix that was typed in, as rows of numbers; None where it is not whole."""
    if "rows" in question:
        submitted = data["submitted_answers"]
        rows = [[number(submitted.get(cell["name"])) for cell in row["cells"]] for row in question["rows"]]
    else:
        typed = pl.from_json(data["submitted_answers"].get(question["name"]))
        rows = [] if typed is None else [[float(cell) for cell in row] for row in typed]
    return rows if rows and all(cell is not None for row in rows for cell in row) else None


def agree(typed, answer, tolerance):
    texts = [text for row in answer for text in row]
    cells = [cell for row in typed for cell in row]
    return len(cells) == len(texts) and all(near(a, number(b), tolerance) for a, b in zip(cells, texts))


def near(a, b, tolerance):
    return a is not None and (a == b if math.inf in (abs(a), abs(b)) else abs(a - b) <= tolerance)


def number(text):
    """0.25, 1/4 and -inf as numbers; None for what is none."""
    text = str(text).strip().lower().replace("−", "-")
    if text in ENDLESS:
        return -math.inf
    try:
        return float(Fraction(text))
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
'''


def question_folder(exercises: Sequence[Exercise], name: str) -> Iterator[tuple[str, str]]:
    """The files of a question by their names; the same exercises give the same bytes."""
    variants = _json([variant(exercise) for exercise in exercises])
    digest = hashlib.sha256(f"{name}\0{variants}".encode()).digest()
    info: dict[str, Any] = {
        "uuid": str(UUID(bytes=digest[:16], version=4)),
        "title": written.title(exercises[0]),
        "topic": TOPIC,
        "tags": [*TAGS, exercises[0].kind],
        "type": "v3",
    }
    info |= {"singleVariant": True} if len(exercises) == 1 else {}
    yield "info.json", _json(info)
    yield "question.html", QUESTION
    yield "server.py", SERVER
    yield VARIANTS, variants


def _json(found: Any) -> str:
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"


def variant(exercise: Exercise) -> dict[str, Any]:
    """What a variant shows, asks for and knows of mistakes, as plain data."""
    share = exercise.share * lcm(*(_cells(question) for question in exercise.questions if _has_infinity(question)), 1)
    own, givens = exercise.own, () if exercise.own is not None else written.shown_givens(exercise)
    return {
        "sheet": prose(own.text, "$", "$") if own is not None else "",
        "said": [] if own is not None else written.said(exercise),
        "givens": list(map(written.stated, givens)),
        "rounding": written.rounding(exercise),
        "tolerance": f"{1.1 * 10**-exercise.places:.5f}".rstrip("0"),  # one unit of the last place
        "questions": [_question(exercise, q, number, share) for number, q in enumerate(exercise.questions, 1)],
    }


def _question(exercise: Exercise, question: Question, number: int, share: int) -> dict[str, Any]:
    """A question; `share` is what a point weighs, so that the cells of a matrix can have whole weights."""
    name, cells = f"q{number}_", _cells(question)
    weight = int(question.points * share)
    found: dict[str, Any] = {
        "name": name,
        "label": question.label,
        "says": written.caption(exercise, question.step),
        "symbol": symbol_latex(question.step.symbol),
        "formula": formula(question.step),
        "points": points_said(exercise, question.points),
        "weight": weight,
        "answer": question.answer,
        "mistakes": [fields(wrong, "says answer") for wrong in question.wrong],
    }
    if _has_infinity(question):
        width = len(question.answer[0])
        rows = [[{"name": f"{name}{i * width + j + 1}"} for j in range(width)] for i in range(len(question.answer))]
        found |= {"weight": weight // cells, "rows": [{"cells": row} for row in rows]}
    return found


def _cells(question: Question) -> int:
    return len(question.answer) * len(question.answer[0])


def _has_infinity(question: Question) -> bool:
    return any(text == MINUS_INFINITY for row in question.answer for text in row)
