"""Numbers that are copied in a row: e^1.0, e^0.5 and e^0.5 after scores (1.0, 0.5, 0.5), [3/1.4, 4/1.4] after 3 and 4.

Each number alone says too little to be a copy of anything; all of them in order are no accident.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import TYPE_CHECKING

from flint import fmpq

from qkv.check.cells import shape_of
from qkv.expr import nodes as n
from qkv.interpret.cells import rational
from qkv.judging.seen import Copied, Seen, cell_of
from qkv.reading.equation import Equation, Kind
from qkv.reading.page import Page, Spot

if TYPE_CHECKING:
    from qkv.judging.copies import Copies

SINGLES = 8  # single numbers that a row may be made of
ARRAYS = 3  # arrays that a row may be taken of, the last ones first
Cells = list[tuple[Seen, int, int]]


def copied_in_a_row(copies: Copies, equation: Equation, expr: n.Expr, spot: Spot) -> Iterator[tuple[n.Number, Copied]]:
    """The numbers of a working that are copies because those beside them are, in order."""
    numbers = _divided(expr) or _exponents(equation, expr, copies.page)
    own = {id(x) for x in n.walk(expr)}
    cells = next(_rows(copies, [rational(x.value) for x in numbers], spot), []) if len(numbers) > 1 else []
    for number, (seen, i, j) in zip(numbers, cells, strict=False):
        if id(number) in own:
            yield number, cell_of(seen, i, j)


def is_function_of_a_number(expr: n.Expr) -> bool:
    """e^0.5 says something of 0.5, wherever that comes from."""
    return isinstance(expr, n.Exp) and isinstance(expr.arg, (n.Number, n.Negate)) and n.is_literal(expr)


def _divided(expr: n.Expr) -> list[n.Number]:
    """The numbers of a vector that are all divided by the same."""
    cells = expr.rows[0] if isinstance(expr, n.Matrix) and len(expr.rows) == 1 else ()
    quotients = [cell for cell in cells if isinstance(cell, n.Quotient)]
    above = [q.numerator for q in quotients if isinstance(q.numerator, n.Number)]
    alike = len({q.denominator for q in quotients}) == 1
    return above if alike and len(above) == len(cells) else []


def _exponents(equation: Equation, expr: n.Expr, page: Page) -> list[n.Number]:
    """The numbers that exponentials are taken of one after the other, this one among them."""
    if _exponent(equation) is None or not is_function_of_a_number(expr):
        return []
    near = [e for e in page.equations if e.scope == equation.scope]
    at = near.index(equation)
    before = takewhile(lambda e: _exponent(e) is not None and e.line >= equation.line - 2, reversed(near[:at]))
    after = takewhile(lambda e: _exponent(e) is not None and e.line <= equation.line + 2, near[at:])
    found = [_exponent(e) for e in (*reversed(list(before)), *after) if e.line == equation.line or _is_alone(e, near)]
    return [x for x in found if x is not None]


def _is_alone(equation: Equation, others: list[Equation]) -> bool:
    """Whether an exponential stands alone on its line, so that those above and below it belong to it."""
    return sum(e.line == equation.line for e in others) == 1


def _exponent(equation: Equation) -> n.Number | None:
    """The number that an equation takes the exponential of: e^0.5 = 1.649."""
    worked = [item.expr for item in equation.of(Kind.WORKING) if is_function_of_a_number(item.expr)]
    inner = worked[0].arg if worked and isinstance(worked[0], n.Exp) else None
    return inner if isinstance(inner, n.Number) else None


def _rows(copies: Copies, numbers: list[fmpq], spot: Spot) -> Iterator[Cells]:
    """Cells of what was printed before that read like some numbers, in order: single ones, or a line of an array."""
    recent = copies.recent(spot)
    singles = list(takewhile(lambda seen: shape_of(seen.grid) == (1, 1), recent))[:SINGLES]
    ends = range(len(singles) - len(numbers) + 1)
    lines: list[Cells] = [[(seen, 0, 0) for seen in singles[k : k + len(numbers)][::-1]] for k in ends]
    for seen in [seen for seen in recent if max(shape_of(seen.grid)) > 1][:ARRAYS]:
        rows, columns = shape_of(seen.grid)
        lines += [[(seen, i, j) for j in range(columns)] for i in range(rows)] if columns > 1 else []
        lines += [[(seen, i, 0) for i in range(rows)]] if columns == 1 else []
    fitting = [line for line in lines if [seen.grid[i][j].value for seen, i, j in line] == numbers]
    yield from sorted(fitting, key=lambda line: any(not copies.is_fine(*cell) for cell in line))
