"""One practice sheet: a document and its key."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from random import Random

from qkv.errors import QkvError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.trace import Trace
from qkv.practice.document import Placed, write
from qkv.practice.hand import BITS, Line, Slip, Style, Undecided, work_by_hand
from qkv.practice.notation import NOTATIONS, Notation
from qkv.practice.operands import has_fractions
from qkv.practice.problems import KINDS, problem
from qkv.practice.slips import Planter, is_written, plainly_off
from qkv.practice.unfold import unfolded
from qkv.practice.words import LANGUAGES
from qkv.program.model import Program, Step
from qkv.records import dataclass

R = Role
Cells = frozenset[tuple[int, int]]
# What authors write token by token: the data, the projections, the softmax, the result.
BY_ROW: tuple[frozenset[Role], ...] = (
    frozenset({R.X, R.STATES}),
    frozenset({R.X, R.Q, R.K, R.V}),
    frozenset({R.WEIGHTS}),
    frozenset({R.WEIGHTS, R.OUTPUT}),
)
# What they write cell by cell: dot products; the softmax, with its exponentials and their sums; or both.
BY_CELL: tuple[frozenset[Role], ...] = (
    frozenset({R.SCORES}),
    frozenset({R.WEIGHTS, R.OTHER}),
    frozenset({R.SCORES, R.WEIGHTS, R.OTHER}),
)

_DECIMAL = re.compile(r"(?<![\d,])(?:0,\d{2,}|\d+,(?:\d\d|\d{4,}))(?![\d,])")  # no thousands, and no list of two
JOINT = 0.2  # how often the first slip is where the heads come together: one step among many, with mistakes of its own


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
class Practice:
    """A document and its key, value by value in the order of the text."""

    text: str
    suffix: str
    key: tuple[Expected, ...]
    program: Program

    @property
    def slips(self) -> tuple[Expected, ...]:
        """The values where something went wrong first."""
        return tuple(expected for expected in self.key if expected.verdict == "wrong")


def sheet(
    kind: str = "self", seed: int = 0, notation: str = "bmatrix", slips: int = 0, style: Style | None = None
) -> Practice:
    """A new sheet of a kind, worked out in a notation, with so many slips put in on purpose.

    >>> practice = sheet("given", seed=3)
    >>> [expected.verdict for expected in practice.key]
    ['fine', 'fine', 'fine', 'fine']
    """
    if kind not in KINDS:
        raise ValueRefused(f"{kind!r} is no kind of sheet; there are {', '.join(KINDS)}")
    if notation not in NOTATIONS:
        raise ValueRefused(f"{notation!r} is no notation; there are {', '.join(NOTATIONS)}")
    rng = Random(f"{kind}/{seed}/{notation}/{slips}")
    while True:
        try:
            return _drawn(kind, rng, notation, slips, style)
        except QkvError:
            continue  # a tie that could be rounded either way, or a slip that nobody could go on from: draw again


def _drawn(kind: str, rng: Random, notation: str, slips: int, style: Style | None) -> Practice:
    program = problem(kind, rng)
    if any(map(has_fractions, program.givens)) and not NOTATIONS[notation].fractions:
        raise Undecided("fractions cannot be written")
    chosen = style or _style(program, NOTATIONS[notation], rng)
    worked = unfolded(program) if R.OTHER in chosen.by_cell else program
    trace = Trace(worked)
    planter = Planter(trace, chosen, rng)
    planted = _planted(planter, slips)
    lines = work_by_hand(worked, chosen, planted)
    if not all(is_written(line.shown) for line in lines if line.step.role is R.OTHER):
        raise Undecided("nobody writes such exponentials out")
    text, placed = write(program, lines, chosen, NOTATIONS[notation], rng)
    if NOTATIONS[notation].point != "." and not _DECIMAL.search(text.replace("{,}", ",")):
        raise Undecided("nothing shows what a comma is")
    rounding = {symbol: slip for symbol, slip in planted.items() if slip == planter.cut}  # nothing follows from that
    clean = {line.step.symbol: line for line in (work_by_hand(worked, chosen, rounding) if slips else lines)}
    key = tuple(_key(placed, clean, trace))
    return Practice(text, NOTATIONS[notation].suffix, key, program)


def _style(program: Program, notation: Notation, rng: Random) -> Style:
    """An author at random."""
    roles = {step.role for step in program.steps}
    left_out = {R.SCALED} & roles if rng.random() < 0.2 else set()
    nameless = ({R.SCORES, R.SCALED} & roles) - left_out if rng.random() < 0.3 else set()
    plain = R.HEAD not in roles and R.SOURCE not in {given.role for given in program.givens} and not program.columns
    by_cell = rng.choice(BY_CELL) if rng.random() < 0.25 and plain and not left_out and notation.copies else frozenset()
    by_row = rng.choice(BY_ROW) if rng.random() < 0.25 and not program.columns else frozenset()
    return Style(
        places=rng.choice((2, 3, 3, 4)),
        carries_print=rng.random() < 0.6,
        left_out=frozenset(left_out),
        nameless=frozenset(nameless) | by_cell,
        formulas=rng.random() < 0.7 and notation.formulas,
        operands=rng.random() < 0.4,
        by_row=(by_row if plain else by_row & {R.X, R.STATES}) - by_cell,
        by_cell=by_cell,
        margin=rng.random() < 0.3,
        fractions=any(map(has_fractions, program.givens)),
        language=rng.choice(("en", "en", *LANGUAGES)),
        bold=rng.random() < 0.15,
    )


def _planted(planter: Planter, count: int) -> dict[Symbol, Slip]:
    trace, rng = planter.trace, planter.rng
    steps = [step.symbol for step in trace.program.steps if step.role not in planter.style.left_out]
    chosen = rng.sample(steps, min(count, len(steps)))
    joint = trace.program.find(R.CONCAT)
    if joint is not None and chosen and rng.random() < JOINT:
        chosen[0] = joint
    known: list[Slip] = [*[planter.structural] * 6, planter.cell, planter.typo, planter.cut]
    alone: list[Slip] = [planter.cell, planter.typo]  # exponentials and their sums are written one by one
    parts = {step.symbol for step in trace.program.steps if step.role is R.OTHER}
    return {symbol: rng.choice(alone if symbol in parts else known) for symbol in chosen}


def _misfit(placed: Placed) -> Expected:
    """What is due for a value of the wrong shape: no cell of it has a true value beside it."""
    line = placed.shown.line
    if placed.shown.chain.value != line.shown:
        raise Undecided("the shape of what is shown in parts cannot be seen")
    verdict = "wrong" if line.mistake else "carried"
    return Expected(line.step.spelled, placed.line, placed.end_line, verdict, mistake=line.mistake, misfit=True)


def _key(placed: tuple[Placed, ...], clean: dict[Symbol, Line], trace: Trace) -> Iterator[Expected]:
    """What is due for each shown part, in order. What is made of nothing but right numbers is not carried, though it
    may have drifted away from where it would be without a slip further up."""
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
