"""What a printed value may be after all, where what is said of it fits badly.

Its author goes on with an earlier version of a name, with one row of an array replaced, or with keys that nobody may
see (where a formula stands beside it, only if the page speaks of a mask). Each of these has to give every digit. It
explains a value; it never accuses.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

from qkv.check.cells import Grid, shape_of
from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.interpret.cells import NEG_INF
from qkv.judging.fit import Fit, How, Meaning
from qkv.reading.method import speaks_of_mask
from qkv.reading.naming import role_symbol
from qkv.reading.page import Spot

if TYPE_CHECKING:
    from qkv.judging.walk import Walk

COST = 6.0  # bits: names mean their last version, and nothing is hidden
MOST = 12  # versions that are tried of one formula


def otherwise(walk: Walk, grid: Grid, fits: list[Fit], spot: Spot) -> Fit | None:
    """The first meaning of another kind that gives every digit of a value which fits what is said of it badly."""
    stated = [f.meaning for f in fits if f.meaning.how in (How.STATED, How.DEFINED)]
    options = (made for meaning in stated for made in _versions(walk, grid, meaning, spot))
    sure = any(f.meaning.sure and f.meaning.how is How.STATED for f in fits)
    may_hide = not sure or speaks_of_mask(walk.system.page.words)
    hidden = _hidden(walk, grid, fits, spot) if may_hide else iter(())
    for made in (*options, *hidden):
        if made is not None and made.is_clean:
            return made
    return None


def _versions(walk: Walk, grid: Grid, meaning: Meaning, spot: Spot) -> Iterator[Fit | None]:
    """A formula with an earlier version of one or more of its names."""
    names = n.names_in(meaning.expr)
    options = {symbol: walk.copies.versions(symbol, spot) for symbol in names}
    count = 0
    for chosen in product(*([None, *options[symbol]] for symbol in names)):
        put = {s: copied for s, copied in zip(names, chosen, strict=True) if copied is not None}
        count += bool(put)
        if put and count <= MOST:
            yield walk.copies.with_versions(grid, meaning._replace(cost=meaning.cost + COST), put)


def _hidden(walk: Walk, grid: Grid, fits: list[Fit], spot: Spot) -> Iterator[Fit | None]:
    """Masked scores or weights in which some keys are hidden from every query: the padding of a batch."""
    empty = [all(row[j].cell is NEG_INF or row[j].value == 0 for row in grid) for j in range(shape_of(grid)[1])]
    if not any(empty) or all(empty):
        return
    pattern = n.Matrix((tuple(n.number(int(not hidden)) for hidden in empty),) * len(grid))
    masked = any(cell.cell is NEG_INF for row in grid for cell in row)
    heads = (None, *walk.system.heads_in(spot.scope))
    for head, role in product(heads, (Role.SCALED, Role.SCORES)):
        scores = n.Mask(n.Name(role_symbol(role, head)), pattern, truth=True)
        expr: n.Expr = scores if masked else n.Softmax(scores, by_rows=True)
        yield walk.fit(grid, Meaning(How.NAMED, expr, spot, COST))
