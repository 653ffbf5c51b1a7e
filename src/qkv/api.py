"""What one can do: work a problem that is given by name (working.py), read a document, solve it, check it."""

from __future__ import annotations

from qkv.check.judge import check_sheet as judge_sheet
from qkv.check.model import Report
from qkv.interpret.trace import Trace
from qkv.sheet.limits import Limits
from qkv.sheet.model import Sheet
from qkv.sheet.read import read_sheet
from qkv.solution import Solution
from qkv.theory.worked import answered
from qkv.understand.problems import understand
from qkv.working import work as work


def read_source(text: str, file: str = "", limits: Limits | None = None) -> Sheet:
    """A document's text as a Sheet."""
    return read_sheet(text, file) if limits is None else read_sheet(text, file, limits)


def solve_sheet(sheet: Sheet) -> Solution:
    """Every problem of a sheet worked out, and its theory questions answered."""
    worked = [problem.trace for problem in understand(sheet) if problem.program.steps or problem.program.givens]
    told = [Trace(program) for program in answered(sheet)]
    traces = sorted((*worked, *told), key=lambda trace: trace.program.line)
    return Solution(tuple(traces), sheet.file, sheet.unread)


def check_sheet(sheet: Sheet, against: Sheet | None = None) -> Report:
    """Every equation of a sheet, judged."""
    return judge_sheet(sheet)
