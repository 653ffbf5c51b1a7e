"""Inputs that workers make for themselves, the same ones again after a worker was lost."""

from __future__ import annotations

import dask.array as da
import numpy as np


def lazy(shape, chunks, seed=0, dtype=np.float32):
    """A dask array of normal numbers; each block depends on its place and the seed alone."""
    made = da.core.normalize_chunks(chunks, shape)
    return da.map_blocks(_block, seed=seed, chunks=made, dtype=dtype, meta=np.empty((0,) * len(shape), dtype))


def _block(seed, block_info=None):
    info = block_info[None]
    rng = np.random.default_rng((seed, *info["chunk-location"]))
    return rng.standard_normal(info["chunk-shape"], dtype=np.float32).astype(info["dtype"])
