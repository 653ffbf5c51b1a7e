"""Operation counts in symbolic sizes: the counts of interpret/counts.py, with the conventions that one may choose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from enum import StrEnum

from qkv.interpret import fit
from qkv.interpret.counts import Counts, Operations, Size, SizePair, area
from qkv.interpret.fit import Way
from qkv.theory.polynomial import ZERO, plain, polynomial


class Convention(StrEnum):
    """How operations are counted."""

    TEXTBOOK = "textbook"  # a sum of k numbers takes k − 1 additions
    FLOPS = "flops"  # a sum of k numbers takes k additions, as machines do it: a product takes 2 m n k operations


class Counting(Counts):
    """The algebra of counts under a convention.

    `heads` is how many heads each written head stands for: with a symbolic number of heads, one is written out.
    """

    def __init__(
        self, convention: Convention = Convention.TEXTBOOK, heads: Size = 1, groups: Size | None = None
    ) -> None:
        super().__init__()
        self.convention = convention
        self.heads = heads
        self.groups = groups  # of keys and values, where there may be fewer than heads

    def multiply(self, a: SizePair, b: SizePair) -> SizePair:
        shape = super().multiply(a, b)
        if self.convention is Convention.FLOPS and fit.product_way(a, b) not in (Way.SCALE_LEFT, Way.SCALE_RIGHT):
            self._spend(additions=area(shape))
        return shape

    def normalise(self, a: SizePair, axis: int | None) -> SizePair:
        if self.convention is Convention.FLOPS:
            self._spend(additions=a[1 - fit.along(a, axis)])
        return super().normalise(a, axis)

    def concat(self, parts: list[SizePair], axis: int) -> SizePair:
        rows, columns = super().concat(parts, axis)
        return (rows, columns * self.heads) if axis else (rows * self.heads, columns)


def changed(operations: Operations, change: Callable[[Size], Size]) -> Operations:
    """Every count passed through a function."""
    return Operations(*(change(polynomial(getattr(operations, f.name))) for f in fields(operations)))


def listed(operations: Operations) -> list[tuple[str, Size]]:
    """The sorts of operations that occur, with their counts."""
    counts = [(f.name, polynomial(getattr(operations, f.name))) for f in fields(operations)]
    return [(name, count) for name, count in counts if count]


def all_together(operations: Operations) -> Size:
    """All operations, whatever their sort."""
    return sum((count for _, count in listed(operations)), ZERO)


def say(shape: SizePair) -> str:
    """A shape as people write it."""
    return " × ".join(plain(polynomial(size)) for size in shape)
