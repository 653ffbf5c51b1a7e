"""Working a program by hand: every step printed with a certain number of places, and gone on with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq

from qkv.errors import QkvError
from qkv.expr.names import Role, Symbol
from qkv.interpret.cells import NEG_INF, Cell, bounds, interval, precision, rational
from qkv.interpret.certified import Certified, Value
from qkv.interpret.loop import evaluate
from qkv.interpret.rounding import exact_decimal, power_of_ten, round_places
from qkv.interpret.trace import Table
from qkv.program.model import Program, Step

BITS = 192  # far more than any printed digit needs; what it leaves open is a tie, and the problem is drawn again
MINUS_INFINITY = "-inf"
COMMON_DENOMINATOR = 6**4  # of what is written as a fraction: halves and thirds, and products of a few of them

BEFORE_SOFTMAX = frozenset({Role.Q, Role.K, Role.V, Role.SCORES, Role.SCALED, Role.MASKED})


class Undecided(QkvError):
    """A rounding that cannot be decided; another problem is drawn."""


@dataclass(frozen=True, slots=True)
class Style:
    """How an author works: `places` after the point; going on with printed digits or with all of them; which steps are
    left out, shown without a name, row by row or cell by cell; formulas, and the steps where they are not stated;
    operands copied out, with sizes in the margin; exact numbers as fractions."""

    places: int = 3
    carries_print: bool = True
    left_out: frozenset[Role] = frozenset()
    nameless: frozenset[Role] = frozenset()
    formulas: bool = True
    unstated: frozenset[Role] = frozenset()
    operands: bool = False
    by_row: frozenset[Role] = frozenset()
    by_cell: frozenset[Role] = frozenset()
    margin: bool = False
    fractions: bool = False

    def texts(self, value: Value, role: Role) -> Table:
        """A value as this author prints it; what stands alone, cell by cell, is as exact as it can be. From the softmax
        on nobody writes fractions."""
        fractions = self.fractions and role in BEFORE_SOFTMAX
        if role not in self.by_cell:
            return texts(value, self.places, fractions)
        return tuple(
            tuple(texts(Value(((cell,),)), self.places, fractions)[0][0] for cell in row) for row in value.rows
        )


@dataclass(frozen=True, slots=True)
class Line:
    """One step as printed. `value` is what the author printed, with all its digits. `own` is what the author's own
    numbers give. `loose` are the values that a reader must allow for who does not know how the author rounded: one
    that follows from the printed numbers, and one for each choice of earlier slips that the author may only have
    written down wrongly, and not have gone on with."""

    step: Step
    shown: Table
    value: Value
    own: Value
    loose: tuple[Value, ...]
    mistake: str | None = None  # the key of a slip made here
    slipped: frozenset[tuple[int, int]] = frozenset()  # cells, from 0, that the slip changed
    copied: Table = ()  # what the author puts into formulas: not `shown` after a slip of the pen
    typo: bool = False  # written down wrongly, and gone on with rightly


@dataclass(frozen=True, slots=True)
class Made:
    """What a slip makes of a step; `shown` where the slip is in the writing."""

    key: str
    value: Value
    shown: Table | None = None
    typo: bool = False


Held = dict[Symbol, Value]
Slip = Callable[[Step, Value, tuple[Value, ...], Mapping[Symbol, Value]], Made | None]


def texts(value: Value, places: int, fractions: bool = False) -> Table:
    """A value as an author prints it: short exact decimals (or fractions) as they are, all else to so many places."""
    cells = [cell for row in value.rows for cell in row if cell is not NEG_INF]
    if fractions and all(isinstance(cell, fmpq) and COMMON_DENOMINATOR % cell.q == 0 for cell in cells):
        return tuple(tuple(MINUS_INFINITY if cell is NEG_INF else str(cell) for cell in row) for row in value.rows)
    exact = all(isinstance(cell, fmpq) and _short(cell, places) for cell in cells)
    return tuple(tuple(_text(cell, places, exact) for cell in row) for row in value.rows)


def is_exact(shown: Table, value: Value) -> bool:
    """Whether nothing was rounded."""
    return not any("." in text for row in shown for text in row) or shown == texts(value, 12)


def _short(cell: fmpq, places: int) -> bool:
    text = exact_decimal(cell, 12)
    return text is not None and len(text.partition(".")[2]) <= places


def _text(cell: Cell, places: int, exact: bool) -> str:
    if cell is NEG_INF:
        return MINUS_INFINITY
    text = exact_decimal(cell, 12) if exact else round_places(cell, places)
    if text is None:
        raise Undecided("a rounding is a tie")
    return text if text.strip("-0.") else text.removeprefix("-")


def number_of(text: str) -> Cell:
    """A printed text as an exact number.

    >>> number_of("0.25"), number_of("-inf")
    (1/4, −∞)
    """
    return NEG_INF if text == MINUS_INFINITY else rational(Fraction(text))


def loosened(text: str) -> Cell:
    """All that a printed text may stand for; whole numbers are meant exactly."""
    if "." not in text:
        return number_of(text)
    return interval(number_of(text) - _half(text), number_of(text) + _half(text))


def _half(text: str) -> fmpq:
    """Half a unit of the last place; nothing for a whole number, which is meant exactly."""
    return power_of_ten(-len(text.partition(".")[2])) / 2 if "." in text else fmpq(0)


def work_by_hand(program: Program, style: Style, slips: Mapping[Symbol, Slip] | None = None) -> tuple[Line, ...]:
    """Print every step in order; a slip takes the place of what should have come out."""
    lines: list[Line] = []
    held: Held = {}
    minds: list[Held] = [{}]  # what the author may have in mind, as far as a reader can tell
    with precision(BITS):
        for given in program.givens:
            value = evaluate(given.expr, held, Certified())
            for each in (held, *minds):
                each[given.symbol] = value
        for step in program.steps:
            own = held[step.symbol] = evaluate(step.expr, held, Certified())
            for mind in minds:
                mind[step.symbol] = _followed(step, mind, own)
            if step.role not in style.left_out:
                wide = tuple(mind[step.symbol] for mind in minds)
                lines.append(_line(step, own, wide, held, style, (slips or {}).get(step.symbol)))
                held[step.symbol] = _carried(lines[-1], style)
                minds = [made for mind in minds for made in _after(mind, lines[-1], style)]
    return tuple(lines)


def _followed(step: Step, mind: Held, own: Value) -> Value:
    """A step worked out with numbers that the author may have in mind; the author's own value where they do not fit."""
    try:
        return evaluate(step.expr, mind, Certified())
    except QkvError:
        return own


