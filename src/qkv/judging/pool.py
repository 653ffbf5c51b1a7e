"""What a search for an excuse looks at: what was printed last on the page, and what plays a role there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flint import fmpq

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.judging.causes import operands
from qkv.judging.given import is_given
from qkv.reading.equation import Equation
from qkv.reading.nameless import NAMELESS
from qkv.reading.naming import ROLE, SIZED, role_symbol
from qkv.reading.page import Spot
from qkv.reading.search import Known, known

if TYPE_CHECKING:
    from qkv.judging.walk import Walk

POOL = 28  # earlier values that a search looks at
RUN = 8  # single numbers in a row that a search takes for a vector
NEAR_ROLES = (
    Role.Q, Role.K, Role.V, Role.SCORES, Role.SCALED, Role.MASKED, Role.WEIGHTS, Role.HEAD, Role.CONCAT, Role.OUTPUT,
    Role.X, Role.STATES, Role.SOURCE,
)  # fmt: skip


def pool(walk: Walk, equation: Equation, spot: Spot) -> Iterator[Known]:
    """What a search may put together at a spot: what was printed last, single numbers as vectors, what plays a role."""
    seen: set[n.Expr] = set()
    given = is_given(walk, equation)
    exprs = [expr for expr, where in reversed(walk.recent) if where.scope == spot.scope][:POOL]
    exprs += _runs(walk, spot)
    array = Symbol(NAMELESS, (), (str(equation.index),))
    called = (*((array,) if walk.system.place(array) is not None else ()), *(equation.names if given else ()))
    itself = [walk.values.true(n.Name(symbol), spot) for symbol in called]
    roles = [n.Name(role_symbol(role, head)) for head in (None, *walk.system.heads) for role in NEAR_ROLES]
    exprs += [role for role in roles if not itself or walk.values.true(role, spot) not in itself]
    for expr in exprs:
        if expr in seen or (given and _is_self(walk, expr, equation, spot)):
            continue
        seen.add(expr)
        value, _ = walk.values.held(expr, spot, walk.prints)
        made = known(expr, value) if value is not None and value.rows and value.rows[0] else None
        if made is not None:
            yield made


def _is_self(walk: Walk, expr: n.Expr, equation: Equation, spot: Spot) -> bool:
    """Whether something may be told by what an equation gives: its name, what has that as a row, what it plays, what
    the page or the library works out from it."""
    letters = {symbol.base.lower() for symbol in equation.names}
    names = set(operands(walk.scene(spot), walk.prints, expr, all_of=True)) | set(n.names_in(expr))
    for symbol in [symbol for symbol in names if symbol.base == ROLE]:
        head = symbol.indices[0] if symbol.indices else None
        names |= {s for s, _ in walk.system.members(Role(symbol.labels[0]), head)} | set(walk.system.called(symbol))
    return any(symbol.base.lower() in letters for symbol in names)


def _runs(walk: Walk, spot: Spot) -> Iterator[n.Expr]:
    """Single numbers that were printed one after the other, as vectors; vectors, as the rows of a matrix."""
    yield from _stacks(walk, spot)
    numbers: list[n.Expr] = []
    for expr, where in reversed(walk.recent[-RUN:]):
        value, _ = walk.values.held(expr, spot, walk.prints)
        if where.scope != spot.scope or value is None or value.shape != (1, 1):
            break
        numbers.insert(0, expr)
    for start in range(max(len(numbers) - 1, 0)):
        yield n.Matrix((tuple(numbers[start:]),))


def _stacks(walk: Walk, spot: Spot) -> Iterator[n.Expr]:
    rows: list[n.Expr] = []
    for expr, where in reversed(walk.recent[-RUN:]):
        value, _ = walk.values.held(expr, spot, walk.prints)
        if where.scope != spot.scope or value is None or value.shape[0] != 1 or value.shape[1] < 2:
            break
        rows.insert(0, expr)
        if len(rows) > 1:
            yield n.Concat(tuple(rows), 0)


def sizes(walk: Walk, spot: Spot) -> list[int]:
    """Sizes that something may be divided by the root of."""
    sizes = [2, 3, 4]
    for value in (
        walk.values.true(n.Name(role_symbol(role, head)), spot)
        for head in (None, *walk.system.heads)
        for role in (Role.K, Role.X)
    ):
        if value is not None:
            sizes += value.shape
    said = (walk.values.true(n.Name(role_symbol(role)), spot) for role in SIZED)
    cells = (value.cell for value in said if value is not None and value.shape == (1, 1))
    sizes += [int(cell.p) for cell in cells if type(cell) is fmpq and cell.q == 1]
    return [size for size in dict.fromkeys(sizes) if size > 1]
