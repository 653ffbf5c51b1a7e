"""`qkv.dask.attention` and its gradient: from dask arrays to dask arrays, without looking at a number."""

from __future__ import annotations

from collections import defaultdict
from operator import getitem
from typing import Any

import numpy as np
from dask.base import tokenize
from numpy.typing import ArrayLike

from qkv.dask.graph import Tasks, block
from qkv.dask.grid import Index, blocks, shape_of
from qkv.dask.inputs import Inputs, inputs, rows_like, unspread
from qkv.dask.tasks import add, attend, attend_nothing, slopes
from qkv.kernel import merge_attention
from qkv.kernel.arguments import Causal, Window

Terms = defaultdict[Index, list[Any]]  # of each block of a gradient, references to what is to be added up


def attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: Causal = False,
    window: Window | None = None,
    mask: Any = None,
    bias: Any = None,
    scale: float | None = None,
    softcap: float | None = None,
    lengths: ArrayLike | None = None,
    sinks: ArrayLike | None = None,
    return_lse: bool = False,
) -> Any:
    """`qkv.attention` for dask arrays of shape (…, heads, tokens, d) or (tokens, d), cut along any axis.

    Each block of queries meets each block of keys that it may use in a task of its own; what the tasks leave, an output
    and its lse, is joined as a tree. Pairs that `causal`, `window`, `lengths` or a NumPy `mask` empty are never made.
    `mask` and `bias` may be dask arrays; `lengths` and `sinks` are numbers that are known now.

    >>> import dask.array as da
    >>> q, k, v = (da.ones((8, 4), chunks=(2, 4)) for _ in range(3))
    >>> attention(q, k, v, causal=True).sum().compute()
    np.float64(32.0)
    """
    rules = {
        "causal": causal, "window": window, "scale": scale, "softcap": softcap, "lengths": lengths, "sinks": sinks
    }  # fmt: skip
    x = inputs(q, k, v, mask=mask, bias=bias, **rules)
    p, rows = x.grid.problem, x.grid.rows
    tasks = Tasks(tokenize("attention", [array.name for array in x.arrays], rules))
    out, lse = {}, {}
    for row in blocks(rows):
        joined = _attend_row(tasks, x, row)
        out[(*row, 0)] = tasks.add("attention-pick", (*row, 0), getitem, joined, 0)
        lse[row] = tasks.add("attention-pick", (*row, 1), getitem, joined, 1)
    wanted = {"attention": ((*rows, (p.v.shape[3],)), p.compute, out), "attention-lse": (rows, p.compute, lse)}
    made, made_lse = tasks.arrays(x.arrays, wanted)
    made = made.astype(p.dtype)
    return (made, made_lse) if return_lse else made


def _attend_row(tasks: Tasks, x: Inputs, row: Index) -> Any:
    """The tasks of one block of queries; a reference to its out and lse."""
    p = x.grid.problem
    parts: list[Any] = []
    sinks = x.grid.sinks(row)
    for j, options in x.pairs(row):
        column = x.grid.column_of(row, j)
        if not parts and sinks is not None:
            options["sinks"] = sinks  # a sink counts once
        given = (block(x.q, row), block(x.k, column), block(x.v, column))
        parts.append(tasks.add("attention-pair", (*row, j), attend, *given, p.compute, **options))
    if not parts:
        shape = (*shape_of(x.grid.rows, row), p.v.shape[3])
        parts.append(tasks.add("attention-nothing", row, attend_nothing, shape, p.compute, sinks))
    return tasks.tree("attention-join", row, parts, merge_attention)


def attention_backward(
    dout: Any,
    q: Any,
    k: Any,
    v: Any,
    out: Any,
    lse: Any,
    *,
    causal: Causal = False,
    window: Window | None = None,
    mask: Any = None,
    bias: Any = None,
    scale: float | None = None,
    softcap: float | None = None,
    lengths: ArrayLike | None = None,
    sinks: ArrayLike | None = None,
) -> tuple[Any, Any, Any]:
    """dq, dk and dv from the gradient of the output, the inputs, and the output and lse that `attention` gave.

    Each pair of blocks makes its weights again from the lse, and adds to the gradients of its queries and of its keys.
    """
    rules = {
        "causal": causal, "window": window, "scale": scale, "softcap": softcap, "lengths": lengths, "sinks": sinks
    }  # fmt: skip
    x = inputs(q, k, v, mask=mask, bias=bias, **rules)
    p, rows, columns = x.grid.problem, x.grid.rows, x.grid.columns
    shape = (*p.lead, p.q.shape[2])
    dout, out = (rows_like(name, a, (*shape, p.v.shape[3]), (*rows, -1)) for name, a in (("dout", dout), ("out", out)))
    lse = rows_like("lse", lse, shape, rows)
    arrays = [*x.arrays, dout, out, lse]
    tasks = Tasks(tokenize("attention_backward", [array.name for array in arrays], rules))
    terms = _slopes(tasks, x, dout, out, lse)
    wanted = {
        f"attention-{name}": ((*axes, (d,)), p.compute, _sums(tasks, name, axes, d, p.compute, terms[name]))
        for name, axes, d in (("dq", rows, p.q.shape[3]), ("dk", columns, p.k.shape[3]), ("dv", columns, p.v.shape[3]))
    }
    made = tasks.arrays(arrays, wanted)
    dq, dk, dv = (unspread(x, np.shape(given)).astype(p.dtype) for x, given in zip(made, (q, k, v), strict=True))
    return dq, dk, dv


def _slopes(tasks: Tasks, x: Inputs, dout: Any, out: Any, lse: Any) -> dict[str, Terms]:
    """The tasks of all pairs of blocks; references to what each adds to the gradients."""
    terms: dict[str, Terms] = {name: defaultdict(list) for name in ("dq", "dk", "dv")}
    for row in blocks(x.grid.rows):
        for j, options in x.pairs(row):
            column = x.grid.column_of(row, j)
            given = (block(dout, row), block(x.q, row), block(x.k, column), block(x.v, column), block(out, row))
            options |= {"lse": block(lse, row), "compute": x.grid.problem.compute}
            pair = tasks.add("attention-pair-slopes", (*row, j), slopes, *given, **options)
            for i, (name, index) in enumerate((("dq", row), ("dk", column), ("dv", column))):
                terms[name][index].append(tasks.add(f"attention-{name}-pick", (*row, j), getitem, pair, i))
    return terms


def _sums(tasks: Tasks, name: str, axes: Any, d: int, compute: Any, terms: Terms) -> dict[Index, Any]:
    """The tasks that add up one gradient, block by block; references to its blocks."""
    sums = {}
    for index in blocks(axes):
        parts = terms[index] or [
            tasks.add(f"attention-{name}-nothing", index, np.zeros, (*shape_of(axes, index), d), compute)
        ]
        sums[(*index, 0)] = tasks.tree(f"attention-{name}-add", index, parts, add)
    return sums
