"""A class from folder to folder: hand-ins in; marks, feedback and a summary out. What is done is kept."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from qkv import files
from qkv.errors import QkvError, WriteError
from qkv.grading import folder, pool
from qkv.grading.gradescope import results
from qkv.grading.journal import Journal
from qkv.grading.model import ClassSummary, Mark, summary_of
from qkv.grading.one import Graded, Setup, Submission, assignment_for, nothing, troubled
from qkv.grading.table import table
from qkv.render.classroom import Row, summary_page

Engine = Callable[[Iterable[Submission]], Generator[Graded]]
FEEDBACK, GRADESCOPE = "feedback", "gradescope"


@dataclass(frozen=True)
class Classroom:
    """Where a class is graded to, and how."""

    setup: Setup
    out: Path
    engine: Engine
    limit_mb: int = files.LIMIT_MB
    gradescope: bool = False
    pdf: bool = False

    def grade(self, paths: list[tuple[str, Path]], done: Callable[[], object]) -> tuple[ClassSummary, list[Mark]]:
        """Grade what is not yet graded and write everything; `done` is called for each hand-in. If the run is broken
        off, what was graded until then is written all the same."""
        self._make_folders()
        journal = Journal(self.out)
        marks: dict[str, Mark] = {}
        keys: dict[str, str] = {}
        try:
            with contextlib.closing(self.engine(self._to_do(paths, journal, marks, keys, done))) as results:
                for graded in results:
                    self._keep(graded, journal, keys[graded.mark.file])
                    marks[graded.mark.file] = graded.mark
                    done()
        finally:
            ordered = [marks[name] for name in sorted(marks)]
            summary = self._write(ordered)
        return summary, ordered

    def _make_folders(self) -> None:
        try:
            for name in (FEEDBACK, *([GRADESCOPE] if self.gradescope else [])):
                (self.out / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WriteError(f"{self.out} cannot be made: {files.reason(error)}") from error

    def _to_do(
        self,
        paths: list[tuple[str, Path]],
        journal: Journal,
        marks: dict[str, Mark],
        keys: dict[str, str],
        done: Callable[[], object],
    ) -> Iterator[Submission]:
        """The hand-ins that have to be graded; those graded before and those that cannot be read are marked."""
        for name, path in paths:
            try:
                submission = folder.read(name, path, self.limit_mb, self.pdf)
            except QkvError as error:
                refused = troubled(name, assignment_for(self.setup).asked, str(error), self.pdf)
                self._write_feedback(refused)
                marks[name] = refused.mark
                done()
                continue
            keys[name] = folder.key_of(self.setup, submission)
            before = journal.marks.get(keys[name])
            if before is not None and all(place.exists() for place in self._places(name)):
                marks[name] = before
                done()
            else:
                yield submission

    def _keep(self, graded: Graded, journal: Journal, key: str) -> None:
        """Write the feedback first: a mark in the journal says that its feedback is there."""
        self._write_feedback(graded)
        if not graded.mark.trouble:  # trouble may pass: another run tries again
            journal.add(key, graded.mark)

    def _places(self, name: str) -> list[Path]:
        """Where the feedback on a hand-in is."""
        suffixes = ("html", "pdf") if self.pdf else ("html",)
        return [self.out / FEEDBACK / f"{folder.file_name(name)}.{suffix}" for suffix in suffixes]

    def _write_feedback(self, graded: Graded) -> None:
        pages: tuple[str | bytes, ...] = (graded.feedback, graded.pdf or b"")
        for place, content in zip(self._places(graded.mark.file), pages, strict=False):
            files.write(str(place), content)
        if self.gradescope:
            place = self.out / GRADESCOPE / folder.file_name(graded.mark.file)
            place.mkdir(exist_ok=True)
            files.write(str(place / "results.json"), results([graded.mark]))

    def _write(self, marks: list[Mark]) -> ClassSummary:
        summary = summary_of(marks)
        rows = [Row(mark, f"{FEEDBACK}/{folder.file_name(mark.file)}.html") for mark in marks]
        files.write(str(self.out / "marks.csv"), table(marks))
        files.write(str(self.out / "summary.html"), summary_page(summary, rows, self.setup.file))
        return summary


def results_of(paths: list[tuple[str, Path]], engine: Engine, limit_mb: int, setup: Setup) -> str:
    """results.json for one hand-in that may have several files, as an autograder wants it."""
    asked = assignment_for(setup).asked
    marks = [graded.mark for graded in _all_graded(paths, engine, limit_mb, setup)]
    return results(marks or [nothing(asked)])


def graded_files(paths: Iterable[str | Path], setup: Setup, jobs: int) -> Iterator[Graded]:
    """The files of some folders graded by worker processes, in the order in which they are done."""
    engine = partial(pool.graded, setup=setup, jobs=jobs)
    return _all_graded(folder.found_in(paths), engine, files.LIMIT_MB, setup)


def _all_graded(paths: Iterable[tuple[str, Path]], engine: Engine, limit_mb: int, setup: Setup) -> Iterator[Graded]:
    refused: list[Graded] = []

    def readable() -> Iterator[Submission]:
        for name, path in paths:
            try:
                yield folder.read(name, path, limit_mb)
            except QkvError as error:
                refused.append(troubled(name, assignment_for(setup).asked, str(error)))

    yield from engine(readable())
    yield from refused
