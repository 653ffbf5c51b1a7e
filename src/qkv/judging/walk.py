"""PAGE → CLAIMS: every printed value in order, held against its meanings; what is accused has no cheaper excuse.

A value is accused only if its best meaning with slips, less a margin, saves more bits than every meaning without one:
a formula that the page states, another row or head, a skipped step, or anything that a short search finds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import NamedTuple

from qkv.check.cells import Grid, fitted, may_agree, shape_of
from qkv.check.model import Verdict
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.certified import Value, same
from qkv.judging.above import from_above, shown_before, statistics
from qkv.judging.answers import by_assignment
from qkv.judging.causes import Search, as_mistake, explained, has_excuse, misfit, operands
from qkv.judging.company import company
from qkv.judging.copies import Copies
from qkv.judging.fit import Fit, How, Meaning, fit
from qkv.judging.given import is_given
from qkv.judging.kept import FALSE, keep
from qkv.judging.meanings import meanings
from qkv.judging.otherwise import otherwise
from qkv.judging.pool import pool, sizes
from qkv.judging.scene import PageScene
from qkv.judging.seen import agreeing
from qkv.judging.steps import carried_working, is_close
from qkv.judging.typed import as_typed
from qkv.judging.units import has_amounts, in_units, is_converted
from qkv.judging.weighing import (
    MARGIN,
    as_agreed,
    as_carried,
    as_whole_rows,
    is_left_unscaled,
    known_as,
    most_beside,
    nearness,
    needed,
    readable,
    weighed,
    without_indices,
)
from qkv.reading.bits import grid_bits
from qkv.reading.definitions import Source
from qkv.reading.equation import Equation, Item, Kind
from qkv.reading.evidence import printed_grid
from qkv.reading.method import decided
from qkv.reading.page import Spot
from qkv.reading.prints import Mending, Prints
from qkv.reading.search import search
from qkv.reading.system import System
from qkv.reading.values import Values

CONFIRMED = 9.0  # bits that are no accident: a formula that agreed in them for other indices is meant
MISROUNDING = 4.0  # bits that it costs to say that a value is not one that it misses by a digit


class Judgement(NamedTuple):
    """What is said of one printed value: nothing, if `fit` is None and the value is no claim."""

    number: int
    equation: Equation
    item: Item
    grid: Grid
    fit: Fit | None
    verdict: Verdict
    rivals: tuple[Fit, ...] = ()
    reason: str = ""


def _denial(slip: Fit) -> float:
    """The bits that it costs to say that a value is not what a meaning says, though that makes a slip of it."""
    return slip.meaning.how.denial if slip.worst is not Verdict.MISROUNDED else MISROUNDING


def _is_same_quantity(grid: Grid, clean: Fit, slip: Fit) -> bool:
    """Whether two meanings are one quantity, worked out with more or fewer of the digits: neither denies the other.
    Numbers put in right beside a value are all the digits that it was worked out with, unless it is what is true."""
    if slip.meaning.how is How.WORKING:
        return clean.worst is Verdict.ROUNDED and clean.true is not None and _is_near_true(grid, slip)
    return clean.true is not None and slip.true is not None and may_agree(clean.true, slip.true)


def _is_near_true(grid: Grid, f: Fit) -> bool:
    """Whether a printed value is what is true, but for what was rounded on the way."""
    rows = zip(grid, f.true.rows, strict=True) if f.true is not None else ()
    return f.true is not None and all(is_close(*pair) for row in rows for pair in zip(*row, strict=True))


def _is_of_a_family(meaning: Meaning) -> bool:
    """Whether a formula is stated, or names of one index make another of that index: O_2 = A_2 V_2."""
    named = meaning.how in (How.NAMED, How.DEFINED) and without_indices(meaning.expr) != meaning.expr
    return named or meaning.how is How.STATED


@dataclass
class Walk:
    """A walk over a page from top to bottom, under one system."""

    system: System
    values: Values
    elsewhere: frozenset[tuple[int, int]] = frozenset()  # lines and columns of what is judged elsewhere, as theory
    doubted: frozenset[Symbol] = frozenset()  # givens that may be misread: a formula with them denies no working
    prints: Prints = field(default_factory=Prints)
    judged: list[Judgement] = field(default_factory=list)
    recent: list[tuple[n.Expr, Spot]] = field(default_factory=list)  # what was printed last, newest at the end
    verdicts: dict[int, Verdict] = field(default_factory=dict)
    confirmed: defaultdict[n.Expr, float] = field(default_factory=lambda: defaultdict(float))  # bits, for any index
    copies: Copies = field(init=False)
    _tried: dict[tuple[object, ...], Search] = field(default_factory=dict)  # mistakes in the value that is being judged

    def __post_init__(self) -> None:
        self.copies = Copies(self)

    def run(self) -> list[Judgement]:
        """Judge every printed value of the page."""
        for equation in self.system.page.equations:
            for item in equation.items:
                if self.system.page.is_granted(equation):
                    self._take(equation, item)
                elif equation.struck or item.struck:
                    self._strike(equation, item)
                elif item.kind in (Kind.WORKING, Kind.FORMULA) and not item.struck:
                    self.copies.look(equation, item)
                elif item.kind is Kind.VALUE and (item.line, item.column) not in self.elsewhere:
                    self._judge(equation, item)
        return self.judged

    def _take(self, equation: Equation, item: Item) -> None:
        """Keep a value of the assignment, which is never judged."""
        grid = printed_grid(item) if item.kind is Kind.VALUE and not equation.struck and not item.struck else None
        if grid is not None:
            self.remember(equation, item, grid, None, None, Spot(equation.scope, equation.line))

    def _judge(self, equation: Equation, item: Item) -> None:
        equation, item = as_agreed(self, equation, item)
        grid = printed_grid(item)
        if grid is None or item.struck:
            return
        spot = Spot(equation.scope, equation.line)
        if is_given(self, equation) and not any(shown_before(self, equation, grid, spot)):
            self.remember(equation, item, grid, None, None, spot)
            return
        fits = list(from_above(self.copies, equation, grid, spot))
        converted = shape_of(grid) == (1, 1) and not item.units and is_converted(self._line(equation), grid[0][0].text)
        offered = meanings(equation, item, self.system, spot, self.prints.formulas) if not converted else ()
        options = [self._in_units(meaning, equation, item, grid) for meaning in offered]
        fits += [f for meaning in options if (f := self.fit(grid, meaning)) is not None]
        worked = any(f.is_clean and f.meaning.how is How.WORKING for f in fits)
        fits += statistics(self.copies, equation, grid, spot) if equation.of(Kind.WORKING) and not worked else ()
        if not any(f.is_clean for f in fits):
            fits += list(islice(self.misfits(grid, options), 1))
        fits = readable([f for f in fits if not is_left_unscaled(self, f, spot)])
        chosen = self._decided(grid, fits, equation, spot)
        if chosen is None and not fits:
            again = len(grid[0]) > 1 and not equation.names
            chosen = (self.copies.printed(grid, spot) if again else None) or self.copies.nearly(grid, spot)
        if self.system.page.task is not None or equation.index in self.system.page.retold:
            chosen = by_assignment(self, equation, grid, spot, chosen)
        chosen = as_whole_rows(weighed(as_carried(chosen, fits), equation), grid)
        if chosen is not None:
            chosen = known_as(explained(grid, chosen, self.mistakes_of(grid, spot)), fits)
            if chosen.is_clean and _is_of_a_family(chosen.meaning):
                self.confirmed[without_indices(chosen.meaning.expr)] += chosen.agreed
        number = self.claim(equation, item, grid, chosen, tuple(fits))
        self.remember(equation, item, grid, chosen, number, spot)

    def _strike(self, equation: Equation, item: Item) -> None:
        """Say of a value that its author crossed it out."""
        grid = printed_grid(item) if item.kind is Kind.VALUE else None
        if grid is not None:
            number = self.claim(equation, item, grid, None)
            self.judged[-1] = self.judged[-1]._replace(verdict=Verdict.STRUCK)
            self.verdicts[number] = Verdict.STRUCK

    def claim(
        self, equation: Equation, item: Item, grid: Grid, chosen: Fit | None, rivals: tuple[Fit, ...] = ()
    ) -> int:
        """Say something of a printed value; the number of the claim."""
        number = len(self.judged) + 1
        verdict = chosen.worst if chosen is not None else Verdict.UNREAD
        self.judged.append(Judgement(number, equation, item, grid, chosen, verdict, rivals))
        self.verdicts[number] = verdict
        return number

    def fit(self, grid: Grid, meaning: Meaning) -> Fit | None:
        """A printed value against one meaning; a working knows which numbers it copies."""
        if meaning.how in (How.WORKING, How.STATED) and (made := self.copies.fit(grid, meaning)) is not None:
            return made
        true = self.values.true(meaning.expr, meaning.spot) if meaning.names else None
        own, used = self._own(meaning, true)
        if not self.is_false(used):
            made = fit(grid, meaning, true, own, used, False, None)
            if made is None or meaning.names or meaning.how is not How.WORKING:
                return made
            return as_typed(made, grid, meaning.expr)
        true = true if true is not None and not self._is_of_a_false_print(meaning) else None
        mended = self.put_right(meaning, Mending.ALL)
        made = fit(grid, meaning, true, own, used, True, mended)
        if made is None or made.is_clean:
            return made
        untrue = [claim for claim in used if self.is_false(frozenset({claim}))]
        typos: list[Mending | int] = [Mending.TYPOS, *untrue]
        minds = [meant for mending in typos if (meant := self.put_right(meaning, mending)) is not None]
        others = [fit(grid, meaning, true, meant, used, True, mended) for meant in minds]
        if minds and all(self.verdicts[claim] is Verdict.WRONG for claim in untrue):  # it may be a slip of the pen
            right = fit(grid, meaning, true, minds[0], used, False, mended)
            if right is not None and right.is_clean and _is_near_true(grid, right):
                others = [right, *others]
        found = [f for f in (made, *others) if f is not None and f.own is not None]
        return max(found, key=lambda f: (f.agreed, agreeing(grid, f.own)), default=made)  # type: ignore[arg-type]

    def _is_of_a_false_print(self, meaning: Meaning) -> bool:
        """Whether a name in a meaning has no value but numbers that are false: they are not what is true of it."""
        for symbol in n.names_in(meaning.expr):
            printed, source = self.prints.names.get(symbol), self.values.source(symbol, meaning.spot)
            false = printed is not None and printed.claim is not None and self.is_false(frozenset({printed.claim}))
            if false and source is not None and source[2] is Source.GIVEN:
                return True
        return False

    def _in_units(self, meaning: Meaning, equation: Equation, item: Item, grid: Grid) -> Meaning:
        """A meaning in the unit that stands behind a value."""
        if not item.units and not has_amounts(equation.text):
            return meaning
        own, _ = self.values.own(meaning.expr, meaning.spot, self.prints)
        worths = own, self.values.true(meaning.expr, meaning.spot)  # B = 1 and B = 8 may both be of the page
        return in_units(meaning, worths, grid, item.units, self._line(equation))

    def _line(self, equation: Equation) -> str:
        """The line that an equation stands in, with the units behind its last value."""
        lines = self.system.page.sheet.lines
        return lines[equation.line - 1] if 0 < equation.line == equation.end_line <= len(lines) else equation.text

    def _own(self, meaning: Meaning, true: Value | None) -> tuple[Value | None, frozenset[int]]:
        """What the author's numbers give; for Q Kᵀ those that were printed for single products of it."""
        role = self.system.role_of(meaning.expr) if self.prints.cells and true is not None else None
        if role in self.prints.cells and role is not None and true is not None:
            name = n.Name(role)
            whole = self.values.true(name, meaning.spot)
            if whole is not None and same(whole, true):
                return self.values.own(name, meaning.spot, self.prints)
        look = self.values.held if meaning.how is How.SEARCHED else self.values.own  # a search finds copies too
        return look(meaning.expr, meaning.spot, self.prints)

    def put_right(self, meaning: Meaning, mending: Mending | int) -> Value | None:
        """What the author's numbers give, with typos or all that is false put right."""
        self.prints.mending = mending
        value, _ = self.values.own(meaning.expr, meaning.spot, self.prints)
        self.prints.mending = Mending.NOTHING
        return value

    def stated(self, grid: Grid, expr: n.Expr, equation: Equation, spot: Spot) -> Fit | None:
        """A printed value against a formula that it must be; None where nothing explains it and nothing may accuse."""
        made = self.fit(grid, Meaning(How.STATED, expr, spot))
        return self._decided(grid, [made], equation, spot) if made is not None else None

    def misfits(self, grid: Grid, options: list[Meaning]) -> Iterator[Fit]:
        """Meanings that give another shape than is shown, where a known mistake gives all of it."""
        for meaning in options:
            meant = self.values.true(meaning.expr, meaning.spot) if meaning.names else None
            if meant is not None and fitted(meant, shape_of(grid)) is None:
                _, used = self.values.own(meaning.expr, meaning.spot, self.prints)
                made = misfit(grid, meaning, meant, used, partial(self._mistakes, grid, meaning, meaning.spot))
                if made is not None:
                    yield made

    # — which meaning —

    def _decided(self, grid: Grid, fits: list[Fit], equation: Equation, spot: Spot) -> Fit | None:
        """The meaning that a value has; None where nothing explains it and nothing may accuse."""
        denied = 0.0
        clean: tuple[float, Fit] | None = None
        slips: list[tuple[float, Fit]] = []  # each denies what is stronger
        if (worked := carried_working(fits)) is not None:
            return worked
        for f in fits:  # the strongest first
            if f.is_clean:
                cost = max((_denial(slip) for _, slip in slips if not _is_same_quantity(grid, f, slip)), default=0.0)
                if f.meaning.how is How.WORKING and cost >= How.STATED.denial:
                    continue
                if clean is None or f.bits - cost > clean[0]:
                    clean = f.bits - cost, f
            elif (f.meaning.sure or self._is_usual_here(f.meaning)) and self.doubted.isdisjoint(
                n.names_in(f.meaning.expr)
            ):
                slips.append((f.bits - denied, f))
                denied = max(denied, _denial(f))
        if clean is not None and all(_is_same_quantity(grid, clean[1], slip) for _, slip in slips):
            return clean[1]
        slip = max(slips, key=lambda slip: slip[0], default=(0.0, None))[1]
        if (
            slip is not None
            and slip.worst is Verdict.MISROUNDED
            and (slip.meaning.how is not How.WORDED or slip.agreed >= CONFIRMED)
            and slip.agreed > 0
            and (clean is None or (slip.bits > clean[0] and clean[1].meaning.how is not How.SEARCHED))
        ):
            return slip
        if clean is not None and clean[0] > most_beside(grid, slip, denied):
            return clean[1]
        miscounted = any(f.meaning.how is How.WORKING and not f.is_clean for f in fits)  # false by its own numbers
        if slip is not None and not miscounted and (other := otherwise(self, grid, fits, spot)) is not None:
            return other if other.bits > 0 else None
        doubly = miscounted and any(f.meaning.how is How.STATED and f.meaning.sure and not f.is_clean for f in fits)
        found = None if doubly else self.searched(grid, equation, spot, needed(slip, clean, denied))
        if found is not None:
            bits = found.bits - denied
            if (clean is None or bits > clean[0]) and bits > -denied:
                clean = bits, found
        slip, clean = self._as_mistake(grid, slip, clean, spot)
        excuse = max(-denied, clean[0] if clean is not None else float("-inf"))
        if slip is not None and slip.bits >= excuse + MARGIN:
            return slip
        if slip is not None and slip.cause is None:  # what a known mistake gives may be said of another method
            trusted = nearness(grid, slip) if clean is None else 0.0
            if slip.bits + trusted + company(self, equation, grid, slip) >= excuse + MARGIN:
                return slip
        return clean[1] if clean is not None and clean[0] > -denied else None

    def _is_usual_here(self, meaning: Meaning) -> bool:
        """Whether the page does the same for other indices, and was right: q_2 · k_1 after q_1 · k_1 and q_1 · k_2."""
        return _is_of_a_family(meaning) and self.confirmed[without_indices(meaning.expr)] >= CONFIRMED

    def _as_mistake(
        self, grid: Grid, slip: Fit | None, clean: tuple[float, Fit] | None, spot: Spot
    ) -> tuple[Fit | None, tuple[float, Fit] | None]:
        """A slip as a known mistake that gives every cell of it, and the excuse beside it: where a formula is stated,
        the same mistake found by a search is no excuse."""
        named = as_mistake(grid, slip, self.mistakes_of(grid, spot)) if slip is not None else None
        if slip is None or named is None or named[0].bits <= slip.bits:
            return slip, clean
        mistaken, names = named
        excused = has_excuse(mistaken, decided(self.system.page, spot.scope)) and not self._is_usual_here(
            mistaken.meaning
        )
        if clean is not None and clean[1].meaning.how is How.SEARCHED and not excused:
            clean = None if self.inputs(clean[1].meaning.expr, spot) <= names else clean
        return mistaken, clean

    def inputs(self, expr: n.Expr, spot: Spot) -> frozenset[Symbol]:
        """What an expression is worked out from in the end: names that nothing on the page works out."""
        scene = self.scene(spot)
        found = operands(scene, self.prints, expr, all_of=True)
        return frozenset(symbol for symbol in found if scene.formula(symbol) is None)

    def scene(self, spot: Spot) -> PageScene:
        """The names of the page at a spot, as the table of mistakes sees them."""
        return PageScene(self.system, self.values, spot, self.prints)

    def mistakes_of(self, grid: Grid, spot: Spot) -> Callable[[Fit], Search]:
        """The mistakes that may have been made in a printed value, as it is held against a meaning."""
        return lambda f: self._mistakes(grid, f.meaning, spot)

    def _mistakes(self, grid: Grid, meaning: Meaning, spot: Spot) -> Search:
        key = id(grid), meaning.expr, spot
        if key not in self._tried:
            false = any(verdict in FALSE for verdict in self.verdicts.values())
            self._tried[key] = Search(self.scene(spot), meaning.expr, grid, self.prints, self.is_false, false)
        return self._tried[key]

    def is_false(self, claims: frozenset[int]) -> bool:
        """Whether one of some claims is false."""
        return any(self.verdicts.get(claim) in FALSE for claim in claims)

    def searched(self, grid: Grid, equation: Equation, spot: Spot, need: float) -> Fit | None:
        """A short expression over earlier values that gives every digit, proven in certified arithmetic; None where it
        would not explain as many bits as are needed."""
        digits = sum(map(sum, grid_bits(grid)))
        if digits - How.SEARCHED.prior < need:
            return None
        values = list(pool(self, equation, spot))
        found = search(grid, values, sizes(self, spot), need) if values else None
        if found is None:
            return None
        cost = digits - found.bits
        proven = self.fit(grid, Meaning(How.SEARCHED, found.expr, spot, max(cost - How.SEARCHED.prior, 0.0)))
        return proven if proven is not None and proven.is_clean else None

    # — what the author goes on with —

    def remember(
        self, equation: Equation, item: Item, grid: Grid, chosen: Fit | None, number: int | None, spot: Spot
    ) -> None:
        """Keep what was printed: it is what the author goes on with."""
        self._tried.clear()
        keep(self, equation, item, grid, chosen, number, spot)
