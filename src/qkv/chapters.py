"""A file that holds several documents: each is read by itself, as if the others were not there.

A chapter begins at a heading of the first level, or where several matrices are given anew with other numbers. It stands
by itself if it gives inputs of its own and uses no name that only another chapter defines. Inputs are tokens, what is
given anew, and queries and keys where something is asked about them; elsewhere, and in a solution, those may be steps.
All others go on from the chapter before, and so does '2) Forward pass', unless it gives again what was given above.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise, takewhile
from operator import attrgetter, itemgetter

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.library.roles import places, role_in_caption
from qkv.library.words import head_said, pattern
from qkv.reader.limits import Limits
from qkv.reader.model import Sheet
from qkv.reader.read import read_sheet
from qkv.reading.equation import Equation, Kind, wholes
from qkv.reading.equations import equations
from qkv.regex import regex

TOKENS = frozenset({Role.X, Role.Y, Role.STATES, Role.SOURCE})
INPUTS = TOKENS | {Role.Q, Role.K}
RESULTS = frozenset({Role.HEAD, Role.CONCAT, Role.OUTPUT, Role.CONTEXT})  # no document begins with them
STEPS = RESULTS | {Role.SCORES, Role.SCALED, Role.MASKED, Role.WEIGHTS}  # of new inputs they are new themselves
SIZED = frozenset({Role.D_K, Role.D_V, Role.D_MODEL})  # what matrices say themselves
_SOLUTION = regex(rf"\b(?:{pattern('solution')}|{pattern('answer')})\b", re.IGNORECASE)
_ONLY_SOLUTION = regex(rf"[\W_]*(?:{pattern('solution')})(?:\s+\d{{1,2}})?[\W_]*", re.IGNORECASE)
_LATER_STEP = regex(rf"\W*(?:(?:{pattern('step')})\W*)?(?!1\b)\d{{1,2}}\s*[.):：–—-]", re.IGNORECASE)
_NOWHERE = sys.maxsize
_Place = tuple[int, int]  # line and column


def chapters(sheet: Sheet) -> tuple[Sheet, ...]:
    """The documents that a sheet is made of, each with the lines of the file; the sheet itself where it is one."""
    outline = _Outline(sheet, _equations(sheet))
    headings = _headings(sheet)
    starts = sorted(headings | set(_given_anew(outline, headings)))
    if len(starts) < 2:
        return (sheet,)
    ends = [*(start - 1 for start in starts[1:]), len(sheet.source_lines)]
    groups: list[tuple[int, int]] = []
    titles = {part.line: part.title for part in sheet.parts}
    for first, last in zip(starts, ends, strict=True):
        begun = bool(groups) and outline.first_array < first
        goes_on = _ONLY_SOLUTION.fullmatch(titles.get(first) or sheet.source_lines[first - 1]) or not begun
        if groups and (goes_on or not _is_own(outline, first, last)):
            groups[-1] = groups[-1][0], last
        else:
            groups.append((first, last))
    return tuple(_alone(sheet, *group) for group in groups) if len(groups) > 1 else (sheet,)


class _Outline:
    """The equations of a sheet in their order, and what has to be known of all of them. Looking something up takes as
    long for a book as for a page, so that the work grows with the length of a file."""

    def __init__(self, sheet: Sheet, made: list[Equation]) -> None:
        self.sheet = sheet
        self.made = sorted((equation for equation in made if equation.line), key=_at)  # told beside: no line
        self.defined = _defined(self.made)
        self.first_array = next((equation.line for equation in self.made if _has_array(equation)), _NOWHERE)
        self.formulas = [equation for equation in self.made if equation.of(Kind.FORMULA)]
        self.worked: dict[Symbol, _Place] = {}  # where a formula first works a name out
        for equation in self.formulas:
            for symbol in equation.names:
                self.worked.setdefault(symbol, _at(equation))
        self.printed: dict[Symbol, list[tuple[_Place, n.Matrix]]] = defaultdict(list)
        for equation in self.made:
            for symbol, matrix in _matrices([equation]):
                self.printed[symbol].append((_at(equation), matrix))

    def between(self, first: int, last: int) -> list[Equation]:
        """The equations of some lines."""
        begin = bisect_left(self.made, first, key=_line)
        return self.made[begin : bisect_right(self.made, last, key=_line)]

    def formula_below(self, place: _Place) -> list[Equation]:
        """The first formula after a place, if there is one."""
        at = bisect_right(self.formulas, place, key=_at)
        return self.formulas[at : at + 1]

    def beside(self, symbol: Symbol, begin: _Place, end: _Place) -> Iterator[n.Matrix]:
        """What a name was printed as last before a place, and first after another."""
        printed = self.printed.get(symbol, [])
        before, after = bisect_left(printed, begin, key=_place), bisect_right(printed, end, key=_place)
        yield from (matrix for _, matrix in (*printed[max(before - 1, 0) : before], *printed[after : after + 1]))


def _equations(sheet: Sheet) -> list[Equation]:
    return [equation for equation in equations(sheet) if not equation.struck]


def _is_own(outline: _Outline, first: int, last: int) -> bool:
    """Whether some lines are a document of their own: they give inputs, and use no name that only others define."""
    sheet, here = outline.sheet, outline.between(first, last)
    title = next((part.title for part in sheet.parts if part.line == first and part.title), "")
    if _LATER_STEP.match(title) and set(_given(here)).isdisjoint(_given(outline.between(1, first - 1))):
        return False
    told = SIZED | STEPS if _gives_anew(here, outline) else SIZED
    missing = {symbol for symbol in _missing(here, outline) if _role(symbol) not in told}
    if any(len(symbol.base) > 1 for symbol in missing):  # a word is a name only where the page makes it one
        missing = _missing(_equations(_alone(sheet, first, last)), outline)
    roles = {*map(_role, _given(here)), *_captioned(here)}
    if missing or roles <= RESULTS:
        return False
    asks = any(first <= question.line <= last for question in sheet.questions)
    wanted = INPUTS if asks and not _SOLUTION.search(sheet.source_lines[first - 1]) else TOKENS
    roles.discard(None)
    titled = any(part.line == first and part.level == 1 for part in sheet.parts if part.title)
    return not roles or bool(roles & wanted) or _gives_anew(here, outline) or (titled and _begins(here, outline))


def _missing(here: list[Equation], outline: _Outline) -> set[Symbol]:
    """The names that some equations use and only others define."""
    return (_used(here) - _defined(here)) & outline.defined


def _begins(here: list[Equation], outline: _Outline) -> bool:
    """Whether the first givens stand before all formulas, and are what the first formula is about."""
    run = next(_runs_of_givens(here), None)
    if run is None:
        return False
    return not any(e.of(Kind.FORMULA) and _at(e) < _at(run[0]) for e in here) and _opens(run, outline)


def _headings(sheet: Sheet) -> set[int]:
    """The first line, and the lines of the headings of the first level."""
    titled = [part for part in sheet.parts if part.title and head_said(part.title) is None]  # heads are of one model
    top = min((part.level for part in titled), default=1)
    return {1, *(part.line for part in titled if part.level == top)}


def _given_anew(outline: _Outline, headings: set[int]) -> Iterator[int]:
    """The lines where givens begin once more: several matrices get other numbers than they had, or tokens are given
    with other arrays after something was worked out from the tokens above."""
    held: dict[Symbol, n.Matrix] = {}
    above, rest = _Above(), iter(outline.made)
    for run in _runs_of_givens(outline.made, headings):
        for equation in takewhile(lambda equation: equation is not run[0], rest):  # noqa: B023  (used at once)
            above.add(equation)
        matrices = dict(_matrices(run))
        again = [symbol for symbol, matrix in matrices.items() if _is_other(matrix, held.get(symbol))]
        if len(again) > 1 or (above.has_other_tokens(run) and _opens(run, outline)):
            yield _first_after_the_gap(outline.sheet, above.last_number, run[0].line)
            held = {}
        held |= matrices
        above.add(run[0])


class _Above:
    """What stands above a run of givens."""

    def __init__(self) -> None:
        self.last_number = 0  # the last line with numbers: formulas behind it may belong to what is below
        self._tokens: set[Symbol] = set()
        self._rows: set[tuple[object, ...]] = set()
        self._used: set[Symbol] = set()

    def add(self, equation: Equation) -> None:
        """Go on below an equation."""
        if equation.of(Kind.WORKING, Kind.VALUE):
            self.last_number = max(self.last_number, equation.end_line)
        if any(True for _ in _token_rows([equation])):
            given = set(_given([equation]))
            self._tokens |= given | set(wholes(given))
        self._rows.update(row for item in equation.items for row in _rows(item.expr))
        self._used |= _used([equation])

    def has_other_tokens(self, run: list[Equation]) -> bool:
        """Whether tokens are given that are no rows of arrays above, where something was worked out from the tokens."""
        return not self._used.isdisjoint(self._tokens) and any(row not in self._rows for row in _token_rows(run))


def _token_rows(made: list[Equation]) -> Iterator[tuple[object, ...]]:
    """The rows of the arrays that are given for tokens."""
    for equation in made:
        if {_role(symbol) for symbol in _given([equation])} & TOKENS:
            yield from (row for item in equation.items for row in _rows(item.expr))


def _rows(expr: n.Expr) -> Iterator[tuple[object, ...]]:
    """The rows of a printed array, and its numbers as one where it is a column; 2 and 2.0 are the same."""
    if isinstance(expr, n.Matrix):
        rows = [tuple(cell.value if isinstance(cell, n.Number) else cell for cell in row) for row in expr.rows]
        yield from rows if len(rows[0]) > 1 else [tuple(cell for row in rows for cell in row)]


def _opens(run: list[Equation], outline: _Outline) -> bool:
    """Whether a run gives several arrays that are no steps of what is above, and the formula below is about them."""
    begin = _at(run[0])
    anew = _anew(run, outline, (_NOWHERE, 0))
    below = outline.formula_below(_at(run[-1]))

    def is_step(symbol: Symbol) -> bool:
        return symbol not in anew and outline.worked.get(symbol, begin) < begin

    arrays = [equation for equation in run if _has_array(equation) and not any(map(is_step, equation.names))]
    used = _used(below)
    used |= {symbol._replace(indices=symbol.indices[:-1]) for symbol in used}  # f_i = P_i - Q_i is about P and Q
    return len(arrays) > 1 and (not below or not used.isdisjoint(_defined(run)))


def _runs_of_givens(made: list[Equation], headings: Iterable[int] = ()) -> Iterator[list[Equation]]:
    """Givens that nothing is worked out between; a heading or a name that is given again begins another run."""
    run: list[Equation] = []
    for equation in made:
        names = {symbol for other in run for symbol in other.names}
        ended = equation.of(Kind.FORMULA, Kind.WORKING) or names & set(equation.names)
        if run and (ended or any(run[-1].line < heading <= equation.line for heading in headings)):
            yield run
            run = []
        if equation.names and not equation.of(Kind.FORMULA, Kind.WORKING):
            run.append(equation)
    if run:
        yield run


def _matrices(made: list[Equation]) -> Iterator[tuple[Symbol, n.Matrix]]:
    """The matrices that some equations print, each with its name: not vectors, which may be any row in turn."""
    for equation in made:
        for item in equation.of(Kind.VALUE)[-1:]:
            if isinstance(item.expr, n.Matrix) and min(len(item.expr.rows), len(item.expr.rows[0])) > 1:
                yield from ((symbol, item.expr) for symbol in equation.names)


def _is_other(matrix: n.Matrix, before: n.Matrix | None) -> bool:
    """Whether a matrix has another shape than one before, or shares few of its numbers."""
    if before is None:
        return False
    one, other = tuple(_rows(matrix)), tuple(_rows(before))
    if [len(row) for row in one] != [len(row) for row in other]:
        return True
    same = [a == b for rows in zip(one, other, strict=True) for a, b in zip(*rows, strict=True)]
    return 2 * sum(same) <= len(same)


def _first_after_the_gap(sheet: Sheet, above: int, below: int) -> int:
    """The line after most blank lines between two lines, or after a heading's."""
    titles = [part.line for part in sheet.parts if part.title and above < part.line <= below]
    if titles:
        return titles[0]
    written = [above, *(number for number in range(above + 1, below) if sheet.source_lines[number - 1].strip()), below]
    return max(pairwise(written), key=lambda pair: pair[1] - pair[0])[1]


