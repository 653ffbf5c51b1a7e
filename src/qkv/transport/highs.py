"""A first tree for large problems from SciPy's HiGHS, on the few cells that an optimal plan can use.

A thousand points a side make a million cells, of which a plan uses two thousand. Entropic prices say which cells are
worth a look; the linear program sees only those; its prices bring in the cells that were missed, until none is left.
All of this is floating point: the exact simplex starts from the tree and proves it, or mends it.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from qkv.errors import MissingExtra
from qkv.transport.arrays import Floats
from qkv.transport.costs import Costs
from qkv.transport.exact import to_float
from qkv.transport.tree import Cell, north_west

SHORTLIST = 8  # cells a row and a column at first
MISSED = 5  # cells a row and a column brought in each round
ROUNDS = 40
DROPPING = 5
LEAST, MOST = 1e-100, 1e100  # what scaling factors are kept within
FINE = 1e-10  # a reduced cost or a flow below this share of the largest counts as zero: a guess, proven later


def load_scipy() -> tuple[Any, ModuleType]:
    """The one place where SciPy is imported."""
    try:
        from scipy import sparse
        from scipy.optimize import linprog
    except ImportError as missing:
        raise MissingExtra(
            "A problem of this size needs SciPy; install it with: pip install 'qkv[transport]'."
        ) from missing
    return linprog, sparse


def first_tree(supply: list[fmpq], demand: list[fmpq], costs: Costs) -> list[Cell]:
    """A spanning tree of cells that is optimal as far as floats can tell.

    Points with the same costs are put together first: many points on few places are a small problem.
    """
    masses = [np.array([to_float(mass / sum(side, fmpq(0))) for mass in side]) for side in (supply, demand)]
    matrix = costs.floats / (float(np.abs(costs.floats).max()) or 1.0)
    few, row_of = np.unique(matrix, axis=0, return_inverse=True)
    few, column_of = np.unique(few, axis=1, return_inverse=True)
    groups = row_of.ravel(), column_of.ravel()
    together = [_sums(mass, group) for mass, group in zip(masses, groups, strict=True)]
    exact = [_together(side, group) for side, group in zip((supply, demand), groups, strict=True)]
    stairs = north_west(exact[0], exact[1], (list(range(len(exact[0]))), list(range(len(exact[1])))))
    flow, u, v = _column_generation(few, together[0], together[1], stairs)
    left = matrix - u[groups[0]][:, None] - v[groups[1]][None]
    return _spanning(_shared_out(flow, masses, groups), left)


def _sums(masses: Floats, group: NDArray[np.intp]) -> Floats:
    sums = np.zeros(int(group.max()) + 1)
    np.add.at(sums, group, masses)
    return sums


def _together(side: list[fmpq], group: NDArray[np.intp]) -> list[fmpq]:
    sums = [fmpq(0)] * (int(group.max()) + 1)
    for mass, place in zip(side, group, strict=True):
        sums[place] += mass
    return sums


def _shared_out(flow: Floats, masses: list[Floats], groups: tuple[NDArray[np.intp], NDArray[np.intp]]) -> Floats:
    """The flow between groups as a flow between their members, first come, first served."""
    pieces: dict[int, list[tuple[int, float]]] = {}
    for group, targets in enumerate(flow):
        members = [(int(i), float(masses[0][i])) for i in np.flatnonzero(groups[0] == group)]
        wanted = [(int(j), float(targets[j])) for j in np.flatnonzero(targets > 0)]
        for member, target, amount in _served(members, wanted):
            pieces.setdefault(target, []).append((member, amount))
    full = np.zeros((len(masses[0]), len(masses[1])))
    for group, arriving in pieces.items():
        members = [(int(j), float(masses[1][j])) for j in np.flatnonzero(groups[1] == group)]
        for source, target, amount in _served(arriving, members):
            full[source, target] = max(amount, full[source, target])
    return full


def _served(giving: list[tuple[int, float]], taking: list[tuple[int, float]]) -> list[tuple[int, int, float]]:
    """A staircase between two lists of amounts."""
    served = []
    a = b = 0
    have, want = giving[0][1] if giving else 0.0, taking[0][1] if taking else 0.0
    while a < len(giving) and b < len(taking):
        amount = min(have, want)
        if amount > 0:
            served.append((giving[a][0], taking[b][0], amount))
        have, want = have - amount, want - amount
        if have <= want:
            a += 1
            have = giving[a][1] if a < len(giving) else 0.0
        else:
            b += 1
            want = taking[b][1] if b < len(taking) else 0.0
    return served


def _column_generation(
    matrix: Floats, supply: Floats, demand: Floats, stairs: list[Cell]
) -> tuple[Floats, Floats, Floats]:
    """The flow, and the program's prices u and v."""
    rows = len(supply)
    always = np.zeros(matrix.shape, dtype=bool)  # the staircase keeps every program feasible
    always[tuple(np.array(stairs).T)] = True
    u, v = entropic_prices(matrix, supply, demand)
    left = matrix - u[:, None] - v[None]
    listed = always | _smallest(left, SHORTLIST)
    for attempt in range(ROUNDS):
        flow, prices = _program(matrix, supply, demand, listed)
        left = matrix - prices[:rows, None] - prices[None, rows:]
        missed = (left < -FINE) & ~listed
        if not missed.any():
            break
        # At first the dearest cells are dropped again; later none is, so that the rounds come to an end.
        worst = np.quantile(left[listed], 0.8) if attempt < DROPPING else np.inf
        listed = always | (flow > 0) | (listed & (left < worst)) | (missed & _smallest(left, MISSED))
    return flow, prices[:rows], prices[rows:]


