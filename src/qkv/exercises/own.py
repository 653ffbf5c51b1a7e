"""TEMPLATE, SEED → an exercise on a teacher's own sheet, with good numbers in its blanks.

The sheet is read once, with numbers that stand nowhere else: that tells which cell of which given each blank is.
Numbers are then drawn into the worked program until they are good, and the finished sheet is read and solved once more
from its own text: what a learner is asked is what qkv makes of the page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from random import Random

from qkv.errors import Location, QkvError, ReadError, ValueRefused
from qkv.exercises.draw import PLACES
from qkv.exercises.good import Alike, NotGood, alike_in, questions_of
from qkv.exercises.model import Exercise, Own, Wanted
from qkv.exercises.template import Template
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.grading.asked import Assignment, assignment_of
from qkv.interpret.trace import Trace
from qkv.practice.hand import texts
from qkv.program.model import Given, Program, Step
from qkv.reader.read import read_sheet
from qkv.solution import Solution
from qkv.solving.solve import solve_sheet

TRIES = 5000
ANEW = 25  # so often all is drawn anew: what was good for one step may be what another fails at
FINE = 9  # decimals that show whether two results are the same for good
FIRST = 101  # the numbers that the blanks are known by begin here


def variant(template: Template, seed: int = 0, language: str = "en") -> Exercise:
    """The variant of a template with a seed; the same template and seed give the same exercise, bytes and all."""
    plan = plan_of(template)
    rng = Random(f"{template.pieces}/{template.numbers}/{seed}")
    why: Counter[str] = Counter()
    numbers = plan.drawn({}, plan.all_blanks, rng)
    for number in range(TRIES):
        again = plan.all_blanks
        try:
            made = plan.exercise(numbers, seed, language)
            if plan.is_read_so(made):
                return made
            why["the finished sheet is read otherwise"] += 1
        except NotGood as error:
            why[str(error)] += 1
            again = (number % ANEW and plan.behind(error.item.symbol)) or plan.all_blanks
        except QkvError as error:
            why[str(error)] += 1
        numbers = plan.drawn(numbers, again, rng)
    raise ValueRefused(_hopeless(template, why))


def _hopeless(template: Template, why: Counter[str]) -> str:
    reason, _ = why.most_common(1)[0]
    return (
        f"no good numbers were found in {TRIES} draws from {', '.join(dict.fromkeys(template.numbers))}; most often: "
        f"{reason}. Leave more blanks, or say other numbers: <!-- qkv: numbers -2, -1, 0, 1, 2, 3 -->"
    )


@lru_cache(maxsize=8)
def plan_of(template: Template) -> Plan:
    """A template read with a number of its own in each blank; one that asks for nothing is refused."""
    marks = [str(number) for number in _unused(template)]
    solution, assignment = _read(template.set(marks))
    if not assignment.sheet.questions:
        raise ReadError("it asks for nothing; write a question, such as: 1. Compute $Z = A V$. (2 points)")
    if not _is_asked(assignment):
        asked = assignment.sheet.questions[0]
        told = f"{asked.text.strip()!r} could not be worked out; say what is asked by its name: Compute $Z = A V$."
        raise ReadError(told, Location(asked.line))
    trace = _only(solution, assignment)
    places = max((answer.places for answer in trace.program.answers if answer.places is not None), default=PLACES)
    plan = Plan(template, trace.program, assignment, places, tuple(marks))
    for blank in plan.all_blanks - plan.cells.keys():
        told = "this blank is in nothing that is given; write NAME = [_, _; _, _] in a line of its own, or NAME = _"
        raise ReadError(told, Location(template.line_of(blank)))
    return plan


def _is_asked(assignment: Assignment) -> bool:
    """Whether some question names a quantity. If none does, the assignment takes the last quantity to be asked for."""
    if len(assignment.by_person) < len(assignment.sheet.questions):
        return True
    words = {word for question in assignment.by_person for word in re.findall(r"\w+", question.text)}
    return any(each.name in words for each in assignment.asked)


def _unused(template: Template) -> list[int]:
    """Whole numbers that do not stand in the text, one for each blank."""
    text, found, number = "".join(template.pieces), list[int](), FIRST
    while len(found) < template.blanks:
        found += [number] * (str(number) not in text)
        number += 1
    return found


def _read(text: str) -> tuple[Solution, Assignment]:
    sheet = read_sheet(text)
    solution = solve_sheet(sheet)
    return solution, assignment_of(sheet, solution)


def _only(solution: Solution, assignment: Assignment) -> Trace:
    """The problem that everything is asked of."""
    symbols = {each.known.symbol for each in assignment.asked}
    found = [trace for trace in solution.traces if symbols & {step.symbol for step in trace.program.steps}]
    if len(found) != 1:
        raise ReadError(f"there are {len(found)} problems in it; make a template of each")
    return found[0]


@dataclass(frozen=True)
class Plan:
    """A template that has been read: its program with a number of its own (`marks`) for each blank."""

    template: Template
    whole: Program
    assignment: Assignment
    places: int
    marks: tuple[str, ...]

    @property
    def all_blanks(self) -> frozenset[int]:
        """Every blank, by its number."""
        return frozenset(range(len(self.marks)))

    @cached_property
    def program(self) -> Program:
        """What leads to something that is asked for."""
        asked = {each.known.symbol for each in self.assignment.asked}
        needed = asked.union(*(self.needs[symbol] for symbol in asked))
        givens = tuple(given for given in self.whole.givens if given.symbol in needed)
        return replace(self.whole, givens=givens, steps=tuple(s for s in self.whole.steps if s.symbol in needed))

    @cached_property
    def needs(self) -> dict[Symbol, frozenset[Symbol]]:
        """All that each quantity stands on."""
        found: dict[Symbol, frozenset[Symbol]] = {}
        items: tuple[Given | Step, ...] = (*self.whole.givens, *self.whole.steps)
        for item in items:
            used = [symbol for symbol in n.names_in(item.expr) if symbol in found]
            found[item.symbol] = frozenset(used).union(*(found[symbol] for symbol in used))
        return found

    @cached_property
    def cells(self) -> dict[int, Symbol]:
        """The given in which each blank stands."""
        by_mark = {Fraction(mark): blank for blank, mark in enumerate(self.marks)}
        return {
            by_mark[part.value]: given.symbol
            for given in self.whole.givens
            for part in n.walk(given.expr)
            if isinstance(part, n.Number) and part.value in by_mark
        }

    def drawn(self, before: Mapping[int, str], which: frozenset[int], rng: Random) -> dict[int, str]:
        """Numbers for all blanks, some of them drawn anew."""
        return {
            blank: rng.choice(self.template.numbers) if blank in which else before[blank]
            for blank in sorted(self.all_blanks)
        }

    def behind(self, symbol: Symbol) -> frozenset[int]:
        """The blanks to draw anew when the numbers of a step are not good: those that the step depends on, without
        those of weights before it, which were good. Of two heads, only the blanks of the second are drawn anew."""
        if symbol in self.cells.values():
            return frozenset(blank for blank, given in self.cells.items() if given == symbol)
        weights = [step.symbol for step in self.program.steps if step.role is Role.WEIGHTS]
        settled = weights[: weights.index(symbol)] if symbol in weights else weights
        free = self.needs[symbol].difference(*(self.needs[each] for each in settled))
        return frozenset(blank for blank, given in self.cells.items() if given in free)

    def exercise(self, numbers: Mapping[int, str], seed: int, language: str) -> Exercise:
        """The exercise with these numbers, if they are good."""
        drawn = [numbers[blank] for blank in range(len(self.marks))]
        program = self._with(drawn)
        for given in program.givens:
            if given.symbol in self.cells.values() and _has_empty_line(given):
                raise NotGood("a row or a column has only zeros", given)
        questions = questions_of(Trace(program), self.wanted, self.places, self.alike)
        sheet = self.template
        own = Own(sheet.set(drawn), sheet.filled(drawn), sheet.source, sheet.stem)
        return Exercise(program.kind, 0, seed, language, self.places, program, questions, own)

    def _with(self, drawn: list[str]) -> Program:
        """The program with numbers in the place of its marks."""
        by_mark = dict(zip(map(Fraction, self.marks), map(_number, drawn), strict=True))

        def put_in(part: n.Expr) -> n.Expr:
            if isinstance(part, n.Matrix):
                return replace(part, rows=tuple(tuple(map(put_in, row)) for row in part.rows))
            return by_mark.get(part.value, part) if isinstance(part, n.Number) else part

        givens = (replace(given, expr=n.rewrite(given.expr, put_in)) for given in self.program.givens)
        return replace(self.program, givens=tuple(givens))

    @cached_property
    def wanted(self) -> tuple[Wanted, ...]:
        """The steps that are asked for."""
        steps = {step.symbol: step for step in self.program.steps}
        return tuple(Wanted(each.label, steps[each.known.symbol], each.points) for each in self.assignment.asked)

    @cached_property
    def alike(self) -> Alike:
        """Mistakes that come to the same on this sheet: they do so with numbers that have nothing in common."""
        rng = Random(0)
        return alike_in(Trace(self._with([f"0.{rng.randrange(1000, 9999)}" for _ in self.marks])), self.wanted, FINE)

    def is_read_so(self, made: Exercise) -> bool:
        """Whether the finished sheet, read from its own text, gives the same answers."""
        assert made.own is not None
        _, assignment = _read(made.own.text)
        answers = {q.step.symbol: q.answer for q in made.questions}
        found = {each.known.symbol: texts(each.known.value, self.places) for each in assignment.asked}
        return found == answers


def _has_empty_line(given: Given) -> bool:
    """Whether a given matrix has a row or a column of zeros, with which a whole line of every product is lost."""
    if not isinstance(given.expr, n.Matrix) or given.expr.is_ragged:
        return False
    rows = [[isinstance(cell, n.Number) and not cell.value for cell in row] for row in given.expr.rows]
    lines = [*rows, *zip(*rows, strict=True)]
    return any(len(line) > 1 and all(line) for line in lines)


def _number(text: str) -> n.Number:
    return n.number(Fraction(text) if "/" in text else text)