def _role(symbol: Symbol) -> Role | None:
    return next((place.role for place in places(symbol)), None)


def _has_array(equation: Equation) -> bool:
    return any(isinstance(item.expr, n.Matrix) for item in equation.items)


def _at(equation: Equation) -> _Place:
    return equation.line, equation.column


_line, _place = attrgetter("line"), itemgetter(0)


def _anew(here: list[Equation], outline: _Outline, end: _Place) -> set[Symbol]:
    """The names of matrices that are given other numbers than above some equations, and below a place."""
    given = _matrices([equation for equation in here if not equation.of(Kind.FORMULA, Kind.WORKING)])
    return {
        symbol
        for symbol, matrix in given
        if {True} == {_is_other(matrix, other) for other in outline.beside(symbol, _at(here[0]), end)}
    }


def _gives_anew(here: list[Equation], outline: _Outline) -> bool:
    """Whether queries, keys or tokens are among several matrices that get other numbers than elsewhere."""
    anew = _anew(here, outline, _at(here[-1])) if here else set()
    return len(anew) > 1 and any(_role(symbol) in INPUTS for symbol in anew)


def _captioned(made: list[Equation]) -> Iterator[Role]:
    """The roles that captions give to arrays without a name: the column 'Query' of a table."""
    for equation in made:
        role = None if len(equation.items) > 1 or not _has_array(equation) else role_in_caption(equation.label)
        yield from () if role is None else (role,)


