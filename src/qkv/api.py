"""What one can do: work a problem that is given by name (working.py), read a document, solve it, check it.

Judging and rendering are loaded by what needs them, so that solving a sheet does not wait for them.
"""

from __future__ import annotations

from dataclasses import fields, replace
from os.path import exists
from pathlib import Path
from typing import TYPE_CHECKING

from qkv.check.model import Claim, Report
from qkv.reader.limits import Limits
from qkv.reader.model import Sheet
from qkv.reader.read import read_file, read_sheet
from qkv.solution import Solution
from qkv.working import work as work

if TYPE_CHECKING:
    from qkv.solving.understood import Understood


def read_source(text: str, file: str = "", limits: Limits | None = None) -> Sheet:
    """A document's text as a Sheet."""
    return read_sheet(text, file) if limits is None else read_sheet(text, file, limits)


def solve_sheet(sheet: Sheet) -> Solution:
    """Every problem of a sheet worked out, and its theory questions answered."""
    from qkv.chapters import chapters
    from qkv.solving.solve import solve_sheet as solve

    traces = [trace for chapter in chapters(sheet) for trace in solve(chapter).traces]
    return Solution(tuple(traces), sheet.file, sheet.unread)


def check_sheet(sheet: Sheet, against: Sheet | None = None) -> Report:
    """Every equation of a sheet, judged; the givens come from `against`, such as the assignment, if it is said."""
    from qkv.chapters import chapters
    from qkv.judging.report import check_sheet as judge

    if against is not None:
        return judge(sheet, against)
    claims: list[Claim] = []
    for chapter in chapters(sheet):
        by = max((claim.id for claim in claims), default=0)  # claims count on from those of the chapter before
        claims += (
            replace(claim, id=claim.id + by, follows_from=tuple(other + by for other in claim.follows_from))
            for claim in judge(chapter).claims
        )
    return Report(sheet.file, tuple(claims), sheet.text)


def understand_sheet(sheet: Sheet) -> Understood:
    """How a sheet is understood: each quantity, what it is taken for, and how that is known."""
    from qkv.solving.understood import understand

    return understand(sheet)


def read(source: str | Path) -> ReadSheet:
    """Read a document: a path, or the text itself.

    >>> read("$$Q = [1, 2]$$").statements[0].at.line
    1
    """
    text, file = _source(source)
    sheet = read_source(text, file) if text is not None else read_file(Path(file))
    return ReadSheet(**{spec.name: getattr(sheet, spec.name) for spec in fields(sheet)})


def solve(source: str | Path) -> Solution:
    r"""Work out every problem of a document: a path, or the text itself.

    >>> s = solve("$$Q = [[1, 2]], K = [[2, 1], [1, 1]], V = [[1], [3]]$$ Find $\\text{softmax}(QK^T/\\sqrt{d_k})V$.")
    >>> s["A"].decimals(3)
    (('0.670', '0.330'),)
    """
    return read(source).solve()


def check(source: str | Path, against: str | Path | None = None) -> CheckedReport:
    """Judge every equation of a hand-worked solution: a path, or the text itself.

    >>> check("$$2 + 2 = 5$$").summary
    {'wrong': 1}
    """
    return read(source).check(None if against is None else read(against))


class ReadSheet(Sheet):
    """A sheet that can be solved and checked."""

    def solve(self) -> Solution:
        """Every problem, worked out."""
        return solve_sheet(self)

    def check(self, against: Sheet | None = None) -> CheckedReport:
        """Every equation, judged."""
        report = check_sheet(self, against)
        return CheckedReport(**{spec.name: getattr(report, spec.name) for spec in fields(report)})


class CheckedReport(Report):
    """A report that prints as text and shows itself in a notebook."""

    def __str__(self) -> str:
        from qkv.render.options import DEFAULT
        from qkv.render.targets import Target, reports

        return reports([self], DEFAULT, Target("text", 100))

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
