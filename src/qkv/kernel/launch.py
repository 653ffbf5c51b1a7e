"""Starting a job: alone on this thread, or shared with the pool."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.kernel.decode import decode
from qkv.kernel.forward import forward
from qkv.kernel.jit import vector_unit
from qkv.kernel.job import JOB
from qkv.kernel.plan import DECODE, FORWARD
from qkv.kernel.pool import run, thread_count

KERNELS = {FORWARD: forward, DECODE: decode}


def launch(found: int, memory: NDArray[Any], one: Any, threads: int | None) -> None:
    """Run a settled job; `found` is what `to_launch` says."""
    kernel = found & 7
    if kernel == FORWARD:
        forward(found - kernel, one)
    elif kernel == DECODE:
        decode(found - kernel, one)
    else:
        job = memory.view(JOB)[0] if memory.dtype != JOB else memory
        kept = _parts(job, one)
        run(KERNELS[int(job["kernel"])], found, job, one, thread_count(threads))
        del kept


def _parts(job: Any, one: Any) -> list[NDArray[Any]]:
    """Room for what each part of split keys leaves, and a count of finished parts per unit."""
    splits, tasks = int(job["splits"]), int(job["tasks"])
    if splits == 1:
        return []
    lanes = vector_unit().width // one.itemsize
    rows = int(job["group"]) * int(job["n_q"])
    partials = np.empty(tasks * rows * (-(-int(job["d_v"]) // lanes) + 1) * lanes, one.dtype)
    counters = np.zeros(tasks // splits, np.int64)
    job["partials"], job["counters"] = partials.ctypes.data, counters.ctypes.data
    return [partials, counters]
