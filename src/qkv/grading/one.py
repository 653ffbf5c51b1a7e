"""One hand-in through the whole flow: text → judged → answers → marks and feedback."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from qkv.chapters import chapters
from qkv.errors import QkvError
from qkv.grading.answers import answers_of
from qkv.grading.asked import Asked, Assignment, assignment_of
from qkv.grading.model import NONE, Because, Earned, Mark, Policy
from qkv.grading.score import mark_of
from qkv.judging.judge import judged
from qkv.judging.report import report_of
from qkv.reader.model import Sheet
from qkv.reader.read import decode, read_sheet
from qkv.reading.reading import reading_of
from qkv.render.feedback import feedback, refused
from qkv.solution import Solution
from qkv.solving.solve import solve_sheet


@dataclass(frozen=True, slots=True)
class Setup:
    """What every hand-in of a class is graded by: plain data, so that it can be sent to another process."""

    assignment: str
    file: str
    policy: Policy
    version: str = ""  # of qkv: another one may grade otherwise


@dataclass(frozen=True, slots=True)
class Submission:
    """One hand-in: how it is called, and its bytes."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Graded:
    """The marks of a hand-in, and the page that its author gets."""

    mark: Mark
    feedback: str


@lru_cache(maxsize=4)
def assignment_for(setup: Setup) -> Assignment:
    """The assignment of a class, worked out once in each process."""
    return assignment_in(read_sheet(setup.assignment, setup.file), setup.policy)


def assignment_in(sheet: Sheet, policy: Policy) -> Assignment:
    """What a sheet asks for, worked out."""
    traces = tuple(trace for chapter in chapters(sheet) for trace in solve_sheet(chapter).traces)
    return assignment_of(sheet, Solution(traces, sheet.file), policy)


def grade_one(setup: Setup, submission: Submission) -> Graded:
    """Grade one hand-in. What cannot be read costs nothing but its own row."""
    assignment = assignment_for(setup)
    try:
        sheet = read_sheet(decode(submission.data, submission.name), submission.name)
        return grade_sheet(sheet, assignment, setup.policy)
    except QkvError as error:
        return troubled(submission.name, assignment.asked, str(error))
    except RecursionError:
        return troubled(submission.name, assignment.asked, "it is nested too deeply to be read")
    except MemoryError:
        return troubled(submission.name, assignment.asked, "it needs more memory than a hand-in may use")


def grade_sheet(sheet: Sheet, assignment: Assignment, policy: Policy) -> Graded:
    """Grade a hand-in that has been read. What its author tells qkv in comments does not count."""
    found = judged(reading_of(replace(sheet, told=()), assignment.sheet))
    report = report_of(found)
    mark = mark_of(report, answers_of(found, assignment), assignment, policy)
    return Graded(mark, feedback(mark, report))


def troubled(name: str, asked: tuple[Asked, ...], why: str) -> Graded:
    """A hand-in that could not be graded: anything between nothing and everything, for a person to decide."""
    earned = tuple(Earned(each.label, each.name, each.points, NONE, each.points, Because.UNREAD) for each in asked)
    mark = Mark(name, earned, trouble=why)
    return Graded(mark, refused(mark))


def nothing(asked: tuple[Asked, ...]) -> Mark:
    """The marks of who has handed in no file at all."""
    earned = (Earned(each.label, each.name, each.points, NONE, NONE, Because.MISSING) for each in asked)
    return Mark("nothing", tuple(earned), empty=True)
