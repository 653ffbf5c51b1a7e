"""Starting a job: alone on this thread, or shared with the pool."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.kernel.decode import decode
from qkv.kernel.forward import forward
from qkv.kernel.job import KERNEL, ROOM, WORD
from qkv.kernel.plan import DECODE, FORWARD, give_room_to
from qkv.kernel.pool import run, thread_count

KERNELS = {FORWARD: forward, DECODE: decode}


def launch(found: int, job: NDArray[np.int64], one: Any, threads: int | None) -> None:
    """Run a settled job, given as words of memory; `found` is what `to_launch` says."""
    kernel = found & 7
    if kernel == FORWARD:
        forward(found - kernel, one)
    elif kernel == DECODE:
        decode(found - kernel, one)
    else:
        missing = job.item(ROOM)
        if missing:
            room = np.empty(missing // WORD, np.int64)
            give_room_to(found, room.ctypes.data)
        run(KERNELS[job.item(KERNEL)], found, job, one, thread_count(threads))
