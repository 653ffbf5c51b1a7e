"""A basis of the transport problem: a spanning tree of the points, its edges the cells that may carry mass.

Rows are the nodes 0 … m−1 and columns m … m+n−1. A tree fixes its flow (leaf by leaf) and its prices (edge by edge).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from flint import fmpq

from qkv.transport.costs import Costs
from qkv.transport.exact import Exact

Cell = tuple[int, int]
Flow = dict[Cell, fmpq]
Prices = tuple[list[Exact], list[Exact]]


def neighbours(cells: Iterable[Cell], rows: int, columns: int) -> list[list[int]]:
    """For each node the nodes that it shares a cell with."""
    near: list[list[int]] = [[] for _ in range(rows + columns)]
    for i, j in cells:
        near[i].append(rows + j)
        near[rows + j].append(i)
    return near


def as_cell(a: int, b: int, rows: int) -> Cell:
    """The cell between two nodes, one of them a row."""
    return (a, b - rows) if a < b else (b, a - rows)


def tree_flow(cells: Iterable[Cell], supply: Sequence[fmpq], demand: Sequence[fmpq]) -> Flow:
    """The only flow on the tree that empties the rows and fills the columns; entries may be negative."""
    rows = len(supply)
    near = [set(nodes) for nodes in neighbours(cells, rows, len(demand))]
    left = [*supply, *demand]
    leaves = deque(node for node, nodes in enumerate(near) if len(nodes) == 1)
    flow: Flow = {}
    while leaves:
        leaf = leaves.popleft()
        if not near[leaf]:  # the last edge was taken from its other end
            continue
        other = near[leaf].pop()
        near[other].discard(leaf)
        flow[as_cell(leaf, other, rows)] = left[leaf]
        left[other] -= left[leaf]
        if len(near[other]) == 1:
            leaves.append(other)
    return flow


def tree_prices(cells: Iterable[Cell], costs: Costs) -> Prices:
    """u and v with u_i + v_j = c_ij on the tree, and u_1 = 0."""
    rows, columns = costs.shape
    near = neighbours(cells, rows, columns)
    price = {0: costs.zero}
    found = [0]
    for node in found:
        for other in near[node]:
            if other not in price:
                price[other] = costs.exact(*as_cell(node, other, rows)) - price[node]
                found.append(other)
    return [price[i] for i in range(rows)], [price[rows + j] for j in range(columns)]


def tree_path(cells: Iterable[Cell], start: int, end: int, rows: int, columns: int) -> list[Cell]:
    """The cells on the way from one node to another."""
    near = neighbours(cells, rows, columns)
    came = {start: start}
    found = [start]
    for node in found:
        for other in near[node]:
            if other not in came:
                came[other] = node
                found.append(other)
    path = []
    while end != start:
        path.append(as_cell(end, came[end], rows))
        end = came[end]
    return path[::-1]


def north_west(supply: Sequence[fmpq], demand: Sequence[fmpq], order: tuple[list[int], list[int]]) -> list[Cell]:
    """The staircase that fills the points in the given orders.

    >>> north_west([fmpq(1), fmpq(2)], [fmpq(2), fmpq(1)], ([0, 1], [0, 1]))
    [(0, 0), (1, 0), (1, 1)]
    """
    rows, columns = order
    a = b = 0
    have, want = supply[rows[0]], demand[columns[0]]
    cells = [(rows[0], columns[0])]
    while a + 1 < len(rows) or b + 1 < len(columns):
        down = b + 1 == len(columns) or (a + 1 < len(rows) and have <= want)
        if down:
            want, a = want - have, a + 1
            have = supply[rows[a]]
        else:
            have, b = have - want, b + 1
            want = demand[columns[b]]
        cells.append((rows[a], columns[b]))
    return cells
