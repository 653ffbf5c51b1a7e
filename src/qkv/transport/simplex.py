"""The transportation simplex (MODI) in exact numbers: from any tree that carries the masses to one that is optimal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

from flint import fmpq

from qkv.transport.costs import Costs
from qkv.transport.exact import Exact, sign, to_float
from qkv.transport.tree import Cell, Flow, Prices, tree_flow, tree_path, tree_prices

FEW = 100  # cells; up to here each is looked at exactly, beyond it arrays decide most of them


def _all_cells(costs: Costs) -> list[Cell]:
    """Every cell where there are few, nothing where there are many."""
    rows, columns = costs.shape
    return list(product(range(rows), range(columns))) if rows * columns <= FEW else []


def reduced(costs: Costs, prices: Prices, cell: Cell) -> Exact:
    """c − u − v of one cell, exactly."""
    i, j = cell
    return costs.exact(i, j) - prices[0][i] - prices[1][j]


def scan(costs: Costs, prices: Prices) -> tuple[Cell | None, list[Cell]]:
    """The first cell with c < u + v, if any, and the cells with c = u + v: exactly, all cells looked at."""
    cells: Iterable[Cell] = _all_cells(costs)
    if not cells:
        from qkv.transport import arrays

        whole = costs.arrays.whole and arrays.scan_whole(costs.arrays.whole, prices)
        if whole:
            return whole
        cells = arrays.undecided(costs.arrays, prices)
    tight = []
    for cell in cells:
        slack = sign(reduced(costs, prices, cell))
        if slack < 0:
            return cell, []
        if slack == 0:
            tight.append(cell)
    return None, tight


def steepest(costs: Costs, prices: Prices) -> Cell | None:
    """The cell with the lowest c − u − v, where that is surely negative."""
    cells = _all_cells(costs)
    if not cells:
        from qkv.transport import arrays

        return arrays.steepest(costs.arrays, prices)
    lowest = min(cells, key=lambda cell: to_float(reduced(costs, prices, cell)))
    return lowest if sign(reduced(costs, prices, lowest)) < 0 else None


def pivot(flow: Flow, cell: Cell, rows: int, columns: int) -> fmpq:
    """Send as much as possible round the cycle that the cell closes; changes `flow` and returns the amount."""
    path = tree_path(flow, cell[0], rows + cell[1], rows, columns)
    losing, gaining = path[0::2], path[1::2]
    amount = min(flow[edge] for edge in losing)
    # Bland: of equal ones the first leaves, so that steps without progress end.
    leaving = min(edge for edge in losing if flow[edge] == amount)
    for edge in losing:
        flow[edge] -= amount
    for edge in gaining:
        flow[edge] += amount
    del flow[leaving]
    flow[cell] = amount
    return amount


def optimum(
    cells: Sequence[Cell], supply: Sequence[fmpq], demand: Sequence[fmpq], costs: Costs
) -> tuple[Flow, Prices, list[Cell]] | None:
    """An optimal tree's flow, prices and tight cells; None where the first tree does not carry the masses.

    The steepest cell enters, until a step makes no progress: then the first one does, which cannot go in circles
    (Bland's rule).
    """
    flow = tree_flow(cells, supply, demand)
    if min(flow.values()) < 0:
        return None
    stalled = False
    while True:
        prices = tree_prices(flow, costs)
        cell = None if stalled else steepest(costs, prices)
        if cell is None:
            cell, tight = scan(costs, prices)
        if cell is None:
            return flow, prices, tight
        stalled = pivot(flow, cell, *costs.shape) == 0
