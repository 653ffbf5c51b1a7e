"""An exercise played one step at a time: a line typed in, a verdict at once, hints in three stages, a way back.

A Game is frozen; every line gives a new one, which keeps the one before, so that undoing is going back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from qkv.check.cells import Grid
from qkv.check.compare import Agreement
from qkv.exercises import plainly, written
from qkv.exercises.model import Exercise, Question, Wrong
from qkv.exercises.typed import gives, look, typed
from qkv.expr.show import symbol_plain
from qkv.interpret.certified import Value
from qkv.render.workings import cell_workings

HINTS = 3
RIGHT = "Right."
CUT_OFF = "Right, but for the last digit: round, do not cut off."
HELP = "Type a row or the whole matrix: 1 2; 3 4. ? gives a hint, u undoes, q ends."


@dataclass(frozen=True)
class Game:
    """Where a learner stands: the question, the rows of it that are done, hints taken, tries made, points earned."""

    exercise: Exercise
    at: int = 0
    rows: int = 0
    hints: int = 0
    tries: int = 0
    earned: Fraction = Fraction(0)
    before: Game | None = None

    @property
    def is_over(self) -> bool:
        """Whether all questions are answered."""
        return self.at == len(self.exercise.questions)

    @property
    def question(self) -> Question:
        """The question that is asked now."""
        return self.exercise.questions[self.at]

    @property
    def of(self) -> Fraction:
        """The points that could have been earned so far."""
        return sum((question.points for question in self.exercise.questions[: self.at]), Fraction(0))


def asked(game: Game) -> str:
    """What is asked now."""
    question = game.question
    rows, columns = len(question.answer), len(question.answer[0])
    part = f", row {game.rows + 1} of {rows}" if game.rows else ""
    says = written.caption(game.exercise, question.step)
    return f"{question.label}. {says}: {symbol_plain(question.step.symbol)}  ({rows}×{columns}{part})"


def answered(game: Game, line: str, width: int = 60) -> tuple[Game, list[str]]:
    """The game after a line, and what is said to it."""
    if line.strip() == "u":
        return (game.before, ["Back."]) if game.before is not None else (game, ["There is nothing to undo."])
    if line.strip() in ("?", "h", "hint"):
        return _hint(game, width)
    grid = typed(line)
    if grid is None:
        return game, [HELP]
    return _judged(replace(game, before=game), grid)


def _judged(game: Game, grid: Grid) -> tuple[Game, list[str]]:
    question = game.question
    value = game.exercise.trace.value(question.step.symbol)
    grid = _turned(grid, value)
    whole = len(grid) == len(value.rows)
    first = 0 if whole else game.rows
    part, loose = (Value(each.rows[first : first + len(grid)]) for each in (value, _by_hand(game)))
    if part.shape != (len(grid), len(grid[0])) or len({len(row) for row in grid}) > 1:
        rows, columns = value.shape
        return game, [f"That is {len(grid)}×{len(grid[0])}; {rows}×{columns} is asked for, whole or row by row."]
    found = look(grid, part, loose, first + 1)
    if found.worst is Agreement.APART:
        return replace(game, tries=game.tries + 1), [_wrong(question, grid, first, found.cell)]
    said = RIGHT if found.worst <= Agreement.OPEN else CUT_OFF
    done = first + len(grid)
    if done < len(value.rows):
        return replace(game, rows=done), [said]
    return _next(game, share(game.hints, game.tries)), [said]


def _by_hand(game: Game) -> Value:
    return game.exercise.by_hand[game.question.step.symbol]


def _turned(grid: Grid, value: Value) -> Grid:
    """A column that was typed as a row."""
    if len(grid) == 1 and value.shape == (len(grid[0]), 1) and len(grid[0]) > 1:
        return tuple((cell,) for cell in grid[0])
    return grid


def share(hints: int, tries: int) -> Fraction:
    """All points for what is right at once, half of them after a hint or a wrong try."""
    return Fraction(1) if not hints and not tries else Fraction(1, 2)


def _next(game: Game, share: Fraction) -> Game:
    earned = game.earned + share * game.question.points
    return replace(game, at=game.at + 1, rows=0, hints=0, tries=0, earned=earned)


def _wrong(question: Question, grid: Grid, first: int, cell: tuple[int, int] | None) -> str:
    """The mistake by its name, if it is a known one; else where the first wrong number stands."""
    known = named(question, grid, first)
    if known is not None:
        return f"Not yet: {known.says}."
    return f"Not yet: look at row {cell[0]}, column {cell[1]}." if cell else "Not yet."


def named(question: Question, grid: Grid, first: int = 0) -> Wrong | None:
    """The known mistake that gives some rows, the first of them being the row `first` of the answer, from 0."""
    return next((wrong for wrong in question.wrong if gives(grid, wrong.answer[first : first + len(grid)])), None)


def _hint(game: Game, width: int) -> tuple[Game, list[str]]:
    """Three stages: the formula, how the first number comes about, the answer."""
    question, after = game.question, replace(game, hints=game.hints + 1, before=game)
    if game.hints == 0:
        return after, [f"The formula: {plainly.formula(question.step)}."]
    if game.hints == 1:
        row = min(game.rows + 1, len(question.answer))
        return after, [f"Row {row}, column 1: {working(game.exercise, question, row)}"]
    answer = list(plainly.named(symbol_plain(question.step.symbol), question.answer, width))
    return _next(after, Fraction(0)), ["The answer:", *answer]


def working(exercise: Exercise, question: Question, row: int = 1, column: int = 1) -> str:
    """How one number of an answer comes about."""
    return cell_workings(question.step.expr, exercise.trace.evaluate, places=exercise.places)(row, column)
