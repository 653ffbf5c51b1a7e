"""One practice sheet: a document and its key."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.trace import Table, Trace
from qkv.practice.document import Author, Placed
from qkv.practice.hand import BITS, Line, Slip, Style, Undecided, work_by_hand
from qkv.practice.pen import Dress
from qkv.practice.problems import unfolded
from qkv.practice.slips import Planter, is_written, plainly_off
from qkv.program.model import Program, Step
from qkv.regex import regex

R = Role
Cells = frozenset[tuple[int, int]]

_DECIMAL = regex(r"(?<![\d,])(?:0,\d{2,}|\d+,(?:\d\d|\d{4,}))(?![\d,])")  # no thousands, and no list of two


@dataclass(frozen=True, slots=True)
class Expected:
    """What a checker should say of one value; cells are (row, column) from 1.

    `verdict` is fine (right, rounded or drifted), carried or wrong. `wrong` cells are plainly wrong by a slip made
    here, `slipped` are all that the slip changed, `carried` are plainly false and follow from an earlier slip.
    """

    name: str
    line: int
    end_line: int
    verdict: str
    wrong: Cells = frozenset()
    slipped: Cells = frozenset()
    carried: Cells = frozenset()
    mistake: str | None = None
    whole: bool = True  # the value shows all of its step, not a row or a cell of it
    misfit: bool = False  # the value has another shape than it should, so that no cell can be told


@dataclass(frozen=True, slots=True)
class Question:
    """The problem without its working, and the value that it asks for."""

    text: str
    answer: Table


@dataclass(frozen=True, slots=True)
class Practice:
    """A document and its key, value by value in the order of the text."""

    text: str
    suffix: str
    key: tuple[Expected, ...]
    question: Question

    @property
    def slips(self) -> tuple[Expected, ...]:
        """The values where something went wrong first."""
        return tuple(expected for expected in self.key if expected.verdict == "wrong")


@dataclass(frozen=True)
class Draft:
    """A problem worked by hand, before it is written down: every dress gives a sheet with its key. `clean` are the
    lines without the slips, `worked` is the program with the steps as the author takes them."""

    program: Program
    worked: Program
    lines: tuple[Line, ...]
    clean: tuple[Line, ...]
    style: Style
    dress: Dress

    def written(self) -> Practice:
        """The sheet in this draft's dress."""
        author = Author(self.program, self.style, self.dress)
        text, placed = author.solution(self.lines)
        notation = self.dress.notations[0]
        if notation.point != "." and not _DECIMAL.search(text.replace("{,}", ",")):
            raise Undecided("nothing shows what a comma is")
        clean = {line.step.symbol: line for line in self.clean}
        trace = Trace(self.worked)
        assignment, asked = author.assignment()
        question = Question(assignment, trace.digits(asked, 8))
        return Practice(text, notation.suffix, tuple(_key(placed, clean, trace)), question)

    def dressed(self, **changes: Any) -> Draft:
        """The same draft in another dress."""
        return replace(self, dress=replace(self.dress, **changes))


def worked(
    program: Program, style: Style, dress: Dress, plant: Callable[[Planter], Mapping[Symbol, Slip]], rng: Random
) -> Draft:
    """A program worked by hand, with the slips that `plant` makes."""
    steps = unfolded(program) if R.OTHER in style.by_cell else program
    captions = bool(dress.language) and all(notation.captions for notation in dress.notations)
    planter = Planter(Trace(steps), style, rng, captions=captions)
    planted = plant(planter)
    lines = work_by_hand(steps, style, planted)
    if not all(is_written(line.shown) for line in lines if line.step.role is R.OTHER):
        raise Undecided("nobody writes such exponentials out")
    rounding = {symbol: slip for symbol, slip in planted.items() if slip == planter.cut}  # nothing follows from that
    return Draft(program, steps, lines, work_by_hand(steps, style, rounding) if planted else lines, style, dress)


def _misfit(placed: Placed) -> Expected:
    """What is due for a value of the wrong shape: no cell of it has a true value beside it."""
    line = placed.shown.line
    if placed.shown.chain.value != line.shown:
        raise Undecided("the shape of what is shown in parts cannot be seen")
    verdict = "wrong" if line.mistake else "carried"
    return Expected(line.step.spelled, placed.line, placed.end_line, verdict, mistake=line.mistake, misfit=True)


def _key(placed: tuple[Placed, ...], clean: dict[Symbol, Line], trace: Trace) -> Iterator[Expected]:
    """What a checker should say of each shown part, in order. A part counts as carried only if a quantity that it is
    worked out from is wrong or carried."""
    tainted: set[Symbol] = set()
    for part in placed:
        step = part.shown.line.step
        expected = _expected(part, clean[step.symbol], trace, bool(tainted & _operands(step, trace.program, clean)))
        if expected.verdict != "fine":
            tainted.add(step.symbol)
        yield expected


def _operands(step: Step, program: Program, shown: Container[Symbol]) -> set[Symbol]:
    """The quantities that a step is worked out from, as far as they are shown."""
    found: set[Symbol] = set()
    for symbol in n.names_in(step.expr):
        item = program.item(symbol)
        hidden = isinstance(item, Step) and symbol not in shown
        found |= _operands(item, program, shown) if hidden and isinstance(item, Step) else {symbol}
    return found


def _expected(placed: Placed, clean: Line, trace: Trace, may_carry: bool) -> Expected:
    """What is due for one shown part of a step."""
    line, part = placed.shown.line, placed.shown
    truth = trace.value(line.step.symbol, BITS)
    if (len(line.shown), len(line.shown[0])) != truth.shape:
        return _misfit(placed)
    cells = {(part.row + i, part.column + j) for i, row in enumerate(part.chain.value) for j in range(len(row))}
    off = {(i, j) for i, j in cells if plainly_off(line.shown[i][j], truth.rows[i][j])}
    wrong = {
        (i, j) for i, j in off & line.slipped if all(plainly_off(line.shown[i][j], w.rows[i][j]) for w in line.loose)
    }
    carried = {(i, j) for i, j in off - line.slipped if may_carry and line.shown[i][j] != clean.shown[i][j]}

    def here(chosen: set[tuple[int, int]]) -> Cells:
        return frozenset((i - part.row + 1, j - part.column + 1) for i, j in chosen)

    return Expected(
        line.step.spelled,
        placed.line,
        placed.end_line,
        "wrong" if wrong else "carried" if carried else "fine",
        here(wrong),
        here(cells & line.slipped),
        here(carried),
        line.mistake,
        len(part.chain.value) == len(line.shown) and len(part.chain.value[0]) == len(line.shown[0]),
    )
