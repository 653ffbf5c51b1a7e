"""Values that are printed one by one are one array in pieces.

Where α_1, α_2 and α_3 are weights to all their digits, α_4 is a weight too: what its like agree in counts for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from qkv.check.cells import Grid, fitted, shape_of, shows
from qkv.expr import nodes as n
from qkv.judging.fit import Fit, How, Meaning
from qkv.judging.meanings import meanings
from qkv.reading.bits import grid_bits
from qkv.reading.equation import Equation, Item, Kind
from qkv.reading.evidence import printed_grid
from qkv.reading.page import Spot
from qkv.reading.values import values_of
from qkv.regex import regex

_NUMBER = regex(r"\d+")  # of 'Row 2 of the weights'

if TYPE_CHECKING:
    from qkv.judging.walk import Walk

MOST = 30.0  # bits that all its like may add


def company(walk: Walk, equation: Equation, grid: Grid, slip: Fit) -> float:
    """The bits in which the like of a value agree with what this meaning makes of them; 0 where more of them do not,
    and where another method gives the value: 'without the scale α_1 would be 0.881'."""
    meaning = slip.meaning
    if meaning.how not in (How.NAMED, How.STATED, How.DEFINED, How.WORDED):
        return 0.0
    if _is_of_another_method(walk, grid, meaning):
        return 0.0
    found = [_agreed(walk, other, item, meaning.how) for other, item in _siblings(walk, equation)]
    agreed = [bits for bits in found if bits]
    return min(sum(agreed), MOST) if 2 * len(agreed) > len(found) else 0.0


def _is_of_another_method(walk: Walk, grid: Grid, meaning: Meaning) -> bool:
    choices, scope = walk.system.choices, meaning.spot.scope
    for pair in ({"scaled", "unscaled"}, {"open", "causal"}):
        other = choices.with_conventions(scope, choices.conventions[scope] ^ pair)
        value = values_of(walk.system.page, other).true(meaning.expr, meaning.spot)
        if value is not None and shows(grid, value):
            return True
    return False


def _siblings(walk: Walk, equation: Equation) -> Iterator[tuple[Equation, Item]]:
    """The other values of a family on the page: e_2 beside e_1, weights[1] beside weights[0]."""
    key = _family(equation)
    for other in walk.system.page.equations if key is not None else ():
        if other.index != equation.index and other.scope == equation.scope and _family(other) == key:
            yield from ((other, item) for item in other.of(Kind.VALUE)[-1:] if not other.struck and not item.struck)


def _family(equation: Equation) -> object:
    """What a single value is one of: its letters without their numbers."""
    for item in equation.items:
        expr = item.expr
        if isinstance(expr, n.Name) and expr.symbol.indices:
            return expr.symbol.base, expr.symbol.labels, len(expr.symbol.indices)
        if isinstance(expr, n.Name) and expr.symbol.labels:
            return expr.symbol.base, len(expr.symbol.labels), 0
        if isinstance(expr, n.Entry) and isinstance(expr.arg, n.Name):
            return expr.arg.symbol
    return _NUMBER.sub("#", equation.label) if _NUMBER.search(equation.label) else None


def _agreed(walk: Walk, equation: Equation, item: Item, how: How) -> float:
    """The bits of a printed value if all its digits agree with its first meaning of a kind."""
    grid, spot = printed_grid(item), Spot(equation.scope, equation.line)
    options = (m for m in meanings(equation, item, walk.system, spot) if m.how is how) if grid is not None else ()
    for meaning in options:
        value = walk.values.true(meaning.expr, meaning.spot)
        if value is not None and grid is not None and fitted(value, shape_of(grid)) is not None:
            return sum(map(sum, grid_bits(grid))) if shows(grid, value) else 0.0
    return 0.0
