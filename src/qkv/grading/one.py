"""One hand-in through the whole flow: text → judged → answers → marks and feedback."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import PurePath

from qkv.chapters import chapters
from qkv.check.model import Report
from qkv.errors import QkvError, WriteError
from qkv.grading.answers import answers_of
from qkv.grading.asked import Asked, Assignment, assignment_of
from qkv.grading.model import NONE, Because, Earned, Mark, Policy
from qkv.grading.score import mark_of
from qkv.judging.judge import judged
from qkv.judging.report import report_of
from qkv.reader.model import Sheet
from qkv.reader.read import decode, read_sheet
from qkv.reading.reading import reading_of
from qkv.render import pdf
from qkv.render.feedback import feedback, points, refused
from qkv.render.page import page
from qkv.solution import Solution
from qkv.solving.solve import solve_sheet

KEPT = 64  # texts whose marks a process remembers


@dataclass(frozen=True, slots=True)
class Setup:
    """What every hand-in of a class is graded by: plain data, so that it can be sent to another process."""

    assignment: str
    file: str
    policy: Policy
    version: str = ""  # of qkv: another one may grade otherwise


@dataclass(frozen=True, slots=True)
class Submission:
    """One hand-in: how it is called, its bytes, and whether its feedback is wanted on paper too."""

    name: str
    data: bytes
    on_paper: bool = False


@dataclass(frozen=True, slots=True)
class Graded:
    """The marks of a hand-in, and the page that its author gets: as HTML, and as PDF if that was wanted."""

    mark: Mark
    feedback: str
    pdf: bytes | None = None


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
    assignment, name = assignment_for(setup), submission.name
    try:
        mark, report = _marked(setup, submission.data, PurePath(name).suffix)
        return _reported(replace(mark, file=name), replace(report, file=name), submission.on_paper)
    except QkvError as error:
        why = str(error)
    except RecursionError:
        why = "it is nested too deeply to be read"
    except MemoryError:
        why = "it needs more memory than a hand-in may use"
    return troubled(name, assignment.asked, why, submission.on_paper)


@lru_cache(maxsize=KEPT)
def _marked(setup: Setup, data: bytes, suffix: str) -> tuple[Mark, Report]:
    """The marks and the report of a text, whoever hands it in: what several hand in is judged once."""
    name = f"hand-in{suffix}"
    return _judged(read_sheet(decode(data, name), name), assignment_for(setup), setup.policy)


def grade_sheet(sheet: Sheet, assignment: Assignment, policy: Policy, on_paper: bool = False) -> Graded:
    """Grade a hand-in that has been read."""
    return _reported(*_judged(sheet, assignment, policy), on_paper)


def _judged(sheet: Sheet, assignment: Assignment, policy: Policy) -> tuple[Mark, Report]:
    """The marks of a hand-in, and the report on it. What its author tells qkv in comments does not count."""
    found = judged(reading_of(replace(sheet, told=()), assignment.sheet))
    report = report_of(found)
    return mark_of(report, answers_of(found, assignment), assignment, policy), report


def _reported(mark: Mark, report: Report, on_paper: bool) -> Graded:
    return _written(mark, feedback(mark, report), on_paper)


def troubled(name: str, asked: tuple[Asked, ...], why: str, on_paper: bool = False) -> Graded:
    """A hand-in that could not be graded: anything between nothing and everything, for a person to decide."""
    earned = tuple(Earned(each.label, each.name, each.points, NONE, each.points, Because.UNREAD) for each in asked)
    mark = Mark(name, earned, trouble=why)
    return _written(mark, refused(mark), on_paper)


def _written(mark: Mark, body: str, on_paper: bool) -> Graded:
    """Marks with their page. A page that cannot be set on paper says so there, and costs nobody any marks."""
    title = f"{mark.file}: {points(mark)}"
    return Graded(mark, page(title, body), _paper(title, body) if on_paper else None)


def _paper(title: str, body: str) -> bytes:
    try:
        return pdf.made(title, body)
    except WriteError:
        return pdf.made(title, "<p>This page could not be set on paper; the HTML beside it has everything.</p>")


def nothing(asked: tuple[Asked, ...]) -> Mark:
    """The marks of who has handed in no file at all."""
    earned = (Earned(each.label, each.name, each.points, NONE, NONE, Because.MISSING) for each in asked)
    return Mark("nothing", tuple(earned), empty=True)


class Grader:
    """Serves in a worker process (workers.py): the assignment is worked out once, then it grades one hand-in after the
    other."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        assignment_for(setup)

    def __call__(self, submission: Submission) -> Graded:
        try:
            return grade_one(self.setup, submission)
        except Exception as error:  # noqa: BLE001  a bug of ours costs this file its marks, not the class
            why = f"a bug in qkv: {type(error).__name__}: {error}"
            return troubled(submission.name, assignment_for(self.setup).asked, why, submission.on_paper)
