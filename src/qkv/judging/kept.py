"""What an author goes on with after a printed value: its digits, the number behind them, or what was meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from qkv.check.cells import Grid, shape_of
from qkv.check.compare import held, rounded_as
from qkv.check.model import Verdict
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.cells import Cell
from qkv.interpret.certified import Value
from qkv.judging.fit import Fit, How
from qkv.judging.given import formulas_of, is_given
from qkv.judging.seen import exactly
from qkv.judging.weighing import is_exact, is_index
from qkv.reading.equation import Equation, Item, Kind
from qkv.reading.nameless import NAMELESS
from qkv.reading.page import Spot
from qkv.reading.prints import Print

if TYPE_CHECKING:
    from qkv.judging.walk import Walk

FALSE = frozenset({Verdict.WRONG, Verdict.CARRIED, Verdict.MISREAD})
SLIPPED = FALSE - {Verdict.CARRIED}
OFF = FALSE | {Verdict.MISROUNDED}  # digits that were cut off may stand on something false too


def print_of(grid: Grid, chosen: Fit | None, number: int | None, spot: Spot) -> Print:
    """A printed value as its author may go on with it."""
    kept = _kept(grid, chosen)
    true = chosen.true if chosen is not None else None
    if chosen is not None and chosen.worst is Verdict.MISROUNDED and true is None:
        true = chosen.own  # of a working, what it gives: who copies the print later copies its last digit too
    return Print(kept, true, number, spot, _mended(kept, chosen), _meant(kept, grid, chosen))


def is_value_of(formula: Item, chosen: Fit | None, own: Callable[[n.Expr], Value | None]) -> bool:
    """Whether a printed value is that of a formula beside it: it was found to be, or the author's numbers give none, as
    that of S + M where nobody knows M."""
    if chosen is not None and chosen.meaning.how in (How.ASSIGNED, How.STATED, How.WORKING):
        return True
    return formula.kind is Kind.FORMULA and own(formula.expr) is None


def _kept(grid: Grid, chosen: Fit | None) -> Value:
    """What the author goes on with: what is printed, or the unrounded number behind it as far as that is known."""
    sources = [v for v in ((chosen.true, chosen.own) if chosen is not None else ()) if v is not None]
    slipped = [chosen.instead] if chosen is not None and chosen.instead is not None else []  # it makes other cells too
    badly = chosen is not None and any(Verdict.MISROUNDED in row for row in chosen.verdicts)

    def cell(i: int, j: int) -> Cell:
        false = chosen is not None and chosen.verdicts[i][j] in SLIPPED
        return held(grid[i][j], [s.rows[i][j] for s in ([] if false else sources) + slipped], badly)

    rows, columns = shape_of(grid)
    return Value(tuple(tuple(cell(i, j) for j in range(columns)) for i in range(rows)))


def _mended(kept: Value, chosen: Fit | None) -> Value | None:
    """What was printed, with its false cells put right."""
    if chosen is not None and chosen.misfit is not None:
        return chosen.misfit
    if chosen is None or chosen.worst not in FALSE:
        return None
    if chosen.larger is not None:
        return chosen.larger
    right = next((value for value in (chosen.true, chosen.right, chosen.own) if value is not None), None)
    return _replaced(kept, right, chosen, OFF) if right is not None else None


def _meant(kept: Value, grid: Grid, chosen: Fit | None) -> Value | None:
    """What was printed, with what was written down wrongly replaced by what the author's numbers give: who only makes a
    mistake in writing goes on with these, rounded or not."""
    if chosen is None or chosen.own is None or chosen.worst not in FALSE:
        return None
    usual, _ = Counter(shown.half for line in grid for shown in line).most_common(1)[0]
    places = next(shown for line in grid for shown in line if shown.half == usual)  # 0.24883 among four places has four
    made = tuple(tuple(rounded_as(places, cell) for cell in cells) for cells in chosen.own.rows)
    return _replaced(kept, Value(made), chosen, SLIPPED)


def _replaced(kept: Value, right: Value, chosen: Fit, verdicts: frozenset[Verdict]) -> Value:
    """A value with the cells of some verdicts taken from another one."""
    rows = zip(kept.rows, right.rows, chosen.verdicts, strict=True)
    return Value(tuple(tuple(r if v in verdicts else k for k, r, v in zip(*row, strict=True)) for row in rows))


def keep(
    walk: Walk, equation: Equation, item: Item, grid: Grid, chosen: Fit | None, number: int | None, spot: Spot
) -> None:
    """Keep what was printed for an equation; `chosen` is what it was found to mean, `number` its claim."""
    printed = print_of(grid, chosen, number, spot)
    remembered: n.Expr | None = None
    label = Symbol(NAMELESS, (), (str(equation.index),))
    own = label in walk.system.page.fixed or walk.system.is_derived(label)
    for symbol in (*equation.names, *((label,) if own else ())):
        rounded = walk.system.is_derived(symbol) and not is_exact(equation, grid)
        worked = number is not None or not is_given(walk, equation) or item.approximate or rounded
        printed = printed if worked else printed._replace(held=exactly(grid))
        if worked or symbol in walk.prints.names:  # weights that are given in decimals are rounded, like all others
            walk.prints.add(symbol, printed)
        remembered = remembered or n.Name(symbol)
    for formula in formulas_of(equation, walk.system):
        if is_value_of(formula, chosen, lambda expr: walk.values.own(expr, spot, walk.prints)[0]):
            walk.prints.add_formula(formula.expr, printed)
            remembered = remembered or formula.expr
            if (cell := walk.system.cell_of(formula.expr, spot.scope)) is not None and shape_of(grid) == (1, 1):
                walk.prints.add_cell(*cell, printed)
            if (role := walk.system.role_of(formula.expr)) is not None and not equation.names:
                walk.prints.add(role, printed)
    if chosen is not None and isinstance(chosen.meaning.expr, n.Name):
        walk.prints.add(chosen.meaning.expr.symbol, printed)
        for holder in walk.system.called(chosen.meaning.expr.symbol) if not equation.names else ():
            walk.prints.add(holder, printed)
    elif chosen is not None and remembered is None:
        walk.prints.add_formula(chosen.meaning.expr, printed)
    if chosen is not None and chosen.meaning.known_as is not None:
        _keep_as(walk, chosen.meaning.known_as, printed)
    if remembered is None and label in walk.system.page.definitions and chosen is None:
        remembered = n.Name(label)
    if remembered is None:
        remembered = item.expr if chosen is None else chosen.meaning.expr
    if not is_index(equation, grid):  # 'j = 2:' says where one is, and is gone on with by nobody
        walk.recent.append((remembered, spot))
        walk.copies.note(remembered, grid, printed, equation, bool(item.units))


def _keep_as(walk: Walk, expr: n.Expr, printed: Print) -> None:
    """Keep what was printed for a role, or for a line of one."""
    if isinstance(expr, n.Name):
        for symbol in (expr.symbol, *walk.system.called(expr.symbol)):
            walk.prints.add(symbol, printed)
    else:
        walk.prints.add_formula(walk.values.prepared(expr, printed.spot) or expr, printed)
