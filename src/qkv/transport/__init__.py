"""Earth mover's distance: the least cost of moving one distribution onto another, a plan that has it, and its proof."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from flint import fmpq

from qkv.errors import LimitError
from qkv.transport.costs import Costs, between, given
from qkv.transport.distribution import Distribution, same_total
from qkv.transport.exact import Exact, Surd, decimals, rational
from qkv.transport.line import Stretch, along_the_line
from qkv.transport.proof import another_optimum, proven_cost
from qkv.transport.result import Move, TransportResult
from qkv.transport.simplex import optimum
from qkv.transport.tree import Cell, Flow, Prices, north_west

__all__ = [
    "Distribution",
    "Exact",
    "Move",
    "Stretch",
    "Surd",
    "TransportResult",
    "decimals",
    "rational",
    "transport",
]

SMALL = 1_600  # cells; up to here the exact simplex alone is quick, beyond it HiGHS finds the tree
LIMIT = 4_000_000  # cells
CONVEX = (
    "distance",
    "manhattan",
    "squared",
)  # on a line these are h(x − y) with h convex: the staircase of sorted points is optimal


def transport(
    source: Distribution | str,
    target: Distribution | str,
    cost: str | Sequence[Sequence[object]] = "distance",
) -> TransportResult:
    """The cheapest way to move `source` onto `target`; cost is distance, manhattan, squared, or a matrix.

    >>> result = transport("1:1, 2:1", "4:1, 6:1")
    >>> result.cost, result.unique
    (7, False)
    >>> transport("1:1/2, 2:1/3, 3:1/6", "1:2/5, 2:3/5", "squared").cost
    4/15
    """
    source, target = (Distribution.parse(d) if isinstance(d, str) else d for d in (source, target))
    same_total(source, target)
    cells = len(source.masses) * len(target.masses)
    if cells > LIMIT:
        raise LimitError(f"{cells:,} cells are more than the {LIMIT:,} that transport takes.")
    costs = between(source, target, cost) if isinstance(cost, str) else given(cost, *map(len, _masses(source, target)))
    flow, prices, tight, solver = _solve(source, target, costs)
    least = proven_cost(flow, prices, tight, source.masses, target.masses, costs)
    other = another_optimum(flow, tight, *costs.shape)
    on_a_line = costs.power == 1 and costs.name in CONVEX and source.dimension == 1
    return TransportResult(
        source,
        target,
        costs,
        least,
        _moves(flow, costs),
        tuple(prices[0]),
        tuple(prices[1]),
        cells,
        None if other is None else _moves(other, costs),
        along_the_line(source, target) if on_a_line else (),
        solver,
    )


def _masses(source: Distribution, target: Distribution) -> tuple[list[fmpq], list[fmpq]]:
    return list(source.masses), list(target.masses)


def _moves(flow: Flow, costs: Costs) -> tuple[Move, ...]:
    return tuple(Move(i, j, mass, costs.exact(i, j)) for (i, j), mass in sorted(flow.items()) if mass > 0)


def _solve(source: Distribution, target: Distribution, costs: Costs) -> tuple[Flow, Prices, list[Cell], str]:
    """An optimal tree, from the cheapest way to a first one."""
    supply, demand = _masses(source, target)
    if costs.name in CONVEX and source.dimension == 1:
        order = [sorted(range(len(d.points)), key=lambda k: d.points[k]) for d in (source, target)]
        stairs, solver = north_west(supply, demand, (order[0], order[1])), "sorted points"
    elif len(supply) * len(demand) <= SMALL or not isfinite(costs.floats.sum()):
        stairs, solver = _plain_stairs(supply, demand), "exact simplex"
    else:
        from qkv.transport.highs import first_tree  # NumPy comes with it

        stairs, solver = first_tree(supply, demand, costs), "HiGHS, proven in exact numbers"
    found = optimum(stairs, supply, demand, costs)
    if found is None:  # floats chose cells that cannot carry the masses: start over without them
        found, solver = optimum(_plain_stairs(supply, demand), supply, demand, costs), "exact simplex"
    assert found is not None  # a staircase always carries the masses
    return *found, solver


def _plain_stairs(supply: list[fmpq], demand: list[fmpq]) -> list[Cell]:
    return north_west(supply, demand, (list(range(len(supply))), list(range(len(demand)))))
