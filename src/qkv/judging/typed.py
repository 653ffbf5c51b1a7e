"""Copied numbers in a working, alone or in a row (e^1.0, e^0.5 and e^0.5 after scores 1.0, 0.5, 0.5): they stand for
what was printed or for what is behind it, not for all that rounds so."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise, takewhile
from typing import TYPE_CHECKING

from flint import fmpq

from qkv.check.cells import Grid, Loose, fitted, shape_of
from qkv.check.compare import Shown, agree
from qkv.check.model import Verdict
from qkv.expr import nodes as n
from qkv.interpret.cells import NEG_INF, Cell, bounds
from qkv.interpret.certified import Certified, Value
from qkv.judging.fit import Fit, cell_verdict
from qkv.judging.seen import Copied, Seen, cell_of, reads_like, worth
from qkv.reading.bits import grid_bits
from qkv.reading.equation import Equation, Kind
from qkv.reading.page import Page, Spot

if TYPE_CHECKING:
    from qkv.judging.copies import Copies

MACHINE_DIGITS = 5  # in each decimal of a working that is not meant just as it is written
REACH = 3  # half units of the last place: a value that is further away was not made of these numbers
PLAIN = frozenset({n.Number, n.Negate, n.Sum, n.Product, n.Quotient, n.Matrix, n.Transpose})
LOOSE = frozenset({Verdict.ROUNDED, Verdict.DRIFTED, Verdict.CARRIED, Verdict.MISROUNDED})


def tightened(made: Fit, grid: Grid, given: list[Value | None]) -> Fit:
    """A printed value against a working, with the cells wrong that only numbers which nobody has would give; `given` is
    what the working gives with the numbers that it copies, and just as it is written."""
    exact = [v for value in given if value is not None and (v := fitted(value, shape_of(grid))) is not None]
    if not exact:
        return made
    rows, lost, slips = [], 0.0, 0
    for i, (row, bits) in enumerate(zip(grid, grid_bits(grid), strict=True)):
        line = list(made.verdicts[i])
        for j, shown in enumerate(row):
            near = made.true if line[j] not in (Verdict.DRIFTED, Verdict.CARRIED) else None
            cells = [value.rows[i][j] for value in (*exact, near) if value is not None]
            if line[j] in LOOSE and not any(reaches(shown, cell) for cell in cells):
                line[j], lost, slips = Verdict.WRONG, lost + bits[j], slips + 1
        rows.append(tuple(line))
    return made._replace(verdicts=tuple(rows), agreed=made.agreed - lost, slips=made.slips + slips) if slips else made


def as_typed(made: Fit, grid: Grid, expr: n.Expr) -> Fit:
    """A printed value against a working whose numbers are copies of nothing: where they give every digit just as they
    are written, nothing else is behind them. Sums and products are worked out with what is written; who takes an
    exponential may have more digits in a machine."""
    typed = worth(expr, {}, Certified())
    exact = fitted(typed, shape_of(grid)) if typed is not None else None
    if exact is None:
        return made
    if not all(map(agree, grid, exact.rows)) or not made.is_clean:
        written = n.kinds_in(expr) <= PLAIN and not has_digits_to_spare(expr, grid, exact)
        return tightened(made, grid, [exact]) if written else made
    if made.true is not None:
        return made._replace(own=exact)
    rows = zip(grid, exact.rows, strict=True)
    verdicts = (tuple(cell_verdict(shown, None, cell, False) for shown, cell in zip(*row, strict=True)) for row in rows)
    return made._replace(own=exact, verdicts=tuple(verdicts))


def has_digits_to_spare(expr: n.Expr, grid: Grid, typed: Value | None) -> bool:
    """Whether the author shows digits that what is written cannot give: −1.99900 + 2 ≈ 0.000999251 is worked out with
    what is behind those decimals that have as many digits as a machine prints."""
    exact = fitted(typed, shape_of(grid)) if typed is not None else None
    decimals = [node for node in n.walk(expr) if isinstance(node, n.Number) and "." in node.text]
    digits = {node.value: len(node.text.replace(".", "").lstrip("-0")) for node in decimals}
    short = {value for value, count in digits.items() if count < MACHINE_DIGITS}
    loose = worth(expr, {}, Loose(short)) if any(node.value not in short for node in decimals) else None
    made = fitted(loose, shape_of(grid)) if loose is not None else None
    if exact is None:
        return False
    pairs = ((s, x) for row, cells in zip(grid, exact.rows, strict=True) for s, x in zip(row, cells, strict=True))
    finer = all(s.half and type(x) is fmpq and (x / (20 * s.half)).q == 1 for s, x in pairs)
    full = min(digits.values(), default=0) > MACHINE_DIGITS  # quotients of such decimals leave their last digits open
    return made is not None and (finer or full) and all(map(agree, grid, made.rows))


def reaches(shown: Shown, cell: Cell) -> bool:
    """Whether a printed number may be a value, or is near it; what has no digits to compare may always be."""
    if cell is NEG_INF or shown.value is None or not shown.half:
        return True
    low, high = bounds(cell)
    slack = (REACH if high - low <= shown.half else 1) * shown.half  # an interval has what was rounded in it already
    return bool(low - slack <= shown.value <= high + slack)


SINGLES = 24  # single numbers that a row may be made of
ARRAYS = 3  # arrays that a row may be taken of, the last ones first
GAP = 2  # lines between exponentials that belong together
Cells = list[tuple[Seen, int, int]]


def copied_in_a_row(copies: Copies, equation: Equation, expr: n.Expr, spot: Spot) -> Iterator[tuple[n.Expr, Copied]]:
    """The numbers of a working that are copies because those beside them are, in order."""
    numbers = _divided(expr) or _added(expr) or _exponents(equation, expr, copies.page)
    own = {id(x) for x in n.walk(expr)}
    worths = [value.cell for x in numbers if (value := worth(x, {}, Certified())) is not None]
    cells = next(_rows(copies, worths, spot), []) if len(worths) == len(numbers) > 1 else []
    for number, (seen, i, j) in zip(numbers, cells, strict=False):
        if id(number) in own:
            yield number, cell_of(seen, i, j)


def _divided(expr: n.Expr) -> list[n.Expr]:
    """The numbers of a vector that are all divided by the same."""
    cells = expr.rows[0] if isinstance(expr, n.Matrix) and len(expr.rows) == 1 else ()
    quotients = [cell for cell in cells if isinstance(cell, n.Quotient)]
    above = [q.numerator for q in quotients if isinstance(q.numerator, n.Number)]
    alike = len({q.denominator for q in quotients}) == 1
    return list(above) if alike and len(above) == len(cells) else []


def _added(expr: n.Expr) -> list[n.Expr]:
    """The numbers of a plain sum."""
    return list(expr.terms) if isinstance(expr, n.Sum) and all(isinstance(x, n.Number) for x in expr.terms) else []


def _exponents(equation: Equation, expr: n.Expr, page: Page) -> list[n.Expr]:
    """The numbers that exponentials are taken of one after the other, this one among them."""
    if _exponent(equation) is None or not (isinstance(expr, n.Exp) and n.is_literal(expr)):
        return []
    near = [e for e in page.equations if e.scope == equation.scope]
    at = near.index(equation)
    run = [*_following(near[at::-1])[:0:-1], *_following(near[at:])]
    found = [_exponent(e) for e in run if e.line == equation.line or _is_alone(e, near)]
    return [x for x in found if x is not None]


def _following(equations: list[Equation]) -> list[Equation]:
    """The first of some equations and the exponentials after it, line by line."""
    pairs = takewhile(lambda p: _exponent(p[1]) is not None and abs(p[1].line - p[0].line) <= GAP, pairwise(equations))
    return [equations[0], *(after for _, after in pairs)]


def _is_alone(equation: Equation, others: list[Equation]) -> bool:
    """Whether an exponential stands alone on its line, so that those above and below it belong to it."""
    return sum(e.line == equation.line for e in others) == 1


def _exponent(equation: Equation) -> n.Expr | None:
    """The number that an equation takes the exponential of: e^0.5 = 1.649."""
    worked = (item.expr for item in equation.of(Kind.WORKING) if n.is_literal(item.expr))
    return next((expr.arg for expr in worked if isinstance(expr, n.Exp)), None)


def _rows(copies: Copies, numbers: list[Cell], spot: Spot) -> Iterator[Cells]:
    """Cells of what was printed before that read like some numbers, in order: single ones, an array or a line of it."""
    recent = copies.recent(spot)
    singles = list(takewhile(lambda seen: shape_of(seen.grid) == (1, 1), recent))[:SINGLES]
    ends = range(len(singles) - len(numbers) + 1)
    lines: list[Cells] = [[(seen, 0, 0) for seen in singles[k : k + len(numbers)][::-1]] for k in ends]
    for seen in [seen for seen in recent if max(shape_of(seen.grid)) > 1][:ARRAYS]:
        rows, columns = shape_of(seen.grid)
        by_row = [[(seen, i, j) for j in range(columns)] for i in range(rows)]
        lines += [*by_row, list(chain.from_iterable(by_row))]
    read = (_read(line, numbers) for line in lines if len(line) == len(numbers))
    fitting = [line for line in read if line]
    yield from sorted(fitting, key=lambda line: any(not copies.is_fine(*cell) for cell in line))


def _read(line: Cells, numbers: list[Cell]) -> Cells:
    """Cells as they read like some numbers; none if one does not."""
    read = [(reads_like(seen, i, j, x), i, j) for (seen, i, j), x in zip(line, numbers, strict=True)]
    found = [(seen, i, j) for seen, i, j in read if seen is not None]
    return found if len(found) == len(line) else []
