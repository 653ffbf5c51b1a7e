"""The interpretation in sizes and operation counts: what each step makes, and how many operations that takes.

Sizes are polynomials, so that the same loop counts for numbers and for n_q, n_k, d_k … Conventions are explicit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, TypeAlias

from qkv.errors import ShapeError
from qkv.expr import nodes as n
from qkv.interpret.fit import Way, product_way, quotient_shape, sum_shape
from qkv.theory.polynomial import ONE, ZERO, constant, plain

Size: TypeAlias = Any  # fmpq_mpoly; FLINT comes without types


def _zero() -> Size:  # polynomials have no hash, so that they cannot be defaults themselves
    return ZERO


class Convention(StrEnum):
    """How operations are counted."""

    TEXTBOOK = "textbook"  # a sum of k numbers takes k − 1 additions; multiplications and additions apart
    FLOPS = "flops"  # a sum of k numbers takes k additions, as machines do it: a product takes 2 m n k operations


class SoftmaxStyle(StrEnum):
    """How softmax is worked out."""

    PLAIN = "plain"  # e^x over the sum of e^x
    STABLE = "stable"  # the largest score of each row is found and subtracted first


@dataclass(frozen=True, slots=True)
class Counts:
    """How many operations of each sort."""

    multiplications: Size = field(default_factory=_zero)
    additions: Size = field(default_factory=_zero)  # and subtractions
    divisions: Size = field(default_factory=_zero)
    exponentials: Size = field(default_factory=_zero)
    comparisons: Size = field(default_factory=_zero)
    roots: Size = field(default_factory=_zero)
    tanhs: Size = field(default_factory=_zero)

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def times(self, factor: Size) -> Counts:
        """The same, so many times."""
        return self.changed(lambda count: count * factor)

    def changed(self, change: Callable[[Size], Size]) -> Counts:
        """Every count passed through a function."""
        return Counts(*(change(getattr(self, f.name)) for f in fields(self)))

    @property
    def total(self) -> Size:
        """All operations, whatever their sort."""
        return sum((getattr(self, f.name) for f in fields(self)), ZERO)

    def items(self) -> list[tuple[str, Size]]:
        """The sorts that occur."""
        return [(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name)]


@dataclass(frozen=True, slots=True)
class Sized:
    """A matrix of which only the size is known."""

    rows: Size
    columns: Size

    @property
    def shape(self) -> tuple[Size, Size]:
        """Rows and columns."""
        return self.rows, self.columns

    @property
    def size(self) -> Size:
        """How many numbers it holds."""
        return self.rows * self.columns

    def __str__(self) -> str:
        return f"{plain(self.rows)} × {plain(self.columns)}"


SCALAR = Sized(ONE, ONE)


@dataclass
class Counting:
    """The algebra of sizes. `counts` grows as expressions are evaluated; take it away with `taken`.

    `heads` is how many heads each written head stands for: with a symbolic number of heads one is written out.
    """

    convention: Convention = Convention.TEXTBOOK
    softmax_style: SoftmaxStyle = SoftmaxStyle.PLAIN
    heads: Size = field(default_factory=lambda: ONE)
    counts: Counts = field(default_factory=Counts)

    def taken(self) -> Counts:
        """What was counted since the last time."""
        counts, self.counts = self.counts, Counts()
        return counts

    def _count(self, **more: Size) -> None:
        self.counts = self.counts + Counts(**more)

    def _sum_of(self, terms: Size) -> Size:
        """Additions for one sum of so many terms."""
        return terms - 1 if self.convention is Convention.TEXTBOOK else terms

    def number(self, node: n.Number) -> Sized:
        return SCALAR

    def infinite(self, sign: int) -> Sized:
        return SCALAR

    def stack(self, rows: list[list[Sized]]) -> Sized:
        return self.concat([_beside(row, 1) for row in rows], 0, written=True)

    def add(self, a: Sized, b: Sized) -> Sized:
        result = Sized(*sum_shape(a.shape, b.shape))
        self._count(additions=result.size)
        return result

    def negate(self, a: Sized) -> Sized:
        return a

    def multiply(self, a: Sized, b: Sized) -> Sized:
        match product_way(a.shape, b.shape):
            case Way.SCALE_RIGHT:
                self._count(multiplications=b.size)
                return b
            case Way.SCALE_LEFT:
                self._count(multiplications=a.size)
                return a
            case Way.DOT:
                return self._product(ONE, a.size, ONE)
            case Way.COLUMN:
                return self._product(a.rows, a.columns, ONE)
            case Way.ROW:
                return self._product(ONE, b.rows, b.columns)
            case _:
                return self._product(a.rows, a.columns, b.columns)

    def _product(self, m: Size, k: Size, p: Size) -> Sized:
        self._count(multiplications=m * k * p, additions=m * p * self._sum_of(k))
        return Sized(m, p)

    def divide(self, a: Sized, b: Sized) -> Sized:
        result = Sized(*quotient_shape(a.shape, b.shape))
        self._count(divisions=result.size)
        return result

    def power(self, a: Sized, b: Sized) -> Sized:
        self._count(multiplications=a.size)
        return a

    def root(self, a: Sized) -> Sized:
        self._count(roots=a.size)
        return a

    def absolute(self, a: Sized) -> Sized:
        self._count(comparisons=a.size)
        return a

    def exp(self, a: Sized) -> Sized:
        self._count(exponentials=a.size)
        return a

    def tanh(self, a: Sized) -> Sized:
        self._count(tanhs=a.size)
        return a

    def transpose(self, a: Sized) -> Sized:
        return Sized(a.columns, a.rows)

    def softmax(self, a: Sized, axis: int) -> Sized:
        lines, length = _lines(a, axis)
        self._count(exponentials=a.size)
        if self.softmax_style is SoftmaxStyle.STABLE:
            self._count(comparisons=lines * (length - 1), additions=a.size)
        return self.normalise(a, axis)

    def normalise(self, a: Sized, axis: int) -> Sized:
        lines, length = _lines(a, axis)
        self._count(additions=lines * self._sum_of(length), divisions=a.size)
        return a

    def concat(self, parts: list[Sized], axis: int, written: bool = False) -> Sized:
        together = _beside(parts, axis)
        if written:
            return together
        rows, columns = together.shape
        return Sized(rows, columns * self.heads) if axis else Sized(rows * self.heads, columns)

    def mask(self, a: Sized, pattern: Sized | None, truth: bool) -> Sized:
        # A mask of 0 and −∞ is added; a rule or a table of true and false is asked once for each score.
        if pattern is not None and not truth:
            return self.add(a, pattern)
        self._count(comparisons=a.size)
        return a

    def entry(self, a: Sized, node: n.Entry) -> Sized:
        rows = ONE if node.row else a.rows
        if node.columns:
            first, last = node.columns
            return Sized(rows, constant(last - first + 1))
        return Sized(rows, ONE if node.column else a.columns)


def _lines(a: Sized, axis: int) -> tuple[Size, Size]:
    """How many distributions there are, and over how many scores each; a column vector is one distribution."""
    if a.columns == 1 and a.rows != 1:
        return ONE, a.rows
    return (a.rows, a.columns) if axis else (a.columns, a.rows)


def _beside(parts: list[Sized], axis: int) -> Sized:
    first = parts[0]
    across = {part.shape[1 - axis] == first.shape[1 - axis] for part in parts}
    if across != {True}:
        raise ShapeError(f"matrices of sizes {', '.join(map(str, parts))} cannot be put together")
    along = sum((part.shape[axis] for part in parts), ZERO)
    return Sized(first.rows, along) if axis else Sized(along, first.columns)
