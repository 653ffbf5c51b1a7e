"""The printed values of a page as evidence for its choices: how many of their bits a value gives back."""

from __future__ import annotations

from dataclasses import dataclass, field

from qkv.check.cells import Grid, fitted, shape_of, shown_grid
from qkv.check.compare import meets
from qkv.expr import nodes as n
from qkv.interpret.certified import Value
from qkv.reading.bits import grid_bits
from qkv.reading.equation import Equation, Item, Kind
from qkv.reading.page import Page, found_once

SLIP = 6.0  # bits that a value loses if not all of it agrees
MOST_BITS = 40.0  # one print tells no more than this about a choice


def printed_grid(item: Item) -> Grid | None:
    """The cells of a printed value."""
    matrix = item.expr if isinstance(item.expr, n.Matrix) else n.Matrix(((item.expr,),))
    return shown_grid(matrix, item.approximate)


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed value as evidence: the bits of its cells, of all of it, and what it may tell about a choice at most."""

    equation: Equation
    grid: Grid
    bits: tuple[tuple[float, ...], ...]
    total: float
    most: float
    agreed: dict[int, tuple[Value, float]] = field(default_factory=dict, compare=False)  # what values gave back, by id


@found_once
def evidence(page: Page) -> tuple[Printed, ...]:
    """The printed values of a page; of a chain the last one."""
    return tuple([
        printed_of(equation, grid) for equation in page.equations if not equation.struck
        for item in equation.of(Kind.VALUE)[-1:] if (grid := printed_grid(item)) is not None
    ])  # fmt: skip


def printed_of(equation: Equation, grid: Grid) -> Printed:
    """A grid of an equation as evidence."""
    bits = grid_bits(grid)
    total = sum(map(sum, bits))
    return Printed(equation, grid, bits, total, min(total, MOST_BITS))


def agreed_bits(shown: Printed, value: Value) -> float:
    """The bits of a printed value that another value, or a row of it, gives back; nothing if it is less than half."""
    if id(value) not in shown.agreed:
        shown.agreed[id(value)] = value, _given_back(shown, value)
    return shown.agreed[id(value)][1]


def _given_back(shown: Printed, value: Value) -> float:
    shape = shape_of(shown.grid)
    made = fitted(value, shape)
    options = [made] if made is not None else []
    if not options and shape[0] == 1 and shape[1] == value.shape[1] and shape[1] > 1:
        options = [Value((row,)) for row in value.rows]
    best = max((_share(shown, option) for option in options), default=0.0)
    all_of_it = best >= shown.total
    return shown.most * best / shown.total if all_of_it or best - SLIP > shown.total / 2 else 0.0


def _share(shown: Printed, value: Value) -> float:
    """The bits of the cells that agree."""
    rows = zip(shown.grid, value.rows, shown.bits, strict=True)
    cells = (cell for row in rows for cell in zip(*row, strict=True))
    return sum(bits for printed, cell, bits in cells if meets(printed, cell))
