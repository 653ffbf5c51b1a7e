"""One problem while its program is written: what the page gives, states and asks for, each after what it stands on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

from qkv.check.model import Verdict
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import symbol_plain
from qkv.interpret.certified import same
from qkv.judging.fit import How
from qkv.judging.walk import Judgement
from qkv.library.roles import Place
from qkv.library.words import pattern
from qkv.program.kinds import SAYS
from qkv.program.model import Given, Program, Step
from qkv.program.spec import default_symbol
from qkv.reading.asked import asked_formulas, questions_of
from qkv.reading.choose import END
from qkv.reading.claimed import DERIVED
from qkv.reading.definitions import Source, has_decimals
from qkv.reading.equation import Equation, Kind
from qkv.reading.holding import AFTER_Q, ATTENDING
from qkv.reading.nameless import NAMELESS
from qkv.reading.naming import ROLE, SIZED, role_symbol
from qkv.reading.page import Page, Spot
from qkv.reading.proposed import offers_of
from qkv.reading.system import System
from qkv.reading.values import Values
from qkv.reading.within import function_in
from qkv.regex import regex
from qkv.solving.answers import answers_of
from qkv.solving.kinds import arrays_taken, kind_of, notes_of
from qkv.solving.parts import calls_in, in_parts
from qkv.solving.supposed import AFTER, supposed
from qkv.solving.wanted import items
from qkv.solving.workings import Option, Workings, is_usual

FOUND = frozenset({How.NAMED, How.SEARCHED})  # ways of knowing that hold for what is exactly so
EXACT = frozenset({Verdict.RIGHT, Verdict.ROUNDED, Verdict.CARRIED})  # nothing was miscalculated here
ATTENDING_SAID = regex(
    rf"{pattern('attention')}|quer(?:y|ies)|keys?\b|soft-?max|attn|q\s*k|查询|クエリ|쿼리|запрос|abfrage|consulta|requête",
    re.IGNORECASE,
)
MOST_ANEW = 4  # times that a problem is worked out for inputs that are given anew


@dataclass
class Writing:
    """One problem while its program is being written: a step is added after everything that it stands on."""

    system: System
    values: Values
    judged: tuple[Judgement, ...]
    workings: Workings
    scope: int
    givens: dict[Symbol, Given] = field(default_factory=dict)
    steps: dict[Symbol, Step] = field(default_factory=dict)
    written: dict[tuple[Symbol, int, int], Symbol] = field(
        default_factory=dict
    )  # names of the page → names of the program
    busy: set[tuple[Symbol, int, int]] = field(
        default_factory=set
    )  # names that are being written: a circle has no step
    beside: str = ""  # what sets it apart from the method of the page

    def program(self) -> Program:
        """The program of the problem."""
        equations = [e for e in self.page.equations if e.scope == self.scope]
        for symbol, line in self._stated(equations):
            self._write(symbol, Spot(self.scope, line))
        last, conventions = Spot(self.scope, END), self.system.conventions(self.scope)
        for spot in (*self._given_anew(), last):
            for role, head in self._asked_roles(spot, conventions):
                self._write(role_symbol(role, head), spot)
        for judgement in self.judged:
            equation, meaning = judgement.equation, judgement.fit.meaning if judgement.fit is not None else None
            if equation.scope == self.scope and not equation.names and meaning is not None and meaning.names:
                self.add_step(equation.label, meaning.whole, meaning.spot, Role.OTHER, None, equation.line)
        for question in questions_of(self.page, self.scope):
            if isinstance(question.expr, n.Name):
                self._write(question.expr.symbol, last)
        for name, expr in asked_formulas(self.page, self.scope):
            self.add_step(name, self.system.meant(expr, self.scope), last, Role.OTHER, None, None)
        for words, system, values in supposed(self.values, self.scope):
            beside = Writing(system, values, (), self.workings, self.scope, self.givens, self.steps, beside=words)
            for head in (None, *system.heads_in(self.scope)):
                for role in AFTER if "scaled" in system.conventions(self.scope) else AFTER[1:]:
                    beside._write(role_symbol(role, head), last)
        title, line = self._heading(equations)
        kind = kind_of(self.givens.values(), self.steps.values(), conventions)
        used = frozenset(j.equation.index for j in self.judged if j.fit is not None)
        top, bottom = self.page.lines_of(self.scope)
        idle = [offer for offer in offers_of(self.values, used) if top <= offer.line <= bottom]
        notes = (
            *notes_of(self.page.words, kind, conventions, self.givens.values(), self.steps.values(), idle),
            *arrays_taken(self.page, self.system.choices.arrays, self.scope),
        )
        answers = tuple(answers_of(self, items(list(questions_of(self.page, self.scope))), notes))
        givens, steps = tuple(self.givens.values()), tuple(self.steps.values())
        return Program(
            kind, givens, steps, tuple(note.says for note in notes), title, line, "columns" in conventions, answers
        )

    def _given_anew(self) -> Iterator[Spot]:
        """The places before inputs are given other values in the same problem: 'Now W_V = 2 I'."""
        lines = set()
        for symbol, definitions in self.page.definitions.items():
            place = self.system.place(symbol)
            here = [d for d in definitions if d.scope == self.scope and d.equation not in self.system.choices.claimed]
            if place is not None and place.role in ATTENDING and place.role not in DERIVED:
                lines |= {d.line - 1 for above, d in pairwise(here) if above.expr != d.expr}
        yield from (Spot(self.scope, line) for line in sorted(lines)[:MOST_ANEW])

    def _asked_roles(self, spot: Spot, conventions: frozenset[str]) -> Iterator[tuple[Role, str | None]]:
        """What attention works out and the problem has no name for; where heads are cut, the whole has no scores."""
        heads = self.system.heads_in(self.scope)
        if not self._attends:
            return
        cut = bool(heads) and self.values.role(Role.HEAD, heads[0], spot) is not None
        for head in (*heads, None):  # heads first, so that the steps of each stand in their usual order
            for role in DERIVED:
                whole = cut and head is None and role in AFTER_Q and role is not Role.OUTPUT
                unwanted = role is Role.SCALED and "unscaled" in conventions
                if not whole and not unwanted and not self.system.holders(role, head, self.scope):
                    yield role, head

    @cached_property
    def _attends(self) -> bool:
        """Whether attention may be meant: numbers of a page about norms or losses do not attend to each other."""
        plain = "plain" in self.system.conventions(self.scope) and not self.system.heads_in(self.scope)
        formulas = (item.expr for equation in self.page.equations for item in equation.items)
        return not plain or ATTENDING_SAID.search(self.page.words) is not None or any(map(_is_shared, formulas))

    @property
    def page(self) -> Page:
        """The page that the problem stands on."""
        return self.system.page

    def _heading(self, equations: list[Equation]) -> tuple[str, int]:
        if not equations:
            return "", 1
        part = self.page.sheet.parts[equations[0].part]
        return part.title, part.line if part.title else equations[0].line

    def _stated(self, equations: list[Equation]) -> Iterator[tuple[Symbol, int]]:
        """The names that equations define, givens first; formulas without a name get one of their own."""
        numbered = [(symbol, e.line) for e in equations if not e.struck for symbol in e.names]
        numbered += [
            (s, e.line) for e in equations if self.system.place(s := Symbol(NAMELESS, (), (str(e.index),))) is not None
        ]
        given = {d.symbol for ds in self.page.definitions.values() for d in ds if d.source is Source.GIVEN}
        yield from ((s, line) for s, line in numbered if s in given)
        yield from ((s, line) for s, line in numbered if s not in given)
        for equation in equations:
            if not equation.names and not equation.struck:
                self._work_nameless(equation)

    def _work_nameless(self, equation: Equation) -> None:
        """A step for a formula that has no name, or for numbers that are calculated with: 512² + 512 = 262,656."""
        spot = Spot(self.scope, equation.line)
        function = function_in(equation)
        if function is not None and self.page.definitions.keys().isdisjoint(function[1].parameters):
            return  # FFN(x) = … says what FFN does with any x
        workings = equation.of(Kind.WORKING) if equation.of(Kind.VALUE) else ()
        if not equation.of(Kind.VALUE, Kind.FORMULA) and equation.label:  # a calculation that the page leaves open
            for item in equation.of(Kind.WORKING)[:1]:
                self.add_step(equation.label, item.expr, spot, Role.OTHER, None, equation.line)
        softmax = [item for item in equation.of(Kind.WORKING) if isinstance(item.expr, n.Softmax)]
        for item in (*equation.of(Kind.FORMULA)[:1], *softmax[:1], *workings[:1]):
            if isinstance(item.expr, n.Entry):  # softmax(z)_2 is shown with all of softmax(z)
                self.add_step(None, item.expr.arg, spot, Role.OTHER, None, equation.line)
            self.add_step(
                equation.label or None, self.workings.meant(item.expr, spot), spot, Role.OTHER, None, equation.line
            )

    # — one name —

    def _write(self, symbol: Symbol, spot: Spot) -> Symbol | None:
        """The name that a quantity has in the program, with its step and all that the step stands on."""
        key = symbol, spot.scope, self.values.epoch(spot)
        if key in self.written or key in self.busy:
            return self.written.get(key)
        self.busy.add(key)
        try:
            return self._written(symbol, spot)
        finally:
            self.busy.discard(key)

    def _written(self, symbol: Symbol, spot: Spot) -> Symbol | None:
        """The same by the first expression that gives the name a value and leads into no circle."""
        for expr, where, source in self._options(symbol, spot):
            if symbol.base == ROLE and isinstance(expr, n.Name):  # the page has a name for it
                name = self._write(expr.symbol, where)
            else:
                name = self._by(symbol, spot, expr, where, source)
            if name is not None:
                self.written[symbol, spot.scope, self.values.epoch(spot)] = name
                return name
        return None

    def _options(self, symbol: Symbol, spot: Spot) -> Iterator[Option]:
        """What may give a name here, what its print was found to be first.

        Weights that are only printed, or that only a search explains, may be those of a slip (scaled twice, or not),
        and so may a copy of something else: the page's method comes before them."""
        place, shown = self.system.place(symbol), list(self._shown(symbol, spot))
        found, sources = [option for option, _ in shown], list(self._sources(symbol, spot))
        yield from self.workings.printed_instead(symbol, spot)
        weights = place is not None and place.role is Role.WEIGHTS
        late = [option for option, how in shown if how is How.SEARCHED and (weights or isinstance(option[0], n.Name))]
        late += [option for option in sources if weights and option[2] is Source.GIVEN and has_decimals(option[0])]
        sizes = {self._size(option) for option in late}
        method = [option for option in (*found, *sources) if option not in late and self._size(option) in sizes]
        yield from (option for option in method if weights or option[2] is Source.STATED)
        yield from (*found, *sources)

    def _size(self, option: Option) -> tuple[int, ...] | None:
        """The two lengths of what an expression gives, whichever way it lies."""
        value = self.values.true(option[0], option[1])
        return tuple(sorted(value.shape)) if value is not None else None

    def _by(self, symbol: Symbol, spot: Spot, expr: n.Expr, where: Spot, source: Source | None) -> Symbol | None:
        """The name of a quantity in the program, given or worked out by one expression."""
        place = self.system.place(symbol) if not self.system.naming.is_sum(symbol) else None
        if place is not None and place.role in DERIVED and is_usual(expr) and not self._attends:
            return None
        role, head = (
            (place.role, _number(place.head)) if place is not None and place.row is None else (Role.OTHER, None)
        )
        shown = self._default(place) if place is not None and symbol.base in (ROLE, NAMELESS) else symbol
        if shown.base == NAMELESS:  # called by its line
            shown = Symbol("array", (), (str(self.page.equations[int(symbol.indices[0])].line),))
        made = expr if source is Source.GIVEN else self.in_program(expr, where)
        made = made if made is not None else self._otherwise(symbol, spot, expr)
        if made is None:
            return None
        name = self._same(shown, made) or (self._nameless(made, role, head) if symbol.base == ROLE else None)
        if name is not None:
            return name
        name = self._name(shown)
        if source is Source.GIVEN:
            self.givens[name] = Given(name, expr, role, self._spelled(symbol, name), head, self._line(symbol, spot))
        elif source is None and place is not None and place.role in SIZED and isinstance(expr, n.Number):
            self.givens[name] = Given(name, expr, role, self._spelled(symbol, name), head, implied=True)
        else:
            line = None if self.beside else self._line(symbol, spot)
            called = self._spelled(symbol, name) + (f" ({self.beside})" if self.beside else "")
            parts, whole = in_parts(made, self.steps, self._name)
            if parts and whole == n.Name(parts[-1].symbol):  # all of it has a name on the page
                whole = parts.pop().expr
            self.steps.update((part.symbol, part) for part in parts)
            self.steps[name] = Step(name, whole, role, called, head, line, SAYS.get(role, ""))
        return name

    def _otherwise(self, symbol: Symbol, spot: Spot, tried: n.Expr) -> n.Expr | None:
        """Another expression that gives a name its value, where the first one needs what is being written."""
        value = self.values.true(n.Name(symbol), spot)
        for expr, where, source in self.system.expressions(symbol, spot):
            if expr != tried and source is not Source.GIVEN:
                other = self.values.true(expr, where)
                if other is not None and value is not None and same(other, value):
                    made = self.in_program(expr, where)
                    if made is not None:
                        return made
        return None

    def _same(self, symbol: Symbol, expr: n.Expr) -> Symbol | None:
        """The name of the program for the very same quantity, met at another place of the page."""
        items: tuple[Given | Step, ...] = (*self.givens.values(), *self.steps.values())
        for item in items:
            if item.expr == expr and item.symbol._replace(primes=symbol.primes) == symbol:
                return item.symbol
        return None

    def _nameless(self, expr: n.Expr, role: Role, head: int | None) -> Symbol | None:
        """The step for a formula that the page states without a name, which plays a role: Q Kᵀ are the scores."""
        for name, step in self.steps.items():
            if step.expr == expr and step.role is Role.OTHER and name.base == "value":
                called = f"{step.spelled} ({self.beside})".strip() if self.beside else step.spelled
                self.steps[name] = replace(step, role=role, head=head, spelled=called, says=SAYS.get(role, ""))
                return name
        return None

    def _shown(self, symbol: Symbol, spot: Spot) -> Iterator[tuple[Option, How]]:
        """For a name that is printed at this line, or has its numbers from a line above, what the print was found to
        be: a working with what its rounded numbers are copies of, what the library says, a short expression over what
        stands above."""
        printed = [j for j in self.judged if j.equation.scope == self.scope and symbol in j.equation.names]
        source = self.values.source(symbol, spot)
        last = self._line(symbol, spot) if source is not None and source[2] is Source.GIVEN else spot.line
        for judgement in printed:
            made = judgement.fit
            if judgement.equation.line != last or made is None or made.true is None or not made.is_clean:
                continue
            expr, how = made.meaning.expr, made.meaning.how
            worked = how is How.WORKING or (how in FOUND and made.worst in EXACT and not n.holds(expr, n.Matrix))
            if worked and symbol not in n.names_in(expr) and not has_decimals(expr):
                yield (expr, made.meaning.spot, Source.STATED), how

    def _sources(self, symbol: Symbol, spot: Spot) -> Iterator[Option]:
        """The expressions that give a name its value here, the one that did first; a size is a number."""
        found = self.values.source(symbol, spot)
        value = self.values.true(n.Name(symbol), spot)
        yield from self.workings.beside(symbol, spot)
        yield from self.workings.share(symbol, spot)
        if found is not None:
            yield found
            for expr, where, source in self.system.expressions(symbol, spot):
                if expr != found[0] and source in (None, Source.STATED) and self.values.true(expr, where) is not None:
                    yield expr, where, source
        elif value is not None and value.shape == (1, 1) and value.exact and value.cell.q == 1:
            yield n.number(int(value.cell.p)), spot, None

    def in_program(self, expr: n.Expr, where: Spot) -> n.Expr | None:
        """An expression in the names of the program; None where one of them has no value."""
        for call in calls_in(expr, self.system.functions):
            if call is not expr:
                self.add_step(None, call, where, Role.OTHER, None, None)
        ready = self.values.prepared(expr, where)
        if ready is None:
            return None
        names = {symbol: self._write(symbol, where) for symbol in n.names_in(ready)}
        if None in names.values():
            return None
        return n.rewrite(
            ready, lambda node: n.Name(names[node.symbol] or node.symbol) if isinstance(node, n.Name) else node
        )

    def add_step(
        self, name: str | None, expr: n.Expr, spot: Spot, role: Role, head: int | None, line: int | None
    ) -> None:
        """A step for a formula that the page gives no name."""
        if self.values.true(expr, spot) is None:
            return
        made = self.in_program(expr, spot)
        if made is None or isinstance(made, n.Name) or any(step.expr == made for step in self.steps.values()):
            return
        parts, whole = in_parts(made, self.steps, self._name)
        self.steps.update((part.symbol, part) for part in parts)
        if not isinstance(whole, n.Name):
            symbol = Symbol("value", (), (str(len(self.steps) + 1),))
            self.steps[symbol] = Step(symbol, whole, role, name or "", head, line)

    # — names —

    def _default(self, place: Place) -> Symbol:
        """A name for what the page gives none: Q, or q_cat for one of its rows."""
        whole = default_symbol(place.role, _number(place.head))
        if place.row is None:
            return whole
        return whole._replace(base=whole.base.lower(), labels=(*whole.labels, place.row))

    def _name(self, symbol: Symbol) -> Symbol:
        while symbol in self.givens or symbol in self.steps or symbol in self.written.values():
            symbol = symbol._replace(primes=symbol.primes + 1)
        return symbol

    def _spelled(self, symbol: Symbol, name: Symbol) -> str:
        if symbol.base in (ROLE, NAMELESS):
            return symbol_plain(name)
        for definition in self.page.definitions.get(symbol, ()):
            for item in self.page.equations[definition.equation].items:
                if isinstance(item.expr, n.Name) and item.expr.symbol == symbol and item.expr.spelled:
                    return item.expr.spelled
        return symbol_plain(symbol)

    def _line(self, symbol: Symbol, spot: Spot) -> int | None:
        lines = [d.line for d in self.page.definitions.get(symbol, ()) if d.scope == spot.scope]
        return next((line for line in reversed(lines) if line <= spot.line), lines[0] if lines else None)


def _is_shared(expr: n.Expr) -> bool:
    return n.holds(expr, n.Softmax) or n.holds(expr, n.Exp)


def _number(head: str | None) -> int | None:
    return int(head) if head is not None and head.isdecimal() else None
