"""What one can do: work a problem that is given by name (working.py), read a document, solve it, check it.

Judging and rendering are loaded by what needs them, so that solving a sheet does not wait for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from os.path import exists
from pathlib import Path
from typing import TYPE_CHECKING

from qkv import files
from qkv.check.model import Claim, Report
from qkv.errors import ValueRefused
from qkv.formats import text_of
from qkv.reader.limits import DEFAULT, Limits
from qkv.reader.model import Sheet
from qkv.reader.read import read_sheet
from qkv.reader.told import Told
from qkv.solution import Solution
from qkv.working import work as work

if TYPE_CHECKING:
    from qkv.grading.model import Mark, Policy
    from qkv.grading.one import Graded
    from qkv.judging.judge import Judged
    from qkv.solving.solve import Programs
    from qkv.solving.understood import Understood


def read_source(
    text: str, file: str = "", limits: Limits = DEFAULT, let: Sequence[str] = (), ask: Sequence[str] = ()
) -> Sheet:
    """A document's text as a Sheet, with what is told beside it: `let` equations, `ask` names."""
    return _checked(read_sheet(text, file, limits, _told(let, ask)))


def read_path(path: str, limit_mb: int = files.LIMIT_MB, let: Sequence[str] = (), ask: Sequence[str] = ()) -> Sheet:
    """A file as a Sheet, which also holds what of the file is no text, such as the pictures of a PDF."""
    name = files.name_of(path)
    found = text_of(files.read_bytes(path, limit_mb), name)
    limits = DEFAULT if limit_mb == files.LIMIT_MB else Limits(characters=limit_mb * 1_000_000)
    return replace(read_source(found.text, name, limits, let, ask), lost=found.lost)


def _told(let: Sequence[str], ask: Sequence[str]) -> list[Told]:
    return [*(Told(text.strip()) for text in let), *(Told(text.strip(), asks=True) for text in ask)]


def _checked(sheet: Sheet) -> Sheet:
    """A sheet, if all that is told beside it is about names of its own."""
    from qkv.reading.told import check_told

    check_told(sheet)
    return sheet


def solve_sheet(sheet: Sheet) -> Solution:
    """Every problem of a sheet worked out, and its theory questions answered."""
    documents = _judged(sheet)
    return _solved(sheet, documents, _programs(documents))


def check_sheet(sheet: Sheet, against: Sheet | None = None) -> Report:
    """Every equation of a sheet, judged; the givens come from `against`, such as the assignment, if it is said."""
    from qkv.judging.report import check_sheet as judge

    return judge(sheet, against) if against is not None else _reported(sheet, _judged(sheet))


def _judged(sheet: Sheet) -> tuple[Judged, ...]:
    """Each document of a sheet, judged: what solving and checking both work from."""
    from qkv.chapters import chapters
    from qkv.judging.judge import judged
    from qkv.reading.reading import reading_of

    return tuple(judged(reading_of(chapter)) for chapter in chapters(sheet))


def _programs(documents: tuple[Judged, ...]) -> tuple[Programs, ...]:
    """The programs of each document: what solving and understanding both work from."""
    from qkv.solving.solve import programs_of

    return tuple(map(programs_of, documents))


def _solved(sheet: Sheet, documents: tuple[Judged, ...], programs: tuple[Programs, ...]) -> Solution:
    from qkv.interpret.trace import Trace
    from qkv.solving.answers import settled
    from qkv.solving.solve import solution_of

    solutions = list(map(solution_of, documents, programs))
    workable = [trace.program for solution in solutions for trace in solution.traces]
    traces = tuple(Trace(program) for program in settled(workable))
    advice = tuple(line for solution in solutions for line in solution.advice)
    return Solution(traces, sheet.file, (*sheet.lost, *sheet.unread), advice)


def _understood(sheet: Sheet, documents: tuple[Judged, ...], programs: tuple[Programs, ...]) -> Understood:
    from qkv.solving.understood import understood_of

    found = list(map(understood_of, documents, programs))
    problems = tuple(problem for each in found for problem in each.problems)
    return replace(found[0], sheet=replace(sheet, unread=(*sheet.lost, *sheet.unread)), problems=problems)


def _reported(sheet: Sheet, documents: tuple[Judged, ...]) -> Report:
    from qkv.judging.report import report_of

    reports = [report_of(document) for document in documents]
    claims: list[Claim] = []
    for report in reports:
        by = max((claim.id for claim in claims), default=0)  # claims count on from those of the chapter before
        claims += (
            replace(claim, id=claim.id + by, follows_from=tuple(other + by for other in claim.follows_from))
            for claim in report.claims
        )
    left = tuple(left for report in reports for left in report.left)
    advice = tuple(advice for report in reports for advice in report.advice)
    notes = tuple(f"{lost.text}: {lost.reason}" for lost in sheet.lost)
    return Report(sheet.file, tuple(claims), sheet.text, notes, sum(report.given for report in reports), left, advice)


def understand_sheet(sheet: Sheet) -> Understood:
    """How a sheet is understood: each quantity, what it is taken for, and how that is known."""
    documents = _judged(sheet)
    return _understood(sheet, documents, _programs(documents))


def read(source: str | Path, let: Sequence[str] = (), ask: Sequence[str] = ()) -> ReadSheet:
    r"""Read a document; the result can be solved and checked.

    source  a path (.md, .txt, .tex, .ipynb, .pdf), or the text itself
    let     what names are, as equations: it outranks what the document says of them (docs/notation.md)
    ask     names of what is to be worked out

    >>> read("$$Q = [1, 2]$$").statements[0].at.line
    1
    >>> read("- cat: [1, 2]\n- mat: [3, 1]", let=["X = [cat; mat]", "G = X X^T"], ask=["G"]).solve()["G"].digits()
    (('5', '5'), ('5', '10'))
    """
    text, file = _source(source)
    return _read(read_source(text, file, let=let, ask=ask) if text is not None else read_path(file, let=let, ask=ask))


