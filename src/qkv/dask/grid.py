"""How the work is cut: blocks of queries and of keys, and which pairs of them have anything to say to each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.kernel.arguments import Array, Problem
from qkv.kernel.job import UNBOUNDED

Chunks = tuple[int, ...]  # the lengths of the blocks along one axis
Index = tuple[int, ...]  # the number of a block along each axis


@dataclass(frozen=True, slots=True)
class Grid:
    """The blocks along every axis; a block of query heads lies within one block of key heads (`fit_heads`)."""

    problem: Problem  # of the whole; only the shapes of its arrays count
    batch: tuple[Chunks, ...]
    heads: tuple[Chunks, ...]  # one entry, or none for plain matrices
    kv_heads: tuple[Chunks, ...]
    queries: Chunks
    keys: Chunks

    @property
    def rows(self) -> tuple[Chunks, ...]:
        """Blocks along the axes of q, without the last."""
        return (*self.batch, *self.heads, self.queries)

    @property
    def columns(self) -> tuple[Chunks, ...]:
        """Blocks along the axes of k and v, without the last."""
        return (*self.batch, *self.kv_heads, self.keys)

    def pairs(self, row: Index) -> Iterator[tuple[int, dict[str, Any]]]:
        """The blocks of keys that a block of queries may use, with what `qkv.attention` must know of each pair.

        Lengths and offsets count from the first key of the block.
        """
        p = self.problem
        lengths, offsets = self._limits(row)
        start = starts(self.queries)[row[-1]]
        first, stop = start + offsets, start + self.queries[row[-1]] + offsets  # positions among the keys
        begin = starts(self.keys)
        end = begin + np.array(self.keys)
        low = np.maximum(begin, first[..., None] - p.left)
        high = np.minimum(np.minimum(end, lengths[..., None]), stop[..., None] + p.right)
        seen = (low < high).reshape(-1, len(self.keys)).any(axis=0)
        for j in map(int, np.flatnonzero(seen)):
            rules: dict[str, Any] = {"scale": p.scale, "softcap": p.softcap}
            if p.lengths is not None:
                rules["lengths"] = np.clip(lengths - begin[j], 0, self.keys[j])
            if p.left < UNBOUNDED or p.right < UNBOUNDED:
                rules |= {"window": (p.left, p.right), "offset": first - begin[j]}
            yield j, rules

    def _limits(self, row: Index) -> tuple[Array, Array]:
        """Of each batch entry of a block: how many keys count, and where the very first query stands among them."""
        p = self.problem
        lengths = np.full(p.q.shape[0], p.k.shape[2]) if p.lengths is None else p.lengths
        offsets = lengths - p.q.shape[2] if p.offsets is None else p.offsets
        place = tuple(slices(chunks)[i] for chunks, i in zip(self.batch, row, strict=False))
        return lengths.reshape(p.lead[:-1])[place], offsets.reshape(p.lead[:-1])[place]

    def column_of(self, row: Index, j: int) -> Index:
        """The block of k and v that a block of q needs, of block j along the keys."""
        if not self.heads:
            return (j,)
        group = sum(self.heads[0]) // sum(self.kv_heads[0])
        kv_head = starts(self.heads[0])[row[-2]] // group
        return (*row[:-2], int(np.searchsorted(starts(self.kv_heads[0]), kv_head, side="right")) - 1, j)

    def sinks(self, row: Index) -> Array | None:
        """The sinks of a block's heads."""
        sinks = self.problem.sinks
        return sinks[slices(self.heads[0])[row[-2]]] if sinks is not None and self.heads else sinks


def blocks(axes: tuple[Chunks, ...]) -> Iterator[Index]:
    """The number of every block, in order."""
    return iter(np.ndindex(*map(len, axes)))


def shape_of(axes: tuple[Chunks, ...], index: Index) -> tuple[int, ...]:
    return tuple(chunks[i] for chunks, i in zip(axes, index, strict=True))


def starts(chunks: Chunks) -> NDArray[np.int64]:
    """Where each block begins."""
    return np.cumsum((0, *chunks[:-1]), dtype=np.int64)


def slices(chunks: Chunks) -> list[slice]:
    return [slice(end - length, end) for end, length in zip(accumulate(chunks), chunks, strict=True)]


def refine(*several: Chunks) -> Chunks:
    """The coarsest blocks of which all the given ones are made.

    >>> refine((4, 2), (3, 3))
    (3, 1, 2)
    """
    return _between({cut for chunks in several for cut in accumulate(chunks)})


def fit_heads(heads: Chunks, kv_heads: Chunks) -> tuple[Chunks, Chunks]:
    """Cut query heads and key heads finer, so that a block of query heads needs one block of key heads, all of it.

    >>> fit_heads((4, 4), (2,))  # four query heads share a key head
    ((4, 4), (1, 1))
    >>> fit_heads((3, 5), (2,))
    ((3, 1, 4), (1, 1))
    """
    group = sum(heads) // max(1, sum(kv_heads))
    if group == 0:
        return heads, kv_heads
    q_cuts, kv_cuts = set(accumulate(heads)), set(accumulate(kv_heads))
    kv_cuts |= {cut // group for cut in q_cuts} | {-(-cut // group) for cut in q_cuts}
    return _between(q_cuts | {cut * group for cut in kv_cuts}), _between(kv_cuts)


def _between(cuts: set[int]) -> Chunks:
    return tuple(end - begin for begin, end in pairwise(sorted({0, *cuts}))) or (0,)
