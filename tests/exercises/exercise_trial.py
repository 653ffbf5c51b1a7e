"""An exercise put to the test: its own text gives its key, its key has full marks, and its planted mistake is named."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from qkv.errors import QkvError
from qkv.exercises import written
from qkv.exercises.model import TOLD_APART, Exercise
from qkv.grading.asked import Assignment
from qkv.grading.model import DEFAULT, Mark
from qkv.grading.one import Setup, Submission, assignment_for, grade_one
from qkv.practice.hand import texts
from qkv.practice.sheet import Expected


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of an exercise; `why` says what was not as it should be."""

    solved: bool  # the sheet's own text gives every answer of the key
    right: bool  # the key has full marks, and no slip is seen in it
    found: bool  # the planted slip costs points, and is found where it is
    named: bool | None  # the planted mistake is named; None where the slip is none of the known mistakes
    apart: bool  # no answer is on a rounding tie, and no two mistakes give the same
    why: str = ""

    @property
    def is_good(self) -> bool:
        """Whether all is as it should be."""
        return self.solved and self.right and self.found and self.named is not False and self.apart


def tried(exercise: Exercise) -> Trial:
    """Put an exercise to the test."""
    setup = Setup(written.sheet(exercise), "sheet.md", DEFAULT)
    unsolved = _unsolved(exercise, assignment_for(setup))
    key = _graded(setup, written.key(exercise))
    right = key.low == key.of and not key.slips
    why = [f"not solved: {', '.join(unsolved)}"] if unsolved else []
    why += (
        []
        if right
        else [f"key: {key.low} of {key.of}, {[(e.name, e.because.value) for e in key.earned if e.low < e.of]}"]
    )
    try:
        practice = written.with_slip(exercise)
    except QkvError as error:
        return Trial(not unsolved, right, False, None, _is_apart(exercise), "; ".join([*why, str(error)]))
    [slip] = practice.slips
    mark = _graded(setup, practice.text)
    found, named = _is_found(mark, slip), _is_named(mark, slip)
    if not found or named is False:
        why.append(f"{slip.name}: {slip.mistake} in line {slip.line}, but {mark.low} of {mark.of}, {mark.slips[:2]}")
    return Trial(not unsolved, right, found, named, _is_apart(exercise), "; ".join(why))


def _unsolved(exercise: Exercise, worked: Assignment) -> list[str]:
    """The questions that the sheet, worked out from its own text, does not lead to the answer of."""
    found = {str(each.symbol): texts(each.value, exercise.places) for each in worked.known}
    return [q.step.spelled for q in exercise.questions if found.get(str(q.step.symbol)) != q.answer]


def _graded(setup: Setup, text: str) -> Mark:
    return grade_one(setup, Submission("solution.md", text.encode())).mark


def _is_found(mark: Mark, slip: Expected) -> bool:
    return mark.low < mark.of and bool(mark.slips) and slip.line <= mark.slips[0].line <= slip.end_line


def _is_named(mark: Mark, slip: Expected) -> bool | None:
    if slip.mistake is None or slip.mistake not in TOLD_APART:
        return None
    return any(slip.mistake in each.mistake for each in mark.slips[:1])  # two that come to the same have both names


def _is_apart(exercise: Exercise) -> bool:
    """Looked at once more, from the numbers themselves."""
    for question in exercise.questions:
        answers = [question.answer, *(wrong.answer for wrong in question.wrong)]
        value = exercise.trace.value(question.step.symbol)
        halves = (2 * 10**exercise.places * cell for row in value.rows for cell in row if isinstance(cell, fmpq))
        if len(set(answers)) < len(answers) or any(half.q == 1 and half.p % 2 == 1 for half in halves):
            return False
    return True
