"""A file that holds several documents: each is read by itself, as if the others were not there.

A chapter begins at a heading of the first level. It stands by itself if it gives inputs of its own and uses no name
that only another chapter defines. Queries and keys are inputs where something is asked about them; elsewhere, and in a
solution, they may be steps. All others go on from the chapter before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.library.roles import places
from qkv.library.words import head_said, pattern
from qkv.reader.limits import Limits
from qkv.reader.model import Sheet
from qkv.reader.read import read_sheet
from qkv.reading.equation import Equation, Kind
from qkv.reading.equations import equations
from qkv.reading.page import wholes

TOKENS = frozenset({Role.X, Role.Y, Role.STATES, Role.SOURCE})
INPUTS = TOKENS | {Role.Q, Role.K}
_SOLUTION = re.compile(rf"\b(?:{pattern('solution')}|{pattern('answer')})\b", re.IGNORECASE)
_ONLY_SOLUTION = re.compile(rf"[\W_]*(?:{pattern('solution')})(?:\s+\d{{1,2}})?[\W_]*", re.IGNORECASE)
_LARGE = 40_000  # characters: a book is read as one, so that it is read once


def chapters(sheet: Sheet) -> tuple[Sheet, ...]:
    """The documents that a sheet is made of, each with the lines of the file; the sheet itself where it is one."""
    starts = _starts(sheet)
    if len(starts) < 2 or len(sheet.text) > _LARGE:
        return (sheet,)
    made = [equation for equation in equations(sheet) if not equation.struck]
    ends = [*(start - 1 for start in starts[1:]), len(sheet.lines)]
    spans = list(zip(starts, ends, strict=True))
    groups: list[tuple[int, int]] = []
    for first, last in spans:
        here = [equation for equation in made if first <= equation.line <= last]
        others = [equation for equation in made if not first <= equation.line <= last]
        asks = any(first <= question.line <= last for question in sheet.questions)
        wanted = INPUTS if asks and not _SOLUTION.search(sheet.lines[first - 1]) else TOKENS
        begun = bool(groups) and any(equation.line < first for equation in made)
        goes_on = _ONLY_SOLUTION.fullmatch(sheet.lines[first - 1]) or not begun
        if groups and (goes_on or not _stands_alone(here, others, wanted)):
            groups[-1] = groups[-1][0], last
        else:
            groups.append((first, last))
    return tuple(_alone(sheet, *group) for group in groups) if len(groups) > 1 else (sheet,)


def _starts(sheet: Sheet) -> list[int]:
    """The first line, and the lines of the headings of the first level."""
    titled = [part for part in sheet.parts if part.title and head_said(part.title) is None]  # heads are of one model
    top = min((part.level for part in titled), default=1)
    return sorted({1, *(part.line for part in titled if part.level == top)})


def _stands_alone(here: list[Equation], others: list[Equation], wanted: frozenset[Role]) -> bool:
    """Whether some equations give inputs of their own and use nothing that only others define."""
    given = set(_given(here))
    roles = {place.role for symbol in given for place in places(symbol)[:1]}
    if not given or (roles and not roles & wanted):
        return False
    return not (_used(here) - _defined(here)) & _defined(others)


def _given(made: list[Equation]) -> Iterator[Symbol]:
    for equation in made:
        if equation.names and not equation.of(Kind.FORMULA, Kind.WORKING):
            yield from equation.names


def _defined(made: list[Equation]) -> set[Symbol]:
    """The names that some equations define, and what names with a number are rows of: X of x_1."""
    names = {symbol for equation in made for symbol in equation.names if len(equation.items) > 1}
    return names | set(wholes(names))


def _used(made: list[Equation]) -> set[Symbol]:
    formulas = (item.expr for equation in made for item in equation.of(Kind.FORMULA))
    return {symbol for formula in formulas for symbol in n.names_in(formula)}


def _alone(sheet: Sheet, first: int, last: int) -> Sheet:
    """Some lines of a sheet as a sheet; all other lines are blank, so that places stay."""
    lines = [line if first <= number <= last else "" for number, line in enumerate(sheet.lines, 1)]
    part = read_sheet("\n".join(lines), sheet.file, Limits())
    told = (statement for statement in sheet.told if not statement.at.line)  # on the command line: it holds everywhere
    asked = (question for question in sheet.questions if not question.line)
    return replace(part, told=(*told, *part.told), questions=(*part.questions, *asked))
