"""Find the slip: a worked solution with one mistake in it; who clicks a number that this mistake made has found it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from html import escape

from qkv.errors import ValueRefused
from qkv.exercises import play
from qkv.exercises.model import Exercise
from qkv.exercises.written import ASKING, formula, matrix, slipped
from qkv.expr.show import symbol_latex, symbol_plain
from qkv.page.answer import Answer
from qkv.page.drawn import asked_for, count, exercise, fields, points, stated
from qkv.page.grids import to_click
from qkv.practice.hand import Line
from qkv.practice.sheet import Expected
from qkv.render.mathml import shown as math

FINE = "That number is as it should be."
CARRIED = "It is wrong, but only because something before it is: look further up."


@lru_cache(maxsize=64)
def _lines(kind: str, level: int, seed: int, language: str) -> tuple[tuple[Line, Expected], ...]:
    """Every line of the solution, and what is due for it."""
    draft, document = slipped(exercise(kind, level, seed, language))
    return tuple(zip(draft.lines, document.key, strict=True))


def _of(made: Exercise) -> tuple[tuple[Line, Expected], ...]:
    return _lines(made.kind, made.level, made.seed, made.language)


def shown(made: Exercise) -> str:
    """The solution, every number of it a button."""
    task = ASKING[made.language].slip
    steps = "".join(f"<li>{_step(made, at, line)}</li>" for at, (line, _) in enumerate(_of(made)))
    return (
        f'<div class="problem" lang="{made.language}" data-name="slip/{made.name}" data-of="1">'
        f'<section class="stated">{stated(made)}</section><section class="asked"><p class="summary">{escape(task)}</p>'
        '<p class="soft" lang="en">Click the number, or go to it by Tab and the arrow keys and press Enter.</p>'
        '<form class="question slip" hx-post="practice/slip" hx-trigger="submit" hx-target="find .verdict" '
        f'hx-sync="this:replace">{fields(made)}<ol class="lines">{steps}</ol>'
        '<div class="verdict" role="status" aria-live="polite"></div></form>'
        '<p class="end summary good" role="status" hidden><span class="hidden"><b></b> points</span>'
        '<button type="button" data-another="">Another problem</button></p></section></div>'
    )


def _step(made: Exercise, at: int, line: Line) -> str:
    says = made.words.roles[line.step.role]
    name = symbol_plain(line.step.symbol)
    return (
        f"<h2>{escape(says)}</h2>"
        f'<div class="display">{math(formula(line.step) + " =")}{to_click(name, line.shown, at)}</div>'
    )


def guessed(form: Mapping[str, str]) -> Answer:
    """What is said to a click: found, carried from further up, or as it should be."""
    made = asked_for(form)
    lines = _of(made)
    at, row, column = _place(form.get("cell", ""))
    if at >= len(lines):
        raise ValueRefused(f"{made.name} has {len(lines)} lines")
    line, due = lines[at]
    tries, tone, said, earned = count(form, "tries"), "right", escape(FINE), ""
    marked = [f"{at}_{row}_{column}"]
    if due.verdict == "wrong" and (due.misfit or (row, column) in due.wrong | due.slipped):
        tone, said, earned = "wrong", _explained(made, line), points(play.share(0, tries), Fraction(1))
        marked = [f"{at}_{i}_{j}" for i, j in sorted(due.wrong | due.slipped)] or marked
    elif due.verdict == "carried" and (due.misfit or (row, column) in due.carried):
        tone, said = "carried", escape(CARRIED)
    return Answer(
        f'<div class="{"found" if earned else "look"}" data-marks="{" ".join(marked)}" data-tone="{tone}"{earned}>'
        f'<p>{said}</p></div><input type="hidden" name="tries" value="{tries + 1}">'
    )


def _place(text: str) -> tuple[int, int, int]:
    """Line (from 0), row and column (from 1) of a click."""
    parts = text.split("_")
    if len(parts) != 3 or not all(part.isdecimal() and len(part) < 4 for part in parts):
        raise ValueRefused("click a number of the solution")
    at, row, column = map(int, parts)
    return at, row, column


def _explained(made: Exercise, line: Line) -> str:
    """What was done, and what should stand there."""
    question = next(each for each in made.questions if each.step.symbol == line.step.symbol)
    says = next((wrong.says for wrong in question.wrong if wrong.mistake == line.mistake), line.mistake or "")
    right = math(f"{symbol_latex(line.step.symbol)} = {matrix(question.answer)}")
    return f"<b>Found.</b> {escape(says[:1].upper() + says[1:])}. It should be {right}"
