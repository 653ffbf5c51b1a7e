"""A page → programs, one a problem: all that it gives, states or asks for, in an order that can be worked out."""

from __future__ import annotations

from dataclasses import replace

from qkv.interpret.cells import START_BITS, precision
from qkv.interpret.certified import Certified
from qkv.interpret.loop import evaluated
from qkv.interpret.trace import Trace
from qkv.judging.judge import Judged, judged
from qkv.program.model import Program
from qkv.reader.model import Sheet
from qkv.reading.reading import reading_of
from qkv.solution import Solution
from qkv.solving.advice import advice_for
from qkv.solving.answers import with_theory
from qkv.solving.around import operations, with_block, with_operations
from qkv.solving.exercises import with_exercises
from qkv.solving.families import rows_of
from qkv.solving.known import known_values
from qkv.solving.open_questions import with_open_questions
from qkv.solving.predicted import with_predictions
from qkv.solving.turned import with_changes
from qkv.solving.workings import Workings
from qkv.solving.writing import Writing
from qkv.theory.worked import answered

Programs = dict[int, Program]  # by the number of the problem


def solve_sheet(sheet: Sheet) -> Solution:
    """Every problem of a sheet worked out, and its theory questions answered."""
    document = judged(reading_of(sheet))
    return solution_of(document, programs_of(document))


def solution_of(judged: Judged, programs: Programs) -> Solution:
    """Every problem of a reading worked out by its program, and its theory questions answered."""
    sheet = judged.reading.sheet
    theory = list(answered(sheet))
    traces = [Trace(program) for program in (*with_theory(_workable(programs), theory), *theory)]
    ordered = tuple(sorted(traces, key=lambda trace: trace.program.line))
    advice = tuple(advice_for(judged, [trace.program for trace in traces], _programs_with))
    return Solution(ordered, sheet.file, sheet.unread, advice)


def _programs_with(sheet: Sheet) -> list[Program]:
    """The programs of a sheet to which something was added."""
    return _workable(programs_of(judged(reading_of(sheet))))


def programs_of(judged: Judged) -> Programs:
    """The program of each problem of a reading: what solving works out and what `understand` tells of."""
    with precision(START_BITS):
        return {scope: _program_of(judged, scope) for scope in judged.reading.page.scopes}


def _workable(programs: Programs) -> list[Program]:
    """The programs that give or ask for something, each without what has no value."""
    with precision(START_BITS):
        made = [_with_values(program) for program in programs.values()]
    return [program for program in made if program.givens or program.steps or program.answers]


def _with_values(program: Program) -> Program:
    """A program without the steps that have no value by themselves, and without those that stand on them."""
    known = known_values((*program.givens, *program.steps))
    answers = (
        replace(answer, parts=tuple(p for p in answer.parts if evaluated(p.expr, known, Certified()) is not None))
        for answer in program.answers
    )
    givens = tuple(given for given in program.givens if given.symbol in known)
    steps = tuple(step for step in program.steps if step.symbol in known)
    return replace(program, givens=givens, steps=(*steps, *rows_of(steps, known)), answers=tuple(answers))


def _program_of(judged: Judged, scope: int) -> Program:
    """The program of one problem of a reading."""
    system, page = judged.reading.system, judged.reading.page
    values, workings = judged.reading.values, Workings(judged.reading.values, judged.walk.copies)
    program = Writing(system, values, judged.judgements, workings, scope).program()
    program = with_changes(program, page, scope)
    listed = operations(page.sheet.lines, *page.lines_of(scope))
    worked = (j.equation.line for j in judged.judgements if j.equation.scope == scope and j.fit is not None)
    if not listed:
        program = with_block(program, system, scope, page.words_of(scope))
    elif max(worked, default=0) < listed[0].line:  # the page does not work them out itself
        program = with_operations(program, listed, system, scope)
    program = with_exercises(with_predictions(program, page, scope), page, scope)
    return with_open_questions(program, page, scope)
