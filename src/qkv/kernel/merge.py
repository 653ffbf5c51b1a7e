"""`qkv.merge_attention`: one result from parts of the keys."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from qkv.errors import ShapeError, ValueRefused
from qkv.kernel.arguments import Array


def merge_attention(*parts: tuple[ArrayLike, ArrayLike]) -> tuple[Array, Array]:
    """Join (out, lse) pairs that cover different keys for the same queries, exactly as if all keys had been one.

    >>> import numpy as np
    >>> left = (np.array([[1.0]]), np.array([0.0]))
    >>> right = (np.array([[3.0]]), np.array([0.0]))
    >>> out, lse = merge_attention(left, right)
    >>> out.tolist(), lse.round(4).tolist()
    ([[2.0]], [0.6931])
    """
    if not parts:
        raise ValueRefused("merge_attention got nothing; expected at least one (out, lse) pair")
    outs, lses = [np.asarray(out) for out, _ in parts], [np.asarray(lse) for _, lse in parts]
    for out, lse in zip(outs, lses, strict=True):
        if out.shape != outs[0].shape or lse.shape != outs[0].shape[:-1]:
            shapes = ", ".join(f"{o.shape} with {s.shape}" for o, s in zip(outs, lses, strict=True))
            raise ShapeError(f"parts need outputs of one shape, each with an lse per row; got {shapes}")
    top = np.maximum.reduce(lses)
    base = np.where(top == -np.inf, np.zeros_like(top), top)
    shares = [np.exp(lse - base) for lse in lses]
    total = np.add.reduce(shares)
    empty = total == 0
    safe = np.where(empty, np.ones_like(total), total)
    joined = np.zeros(outs[0].shape, np.result_type(*outs, *lses))
    for out, share in zip(outs, shares, strict=True):  # one at a time: parts may be as large as memory allows
        joined += _weighted(out, share / safe)
    joined = joined.astype(np.result_type(*outs), copy=False)
    return joined, np.where(empty, -np.inf, base + np.log(safe)).astype(top.dtype, copy=False)


def _weighted(out: Array, share: Array) -> Array:
    """A part times its share; a part without keys says nothing, whatever stands there."""
    term: Array = out * share[..., None]
    term[share == 0] = 0
    return term
