"""Slips put into a worked solution on purpose: mistakes from the table, and errors in single cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import gcd
from random import Random

from qkv.check.cells import fitted
from qkv.check.mistakes.program import ProgramScene
from qkv.check.mistakes.rewrites import LEFT_OUT, TABLE, places_in, variants
from qkv.check.mistakes.scene import levels
from qkv.check.mistakes.slips import DOTS, TEXTS, Meeting
from qkv.check.mistakes.table import Mistake
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.cells import NEG_INF, Cell, bounds
from qkv.interpret.certified import Certified, Value
from qkv.interpret.loop import evaluate
from qkv.interpret.rounding import power_of_ten
from qkv.interpret.trace import Table, Trace
from qkv.practice.hand import BITS, MINUS_INFINITY, Made, Style, is_exact, number_of
from qkv.program.model import Given, Step

# Mistakes that can be made at every step: drawn last, or they would crowd out those that are about attention.
ANYWHERE = frozenset({"rows swapped", "columns swapped", "result transposed", "a column left out"})
MOST_CHARACTERS = 11  # -99999.1234
CUT = "cut off instead of rounded"
CELL_ERROR = "arithmetic slip in one cell"  # a number that nothing explains


@dataclass(frozen=True)
class Planter:
    """Makes slips for one problem: each of its public methods is a `Slip`. `mistakes` limits the table to some keys;
    `captions` tells whether words say what each value is."""

    trace: Trace
    style: Style
    rng: Random
    mistakes: frozenset[str] = frozenset()
    captions: bool = True

    def structural(self, step: Step, own: Value, loose: tuple[Value, ...], held: Mapping[Symbol, Value]) -> Made | None:
        """A mistake from the table, wherever one applies and shows."""
        for mistake, expr in self._shuffled(step):
            try:
                value = evaluate(expr, held, Certified())
                shown = self.style.texts(value, step.role)
            except QkvError:
                continue
            plain = self._tells(step, loose, shown) if value.shape == own.shape else self._misfits(step, own, value)
            if plain and is_written(shown) and (step.role is Role.MASKED or not _is_endless(shown)):
                return Made(mistake.key, value)
        return None

    def typo(self, step: Step, own: Value, loose: tuple[Value, ...], held: Mapping[Symbol, Value]) -> Made | None:
        """A number written down wrongly; the author goes on with the right one."""
        made = self.cell(step, own, loose, held)
        return replace(made, typo=True) if made else None

    def cut(self, step: Step, own: Value, loose: tuple[Value, ...], held: Mapping[Symbol, Value]) -> Made | None:
        """Digits cut off where they should be rounded, in every cell."""
        right = self.style.texts(own, step.role)
        places = {len(text.partition(".")[2]) for row in right for text in row}
        usual = own.shape == self.trace.value(step.symbol).shape
        if len(places) > 1 or max(places) == 0 or is_exact(right, own) or not usual:
            return None
        shown = tuple(tuple(_cut(cell, max(places)) for cell in row) for row in own.rows)
        return Made(CUT, own, shown) if shown != right else None

    def _shuffled(self, step: Step) -> Iterator[tuple[Mistake, n.Expr]]:
        """The mistakes that can be made at a step, in random order, each at one of its places."""
        scene = ProgramScene(self.trace)
        printed = {s.symbol for s in self.trace.program.steps if s.role not in self.style.left_out}
        bases = [base for level in levels(scene, n.Name(step.symbol), printed) for base in level]
        wanted = [row for row in TABLE + self._left_out(step) if not self.mistakes or row.key in self.mistakes]
        table = [row for row in wanted if self._can_tell(row, step)]
        for mistake in sorted(table, key=lambda row: self.rng.random() + (row.key in ANYWHERE)):
            found = dict.fromkeys(expr for base in bases for expr, _ in variants(mistake, places_in(base), scene))
            for expr in self.rng.sample(list(found), len(found)):
                yield mistake, expr

    def _left_out(self, step: Step) -> tuple[Mistake, ...]:
        """Rows and columns may be left out where a formula or the numbers put in say that all of them should be there.
        One column too few in X W may just as well be one too many in a W that was copied badly."""
        silent = step.role in self.style.unstated and not self.style.operands
        if not self.style.formulas or silent or any(isinstance(part, n.Mask) for part in n.walk(step.expr)):
            return ()
        right = step.expr.right if isinstance(step.expr, n.Product) else None
        given = isinstance(right, n.Name) and isinstance(self.trace.program.item(right.symbol), Given)
        return LEFT_OUT[:1] if step.role in (Role.Q, Role.K, Role.V) or given else LEFT_OUT

    def _misfits(self, step: Step, own: Value, value: Value) -> bool:
        """Whether a step that had its right shape so far is plainly of another one: shown whole, no turned vector."""
        in_parts = step.role in self.style.by_row | self.style.by_cell
        was_right = own.shape == self.trace.value(step.symbol).shape
        return was_right and not in_parts and max(value.shape) > 1 and fitted(own, value.shape) is None

    def _can_tell(self, mistake: Mistake, step: Step) -> bool:
        """Scores in the place of weights could be the scaled scores, where those are not shown and no formula is; and
        exponentials, cell by cell, could be just these under another letter, where neither numbers put in nor words say
        what they are."""
        if mistake.key == "softmax left out":
            return self.style.formulas or not self.style.left_out
        parts = step.role is Role.WEIGHTS and step.role in self.style.by_cell
        return not parts or mistake.key != "no scale" or self.style.operands or self.captions

    def cell(self, step: Step, own: Value, loose: tuple[Value, ...], held: Mapping[Symbol, Value]) -> Made | None:
        """An error in a single cell."""
        expected = self.style.texts(own, step.role)
        places = [(i, j) for i, row in enumerate(own.rows) for j, cell in enumerate(row) if cell is not NEG_INF]
        for i, j in self.rng.sample(places, len(places)):
            for key, text in self._errors(step, own, held, expected, i, j):
                shown = _with(expected, i, j, text)
                if self._tells(step, loose, shown):
                    return Made(key, with_value(own, i, j, number_of(text)), shown)
        return None

    def _errors(
        self, step: Step, own: Value, held: Mapping[Symbol, Value], expected: Table, i: int, j: int
    ) -> Iterator[tuple[str, str]]:
        """What might be written in a cell instead, in random order."""
        text = expected[i][j]
        found = [(slip.key, made) for slip in TEXTS for made in slip.change(text) if _is_number(made)]
        found += [(CELL_ERROR, made) for made in _digit_changes(text) if _is_number(made)]
        meeting = _meeting(step, own, held, i, j)
        if meeting is not None:
            for slip in DOTS:
                found += [
                    (slip.key, self.style.texts(Value(((cell,),)), step.role)[0][0]) for cell in slip.change(meeting)
                ]
        keys = sorted({key for key, _ in found})
        for key in self.rng.sample(keys, len(keys)):
            yield key, self.rng.choice([made for k, made in found if k == key])

    def _tells(self, step: Step, loose: tuple[Value, ...], shown: Table) -> bool:
        """Whether some cell is plainly off, from the truth and from all that the author's numbers may give."""
        truth = self.trace.value(step.symbol, BITS)
        return all(truth.shape == value.shape for value in loose) and any(
            all(plainly_off(text, value.rows[i][j]) for value in (truth, *loose))
            for i, row in enumerate(shown)
            for j, text in enumerate(row)
        )