def _given(made: list[Equation]) -> Iterator[Symbol]:
    """The names that are given by numbers alone, but for p = [..] where p_1 = 0.3 + 0.2 and others are worked out."""
    worked = _defined([equation for equation in made if equation.of(Kind.WORKING)])
    for equation in made:
        if not equation.of(Kind.FORMULA, Kind.WORKING):
            yield from (symbol for symbol in equation.names if symbol not in worked)


def _defined(made: list[Equation]) -> set[Symbol]:
    """The names that some equations define, and what names with a number are rows of: X of x_1, amber of amber_1."""
    names = {symbol for equation in made for symbol in equation.names if len(equation.items) > 1}
    return names | set(wholes(names)) | {symbol._replace(indices=symbol.indices[:-1]) for symbol in names}


def _used(made: list[Equation]) -> set[Symbol]:
    formulas = (item.expr for equation in made for item in equation.of(Kind.FORMULA))
    return {symbol for formula in formulas for symbol in n.names_in(formula)}


def _alone(sheet: Sheet, first: int, last: int) -> Sheet:
    """Some lines of a sheet as a sheet; the lines above are blank, so that places stay."""
    text = "\n" * (first - 1) + "\n".join(sheet.source_lines[first - 1 : last])
    part = read_sheet(text, sheet.file if sheet.source == sheet.text else "", Limits())  # cells are no notebook
    told = (statement for statement in sheet.told if not statement.at.line)  # on the command line: it holds everywhere
    asked = (question for question in sheet.questions if not question.line)
    return replace(part, file=sheet.file, told=(*told, *part.told), questions=(*part.questions, *asked))
