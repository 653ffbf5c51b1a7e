"""The job: everything a compiled function needs to know of one call, as a record in memory that all threads share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import from_dtype, types

from qkv.kernel.emit import intrinsic

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
    "offsets",
    "partials",
    "counters",
    "dout",
    "delta",
    "dq",
    "dk",
    "dv",
    "dbias",
)
SIZES = ("batch", "heads", "kv_heads", "n_q", "n_k", "d", "d_v")
STRIDES = tuple(  # in bytes, for batch, head, token and column
    f"{array}_{axis}" for array in ("q", "k", "v", "out", "mask", "bias", "dout") for axis in ("b", "h", "n", "d")
)
RULES = ("left", "right", "masked", "storage")
SHARING = ("kernel", "few", "shared", "group", "panels", "splits", "tasks", "room", "next", "done")
FLOATS = ("scale", "softcap")
JOB = np.dtype(
    [(name, np.int64) for name in (*ADDRESSES, *SIZES, *STRIDES, *RULES, *SHARING)]
    + [(name, np.float64) for name in FLOATS]
)
JOB_TYPE: Any = from_dtype(JOB)

WORD = 8  # bytes of each field: a job may also be looked at as whole numbers


def _place(name: str) -> int:
    return int(JOB.fields[name][1])  # type: ignore[index]


NEXT, DONE = _place("next"), _place("done")  # in bytes
KERNEL, TASKS, ROOM = (_place(name) // WORD for name in ("kernel", "tasks", "room"))  # in words
UNBOUNDED = 1 << 60  # a window side without an end
NATIVE, HALF, BRAIN = range(3)  # how keys and values are stored: as computed with, float16, bfloat16


@intrinsic
def job_at(typing: Any, address: Any) -> Any:
    """The job at an address."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(JOB_TYPE))

    return JOB_TYPE(types.int64), code
