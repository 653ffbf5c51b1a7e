"""The transportation simplex (MODI) in exact numbers: from any tree that carries the masses to one that is optimal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flint import fmpq

from qkv.transport.costs import ROOM, Costs, Floats, Whole
from qkv.transport.exact import Exact, sign, to_float
from qkv.transport.tree import Cell, Flow, Prices, tree_flow, tree_path, tree_prices

ROUNDING = 2.0**-49  # more than four roundings of the largest of three terms
TINY = 1e-300  # what underflow may have swallowed


def reduced_floats(costs: Costs, prices: Prices) -> tuple[Floats, Floats]:
    """c − u − v in floats, and how far off each entry may be."""
    u, v = (np.array([to_float(price) for price in side]) for side in prices)
    with np.errstate(invalid="ignore", over="ignore"):
        value = costs.floats - u[:, None] - v[None]
        size = np.abs(costs.floats) + np.abs(u)[:, None] + np.abs(v)[None]
        return value, costs.errors + ROUNDING * size + TINY


def reduced(costs: Costs, prices: Prices, cell: Cell) -> Exact:
    """c − u − v of one cell, exactly."""
    i, j = cell
    return costs.exact(i, j) - prices[0][i] - prices[1][j]


def scan(costs: Costs, prices: Prices) -> tuple[Cell | None, list[Cell]]:
    """The first cell with c < u + v, if any, and the cells with c = u + v: exactly, all cells looked at."""
    whole = costs.whole and _scan_whole(costs.whole, prices)
    if whole:
        return whole
    value, error = reduced_floats(costs, prices)
    tight = []
    for i, j in np.argwhere(~(value > error)):  # what floats cannot call positive; NaN decides nothing either
        cell = int(i), int(j)
        slack = sign(reduced(costs, prices, cell))
        if slack < 0:
            return cell, []
        if slack == 0:
            tight.append(cell)
    return None, tight


def _scan_whole(whole: Whole, prices: Prices) -> tuple[Cell | None, list[Cell]] | None:
    """The same in 64-bit integers, where prices have the costs' denominator and fit; None where not."""
    scaled: list[list[fmpq]] = [[price * fmpq(whole.denominator) for price in side] for side in prices]
    if any(price.q != 1 or abs(price.p) > ROOM for side in scaled for price in side):
        return None
    u, v = (np.array([int(price.p) for price in side], dtype=np.int64) for side in scaled)
    left = whole.integers - u[:, None] - v[None]
    if left.min() < 0:
        i, j = np.unravel_index(np.argmax(left < 0), left.shape)
        return (int(i), int(j)), []
    return None, [(i, j) for i, j in np.argwhere(left == 0).tolist()]


def steepest(costs: Costs, prices: Prices) -> Cell | None:
    """The cell with the lowest c − u − v, where floats are sure that it is negative."""
    value, error = reduced_floats(costs, prices)
    i, j = np.unravel_index(np.argmin(value), value.shape)
    return (int(i), int(j)) if value[i, j] < -error[i, j] else None  # false for NaN


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
