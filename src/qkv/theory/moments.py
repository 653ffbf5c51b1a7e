"""The interpretation in means and variances: matrices of independent, identically distributed entries."""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from flint import fmpq

from qkv.errors import ShapeError, ValueRefused
from qkv.expr import nodes as n
from qkv.theory.ring import Ratio, Ring


class Random(NamedTuple):
    """A matrix whose entries all have this mean and variance. A known number has variance 0."""

    rows: Ratio
    columns: Ratio
    mean: Ratio
    variance: Ratio

    @property
    def second(self) -> Ratio:
        """E[x²] = Var(x) + E[x]²."""
        return self.variance + self.mean * self.mean


class Moments:
    """The algebra of means and variances; a step that mean and variance do not decide is refused."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        self.one = ring.constant(fmpq(1))

    def number(self, node: n.Number) -> Random:
        return self.known(self.ring.constant(fmpq(node.value.numerator, node.value.denominator)))

    def known(self, value: Ratio) -> Random:
        """A number without chance."""
        return Random(self.one, self.one, value, self.ring.constant(fmpq(0)))

    def multiply(self, a: Random, b: Random) -> Random:
        """Sums of k independent products: E = k E[x] E[y] and Var = k (E[x²] E[y²] − E[x]² E[y]²)."""
        if a.columns != b.rows:
            raise ShapeError(f"{self.ring.show(a.columns)} columns meet {self.ring.show(b.rows)} rows")
        mean = a.mean * b.mean
        variance = a.second * b.second + -(mean * mean)
        return Random(a.rows, b.columns, a.columns * mean, a.columns * variance)

    def divide(self, a: Random, b: Random) -> Random:
        """By a known number s: E/s and Var/s²."""
        if b.variance.top:
            raise ValueRefused("only a known number can divide a random one")
        return Random(a.rows, a.columns, a.mean / b.mean, a.variance / (b.mean * b.mean))

    def negate(self, a: Random) -> Random:
        return Random(a.rows, a.columns, -a.mean, a.variance)

    def transpose(self, a: Random) -> Random:
        return Random(a.columns, a.rows, a.mean, a.variance)

    def add(self, a: Random, b: Random) -> Random:
        if (a.rows, a.columns) != (b.rows, b.columns):
            raise ShapeError("two random matrices of different sizes cannot be added")
        return Random(a.rows, a.columns, a.mean + b.mean, a.variance + b.variance)

    def root(self, a: Random) -> Random:
        if a.variance.top:
            return self._refuse()
        return self.known(self.ring.opaque("√", a.mean))

    def _refuse(self, *_: object) -> NoReturn:
        raise ValueRefused("mean and variance alone do not say what comes out of this step")

    infinite = table = stack = power = absolute = exp = softmax = normalise = concat = _refuse
    mask = entry = apply = _refuse
