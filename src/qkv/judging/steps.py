"""Workings one after the other, where a number is not what stood there: e^2.83/(e^2.83 + e^0) = 16.97/(16.97 + 1); and
workings with rounded numbers put in, which give what lies near the value of the formula beside them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from qkv.check.cells import Grid, Loose, fitted, may_agree, shape_of, shown_grid
from qkv.check.compare import Agreement, Shown, follows, may_be_same
from qkv.check.model import Verdict
from qkv.expr import nodes as n
from qkv.interpret.cells import NEG_INF, Cell, bounds
from qkv.interpret.certified import Certified, Value
from qkv.judging.fit import Fit, How, Meaning
from qkv.judging.seen import Copied, exactly, worth
from qkv.judging.typed import reaches
from qkv.reading.align import Pair, place_by_place
from qkv.reading.equation import Equation, Item, Kind
from qkv.reading.page import Spot

if TYPE_CHECKING:
    from qkv.judging.walk import Walk

Step = tuple[Item, n.Expr, n.Expr]  # the working, the numbers in it that are off, and what they should be worth


def steps_off(equation: Equation) -> list[Step]:
    """Numbers that are not what stood in their place one working earlier, where all others are."""
    found: list[Step] = []
    for before, after in pairwise(item for item in equation.items if not item.struck):
        if not n.names_in(before.expr) and not n.names_in(after.expr):
            found += [(after, number, meant) for meant, number in _off(before.expr, after.expr)]
    return found


def worked_out(equation: Equation, item: Item) -> set[int]:
    """The ids of numbers in a working that are what stood in their place one working earlier, worked out: the 0.027 of
    0.18·0.15 + 0.2·0.7 = 0.027 + 0.14 is no copy of another 0.027."""
    at = equation.items.index(item)
    before = equation.items[at - 1] if at else None
    if before is None or not before.kind is item.kind is Kind.WORKING:
        return set()
    pairs = _pairs(before.expr, item.expr) or ()
    found = (x for meant, x in pairs if not _is_printed(meant) and _is_printed(x) and _agrees(meant, x))
    return {id(node) for x in found for node in n.walk(x)}


def judge_steps(walk: Walk, equation: Equation, item: Item, spot: Spot) -> None:
    """Judge the numbers of a working that are not what stood in their place one working earlier: what follows stands on
    them."""
    claims: dict[n.Expr, int] = {}
    for working, numbers, meant in steps_off(equation):
        grid = grid_of(numbers) if working is item else None
        made = walk.fit(grid, Meaning(How.WORKING, meant, spot, names=False)) if grid is not None else None
        if grid is None or made is None or made.worst is not Verdict.WRONG:
            continue
        if numbers not in claims:
            place = item._replace(kind=Kind.VALUE, expr=numbers)
            at = replace(equation, line=item.line, end_line=item.line)
            said = replace(at, items=(place,), label=walk.copies.called(meant, spot))
            claims[numbers] = walk.claim(said, place, grid, made)
        right = made.true or worth(meant, {}, Certified()) or made.own
        if right is not None:
            walk.copies.put_down(numbers, Copied(meant, right, exactly(grid), right, frozenset({claims[numbers]})))


LARGER = tuple(base**power for base in (1000, 1024) for power in (1, 2, 3, 4))  # units of bytes


def runs_on(before: n.Expr, after: n.Expr) -> bool:
    """Whether a working begins with what the side before it gives, rounded, and does something with it: it is not equal
    to that side, its author goes on from it.

    >>> runs_on(n.Exp(n.number("0.5")), n.Product(n.number("1.649"), n.number(3)))
    True
    """
    first = after
    while not isinstance(first, n.Number) and isinstance(first, (n.Product, n.Quotient, n.Sum)):
        first = n.children(first)[0]
    if first is after or not isinstance(first, n.Number) or not n.is_literal(before) or _is_printed(before):
        return False
    same = bool(first.places) and _agrees(before, first)
    same = same or any(_agrees(n.Quotient(before, n.number(unit)), first) for unit in LARGER)  # bytes, then MB
    return same and not _agrees_worth(before, after)


def _agrees_worth(before: n.Expr, after: n.Expr) -> bool:
    """Whether two workings may have the same number as their value."""
    one, other = worth(before, {}, Loose()), worth(after, {}, Loose())
    if one is None or other is None or one.shape != (1, 1) or other.shape != (1, 1):
        return True
    return may_be_same(one.cell, other.cell)


def _same_worth(before: n.Expr, after: n.Expr) -> bool:
    """Whether two workings have the same value whatever stands in them: softmax([1, 2]) = softmax([0, 1])."""
    one, other = worth(before, {}, Certified()), worth(after, {}, Loose())
    return one is not None and other is not None and may_agree(one, other)


def _off(before: n.Expr, after: n.Expr) -> list[Pair]:
    """The places that disagree, if it is the same number in all of them and other places agree, or a function is taken
    of it; what follows from that number, as a sum with it, is no place of its own."""
    pairs = _pairs(before, after)
    alone = pairs is not None and len(pairs) == 1  # f(0.1 + 0.2) = f(0.4)
    if pairs is None or (alone and (_is_printed(after) or _same_worth(before, after))):
        return []
    false = [pair for pair in pairs if not _agrees(*pair)]
    first = {pair for pair in false if not any(_is_in(other[0], pair[0]) for other in false)}
    worked_out = all(_is_printed(number) and not _is_printed(meant) for meant, number in false)
    if len(first) != 1 or not worked_out or (len(false) == len(pairs) and not alone):
        return []
    slip, number = next(iter(first))
    follows = all(_agrees(n.replaced(meant, slip, number), x) for meant, x in false if meant != slip)
    return [pair for pair in false if pair in first] if follows else []


def _is_in(part: n.Expr, whole: n.Expr) -> bool:
    return part != whole and part in n.walk(whole)


def _pairs(before: n.Expr, after: n.Expr) -> list[Pair] | None:
    """What stands in each place of two expressions that are built alike; None where they are not."""
    if _is_printed(after) or before == after:
        return [(before, after)]
    if type(before) is not type(after) or isinstance(before, n.Entry):
        return None
    if isinstance(before, n.Call) and isinstance(after, n.Call) and before.function != after.function:
        return None
    if isinstance(before, n.Matrix) and isinstance(after, n.Matrix) and before.shape != after.shape:
        return None
    return place_by_place(list(n.children(before)), list(n.children(after)), _pairs)


def _is_printed(expr: n.Expr) -> bool:
    """A number, or a matrix of numbers."""
    if isinstance(expr, n.Negate):
        expr = expr.arg
    if isinstance(expr, n.Matrix):
        return not expr.is_ragged and all(_is_printed(cell) for row in expr.rows for cell in row)
    return isinstance(expr, n.Number)


def grid_of(numbers: n.Expr) -> Grid | None:
    """Numbers of a working as what is printed."""
    return shown_grid(numbers if isinstance(numbers, n.Matrix) else n.Matrix(((numbers,),)), True)


def _agrees(meant: n.Expr, numbers: n.Expr) -> bool:
    """Whether numbers may be what an expression gives; what is no number must stand there unchanged."""
    if not _is_printed(numbers):
        return meant == numbers
    grid, loose, exact = grid_of(numbers), worth(meant, {}, Loose()), worth(meant, {}, Certified())
    shape = shape_of(grid) if grid is not None else (0, 0)
    loose, exact = (fitted(value, shape) if value is not None else None for value in (loose, exact))
    if grid is None or loose is None or exact is None:
        return True
    return all(_cell_agrees(grid, loose, exact, i, j) for i in range(shape[0]) for j in range(shape[1]))


def _cell_agrees(grid: Grid, loose: Value, exact: Value, i: int, j: int) -> bool:
    return follows(grid[i][j], loose.rows[i][j]) is not Agreement.APART and reaches(grid[i][j], exact.rows[i][j])


def carried_working(fits: list[Fit]) -> Fit | None:
    """The last working before a value, if it gives every digit with numbers that are false: the slip is theirs."""
    worked = [f for f in fits if f.meaning.how is How.WORKING]
    return worked[-1] if worked and worked[-1].worst is Verdict.CARRIED else None


CLOSE = 10  # half units of the last place by which numbers that were rounded before may be off


def is_close(shown: Shown, cell: Cell) -> bool:
    """Whether a printed number is within a few units of its last place of a value."""
    if cell is NEG_INF or shown.value is None or not shown.half:
        return shown.cell is cell
    low, high = bounds(cell)
    return bool(low - CLOSE * shown.half <= shown.value <= high + CLOSE * shown.half)
