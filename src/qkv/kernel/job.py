"""The job: everything a compiled function needs to know of one call, as a record in memory that all threads share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import from_dtype, types

from qkv.kernel.emit import I64, intrinsic, pointer

ADDRESSES = (
    "q",
    "k",
    "v",
    "out",
    "lse",
    "weights",
    "mask",
    "bias",
    "sinks",
    "lengths",
    "partials",
    "counters",
    "dout",
    "delta",
    "dq",
    "dk",
    "dv",
)
SIZES = ("batch", "heads", "kv_heads", "n_q", "n_k", "d", "d_v")
STRIDES = tuple(  # in bytes, for batch, head, token and column
    f"{array}_{axis}" for array in ("q", "k", "v", "out", "mask", "bias", "dout") for axis in ("b", "h", "n", "d")
)
RULES = ("left", "right", "lower", "masked", "storage")
SHARING = ("kernel", "shared", "group", "panels", "splits", "tasks", "next", "done")
FLOATS = ("scale", "softcap")
JOB = np.dtype(
    [(name, np.int64) for name in (*ADDRESSES, *SIZES, *STRIDES, *RULES, *SHARING)]
    + [(name, np.float64) for name in FLOATS]
)
JOB_TYPE: Any = from_dtype(JOB)

NEXT, DONE = (int(JOB.fields[name][1]) for name in ("next", "done"))  # type: ignore[index]
UNBOUNDED = 1 << 60  # a window side without an end
NATIVE, HALF, BRAIN = range(3)  # how keys and values are stored: as computed with, float16, bfloat16


@intrinsic
def job_at(typing: Any, address: Any) -> Any:
    """The job at an address."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(JOB_TYPE))

    return JOB_TYPE(types.int64), code


@intrinsic
def fetch_add(typing: Any, address: Any, amount: Any) -> Any:
    """Add to the integer at an address, atomically among all threads, and give what was there before."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("add", pointer(builder, arguments[0], I64), arguments[1], "seq_cst")

    return types.int64(types.int64, types.int64), code


@intrinsic
def fetch(typing: Any, address: Any) -> Any:
    """The integer at an address, as the other threads last wrote it."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(pointer(builder, arguments[0], I64), "acquire", 8)

    return types.int64(types.int64), code
