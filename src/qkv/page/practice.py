"""A problem to be worked by hand: grids to fill, a verdict and the mistake's name at once, hints in three stages.

An exercise is known by its kind, level, seed and language, which every form holds; so do hints taken and tries made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from html import escape

from qkv.check.cells import Grid
from qkv.check.compare import Agreement, Shown
from qkv.errors import ValueRefused
from qkv.exercises import draw, play
from qkv.exercises.model import Exercise, Question
from qkv.exercises.typed import standing, typed
from qkv.exercises.written import formula, matrix, points_said, rounding
from qkv.expr.show import symbol_latex, symbol_plain
from qkv.page import slips
from qkv.page.answer import Answer
from qkv.page.controls import select, tabs
from qkv.page.drawn import asked_for, count, fields, points, stated
from qkv.page.frame import framed
from qkv.page.grids import to_fill
from qkv.regex import regex
from qkv.render.mathml import shown as math

KINDS = {
    "given": "Q, K, V given",
    "self": "Self-attention",
    "masked": "Masked self-attention",
    "cross": "Cross-attention",
    "unscaled": "Without a scale",
    "biases": "With biases",
    "columns": "Tokens as columns",
    "multi-head": "Heads and an output matrix",
    "heads": "Heads side by side",
    "source": "One vector over states",
    "general": "General scores",
    "additive": "Additive scores",
}
LANGUAGES = {"en": "English", "de": "Deutsch", "fr": "Français", "es": "Español", "zh": "中文"}
GAMES = {"work": "Work it out", "slip": "Find the slip"}
VERDICTS = {
    Agreement.EQUAL: "right",
    Agreement.ROUNDED: "right",
    Agreement.OPEN: "right",
    Agreement.NEAR: "misrounded",
    Agreement.APART: "wrong",
}
EMPTY, UNREAD = "none", "unread"
LONGEST = 24  # characters of a cell
_COMMA = regex(r"(?<=\d),(?=\d)")


def whole(form: Mapping[str, str]) -> Answer:
    """The view as it opens; its script brings back what was practised last."""
    body = (
        '<form class="tools choose" id="choose" hx-post="practice" hx-target="#problem" '
        'hx-trigger="change, load, judge, submit" hx-sync="this:replace" hx-indicator="#busy">'
        f"{tabs('What to do', 'game', GAMES)}"
        f"{select('Kind', 'kind', {'': 'usual for the level', **KINDS})}"
        f"{select('Level', 'level', {str(level): str(level) for level in draw.LEVELS})}"
        f"{select('Language', 'language', LANGUAGES)}"
        '<label>No. <input type="number" name="seed" value="1" min="0" max="999999"></label>'
        '<button type="button" class="strong" id="another">Another problem</button>'
        '<span id="busy" class="soft" role="status">drawing good numbers …</span>'
        '<p class="score" role="status" aria-live="polite"><span>Streak <b id="streak">0</b></span>'
        '<span class="soft">longest <b id="longest">0</b></span><span class="soft">points <b id="points">0</b></span>'
        '</p></form><div id="problem"></div>'
    )
    return Answer(framed("practice.html", body, "grid.js", "practice.js"))


def problem(form: Mapping[str, str]) -> Answer:
    """A problem with a grid for each of its questions, or a worked solution with a slip to be found."""
    made = asked_for(form)
    if form.get("game") == "slip":
        return Answer(slips.shown(made))
    cards = "".join(f"<li>{_card(made, at)}</li>" for at in range(len(made.questions)))
    of = sum((question.points for question in made.questions), Fraction(0))
    return Answer(
        f'<div class="problem" lang="{made.language}" data-name="{made.name}" data-of="{of}">'
        f'<section class="stated">{stated(made)}<p class="soft">{escape(rounding(made))}</p></section>'
        f'<section class="asked"><ol class="questions">{cards}</ol>{_end(made, of)}</section></div>'
    )


def _end(made: Exercise, of: Fraction) -> str:
    """What stands below the last question, once all are answered."""
    harder = made.level + 1
    up = f'<button type="button" data-another="{harder}">On to level {harder}</button>' if harder in draw.LEVELS else ""
    return (
        f'<p class="end summary good" role="status" hidden><span><b></b> of {of} points.</span> {up}'
        '<button type="button" data-another="">Another problem</button></p>'
    )


def _card(made: Exercise, at: int) -> str:
    """One question: a grid, a button for hints, and room for what is said."""
    question = made.questions[at]
    rows, columns = len(question.answer), len(question.answer[0])
    says = made.words.roles[question.step.role]
    name = symbol_plain(question.step.symbol)
    worth = f"<span class='soft'>{escape(points_said(made, question.points))}</span>"
    grid = math(f"{symbol_latex(question.step.symbol)} =") + to_fill(name, rows, columns, "c")
    return (
        '<form class="question" hx-post="practice/answer" hx-trigger="change delay:50ms, submit" '
        f'hx-target="find .verdict" hx-sync="this:replace">{fields(made)}'
        f'<input type="hidden" name="at" value="{at}">'
        f'<h2>{question.label}. {escape(says)} {worth}</h2><div class="display">{grid}</div>'
        '<div class="verdict" role="status" aria-live="polite"></div>'
        '<div class="hints" role="status" aria-live="polite"></div>'
        '<button type="button" class="hint" hx-post="practice/hint" hx-include="closest form" '
        'hx-target="previous .hints" hx-trigger="click">Hint</button></form>'
    )


# — a verdict —


@dataclass(frozen=True, slots=True)
class Filled:
    """A grid as it is filled so far: what each cell shows, and what is said of it."""

    shown: tuple[tuple[Shown | None, ...], ...]
    verdicts: tuple[tuple[str, ...], ...]

    def first(self, *verdicts: str) -> tuple[int, int] | None:
        """The first cell with one of these verdicts, from 1."""
        found = ((i, j) for i, row in enumerate(self.verdicts, 1) for j, cell in enumerate(row, 1) if cell in verdicts)
        return next(found, None)

    @property
    def flat(self) -> list[str]:
        """All verdicts, row by row."""
        return [verdict for row in self.verdicts for verdict in row]


def answered(form: Mapping[str, str]) -> Answer:
    """What is said to a grid, filled or half filled."""
    made, question = _question(form)
    filled = _filled(made, question, form)
    wrong = filled.first("wrong")
    hints, tries = count(form, "hints"), count(form, "tries") + (wrong is not None)
    done = not {"wrong", EMPTY, UNREAD} & set(filled.flat)
    earned = points(play.share(hints, tries), question.points) if done else ""
    tone = "wrong" if wrong else "right" if done else ""
    return Answer(
        f'<p class="{tone}" data-cells="{" ".join(filled.flat)}"{earned}>{escape(_said(question, filled))}</p>'
        f'<input type="hidden" name="tries" value="{tries}">'
    )


def _question(form: Mapping[str, str]) -> tuple[Exercise, Question]:
    made, at = asked_for(form), count(form, "at")
    if at >= len(made.questions):
        raise ValueRefused(f"{made.name} has {len(made.questions)} questions")
    return made, made.questions[at]


def _filled(made: Exercise, question: Question, form: Mapping[str, str]) -> Filled:
    symbol = question.step.symbol
    value, loose = made.trace.value(symbol), made.by_hand[symbol]
    shown, verdicts = [], []
    for i, (row, wide) in enumerate(zip(value.rows, loose.rows, strict=True), 1):
        texts = [form.get(f"c{i}_{j}", "").strip()[:LONGEST] for j in range(1, len(row) + 1)]
        cells = [_cell(text) for text in texts]
        shown.append(tuple(cells))
        verdicts.append(
            tuple(
                EMPTY if not text else UNREAD if cell is None else VERDICTS[standing(cell, true, around)]
                for text, cell, true, around in zip(texts, cells, row, wide, strict=True)
            )
        )
    return Filled(tuple(shown), tuple(verdicts))


def _cell(text: str) -> Shown | None:
    """The number in a cell; 0,5 is a half there, since a cell holds no list."""
    grid = typed(_COMMA.sub(".", text))
    return grid[0][0] if grid is not None and len(grid) == len(grid[0]) == 1 else None


def _said(question: Question, filled: Filled) -> str:
    """The mistake by its name where one row at least shows it, else where to look; how much is done otherwise."""
    if unread := filled.first(UNREAD):
        return f"Row {unread[0]}, column {unread[1]} holds no number: 2, -0.5, 1/3 and -inf are some."
    if wrong := filled.first("wrong"):
        for at, row in enumerate(filled.shown):
            known = play.named(question, _complete(row), at) if "wrong" in filled.verdicts[at] and all(row) else None
            if known is not None:
                return f"Not yet: {known.says}."
        return f"Not yet: look at row {wrong[0]}, column {wrong[1]}."
    left = filled.flat.count(EMPTY)
    if left:
        return f"Right so far; {left} to go." if left < len(filled.flat) else ""
    return play.CUT_OFF if filled.first("misrounded") else play.RIGHT


def _complete(row: tuple[Shown | None, ...]) -> Grid:
    return (tuple(cell for cell in row if cell is not None),)


# — hints —


def hinted(form: Mapping[str, str]) -> Answer:
    """All hints taken so far and one more: the formula, how the first number comes about, the answer."""
    made, question = _question(form)
    hints = min(count(form, "hints") + 1, play.HINTS)
    said = [
        f"The formula: {math(formula(question.step))}",
        f"Row 1, column 1: <code>{escape(play.working(made, question))}</code>",
        f"The answer: {math(matrix(question.answer))}",
    ][:hints]
    over = points(Fraction(0), question.points) if hints == play.HINTS else ""
    items = "".join(f"<li>{line}</li>" for line in said)
    return Answer(f'<ol{over}>{items}</ol><input type="hidden" name="hints" value="{hints}">')
