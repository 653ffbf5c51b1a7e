"""One practice sheet: a document and its key."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from qkv.errors import QkvError, ValueRefused
from qkv.expr.names import Role, Symbol
from qkv.interpret.cells import NEG_INF, Cell, bounds
from qkv.interpret.rounding import power_of_ten
from qkv.interpret.trace import Trace
from qkv.practice.document import write
from qkv.practice.hand import BITS, Line, Slip, Style, number_of, work_by_hand
from qkv.practice.notation import NOTATIONS
from qkv.practice.problems import KINDS, problem
from qkv.practice.slips import Planter, plainly_off
from qkv.program.model import Program

R = Role
Cells = frozenset[tuple[int, int]]


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
    trace = Trace(program)
    chosen = style or _style(program, rng)
    lines = work_by_hand(program, chosen, _planted(trace, chosen, rng, slips))
    text, places = write(program, lines, chosen, NOTATIONS[notation], rng)
    clean = work_by_hand(program, chosen) if slips else lines
    key = tuple(
        _expected(line, untouched, trace, place) for line, untouched, place in zip(lines, clean, places, strict=True)
    )
    return Practice(text, NOTATIONS[notation].suffix, key, program)


def _style(program: Program, rng: Random) -> Style:
    """An author at random."""
    roles = {step.role for step in program.steps}
    left_out = {R.SCALED} & roles if rng.random() < 0.2 else set()
    nameless = ({R.SCORES, R.SCALED} & roles) - left_out if rng.random() < 0.3 else set()
    return Style(
        places=rng.choice((2, 3, 3, 4)),
        carries_print=rng.random() < 0.6,
        left_out=frozenset(left_out),
        nameless=frozenset(nameless),
        formulas=rng.random() < 0.7,
        operands=rng.random() < 0.3,
    )


def _planted(trace: Trace, style: Style, rng: Random, count: int) -> dict[Symbol, Slip]:
    steps = [step.symbol for step in trace.program.steps if step.role not in style.left_out]
    planter = Planter(trace, style, rng)
    chosen = rng.sample(steps, min(count, len(steps)))
    return {symbol: planter.structural() if rng.random() < 0.6 else planter.cell() for symbol in chosen}


def _expected(line: Line, clean: Line, trace: Trace, place: tuple[int, int]) -> Expected:
    truth = trace.value(line.step.symbol, BITS)
    off = frozenset(
        (i, j)
        for i, row in enumerate(line.shown)
        for j, text in enumerate(row)
        if plainly_off(text, truth.rows[i][j]) and not _rounds(text, truth.rows[i][j])
    )
    wrong = frozenset((i, j) for i, j in off & line.slipped if plainly_off(line.shown[i][j], line.loose.rows[i][j]))
    carried = frozenset((i, j) for i, j in off - line.slipped if line.shown[i][j] != clean.shown[i][j])
    verdict = "wrong" if wrong else "carried" if carried else "fine"
    found = Expected(line.step.spelled, *place, verdict, wrong, line.slipped, carried, line.mistake)
    return replace(
        found, wrong=_from_one(found.wrong), slipped=_from_one(found.slipped), carried=_from_one(found.carried)
    )


def _from_one(cells: Cells) -> Cells:
    return frozenset((i + 1, j + 1) for i, j in cells)


def _rounds(text: str, cell: Cell) -> bool:
    shown = number_of(text)
    if shown is NEG_INF or cell is NEG_INF:
        return shown is cell
    low, high = bounds(cell)
    half = power_of_ten(-len(text.partition(".")[2])) / 2
    return bool(shown - half <= low and high <= shown + half)
