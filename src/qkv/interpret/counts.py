"""Operation counts, exact, step by step.

The convention of the textbooks: an m×k by k×n product takes mnk multiplications and mn(k−1) additions; scaling takes a
division a score; a softmax over n keys takes n exponentials, n−1 additions and n divisions a query, and n−1 comparisons
to find the largest score. Adding a mask takes an addition a score; a true/false or causal mask only selects.

Sizes may be whole numbers or symbols: the arithmetic on them is +, − and * only, so that the same code gives numbers
for a worked problem and polynomials in n_q, n_k, d_k, d_v for a theory:

    count(program)                                  numbers
    count(program, {Symbol("Q"): (n_q, d_k), …})    whatever n_q and d_k are
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from operator import add, attrgetter
from typing import Any, TypeAlias

from qkv.expr.functions import Function, Kind
from qkv.expr.names import Symbol
from qkv.interpret import fit
from qkv.interpret.fit import Way
from qkv.interpret.loop import worked
from qkv.interpret.shapes import Shapes
from qkv.program.model import Program, Step

Size: TypeAlias = Any  # int, or a polynomial: anything with +, −, * and ==
SizePair: TypeAlias = tuple[Size, Size]


@dataclass(frozen=True, slots=True)
class Operations:
    """How often each kind of operation is done.

    >>> Operations(multiplications=12, additions=6) + Operations(additions=4, divisions=6)
    Operations(multiplications=12, additions=10, divisions=6, exponentials=0, comparisons=0, roots=0, tanhs=0)
    """

    multiplications: Size = 0
    additions: Size = 0
    divisions: Size = 0
    exponentials: Size = 0
    comparisons: Size = 0
    roots: Size = 0  # roots and powers of single numbers, such as √d_k
    tanhs: Size = 0

    def __add__(self, other: Operations) -> Operations:
        return Operations(*map(add, _amounts(self), _amounts(other)))


_amounts = attrgetter(*[f.name for f in fields(Operations)])


@dataclass(frozen=True, slots=True)
class StepCount:
    """What one step costs, and the shape of its result."""

    step: Step
    shape: SizePair
    operations: Operations


@dataclass(frozen=True, slots=True)
class Counted:
    """The cost of a program, step by step."""

    steps: tuple[StepCount, ...]

    @property
    def total(self) -> Operations:
        """All steps together."""
        return sum((step.operations for step in self.steps), Operations())


class Counts(Shapes):
    """The algebra of counts: values are shapes, and every operation is written down as it is met."""

    def __init__(self) -> None:
        self._spent = Operations()

    def take(self) -> Operations:
        """What was counted since the last time."""
        spent, self._spent = self._spent, Operations()
        return spent

    def _spend(self, **operations: Size) -> None:
        self._spent += Operations(**operations)

    def add(self, a: SizePair, b: SizePair) -> SizePair:
        shape = fit.sum_shape(a, b)
        self._spend(additions=area(shape))
        return shape

    def multiply(self, a: SizePair, b: SizePair) -> SizePair:
        way, shape = fit.product_way(a, b), fit.product_shape(a, b)
        if way in (Way.SCALE_LEFT, Way.SCALE_RIGHT):
            self._spend(multiplications=area(shape))
        else:
            inner = fit.inner_size(a, b)
            self._spend(multiplications=area(shape) * inner, additions=area(shape) * (inner - 1))
        return shape

    def divide(self, a: SizePair, b: SizePair) -> SizePair:
        shape = fit.quotient_shape(a, b)
        self._spend(divisions=area(shape))
        return shape

    def power(self, a: SizePair, b: SizePair) -> SizePair:
        self._spend(roots=area(a))
        return fit.power_shape(a, b)

    def root(self, a: SizePair) -> SizePair:
        self._spend(roots=area(a))
        return a

    def exp(self, a: SizePair) -> SizePair:
        self._spend(exponentials=area(a))
        return a

    def softmax(self, a: SizePair, axis: int | None) -> SizePair:
        along = fit.along(a, axis)
        rows, keys = a[1 - along], a[along]
        self._spend(exponentials=area(a), comparisons=rows * (keys - 1))
        return self.normalise(a, axis)

    def normalise(self, a: SizePair, axis: int | None) -> SizePair:
        along = fit.along(a, axis)
        rows, keys = a[1 - along], a[along]
        self._spend(additions=rows * (keys - 1), divisions=area(a))
        return a

    def mask(self, a: SizePair, pattern: SizePair | None, truth: bool) -> SizePair:
        if pattern is not None and not truth:
            self._spend(additions=area(a))
        return fit.mask_shape(a, pattern)

    def apply(self, function: Function, args: list[SizePair]) -> SizePair:
        shape = fit.function_shape(function.kind, args)
        cells = area(shape) if function.kind is Kind.PAIR else sum(area(arg) for arg in args)
        self._spend(**{what: times * cells for what, times in function.cost.items()})
        return shape


def area(shape: SizePair) -> Size:
    """How many cells a shape has."""
    return shape[0] * shape[1]


def count(program: Program, known: Mapping[Symbol, SizePair] | None = None) -> Counted:
    """What every step of a program costs; `known` gives the sizes of its givens, where they are not to be read off.

    Givens cost nothing; what leads from them to the answer is counted.
    """
    counts = Counts()
    steps = []
    for item, shape in worked(program, counts, known):
        spent = counts.take()
        if isinstance(item, Step):
            steps.append(StepCount(item, shape, spent))
    return Counted(tuple(steps))
