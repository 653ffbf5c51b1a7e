"""What a meaning weighs beside others: what may still beat it, which readings count, what is too weak to accuse."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from flint import fmpq

from qkv.check.cells import Grid, shape_of
from qkv.check.model import Verdict
from qkv.expr import nodes as n
from qkv.expr.names import INDEX_LETTERS, Role
from qkv.interpret.cells import NEG_INF, Cell, bounds
from qkv.judging.causes import MISTAKE
from qkv.judging.fit import Fit, How
from qkv.judging.meanings import meanings
from qkv.judging.operands import are_shares
from qkv.judging.phrases import is_supposed
from qkv.reader.model import Origin
from qkv.reading.bits import grid_bits
from qkv.reading.equation import Equation, Item, is_printed
from qkv.reading.evidence import printed_grid
from qkv.reading.method import decided
from qkv.reading.nameless import NAMELESS
from qkv.reading.page import Spot
from qkv.reading.search import NEED

if TYPE_CHECKING:
    from qkv.judging.walk import Walk

TELLING = 6.0  # bits of a value that agrees in them with what its name says by no accident
SEEN = 10  # half units of the last place: what is further away was not rounded on the way
MARGIN = 12.0  # bits by which a slip must be likelier than the best excuse


def needed(slip: Fit | None, clean: tuple[float, Fit] | None, denied: float) -> float:
    """The bits that a search has to explain to change anything: to beat the best clean meaning, and to excuse a slip
    that would be accused without it."""
    beaten = clean[0] if clean is not None else -denied
    accused = slip.bits - MARGIN if slip is not None else -denied
    return max(NEED, beaten + denied, accused + denied)


def most_beside(grid: Grid, slip: Fit | None, denied: float) -> float:
    """The bits with which a clean meaning can be beaten neither by a search nor by a slip with a name."""
    digits = sum(map(sum, grid_bits(grid)))
    named = max(slip.bits, digits - MISTAKE) - MARGIN if slip is not None else float("-inf")
    return max(digits - How.SEARCHED.prior - denied, named, -denied)


def is_index(equation: Equation, grid: Grid) -> bool:
    """Whether an equation only says which token is meant: i = 2, j = 0."""
    letters = equation.names and all(s.base in INDEX_LETTERS and not s.indices for s in equation.names)
    value = grid[0][0].value if shape_of(grid) == (1, 1) else None
    return bool(letters) and len(equation.items) == 2 and value is not None and value.q == 1


def without_indices(expr: n.Expr) -> n.Expr:
    """A formula for any index: q_2 · k_1 and q_1 · k_3 are one."""

    def change(node: n.Expr) -> n.Expr:
        if not isinstance(node, n.Name) or not any(map(str.isdecimal, node.symbol.indices)):
            return node
        indices = tuple("·" if index.isdecimal() else index for index in node.symbol.indices)
        return n.Name(node.symbol._replace(indices=indices))

    return n.rewrite(expr, change)


def readable(fits: list[Fit]) -> list[Fit]:
    """The same without the readings of a formula, or of a caption, that make a slip where another one makes none."""
    clean = {f.meaning.side for f in fits if f.is_clean and f.meaning.side is not None}
    said = {f.meaning.how for f in fits if f.is_clean} & {How.CAPTION}
    return [f for f in fits if f.is_clean or (f.meaning.side not in clean and f.meaning.how not in said)]


def is_left_unscaled(walk: Walk, f: Fit, spot: Spot) -> bool:
    """Whether words take the softmax of scores as they stand, where the page asks for them to be divided before."""
    expr = f.meaning.expr
    if f.meaning.how not in (How.WORDED, How.CAPTION) or not isinstance(expr, n.Softmax):
        return False
    page = walk.system.page
    symbol = expr.arg.symbol if isinstance(expr.arg, n.Name) else walk.system.role_of(expr.arg)
    place = walk.system.place(symbol) if symbol is not None else None
    said = symbol is not None and symbol.base == NAMELESS and page.suggested.get(int(symbol.indices[0]), ())
    role = place.role if place is not None else said[0] if said else None
    return role is Role.SCORES and "scaled" in decided(page, spot.scope)


def as_agreed(walk: Walk, equation: Equation, item: Item) -> tuple[Equation, Item]:
    """A printed number as it may be read too, where only so it agrees: √2 ≈ 1,414 on a page with decimal points."""
    for option in item.options if is_printed(item.expr) else ():
        if is_printed(option) and not _agrees(walk, equation, item):
            other = item._replace(expr=option, options=())
            changed = replace(equation, items=tuple(other if i is item else i for i in equation.items))
            if _agrees(walk, changed, other):
                return changed, other
    return equation, item


def _agrees(walk: Walk, equation: Equation, item: Item) -> bool:
    """Whether something that the page says gives every digit of a printed value."""
    grid, spot = printed_grid(item), Spot(equation.scope, equation.line)
    offered = meanings(equation, item, walk.system, spot, walk.prints.formulas)
    return grid is not None and any((f := walk.fit(grid, m)) is not None and f.is_clean for m in offered)


def is_exact(equation: Equation, grid: Grid) -> bool:
    """Whether numbers that are given are meant as they stand: in code, or with one place at most, α = (0.2, 0.8)."""
    coarse = all(shown.half == 0 or shown.half * 20 >= 1 for row in grid for shown in row)
    return equation.origin is Origin.CODE or coarse


def nearness(grid: Grid, slip: Fit) -> float:
    """The bits that wrong cells share with what a meaning gives: three numbers that all come near are no accident. None
    where they come so near that numbers rounded on the way, which nobody sees, may explain them; and none for weights,
    which a temperature that nobody told may have changed."""
    meant = slip.true or slip.own
    if meant is None or len(grid) * len(grid[0]) < 2 or are_shares(grid):
        return 0.0
    rows = zip(grid, meant.rows, slip.verdicts, strict=True)
    cells = [(s.value, s.half, _middle(m), v) for row in rows for s, m, v in zip(*row, strict=True)]
    known = [(value, half, middle, v) for value, half, middle, v in cells if value is not None and middle is not None]
    largest = max((max(abs(value), abs(middle)) for value, _, middle, _ in known), default=fmpq(0))
    off = [(abs(value - middle), half) for value, half, middle, v in known if v is Verdict.WRONG]
    if len(known) < len(cells) or not any(gap > SEEN * half for gap, half in off):
        return 0.0
    return sum(max(0.0, math.log2(float(largest / (2 * gap)))) for gap, _ in off)


def _middle(cell: Cell) -> fmpq | None:
    """The middle of a value; None for −∞."""
    if cell is NEG_INF:
        return None
    low, high = bounds(cell)
    return (low + high) / 2


def as_whole_rows(chosen: Fit | None, grid: Grid) -> Fit | None:
    """Shares of a row stand and fall together: beside a wrong one, one that misses its last digit was not cut off."""
    if chosen is None or chosen.worst is not Verdict.WRONG or not are_shares(grid):
        return chosen
    rows = (
        tuple(Verdict.WRONG if v is Verdict.MISROUNDED and Verdict.WRONG in row else v for v in row)
        for row in chosen.verdicts
    )
    return chosen._replace(verdicts=tuple(rows))


def as_carried(chosen: Fit | None, fits: list[Fit]) -> Fit | None:
    """A value that follows from numbers put in beside it, as what its name or its formula says of it, where that is
    false and the author's numbers lead there: a working with false numbers is right arithmetic all the same. Of a value
    with slips the working tells which cells follow from the false numbers in it."""
    if chosen is not None and not chosen.is_clean:
        worked = (f for f in fits if f.meaning.how is How.WORKING and f.slips < chosen.slips)
        return next((f for f in worked if any(Verdict.CARRIED in row for row in f.verdicts)), chosen)
    if chosen is None or chosen.worst not in (Verdict.RIGHT, Verdict.ROUNDED) or chosen.agreed < TELLING:
        return chosen
    if chosen.meaning.how not in (How.WORKING, How.SEARCHED, How.COPY, How.CAPTION):
        return chosen
    said = (f for f in fits if f.worst is Verdict.CARRIED and f.meaning.how in _SAYING and f.meaning.sure)
    return next(said, chosen)


def known_as(chosen: Fit, fits: list[Fit]) -> Fit:
    """A working whose value words call something, and that is so in the same cells: later formulas go on with it."""
    if chosen.meaning.how is not How.WORKING or chosen.meaning.known_as is not None or chosen.agreed < TELLING:
        return chosen
    alike = (f for f in fits if f.slips <= chosen.slips and f.agreed > 0)
    said = (f.meaning.expr for f in alike if f.meaning.how is How.WORDED)
    name = next((expr for expr in said if isinstance(expr, n.Name)), None)
    return chosen._replace(meaning=chosen.meaning._replace(known_as=name)) if name is not None else chosen


_SAYING = frozenset({How.STATED, How.WORKING, How.CAPTION, How.DEFINED, How.NAMED})
_BESIDE = frozenset({How.ASSIGNED, How.STATED, How.WORKING, How.CAPTION})  # what stands right beside a value


def weighed(chosen: Fit | None, equation: Equation) -> Fit | None:
    """A meaning that only names or words suggest accuses nobody of a last digit, or of what is supposed."""
    if chosen is None or chosen.is_clean or chosen.meaning.how in _BESIDE:
        return chosen
    if is_supposed(equation):
        return None
    if chosen.meaning.how is not How.WORDED or chosen.worst is not Verdict.MISROUNDED:
        return chosen
    soft = tuple(tuple(Verdict.DRIFTED if v is Verdict.MISROUNDED else v for v in row) for row in chosen.verdicts)
    return chosen._replace(verdicts=soft)
