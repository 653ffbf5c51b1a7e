"""Our own threads: they take a job's tasks side by side, without the GIL.

Compiled functions that release the GIL need no threading layer of Numba's: one of those ends the process when two
Python threads use it at once, another dies in a forked child.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import numba
import numpy as np

from qkv.errors import ValueRefused
from qkv.kernel.jit import entry
from qkv.kernel.job import DONE, fetch

Kernel = Callable[[int, Any], None]  # takes tasks of the job at an address until none is left
SPINS = 4000  # looks at the counter, some microseconds, before the caller gives up its time slice

_lock = threading.Lock()
_queues: list[SimpleQueue[Any]] = []


def _forget_threads() -> None:
    """A forked child has none of its parent's threads, and may have got a copy of a held lock."""
    global _lock
    _lock = threading.Lock()
    _queues.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def thread_count(threads: int | None) -> int:
    """The argument if given, else what Numba is set to (NUMBA_NUM_THREADS, or the processors there are)."""
    if threads is None:
        return int(numba.config.NUMBA_NUM_THREADS)
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or threads < 1:
        raise ValueRefused(f"threads is {threads!r}; expected a whole number of at least 1")
    return int(threads)


def _serve(queue: SimpleQueue[Any]) -> None:
    while True:
        kernel, address, owner, one = queue.get()
        try:
            kernel(address, one)
        except MemoryError:
            # Working memory comes before the first task, so no task is lost: the caller takes them all.
            continue
        finally:
            del owner


def _helpers(count: int) -> list[SimpleQueue[Any]]:
    with _lock:
        while len(_queues) < count:
            queue: SimpleQueue[Any] = SimpleQueue()
            threading.Thread(target=_serve, args=(queue,), name=f"qkv-{len(_queues)}", daemon=True).start()
            _queues.append(queue)
        return _queues[:count]


@entry
def _finished(done: int, tasks: int, spins: int) -> bool:
    while spins > 0 and fetch(done) != tasks:
        spins -= 1
    return spins > 0


def run(kernel: Kernel, address: int, owner: Any, one: Any, threads: int) -> None:
    """Do all tasks of the job at an address, on this thread and up to threads − 1 others.

    Which thread does which task changes no result. `owner` is kept until the last of them has let go of the job.
    """
    tasks = int(owner["tasks"])
    for queue in _helpers(min(threads, tasks) - 1):
        queue.put((kernel, address, owner, one))
    kernel(address, one)
    while not _finished(address + DONE, tasks, SPINS):
        time.sleep(0)