def _after(mind: Held, line: Line, style: Style) -> Iterator[Held]:
    """What the author may go on with after a line: its printed numbers, or the right ones if there is a slip in it."""
    yield {**mind, line.step.symbol: _loose(line.shown)}
    if line.mistake is not None:
        half = max(map(_half, (text for row in style.texts(line.own, line.step.role) for text in row)))
        meant = mind[line.step.symbol].rows
        yield {**mind, line.step.symbol: Value(tuple(tuple(_widened(cell, half) for cell in row) for row in meant))}


def _widened(cell: Cell, half: fmpq) -> Cell:
    """A cell with room for its rounding."""
    if cell is NEG_INF:
        return cell
    low, high = bounds(cell)
    return interval(low - half, high + half)


def _loose(table: Table) -> Value:
    return Value(tuple(tuple(map(loosened, row)) for row in table))


def _line(
    step: Step, own: Value, loose: tuple[Value, ...], held: Mapping[Symbol, Value], style: Style, slip: Slip | None
) -> Line:
    expected = style.texts(own, step.role)
    made = slip(step, own, loose, held) if slip else None
    if made is None:
        return Line(step, expected, own, own, loose, copied=expected)
    shown = made.shown or style.texts(made.value, step.role)
    changed = {(i, j) for i, row in enumerate(shown) for j in range(len(row)) if _cell_of(expected, i, j) != row[j]}
    copied = expected if made.typo else shown
    return Line(step, shown, made.value, own, loose, made.key, frozenset(changed), copied, made.typo)


def _cell_of(table: Table, i: int, j: int) -> str | None:
    """A cell of a table; None where it has no such cell."""
    return table[i][j] if i < len(table) and j < len(table[i]) else None


def _carried(line: Line, style: Style) -> Value:
    """What the author goes on with: the print, or what stands behind it."""
    if not style.carries_print:
        return line.own if line.typo else line.value
    return Value(tuple(tuple(number_of(text) for text in row) for row in line.copied))
