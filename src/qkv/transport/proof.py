"""The proof that a plan is optimal, and whether it is the only one.

A plan that moves the right masses, and prices with u_i + v_j ≤ c_ij everywhere and = c_ij wherever the plan moves
something (complementary slackness), prove each other: no plan can cost less than Σ p_i u_i + Σ q_j v_j, and this one
costs just that.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from flint import fmpq

from qkv.errors import QkvError
from qkv.transport.costs import Costs
from qkv.transport.exact import Exact, sign
from qkv.transport.tree import Cell, Flow, Prices, neighbours, tree_path


def plan_cost(flow: Flow, costs: Costs) -> Exact:
    """Σ x_ij c_ij."""
    total = costs.zero
    for (i, j), mass in flow.items():
        total = total + costs.exact(i, j) * mass
    return total


def proven_cost(
    flow: Flow, prices: Prices, tight: Sequence[Cell], supply: Sequence[fmpq], demand: Sequence[fmpq], costs: Costs
) -> Exact:
    """The cost, once plan and prices prove each other; raises if they do not, which would be a mistake of ours.

    `tight` are the cells where the scan of all cells found u_i + v_j = c_ij; it found none above.
    """
    sent, received = [fmpq(0)] * len(supply), [fmpq(0)] * len(demand)
    for (i, j), mass in flow.items():
        sent[i] += mass
        received[j] += mass
    bound = costs.zero
    for price, mass in zip((*prices[0], *prices[1]), (*supply, *demand), strict=True):
        bound = bound + price * mass
    cost = plan_cost(flow, costs)
    balanced = sent == list(supply) and received == list(demand) and min(flow.values()) >= 0
    slack = {cell for cell, mass in flow.items() if mass > 0} <= set(tight)
    if not (balanced and slack and sign(cost - bound) == 0):
        raise QkvError("Internal error: plan and prices do not prove each other.")
    return cost


def another_optimum(flow: Flow, tight: Sequence[Cell], rows: int, columns: int) -> Flow | None:
    """A second optimal plan, or None, which proves that the plan is the only one.

    Optimal plans are the flows on tight cells, so another one differs by a cycle: forward through tight cells, back
    through cells that carry mass. The cells that carry mass form a forest; a tight cell within one of its trees closes
    such a cycle, and so does a ring of tight cells from tree to tree.
    """
    carrying = [cell for cell, mass in flow.items() if mass > 0]
    tree_of = _trees(carrying, rows, columns)
    links: dict[int, dict[int, Cell]] = {}
    for cell in tight:
        a, b = tree_of[cell[0]], tree_of[rows + cell[1]]
        if a != b:
            links.setdefault(a, {}).setdefault(b, cell)
        elif not flow.get(cell):
            return _turned(flow, carrying, [cell], rows, columns)
    ring = _ring(links)
    return _turned(flow, carrying, ring, rows, columns) if ring else None


def _trees(carrying: Sequence[Cell], rows: int, columns: int) -> list[int]:
    """For each node the number of its tree in the forest of cells that carry mass."""
    near = neighbours(carrying, rows, columns)
    tree_of = [-1] * (rows + columns)
    for start in range(rows + columns):
        if tree_of[start] < 0:
            tree_of[start] = start
            found = [start]
            for node in found:
                for other in near[node]:
                    if tree_of[other] < 0:
                        tree_of[other] = start
                        found.append(other)
    return tree_of


def _ring(links: dict[int, dict[int, Cell]]) -> list[Cell]:
    """The cells of a directed cycle from tree to tree, or nothing (depth first, without recursion)."""
    done: set[int] = set()
    for start in links:
        path: list[tuple[int, list[int]]] = [(start, list(links[start]))]
        on_path = {start: 0}
        while path:
            node, rest = path[-1]
            if node in done or not rest:
                done.add(node)
                on_path.pop(node, None)
                path.pop()
                continue
            after = rest.pop()
            if after in on_path:
                ring = [step for step, _ in path[on_path[after] :]] + [after]
                return [links[a][b] for a, b in pairwise(ring)]
            if after not in done and after in links:
                on_path[after] = len(path)
                path.append((after, list(links[after])))
    return []


def _turned(flow: Flow, carrying: Sequence[Cell], ring: list[Cell], rows: int, columns: int) -> Flow:
    """The plan after as much mass as possible went round the ring; a cell leads from its row to its column."""
    losing: list[Cell] = []
    gaining = list(ring)
    for cell, after in zip(ring, ring[1:] + ring[:1], strict=True):
        back = tree_path(carrying, rows + cell[1], after[0], rows, columns)
        # Within a tree the way from a column to a row takes cells against, along, against … their direction.
        losing += back[0::2]
        gaining += back[1::2]
    amount = min(flow[edge] for edge in losing)
    turned = dict(flow)
    for edge in losing:
        turned[edge] -= amount
    for edge in gaining:
        turned[edge] = turned.get(edge, fmpq(0)) + amount
    return {cell: mass for cell, mass in turned.items() if mass > 0}
