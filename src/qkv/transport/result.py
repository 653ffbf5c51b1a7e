"""What `transport` returns: everything a renderer needs, nothing it has to compute."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from qkv.transport.costs import Costs
from qkv.transport.distribution import Distribution
from qkv.transport.exact import Exact, Surd, decimals, root
from qkv.transport.line import Stretch


@dataclass(frozen=True, slots=True)
class Move:
    """So much mass from point number `source` to point number `target` (from 0), at so much a unit."""

    source: int
    target: int
    mass: fmpq
    unit_cost: Exact

    @property
    def cost(self) -> Exact:
        """What this move costs."""
        return self.unit_cost * self.mass


@dataclass(frozen=True, slots=True, eq=False)
class TransportResult:
    """The least cost, a plan that has it, the prices that prove it, and whether the plan is the only one."""

    source: Distribution
    target: Distribution
    costs: Costs
    cost: Exact
    plan: tuple[Move, ...]
    prices_from: tuple[Exact, ...]
    prices_to: tuple[Exact, ...]
    cells_checked: int
    alternative: tuple[Move, ...] | None
    line: tuple[Stretch, ...]  # the closed form, for |x − y| in one dimension
    solver: str

    @property
    def per_unit(self) -> Exact:
        """The cost for a total mass of 1: the distance between the two as probability distributions."""
        return self.cost * (1 / self.source.total)

    @property
    def unique(self) -> bool:
        """Whether no other plan costs as little; proven."""
        return self.alternative is None

    @property
    def root(self) -> Surd | None:
        """W₂ = √cost, for squared distances."""
        return root(self.cost) if self.costs.power == 2 else None

    def table(self, plan: tuple[Move, ...] | None = None) -> list[list[fmpq]]:
        """A plan as a matrix: rows are where mass comes from, columns where it goes."""
        matrix = [[fmpq(0)] * len(self.target.masses) for _ in self.source.masses]
        for move in self.plan if plan is None else plan:
            matrix[move.source][move.target] += move.mass
        return matrix

    def decimals(self, digits: int = 6) -> str:
        """The cost in decimals."""
        return decimals(self.cost, digits)
