"""An exercise in the terminal, to be worked on paper: matrices drawn, formulas in plain letters."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from qkv.exercises import written
from qkv.exercises.model import Exercise
from qkv.exercises.written import points_said
from qkv.expr import nodes as n
from qkv.expr.show import plain, symbol_plain
from qkv.interpret.trace import Table
from qkv.practice.chains import given_texts
from qkv.program.model import Step
from qkv.render.grid import grids


def sheet(exercise: Exercise, width: int = 80, questions: bool = True) -> str:
    """The blank sheet, with its questions or without; of a template, the teacher's own text."""
    if exercise.own is not None:
        return exercise.own.typed
    lines = [*_givens(exercise, width), *(_questions(exercise, width) if questions else ())]
    return "\n".join(lines) + "\n"


def _givens(exercise: Exercise, width: int) -> Iterator[str]:
    title = written.title(exercise)
    yield from (title, "─" * min(len(title), width))
    for line in written.said(exercise):
        yield from textwrap.wrap(line, width)
    for given in written.shown_givens(exercise):
        yield ""
        yield from named(symbol_plain(given.symbol), given_texts(given), width)


def _questions(exercise: Exercise, width: int) -> Iterator[str]:
    words = exercise.words
    yield ""
    for question in exercise.questions:
        said, points = words.task.format(formula(question.step)), points_said(exercise, question.points)
        line = f"{question.label:>2}. {written.caption(exercise, question.step)}: {said} ({points})"
        yield from textwrap.wrap(line, width, subsequent_indent="    ")
    yield from ("", written.rounding(exercise))


def named(name: str, table: Table, width: int) -> Iterator[str]:
    """A matrix beside its name."""
    for grid in grids(table, width - len(name) - 5):
        for i, line in enumerate(grid.lines):
            yield f"  {name} = {line}" if i == grid.middle else " " * (len(name) + 5) + line


def formula(step: Step) -> str:
    """A step as it is asked for, in plain letters."""
    name = symbol_plain(step.symbol)
    return name if any(isinstance(part, n.Mask) for part in n.walk(step.expr)) else f"{name} = {plain(step.expr)}"


def key(exercise: Exercise, width: int = 80) -> str:
    """The answers."""
    lines = [exercise.words.solution, "─" * len(exercise.words.solution)]
    for question in exercise.questions:
        lines += named(formula(question.step), question.answer, width)
    return "\n".join(lines) + "\n"