def read_named(text: str, file: str) -> ReadSheet:
    """A document's text under the name of its file, as a browser sends it; the result can be solved and checked."""
    return _read(read_source(text, file))


def _read(sheet: Sheet) -> ReadSheet:
    return ReadSheet(**{spec.name: getattr(sheet, spec.name) for spec in fields(sheet)})


def solve(source: str | Path, let: Sequence[str] = (), ask: Sequence[str] = ()) -> Solution:
    r"""Work out every problem of a document.

    source    a path, or the text itself
    let, ask  what names are, and what is to be worked out, as for `read`

    >>> s = solve("$$Q = [[1, 2]], K = [[2, 1], [1, 1]], V = [[1], [3]]$$ Find $\\text{softmax}(QK^T/\\sqrt{d_k})V$.")
    >>> s["A"].decimals(3)
    (('0.670', '0.330'),)
    """
    return read(source, let, ask).solve()


def check(source: str | Path, against: str | Path | None = None, let: Sequence[str] = ()) -> CheckedReport:
    """Judge every equation of a hand-worked solution.

    source   a path, or the text itself
    against  the assignment, in the same way: it decides what is given and how to work
    let      what names are, as for `read`; it outranks both, and is told beside the assignment, where there is one

    >>> check("$$2 + 2 = 5$$").summary
    {'wrong': 1}
    """
    return read(source, let).check() if against is None else read(source).check(read(against, let))


def grade(
    paths: str | Path | Iterable[str | Path], against: str | Path, policy: Policy | None = None, jobs: int = 1
) -> Iterator[Graded]:
    """Grade hand-ins against an assignment.

    paths    a file or a folder, or several of them
    against  the assignment: a path, or its text
    policy   what a slip, a carried error and the like cost; the usual one unless said
    jobs     how many worker processes

    Each comes with its marks and the page for its author, in the order in which they are done. They are read in worker
    processes with limits of time and memory; one that cannot be read has a mark that says so.

    >>> for graded in grade("submissions/", against="assignment.md", jobs=2):  # doctest: +SKIP
    ...     print(graded.mark.file, graded.mark.low, graded.mark.of, graded.mark.looks)
    """
    from qkv.grading.classroom import graded_files
    from qkv.grading.model import DEFAULT as USUAL
    from qkv.grading.one import Setup

    text, file = _source(against)
    sheet = read(against)
    setup = Setup(sheet.text if text is None else text, Path(file).name, policy or USUAL)
    return graded_files([paths] if isinstance(paths, (str, Path)) else paths, setup, jobs)


class ReadSheet(Sheet):
    """A sheet that can be solved and checked; for both it is judged once, and each program is written once."""

    @cached_property
    def _documents(self) -> tuple[Judged, ...]:
        return _judged(self)

    @cached_property
    def _programs(self) -> tuple[Programs, ...]:
        return _programs(self._documents)

    def __getstate__(self) -> dict[str, object]:
        """What was read is sent to other processes; what was made of it is not."""
        return {spec.name: getattr(self, spec.name) for spec in fields(self)}

    def solve(self) -> Solution:
        """Every problem, worked out."""
        return _solved(self, self._documents, self._programs)

    def understand(self) -> Understood:
        """Each quantity, what it is taken for, and how that is known."""
        return _understood(self, self._documents, self._programs)

    def check(self, against: Sheet | None = None) -> CheckedReport:
        """Every equation, judged."""
        report = check_sheet(self, against) if against is not None else _reported(self, self._documents)
        found = CheckedReport(**{spec.name: getattr(report, spec.name) for spec in fields(report)})
        return replace(found, sheets=(self, against)) if against is not None else found


@dataclass(frozen=True)
class CheckedReport(Report):
    """A report that prints as text, shows itself in a notebook, and can be scored if there is an assignment."""

    sheets: tuple[Sheet, Sheet] | None = field(default=None, repr=False)  # what was checked, and against what

    def score(self, policy: Policy | None = None) -> Mark:
        """The marks that this earns against its assignment.

        >>> task = "Let Q = [[1, 2]] and K = [[3, 1], [0, 1]]. Compute the scores $S = Q K^T$. (2 points)"
        >>> mark = check("S = Q K^T = [[5, 2]]", against=task).score()
        >>> mark.low, mark.of
        (Fraction(2, 1), Fraction(2, 1))
        """
        from qkv.grading.model import DEFAULT as USUAL
        from qkv.grading.one import assignment_in, grade_sheet

        if self.sheets is None:
            raise ValueRefused("there is nothing to score it by: check(…, against=assignment) says what was asked for")
        sheet, against = self.sheets
        policy = policy or USUAL
        return grade_sheet(sheet, assignment_in(against, policy), policy).mark

    def __str__(self) -> str:
        from qkv.render.options import DEFAULT
        from qkv.render.targets import Target, reports

        return str(reports([self], DEFAULT, Target("text", 100)))

    def _repr_html_(self) -> str:
        from qkv.render.html import report

        return report(self)


def _source(source: str | Path) -> tuple[str | None, str]:
    """The text of a source that is text, or None and its path: one short line that ends like a file and is one."""
    if isinstance(source, Path):
        return None, str(source)
    if not {"\n", "\0"} & set(source) and len(source) < 4096 and Path(source).suffix and exists(source):
        return None, source
    return source, ""