def plainly_off(text: str, cell: Cell) -> bool:
    """Whether a printed number is two units or more of its last place away from a value; a fraction is meant exactly.

    >>> plainly_off("0.25", number_of("0.26")), plainly_off("0.25", number_of("0.27"))
    (False, True)
    """
    shown = number_of(text)
    if shown is NEG_INF or cell is NEG_INF:
        return shown is not cell
    low, high = bounds(cell)
    if "/" in text:
        return not low <= shown <= high
    ulp = power_of_ten(-len(text.partition(".")[2]))
    return bool(shown <= low - 2 * ulp or shown >= high + 2 * ulp)


def _cut(cell: Cell, places: int) -> str:
    """A number without the digits after so many places.

    >>> _cut(number_of("-0.678"), 2)
    '-0.67'
    """
    low, high = (abs(bound) for bound in bounds(cell))
    digits = str((min(low, high) * 10**places).floor()).rjust(places + 1, "0")
    sign = "-" if bounds(cell)[1] < 0 and digits.strip("0") else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def is_written(shown: Table) -> bool:
    """Whether somebody would write such numbers down: e^71 with four decimals nobody does."""
    return all(len(text) <= MOST_CHARACTERS for row in shown for text in row)


def _is_endless(shown: Table) -> bool:
    """Whether −∞ is among the numbers: outside of a mask, nobody would go on with it."""
    return any(text == MINUS_INFINITY for row in shown for text in row)


def _digit_changes(text: str) -> Iterator[str]:
    """Another digit in one place."""
    for i, ch in enumerate(text):
        if ch.isdigit():
            yield from (text[:i] + str(d) + text[i + 1 :] for d in range(10) if str(d) != ch)


def _is_number(text: str) -> bool:
    over, slash, under = text.partition("/")
    if slash:
        return (
            over.removeprefix("-").isdigit() and under.isdigit() and int(under) > 1 and gcd(int(over), int(under)) == 1
        )
    whole, _, decimals = text.removeprefix("-").partition(".")
    return whole.isdigit() and (decimals.isdigit() or not decimals) and (whole == "0" or not whole.startswith("0"))


def _meeting(step: Step, own: Value, held: Mapping[Symbol, Value], i: int, j: int) -> Meeting | None:
    """The row and the column that meet in a cell, where the step is a product."""
    inner = step.expr.terms[0] if isinstance(step.expr, n.Sum) else step.expr
    if not isinstance(inner, n.Product):
        return None
    left, right = evaluate(inner.left, held, Certified()), evaluate(inner.right, held, Certified())
    if left.shape[1] != right.shape[0] or own.shape != (left.shape[0], right.shape[1]):
        return None
    return Meeting(left.rows, list(zip(*right.rows, strict=True)), i, j, own.rows[i][j])


def _with(table: Table, i: int, j: int, text: str) -> Table:
    row = (*table[i][:j], text, *table[i][j + 1 :])
    return (*table[:i], row, *table[i + 1 :])


def with_value(value: Value, i: int, j: int, cell: Cell) -> Value:
    """A value with another number in one cell."""
    row = (*value.rows[i][:j], cell, *value.rows[i][j + 1 :])
    return Value((*value.rows[:i], row, *value.rows[i + 1 :]))
