"""READING → what a person asks about it: each quantity of a page, what it is taken for, and how that is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import plain, symbol_plain
from qkv.interpret.cells import START_BITS, precision
from qkv.interpret.fit import Shape
from qkv.judging.fit import Meaning
from qkv.judging.judge import Judged
from qkv.judging.walk import Judgement
from qkv.library.roles import SAID, Place, places
from qkv.program.model import Program, Step
from qkv.reader.model import Sheet
from qkv.reading.equation import Equation, Item, Kind
from qkv.reading.nameless import NAMELESS
from qkv.reading.naming import Known
from qkv.reading.page import Spot
from qkv.reading.reading import Reading
from qkv.solving.solve import Programs
from qkv.theory.worked import answered

MOST_RIVALS = 2  # other formulas that are listed


class Quantity(NamedTuple):
    """One quantity of a problem.

    name     as the page calls it, or the words before it      place     the role that it plays; None for plain algebra
    formula  what gives it; empty where it is given            role_by   how that role is known
    known    how one knows what it should be: given, stated, working, caption, defined, copy, named, worded, searched,
             library (worked out by the library alone) or unread; `says` is the same in words
    rivals   what it might be instead, in words or as formulas; a quantity without a name is called by its line, @6
    """

    name: str
    line: int | None
    shape: Shape | None
    place: Place | None
    role_by: Known
    formula: str
    known: str
    says: str
    rivals: tuple[str, ...] = ()


class Problem(NamedTuple):
    """One problem of a page: its program, what was chosen for it, and its quantities in the order of the page."""

    program: Program
    conventions: frozenset[str] = frozenset()
    quantities: tuple[Quantity, ...] = ()


@dataclass(frozen=True)
class Understood:
    """A sheet and the problems that were found in it."""

    sheet: Sheet
    problems: tuple[Problem, ...]
    zero_based: bool = False  # tokens and heads count from 0
    capitals_index: bool = False  # Q_1 is the query of token 1, not the queries of head 1


def understood_of(judged: Judged, programs: Programs) -> Understood:
    """How a reading understands its sheet, with the program of each problem."""
    reading, choices = judged.reading, judged.reading.choices
    with precision(START_BITS):
        problems = [_problem(judged, scope, program) for scope, program in programs.items()]
    found = [problem for problem in problems if problem.quantities]
    found += [Problem(program) for program in answered(reading.sheet)]
    found.sort(key=lambda problem: problem.program.line)
    return Understood(reading.sheet, tuple(found), choices.zero_based, choices.capitals_index)


def _problem(judged: Judged, scope: int, program: Program) -> Problem:
    reading = judged.reading
    printed = {j.equation.index: j for j in judged.judgements if j.item.kind is Kind.VALUE}
    rows = [
        quantity for equation in reading.page.equations if equation.scope == scope and not equation.struck
        for quantity in _quantities(equation, printed.get(equation.index), judged)
    ]  # fmt: skip
    rows += [_by_library(step) for step in program.steps if step.line is None]
    return Problem(program, reading.system.conventions(scope), tuple(rows))


# — what stands on the page —


def _quantities(equation: Equation, judgement: Judgement | None, judged: Judged) -> Iterator[Quantity]:
    """The quantities that an equation speaks of: its names, or one that has none."""
    if len(equation.items) == 1 and equation.items[0].kind is Kind.NAME:
        return
    reading = judged.reading
    formula, known, says = _known(equation, judgement, judged)
    for item in equation.of(Kind.NAME):
        assert isinstance(item.expr, n.Name)
        symbol = item.expr.symbol
        place, by = reading.system.place(symbol), reading.system.known_by(symbol)
        name = item.expr.spelled or symbol_plain(symbol)
        options = (option.role for option in places(symbol))
        others = _other_meanings(judgement, judged) if judgement else _other_roles(place, by, options)
        yield Quantity(name, item.line, _shape(equation, item, reading), place, by, formula, known, says, tuple(others))
    if not equation.names:
        role = reading.system.place(Symbol(NAMELESS, (), (str(equation.index),)))
        by = Known.WORDS if role is not None else Known.NOTHING
        shape = _shape(equation, equation.items[0], reading)
        suggested = reading.page.suggested.get(equation.index, ())
        others = _other_meanings(judgement, judged) if judgement else _other_roles(role, by, suggested)
        name = equation.label or f"@{equation.line}"
        yield Quantity(name, equation.line, shape, role, by, formula, known, says, tuple(others))


def _other_roles(place: Place | None, by: Known, options: Iterable[Role]) -> Iterator[str]:
    """What else a quantity may be for, where neither a formula nor the layout of the page leaves no choice."""
    if by not in (Known.STATED, Known.LAID_OUT):
        taken = place.role if place is not None else None
        yield from dict.fromkeys(f"the {SAID[role]}" for role in options if role is not taken and SAID.get(role))


def _other_meanings(judgement: Judgement, judged: Judged) -> Iterator[str]:
    """What else gives the printed numbers to all their digits."""
    if judgement.fit is None:
        return
    chosen = judgement.fit.meaning
    others = [fit.meaning for fit in judgement.rivals if fit.is_clean and fit.meaning.expr != chosen.expr]
    written = dict.fromkeys(_written(other, judged) for other in others)
    own = {_written(chosen, judged), *(symbol_plain(symbol) for symbol in judgement.equation.names)}
    yield from [formula for formula in written if formula not in own][:MOST_RIVALS]


def _written(meaning: Meaning, judged: Judged) -> str:
    return plain(judged.walk.scene(meaning.spot).as_written(meaning.expr))


def _known(equation: Equation, judgement: Judgement | None, judged: Judged) -> tuple[str, str, str]:
    """The formula for what an equation speaks of, and how it is known."""
    if judgement is not None:
        if judgement.fit is None:
            return "", "unread", "nothing says what this should equal"
        meaning = judgement.fit.meaning
        return _written(meaning, judged), meaning.how.name.lower(), meaning.how.value
    for item in equation.of(Kind.FORMULA, Kind.WORKING):
        return plain(item.expr), "stated", "a formula on the page"
    values = equation.of(Kind.VALUE)
    return ("", "given", "given") if values else (plain(equation.items[-1].expr), "stated", "a formula on the page")


def _shape(equation: Equation, item: Item, reading: Reading) -> Shape | None:
    """Rows and columns: as printed, else as worked out."""
    for value in equation.of(Kind.VALUE)[-1:]:
        return value.expr.shape if isinstance(value.expr, n.Matrix) else (1, 1)
    found = reading.values.true(item.expr, Spot(equation.scope, equation.line))
    return found.shape if found is not None else None


# — what the library adds —


def _by_library(step: Step) -> Quantity:
    place = Place(step.role, None if step.head is None else str(step.head))
    return Quantity(
        step.spelled or symbol_plain(step.symbol), None, None, place, Known.NOTHING, plain(step.expr),
        "library", "assumed, as usual",
    )  # fmt: skip