def _program(matrix: Floats, supply: Floats, demand: Floats, listed: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """The cheapest flow on the listed cells, with its prices."""
    linprog, sparse = load_scipy()
    i, j = np.nonzero(listed)
    ends = np.stack([i, j + len(supply)], axis=1).ravel()  # each cell's column has two ones: its row and its column
    shape = (len(supply) + len(demand), len(i))
    equations = sparse.csc_matrix((np.ones(2 * len(i)), ends, np.arange(0, 2 * len(i) + 1, 2)), shape=shape)
    # Presolve would only cost time: nothing in a transport problem is redundant but one row.
    answer = linprog(
        matrix[i, j],
        A_eq=equations,
        b_eq=np.concatenate([supply, demand]),
        method="highs-ds",
        options={"presolve": False, "dual_feasibility_tolerance": FINE},
    )
    flow = np.zeros(matrix.shape)
    if answer.x is None:  # floats found no way: the exact simplex goes from what is here
        return flow, np.zeros(shape[0])
    flow[i, j] = answer.x
    return flow, np.asarray(answer.eqlin.marginals)


def entropic_prices(matrix: Floats, supply: Floats, demand: Floats) -> tuple[Floats, Floats]:
    """Prices near the optimal ones: Sinkhorn's, with the entropy made smaller step by step."""
    u, v = np.zeros(len(supply)), np.zeros(len(demand))
    for step in range(10):
        entropy = 0.25 / 2**step
        power = (u[:, None] + v[None] - matrix) / entropy
        # Zeros rather than numbers near the smallest float, which processors are slow with.
        kernel = np.where(power < -200, 0.0, np.exp(np.clip(power, -200, 200)))
        g = np.ones(len(demand))
        for _ in range(30):
            f = np.clip(supply / np.maximum(kernel @ g, LEAST), LEAST, MOST)
            g = np.clip(demand / np.maximum(f @ kernel, LEAST), LEAST, MOST)
        u, v = u + entropy * np.log(f), v + entropy * np.log(g)
    v = (matrix - u[:, None]).min(axis=0)
    return (matrix - v[None]).min(axis=1), v


def _smallest(values: Floats, count: int) -> NDArray[np.bool_]:
    """Where each row and each column has its `count` smallest values."""
    chosen = np.zeros(values.shape, dtype=bool)
    for axis in (0, 1):
        few = min(count, values.shape[axis])
        places = np.argpartition(values, few - 1, axis=axis).take(range(few), axis=axis)
        np.put_along_axis(chosen, places, True, axis=axis)
    return chosen


def _spanning(flow: Floats, left: Floats) -> list[Cell]:
    """A tree of the cells that carry most, filled up with cells of the smallest reduced cost."""
    rows, columns = flow.shape
    parent = list(range(rows + columns))

    def top(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    carrying = np.flatnonzero(flow > FINE / (rows * columns))
    carrying = carrying[np.argsort(-flow.ravel()[carrying], kind="stable")]
    tree: list[Cell] = []
    for place in (*carrying, *np.argsort(left, axis=None, kind="stable")):
        i, j = divmod(int(place), columns)
        a, b = top(i), top(rows + j)
        if a != b:
            parent[a] = b
            tree.append((i, j))
            if len(tree) == rows + columns - 1:
                break
    return tree
