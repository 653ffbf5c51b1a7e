"""Values as the decimals that a rendering shows, and whether those decimals are the whole truth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

from flint import fmpq

from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.interpret.cells import NEG_INF, Cell, bounds, fraction
from qkv.interpret.certified import Value
from qkv.interpret.rounding import MINUS_INFINITY, exact_decimal, round_digits, round_places
from qkv.interpret.trace import Table, Trace, decided
from qkv.program.model import Answer, Given, Part, Step
from qkv.render.options import Depth, Options

GIVEN_DIGITS = 20  # what a sheet prints is repeated in full, whatever number of digits the results have
RESULTS = frozenset(  # what `brief` keeps
    {Role.WEIGHTS, Role.HEAD, Role.CONCAT, Role.OUTPUT, Role.CONTEXT, Role.BLOCK, Role.LEARNED}
)
NOTHING = "There is nothing to work out here."
UNSOLVED = "Nothing could be worked out yet."
UNKNOWN = "…"  # a cell whose ball is too wide for even one digit


def above_advice(traces: Iterable[Trace]) -> str:
    """What stands above the lines that would help."""
    programs = [trace.program for trace in traces]
    if any(program.steps for program in programs):
        return "To go on"
    return UNSOLVED if any(program.answers for program in programs) else NOTHING


class Shown(NamedTuple):
    """A table of decimals; `exact` says that nothing was rounded."""

    rows: Table
    exact: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.rows), len(self.rows[0])

    @property
    def is_number(self) -> bool:
        """Whether there is one cell only."""
        return self.shape == (1, 1)


def shown(trace: Trace, item: Given | Step, options: Options) -> Shown:
    """What is printed for a given or a step."""
    value = trace.value(item.symbol)
    if isinstance(item, Given) and value.exact:
        rows = tuple(tuple(_given_text(cell, options) for cell in row) for row in value.rows)
    elif options.places is not None:
        rows = trace.decimals(item.symbol, options.places)
    else:
        rows = trace.digits(item.symbol, options.digits)
    if value.shape == (1, 1) and not is_whole(value.cell, rows[0][0]) and _is_count(value.cell):
        rows = ((cell_text(value.cell, GIVEN_DIGITS),),)
    return Shown(rows, _is_whole(value, rows))


def shown_part(trace: Trace, answer: Answer, part: Part, options: Options) -> Shown:
    """What is printed for a quantity that answers a question: rounded as it wants, unless the reader says otherwise."""
    places = options.places if options.places is not None else answer.places
    digits = answer.digits or options.digits

    def text(cell: Cell) -> str | None:
        return round_digits(cell, digits) if places is None else round_places(cell, places)

    rows = decided(lambda bits: trace.evaluate(part.expr, bits), text)
    return Shown(rows, _is_whole(trace.evaluate(part.expr), rows))


def _is_count(cell: Cell) -> bool:
    """Whether a number counts something: 8388608 parameters are no 8.38861e6."""
    return isinstance(cell, fmpq) and cell.q == 1 and abs(cell) < 10**GIVEN_DIGITS


def says_itself(expr: n.Expr) -> bool:
    """Whether a formula is nothing but the numbers that it gives, so that it need not be shown twice."""
    return isinstance(expr, n.Number) or (
        isinstance(expr, n.Matrix) and all(isinstance(cell, n.Number) for row in expr.rows for cell in row)
    )


def _given_text(cell: Cell, options: Options) -> str:
    return cell_text(cell, GIVEN_DIGITS) if _terminates(cell) else cell_text(cell, options.digits)


def _terminates(cell: Cell) -> bool:
    return cell is NEG_INF or (isinstance(cell, fmpq) and exact_decimal(cell, GIVEN_DIGITS) is not None)


def cell_text(cell: Cell, digits: int, places: int | None = None) -> str:
    """A cell to significant digits, or to as many as its ball decides; or to decimal places, if said.

    >>> cell_text(fmpq(2, 3), 4), cell_text(NEG_INF, 4), cell_text(fmpq(20, 3), 6, places=2), cell_text(fmpq(7), 6, 2)
    ('0.6667', '-inf', '6.67', '7')
    """
    if places is not None:
        return _to_places(cell, places)
    for tried in range(digits, 0, -1):
        text = round_digits(cell, tried)
        if text is not None:
            return text
    low, high = bounds(cell)
    return "0" if low <= 0 <= high else UNKNOWN


def _to_places(cell: Cell, places: int) -> str:
    exact = exact_decimal(cell, GIVEN_DIGITS) if isinstance(cell, fmpq) else None
    if exact is not None and len(exact.partition(".")[2]) <= places:
        return exact
    return round_places(cell, places) or UNKNOWN


def is_whole(cell: Cell, text: str) -> bool:
    """Whether a decimal is the cell itself rather than a rounding of it."""
    if cell is NEG_INF:
        return text == MINUS_INFINITY
    if type(cell) is not fmpq or text == UNKNOWN:
        return False
    return (cell.q == 1 and text == str(cell.p)) or Fraction(text) == fraction(cell)


def _is_whole(value: Value, rows: Table) -> bool:
    pairs = zip(value.rows, rows, strict=True)
    return all(is_whole(cell, text) for cells, texts in pairs for cell, text in zip(cells, texts, strict=True))


def steps_shown(trace: Trace, options: Options) -> Iterator[Step]:
    """The steps that a depth asks for: all, or at `brief` the weights and what comes of them."""
    for step in trace.program.steps:
        if options.depth is not Depth.BRIEF or step.role in RESULTS or step is trace.program.steps[-1]:
            yield step


def formula(trace: Trace, step: Step, options: Options) -> n.Expr:
    """The formula to show for a step. At `brief` it mentions no step that is left out: A = softmax(Q Kᵀ / √d_k)."""
    if options.depth is not Depth.BRIEF:
        return step.expr
    kept = {shown_step.symbol for shown_step in steps_shown(trace, options)}
    hidden = {item.symbol: item.expr for item in trace.program.steps if item.symbol not in kept}

    def open_up(node: n.Expr) -> n.Expr:
        if isinstance(node, n.Name) and node.symbol in hidden:
            return n.rewrite(hidden[node.symbol], open_up)
        return node

    return n.rewrite(step.expr, open_up)
