"""Workings: which of their numbers are copies of something known, and what follows from that.

A working puts numbers into a formula: [..] [..] for Q Kᵀ, 0.187 [2, 2] + 0.045 [0, 6] for a weighted sum. A number that
copies a print stands on that print: who copies a false one carries it on, who copies the right one does not. A whole
matrix that was put in is a claim of its own. Nothing is accused that is no copy of anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from qkv.check.cells import Grid, Loose, shape_of, shown_grid
from qkv.check.compare import meets
from qkv.check.model import GOOD, Verdict
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.expr.show import plain
from qkv.interpret.certified import Certified, Value, same
from qkv.judging.assembled import assembled, gathered
from qkv.judging.fit import Fit, How, Meaning, fit
from qkv.judging.operands import as_softmax, decimals, is_claim, is_doubled, is_stochastic, operands, rivals, versions
from qkv.judging.pool import sizes
from qkv.judging.seen import (
    COPY,
    MATRIX,
    SURE,
    Copied,
    Seen,
    agreeing,
    cell_of,
    claims_of,
    exactly,
    is_near,
    negated,
    put_right,
    reads_like,
    replaced_row,
    variants,
    worth,
)
from qkv.judging.steps import judge_steps, worked_out
from qkv.judging.typed import PLAIN, as_typed, copied_in_a_row, has_digits_to_spare, tightened
from qkv.reader.maths.units import factors_at
from qkv.reading.align import Pair, aligned, is_leaf
from qkv.reading.bits import cell_bits, grid_bits
from qkv.reading.equation import Equation, Item, Kind
from qkv.reading.page import Page, Spot
from qkv.reading.prints import Mending, Print
from qkv.reading.system import System

if TYPE_CHECKING:
    from qkv.judging.walk import Walk

POOL = 40  # earlier prints that a number may be a copy of
NEAR, LAST = 5.0, 3  # the same beside one of so many prints right above
CERTAIN = 40.0  # bits of a matrix that agree, so that the rest of it must be slips


class Copies:
    """What was printed on a page so far, and which numbers of workings are copies of it."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self.seen: list[Seen] = []
        self._copied: dict[int, Copied] = {}
        self._kept: list[n.Expr] = []  # so that no other object takes the id of one that is copied
        self._written: dict[int, n.Expr] = {}
        self._products: list[n.Expr] = []

    @property
    def system(self) -> System:
        """What the names of the page may be."""
        return self._walk.system

    @property
    def page(self) -> Page:
        """The page that is walked over."""
        return self._walk.system.page

    def is_false(self, claims: frozenset[int]) -> bool:
        """Whether one of some claims is false."""
        return self._walk.is_false(claims)

    def put_down(self, numbers: n.Expr, copied: Copied) -> None:
        """Keep what numbers of a working stand on."""
        self._kept.append(numbers)
        self._copied[id(numbers)] = copied

    def called(self, expr: n.Expr, spot: Spot) -> str:
        """An expression as a person writes it."""
        return plain(self._walk.scene(spot).as_written(expr))

    def copied(self, numbers: n.Expr) -> Copied | None:
        """What numbers of a working stand on."""
        return self._copied.get(id(numbers))

    def written(self, working: n.Expr) -> n.Expr:
        """A working as its copies are looked for in it: with a softmax that is written out as one."""
        return self._written.get(id(working), working)

    def note(self, expr: n.Expr, grid: Grid, printed: Print, equation: Equation, units: bool) -> None:
        """Remember a print, and the formulas and workings beside it."""
        if printed.true is None and printed.claim is None:
            printed = printed._replace(true=exactly(grid))
        ways = tuple(item.expr for item in equation.of(Kind.FORMULA, Kind.WORKING))
        self.seen.append(Seen(expr, grid, printed, ways, units))

    # — operands —

    def look(self, equation: Equation, item: Item) -> None:
        """Find out what the numbers of a working copy; a matrix that was put in is judged."""
        spot = Spot(equation.scope, equation.line)
        if item.kind is Kind.WORKING and isinstance(item.expr, n.Product):
            self._products.append(item.expr)
        expr = self._written[id(item.expr)] = as_softmax(item.expr)
        self._kept += [item.expr, expr]
        pairs = [pair for formula in self._formulas(equation) for pair in aligned(formula, expr)]
        parts = {id(numbers): part for part, numbers in pairs}
        beside: Fit | None = None
        doubles = rivals(expr) if is_doubled(equation, expr) else set()
        for operand in operands(expr):
            grid = shown_grid(operand, False)
            if grid is not None:
                made, lines = self._operand(grid, parts.get(id(operand)), spot), next(assembled(self, grid, spot), None)
                if made is None and (lines is None or not self.is_false(lines.used)):
                    made = self._new(operand, grid, equation, spot)
                if made is None and beside is not None and id(operand) in doubles:
                    false = self.is_false(beside.used)
                    made = fit(grid, beside.meaning, beside.true, beside.own, beside.used, false, None)
                made = made or lines or self._worked(operand, grid, pairs, equation, spot)
                if made is not None:
                    self._judge(equation, item, operand, grid, made, is_claim(operand, expr))
                beside = made
        for number, copied in copied_in_a_row(self, equation, expr, spot):
            self.put_down(number, copied)
        self._numbers(expr, spot, worked_out(equation, item))
        judge_steps(self._walk, equation, item, spot)

    def _formulas(self, equation: Equation) -> list[n.Expr]:
        """The formulas of an equation; if it has none of its own, those that were stated for its left side."""
        found = [item.expr for item in equation.of(Kind.FORMULA)]
        left = equation.items[0]
        if left.kind is Kind.VALUE or left.kind is Kind.WORKING or len(found) > (left.kind is Kind.FORMULA):
            return found
        stated = self._stated.get((equation.scope, left.expr), ())
        return found + [formula for index, formula in stated if index < equation.index]

    @cached_property
    def _stated(self) -> dict[tuple[int, n.Expr], list[tuple[int, n.Expr]]]:
        """For what stands on the left of equations, in each problem, the formulas that are stated for it, and where."""
        found: dict[tuple[int, n.Expr], list[tuple[int, n.Expr]]] = {}
        for equation in self.page.equations:
            left = equation.items[0].expr
            formulas = [(equation.index, item.expr) for item in equation.of(Kind.FORMULA) if item.expr != left]
            if formulas:
                found.setdefault((equation.scope, left), []).extend(formulas)
        return found

    def _worked(self, operand: n.Matrix, grid: Grid, pairs: list[Pair], equation: Equation, spot: Spot) -> Fit | None:
        """What stands in the place of a formula, [A] in softmax(…) V = [A] [V], where all else that was put in is what
        the formula says; a name is another matter: its numbers may be anybody's."""
        part = next((part for part, numbers in pairs if numbers is operand and not is_leaf(part)), None)
        others = [(p, shown_grid(x, False)) for p, x in pairs if x is not operand and isinstance(x, n.Matrix)]
        fits = [grid is not None and self._walk.fit(grid, Meaning(How.COPY, p, spot)) for p, grid in others]
        follows = bool(fits) and all(isinstance(made, Fit) and made.is_clean for made in fits)
        return self._walk.stated(grid, part, equation, spot) if part is not None and follows else None

    def _new(self, operand: n.Matrix, grid: Grid, equation: Equation, spot: Spot) -> Fit | None:
        """An operand that was not printed before, but is the softmax of something that was."""
        if not is_stochastic(grid):
            return None
        scores = [seen.expr for seen in self.recent(spot) if shape_of(seen.grid) == shape_of(grid)]
        own = ((expr, self._walk.values.own(expr, spot, self._walk.prints)[0]) for expr in self._products[::-1])
        scores += [expr for expr, value in own if value is not None and value.shape == shape_of(grid)]
        for expr in scores:
            for size in (1, *sizes(self._walk, spot)):
                scaled = expr if size == 1 else n.Quotient(expr, n.Root(n.number(size)))
                made = self._walk.fit(grid, Meaning(How.SEARCHED, n.Softmax(scaled), spot))
                if made is not None and made.slips == 0 and made.agreed >= MATRIX:
                    return made
        return None

    def versions(self, symbol: Symbol, spot: Spot) -> list[Copied]:
        """Other versions of a name than its last: those printed before, and the last with a row replaced by a vector
        that was printed since."""
        recent = self.recent(spot)
        prints = [seen for seen in recent if seen.expr == n.Name(symbol)]
        if not prints:
            return []
        last = prints[0]
        found = [self.whole(seen) for seen in prints[1:] if seen.grid != last.grid]
        since = recent[: recent.index(last)]
        rows = [self.whole(seen) for seen in since if shape_of(seen.grid) == (1, len(last.grid[0]))]
        changed = [made for row in rows for made in replaced_row(self.whole(last), row)] if len(last.grid) > 1 else []
        return [*found, *changed]

    def with_versions(self, grid: Grid, meaning: Meaning, put: dict[Symbol, Copied]) -> Fit | None:
        """A printed value against a formula with other versions of some of its names."""
        names = {s: self.named(s, meaning.spot) for s in n.names_in(meaning.expr) if s not in put}
        known = {**put, **{symbol: copied for symbol, copied in names.items() if copied is not None}}
        if any(copied is None for copied in names.values()):
            return None
        own = worth(meaning.expr, {symbol: copied.own for symbol, copied in known.items()}, Loose())
        return self.put(grid, meaning, meaning.expr, known, own)

    def nearly(self, grid: Grid, spot: Spot) -> Fit | None:
        """Two prints side by side or multiplied, if all but very few cells agree: then those are slips."""
        if sum(map(sum, grid_bits(grid))) < CERTAIN:
            return None
        a, b = n.Name(Symbol(COPY, (), ("0",))), n.Name(Symbol(COPY, (), ("1",)))
        recent = self.recent(spot)
        for right in recent:
            for left in (seen for seen in recent if len(seen.grid) == len(grid)):
                (_, inner), (below, width) = shape_of(left.grid), shape_of(right.grid)
                beside = below == len(grid) and inner + width == len(grid[0])
                if beside or (inner == below and width == len(grid[0])):
                    expr = n.Concat((a, b), 1) if beside else n.Product(a, b)
                    put = {a.symbol: self.whole(left), b.symbol: self.whole(right)}
                    own = worth(expr, {s: c.own for s, c in put.items()}, Loose())
                    made = self.put(grid, Meaning(How.SEARCHED, expr, spot), expr, put, own)
                    if made is not None and is_near(made, grid) and made.agreed >= CERTAIN:
                        return made
        return None

    def whole(self, seen: Seen) -> Copied:
        printed = seen.printed
        return Copied(seen.expr, self.truth(seen), printed.held, printed.mended or printed.held, claims_of(seen))

    def _judge(self, equation: Equation, item: Item, operand: n.Matrix, grid: Grid, made: Fit, claims: bool) -> None:
        used = made.used
        if claims:
            line = operand.at.line if operand.at is not None else item.line
            column = operand.at.column if operand.at is not None else item.column
            repair = item.repair if operand is n.factors(item.expr)[-1] else ""
            place = item._replace(kind=Kind.VALUE, expr=operand, line=line, column=column, repair=repair)
            label = self.called(made.meaning.expr, made.meaning.spot)
            said = replace(equation, items=(place,), line=line, end_line=line, label=label)
            number = self._walk.claim(said, place, grid, made)
            used = frozenset({number}) if made.worst is Verdict.WRONG else used
            if made.meaning.how is How.SEARCHED and made.worst is not Verdict.WRONG:
                self._walk.remember(said, place, grid, made, number, made.meaning.spot)
        own = made.own if made.own is not None and made.worst is not Verdict.WRONG else exactly(grid)
        right = next((value for value in (made.true, made.right, own) if value is not None), None)
        if own is not None and right is not None:
            mended = own if made.worst not in (Verdict.WRONG, Verdict.CARRIED) else put_right(own, right, made)
            self._copied[id(operand)] = Copied(made.meaning.expr, made.true, own, mended, used)

    def _operand(self, grid: Grid, part: n.Expr | None, spot: Spot) -> Fit | None:
        """What an operand copies: what its formula says, something printed before, or nearly one of these."""
        near: Fit | None = None
        if part is not None:
            near = self._walk.fit(grid, Meaning(How.COPY, part, spot))
            if near is not None and near.is_clean:
                return near
        exact = self.printed(grid, spot) or (next(assembled(self, grid, spot), None) if near is not None else None)
        if exact is not None:
            return exact
        found = gathered(self, grid, spot) if near is None or not is_near(near, grid) else near
        return found or (self.nearly(grid, spot) if near is None else None)

    def printed(self, grid: Grid, spot: Spot) -> Fit | None:
        """The print that an array is a copy of: its digits, false or not, before what they should have been; the same
        before a similar one, false ones last."""
        if sum(map(sum, grid_bits(grid))) < MATRIX:
            return None
        found: list[tuple[bool, bool, Fit]] = []
        for seen in self.recent(spot):
            for part, variant in variants(seen, grid):
                made = self._held_against(grid, part, variant, spot)
                if made is not None and made.is_clean:
                    other = agreeing(grid, variant.held) < len(grid) * len(grid[0])
                    if made.worst in GOOD and not other:
                        return made
                    found.append((other, made.worst is Verdict.CARRIED, made))
        return min(found, key=lambda option: option[:2])[2] if found else None

    def _held_against(self, grid: Grid, part: n.Expr, printed: Print, spot: Spot) -> Fit | None:
        used = frozenset() if printed.claim is None else frozenset({printed.claim})
        meaning = Meaning(How.COPY, part, spot)
        return fit(grid, meaning, printed.true, printed.held, used, self.is_false(used), printed.mended)

    def recent(self, spot: Spot) -> list[Seen]:
        return list(islice((seen for seen in reversed(self.seen) if seen.printed.spot.scope == spot.scope), POOL))

    # — single numbers —

    def _numbers(self, expr: n.Expr, spot: Spot, worked: set[int]) -> None:
        """Decimals of a working, but those just worked out, that are cells of the print that most of them come from;
        the 1.609 of 1.609 + 2.303 may come from −1.609."""
        left = [x for x in decimals(expr) if id(x) not in self._copied and id(x) not in worked]
        wanted = [(x, grid[0][0]) for x in left if (grid := shown_grid(n.Matrix(((x,),)), False)) is not None]
        options = {id(x): list(self.cells(shown.value, spot, x)) for x, shown in wanted}
        opposite = {id(x) for x, shown in wanted if not options[id(x)] and shown.value}
        options |= {id(x): list(self.cells(-shown.value, spot, x)) for x, shown in wanted if id(x) in opposite}  # type: ignore[operator]
        common = Counter(k for found in options.values() for k in {k for k, *_ in found})
        for x, shown in wanted:
            found = options[id(x)]
            near = min((k for k, *_ in found), default=POOL) < LAST and id(x) not in opposite
            least = NEAR if near else SURE
            if not found or (cell_bits(shown) < least and max(common[k] for k, *_ in found) < 2):
                continue
            _, seen, i, j = max(found, key=lambda f: (common[f[0]], _reads(x, *f[1:]), self.is_fine(*f[1:]), -f[0]))
            copied = cell_of(seen, i, j)
            self.put_down(x, negated(copied) if id(x) in opposite else copied)

    def is_fine(self, seen: Seen, i: int, j: int) -> bool:
        """Whether a cell is not false itself: of several that read alike, a copy is taken from such a one."""
        if not self.is_false(claims_of(seen)):
            return True
        true = seen.printed.true
        return true is not None and true.shape == shape_of(seen.grid) and meets(seen.grid[i][j], true.rows[i][j])

    def cells(self, value: object, spot: Spot, number: n.Number | None = None) -> Iterator[tuple[int, Seen, int, int]]:
        """The cells of prints above that read like a number, the last print first."""
        bare = number is not None and number.at is not None and not factors_at(self.page.sheet.lines, number.at)
        for k, seen in enumerate(self.recent(spot)):
            if bare and seen.in_units:
                continue  # the 128 of 512 MB × 128 is no copy of 128 KB
            for i, row in enumerate(seen.grid):
                for j, _ in enumerate(row):
                    if (like := reads_like(seen, i, j, value)) is not None:
                        yield k, like, i, j

    # — what a working gives —

    def fit(self, grid: Grid, meaning: Meaning) -> Fit | None:
        """A printed value against a working, with what its numbers copy; None where nothing is known of them."""
        expr = self.written(meaning.expr)
        whole = self._fit(grid, meaning, expr)
        if whole is None or not whole.is_clean:
            for version in versions(expr):
                made = self._fit(grid, meaning, version)
                if made is not None and made.is_clean:
                    return made
        return whole

    def _fit(self, grid: Grid, meaning: Meaning, expr: n.Expr) -> Fit | None:
        put: dict[Symbol, Copied] = {}

        def change(node: n.Expr) -> n.Expr:
            copied = self.copied(node)
            if copied is None:
                return node
            symbol = Symbol(COPY, (), (str(len(put)),))
            put[symbol] = copied
            return n.Name(symbol)

        lifted = n.rewrite(expr, change)
        if not put and (decimals(expr) or not operands(expr) or n.names_in(expr)):
            return None
        own, _ = self._walk.values.own(expr, meaning.spot, self._walk.prints)
        for symbol in n.names_in(expr):
            if (copied := self.named(symbol, meaning.spot)) is None:
                return None
            put[symbol] = copied
        typed = worth(expr, {}, Certified())
        behind = worth(lifted, {symbol: c.own for symbol, c in put.items()}, Certified()) if put else None
        if typed is not None and behind is not None and same(typed, behind):
            own = typed  # what was put in has no more digits than are written
        made = self.put(grid, meaning, lifted, put, own)
        if made is None or not put:
            return as_typed(made, grid, expr) if made is not None else None
        held = {symbol: c.exact if n.kinds_in(expr) <= PLAIN else c.own for symbol, c in put.items()}
        owned = worth(lifted, held, Certified())
        spare = n.kinds_in(expr) <= PLAIN and has_digits_to_spare(expr, grid, typed)
        return made if spare else tightened(made, grid, [owned, typed])

    def named(self, symbol: Symbol, spot: Spot) -> Copied | None:
        """A name of the page that stands in a formula beside numbers put in."""
        name = n.Name(symbol)
        own, used = self._walk.values.own(name, spot, self._walk.prints)
        if own is None:
            return None
        mended = self._walk.put_right(Meaning(How.NAMED, name, spot), Mending.ALL) if self.is_false(used) else own
        return Copied(name, self._walk.values.true(name, spot), own, mended or own, used)

    def put(
        self, grid: Grid, meaning: Meaning, lifted: n.Expr, put: dict[Symbol, Copied], own: Value | None
    ) -> Fit | None:
        """A printed value against an expression over copies."""
        trues = {symbol: copied.true for symbol, copied in put.items() if copied.true is not None}
        true = worth(lifted, trues, Certified()) if len(trues) == len(put) else None
        mended = worth(lifted, {symbol: copied.mended for symbol, copied in put.items()}, Loose())
        used = frozenset(claim for copied in put.values() for claim in copied.claims)
        false = self.is_false(used) and any(c.mended != c.own for c in put.values())
        made = fit(grid, meaning, true, own, used, false, mended)
        if made is None:
            return None
        said = n.rewrite(lifted, lambda x: put[x.symbol].part if isinstance(x, n.Name) and x.symbol in put else x)
        return made._replace(meaning=meaning._replace(expr=said))

    def truth(self, seen: Seen) -> Value | None:
        """What a print should have been; where nothing says so and nothing in it is false, what it is."""
        return seen.printed.true or (seen.printed.held if not self.is_false(claims_of(seen)) else None)


def _reads(number: n.Number, seen: Seen, i: int, j: int) -> bool:
    """Whether a number is written as in a print: 2.00 is a copy of 2.00 and not of 2."""
    return seen.grid[i][j].text.lstrip("-−") == number.text.lstrip("-−")
