"""An exercise: a problem with good numbers, what it asks for, and what known mistakes would give instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

from qkv.expr.names import Role, Symbol
from qkv.interpret.certified import Certified, Value
from qkv.interpret.loop import evaluate
from qkv.interpret.trace import Table, Trace
from qkv.practice.hand import is_exact, loosened, texts
from qkv.practice.words import LANGUAGES, Words
from qkv.program.model import Program, Step

# Mistakes that a learner's answer has to tell from each other, wherever they can be made.
TOLD_APART = frozenset(
    {
        "no scale", "divided by d_k", "multiplied by the scale", "sqrt(d_model) for sqrt(d_k)", "K not transposed",
        "Q and K swapped", "W transposed", "softmax down the columns", "softmax over the whole matrix",
        "mask forgotten", "mask the wrong way round", "mask after softmax", "A transposed", "W_O left out",
        "added heads", "averaged heads", "bias forgotten", "bias subtracted", "tanh forgotten", "a term left out",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wrong:
    """What a known mistake gives instead of a right answer."""

    mistake: str
    says: str
    answer: Table


@dataclass(frozen=True, slots=True)
class Wanted:
    """One step that is to be asked for: its number, the step, its points."""

    label: str
    step: Step
    points: Fraction


@dataclass(frozen=True)
class Question:
    """One step that is asked for: its number, the step, its points, the right answer and the wrong ones."""

    label: str
    step: Step
    points: Fraction
    answer: Table
    wrong: tuple[Wrong, ...]


@dataclass(frozen=True, slots=True)
class Own:
    """A teacher's own sheet with its numbers filled in: its text with matrices set in LaTeX, the same as the teacher
    typed it, and the template with how its file is called."""

    text: str
    typed: str
    template: str
    stem: str


@dataclass(frozen=True)
class Exercise:
    """A problem to be worked by hand. The same kind, level, seed and language give the same exercise, bytes and all.
    `own` is the sheet of a teacher whose template it was made from."""

    kind: str
    level: int
    seed: int
    language: str
    places: int
    program: Program
    questions: tuple[Question, ...]
    own: Own | None = None

    @cached_property
    def trace(self) -> Trace:
        """The exercise worked out."""
        return Trace(self.program)

    @cached_property
    def by_hand(self) -> Mapping[Symbol, Value]:
        """What each step may give to somebody who goes on with numbers rounded as they are asked for."""
        held = {given.symbol: self.trace.value(given.symbol) for given in self.program.givens}
        answers = {question.step.symbol: question.answer for question in self.questions}
        found: dict[Symbol, Value] = {}
        for step in self.program.steps:
            symbol, true = step.symbol, self.trace.value(step.symbol)
            found[symbol] = evaluate(step.expr, held, Certified())
            answer = answers.get(symbol) or texts(true, self.places)
            rounded = not is_exact(answer, true)
            held[symbol] = Value(tuple(tuple(map(loosened, row)) for row in answer)) if rounded else found[symbol]
        return found

    @property
    def share(self) -> int:
        """The factor that turns the points of every question into whole numbers."""
        return lcm(*(Fraction(question.points).denominator for question in self.questions))

    @property
    def words(self) -> Words:
        """The words of its language."""
        return LANGUAGES[self.language]

    @property
    def name(self) -> str:
        """How its files are called."""
        if self.own is not None:
            return f"{self.own.stem}-{self.seed}"
        tongue = f"-{self.language}" if self.language != "en" else ""
        return f"{self.kind}-{self.level}-{self.seed}{tongue}"


def answer_of(trace: Trace, step: Step, places: int) -> Table:
    """A step as a learner writes it: exact where it is short, else to decimal places."""
    return texts(trace.value(step.symbol), places)


POINTS = {Role.WEIGHTS: 2, Role.HEAD: 2, Role.OUTPUT: 2, Role.CONTEXT: 2}  # all else is worth one


def points_of(step: Step) -> Fraction:
    """What a step is worth."""
    return Fraction(POINTS.get(step.role, 1))
