"""What the caller gave, checked and cut: every array in the blocks of one grid, without looking at a number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np

from qkv.dask.graph import block
from qkv.dask.grid import Chunks, Grid, Index, fit_heads, refine, slices
from qkv.errors import ShapeError, ValueRefused
from qkv.kernel.arguments import Array, Problem, problem


@dataclass(frozen=True, slots=True)
class Cover:
    """A mask or a bias, which may be one block wide along some axes of the scores."""

    array: Any  # dask array
    known: Array | None  # its numbers, where the caller has them at hand
    axes: tuple[Chunks, ...]

    def block(self, index: Index) -> Any:
        return block(self.array, self._own(index))

    def leaves_open(self, index: Index) -> bool:
        """Whether the block of the scores has a key that may be used, as far as is known."""
        if self.known is None:
            return True
        place = tuple(slices(chunks)[i] for chunks, i in zip(self.axes, self._own(index), strict=True))
        part = self.known[place]
        return bool(part.any() if part.dtype == np.bool_ else (part != -np.inf).any())

    def _own(self, index: Index) -> Index:
        mine = index[len(index) - self.array.ndim :]
        return tuple(0 if size == 1 else i for size, i in zip(self.array.shape, mine, strict=True))


@dataclass(frozen=True, slots=True)
class Inputs:
    """q, k and v in the blocks of the grid, and what covers the scores, by name."""

    grid: Grid
    q: Any
    k: Any
    v: Any
    covers: dict[str, Cover]

    @property
    def arrays(self) -> list[Any]:
        return [self.q, self.k, self.v, *(cover.array for cover in self.covers.values())]

    def pairs(self, row: Index) -> list[tuple[int, dict[str, Any]]]:
        """The blocks of keys that a block of queries may use, with the options of each pair."""
        found = []
        for j, rules in self.grid.pairs(row):
            if all(cover.leaves_open((*row, j)) for cover in self.covers.values()):
                found.append((j, rules | {name: cover.block((*row, j)) for name, cover in self.covers.items()}))
        return found


def inputs(q: Any, k: Any, v: Any, *, mask: Any, bias: Any, **rules: Any) -> Inputs:
    """Check the arguments as `qkv.attention` does, and cut them into blocks that fit each other."""
    for name in ("lengths", "sinks"):
        if isinstance(rules[name], da.Array):
            raise ValueRefused(f"{name} is a dask array; expected numbers that are known now: {name}.compute()")
    arrays = [_known_shape(name, da.asarray(x)) for name, x in zip("qkv", (q, k, v), strict=True)]
    covers = {
        name: _known_shape(name, x if isinstance(x, da.Array) else np.asarray(x))
        for name, x in (("mask", mask), ("bias", bias))
        if x is not None
    }
    small = {name: np.zeros((1,) * x.ndim, x.dtype) for name, x in covers.items()}
    p = problem(*map(_stand_in, arrays), mask=small.get("mask"), bias=small.get("bias"), **rules)
    q, k, v = (_spread(x, p.lead) for x in arrays)
    grid = _grid(p, q, k, v)
    return Inputs(
        grid=grid,
        q=q.rechunk((*grid.rows, -1)),
        k=k.rechunk((*grid.columns, -1)),
        v=v.rechunk((*grid.columns, -1)),
        covers={name: _cover(name, x, (*grid.rows, grid.keys)) for name, x in covers.items()},
    )


def rows_like(name: str, array: Any, shape: tuple[int, ...], axes: tuple[Any, ...]) -> Any:
    """`dout`, `out` or `lse`, in the blocks of the queries."""
    found = _known_shape(name, da.asarray(array))
    if found.shape != shape:
        raise ShapeError(f"{name} has shape {found.shape}; expected {shape}, that of the rows of the output")
    return found.rechunk(axes)


def unspread(array: Any, shape: tuple[int, ...]) -> Any:
    """Bring a gradient back to the shape of its input, summing over batch axes along which that was repeated."""
    axes = (1,) * (array.ndim - len(shape)) + shape
    repeated = tuple(i for i, (wide, own) in enumerate(zip(array.shape, axes, strict=True)) if wide != own)
    return (array.sum(axis=repeated, keepdims=True) if repeated else array).reshape(shape)


def _known_shape(name: str, array: Any) -> Any:
    if any(math.isnan(size) for size in array.shape):
        raise ShapeError(f"{name} has blocks of unknown size; expected known ones: {name}.compute_chunk_sizes()")
    return array


def _stand_in(array: Any) -> Array:
    """A NumPy array of the same shape and type that takes no memory."""
    return np.broadcast_to(np.zeros((), array.dtype), array.shape)


def _spread(array: Any, lead: tuple[int, ...]) -> Any:
    """With all batch axes of the problem."""
    wide = (*lead[:-1], *array.shape[-3:])
    return array if not lead or array.shape == wide else da.broadcast_to(array, wide)


def _grid(p: Problem, q: Any, k: Any, v: Any) -> Grid:
    count = max(0, len(p.lead) - 1)
    batch = tuple(refine(*of_axis) for of_axis in zip(*(x.chunks[:count] for x in (q, k, v)), strict=True))
    heads, kv_heads = [], []
    if p.lead:
        fitting = fit_heads(q.chunks[-3], refine(k.chunks[-3], v.chunks[-3]))
        heads, kv_heads = [fitting[0]], [fitting[1]]
    keys = refine(k.chunks[-2], v.chunks[-2])
    return Grid(p, batch, tuple(heads), tuple(kv_heads), refine(q.chunks[-2]), keys)


def _cover(name: str, array: Any, axes: tuple[Chunks, ...]) -> Cover:
    full = tuple(map(sum, axes))
    try:
        fits = np.broadcast_shapes(array.shape, full) == full
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(f"{name} has shape {array.shape}, which does not broadcast to the scores' {full}")
    own = tuple((1,) if n == 1 else cut for n, cut in zip(array.shape, axes[len(axes) - array.ndim :], strict=True))
    if isinstance(array, da.Array):
        return Cover(array.rechunk(own), None, own)
    return Cover(da.from_array(array, chunks=own), array, own)
