"""Our own threads: they take a job's tasks side by side, without the GIL.

Compiled functions that release the GIL need no threading layer of Numba's: one of those ends the process when two
Python threads use it at once, another dies in a forked child.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from functools import cache
from queue import SimpleQueue
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from qkv.errors import ValueRefused
from qkv.kernel.job import DONE, TASKS
from qkv.kernel.mailbox import BUSY, MAILBOX, RING, finished, listen, native, post

Kernel = Callable[[int, Any], None]  # takes tasks of the job at an address until none is left
LOOKS = 8000  # at a mailbox or a counter, 100 to 400 µs, before a thread gives up its processor


class Worker:
    """A thread of ours, what it last worked on, and how to reach it."""

    def __init__(self, number: int) -> None:
        self.mailbox = np.zeros(1, MAILBOX)
        self.address = self.mailbox.ctypes.data
        self.bell: SimpleQueue[None] = SimpleQueue()
        self.lock = threading.Lock()
        self.last: Any = None  # a late thread may still look at this job when its caller has gone
        threading.Thread(target=self._serve, name=f"qkv-{number}", daemon=True).start()

    def _serve(self) -> None:
        while True:
            self.bell.get()
            listen(self.address, _looks())

    def offer(self, kernel: int, address: int, job: Any, double: int) -> None:
        """Ask for help with the job at an address."""
        with self.lock:
            found = post(self.address, kernel, address, double)
            if found == BUSY:
                return
            self.last = job
        if found == RING:
            self.bell.put(None)


_lock = threading.Lock()
_workers: list[Worker] = []
_native = cache(native)


def _forget_threads() -> None:
    """A forked child has none of its parent's threads, and may have got a copy of a held lock."""
    global _lock
    _lock = threading.Lock()
    _workers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _looks() -> int:
    """How long a thread may wait at its processor: not at all where others need it."""
    return LOOKS if len(_workers) < _processors() else 0


def thread_count(threads: int | None) -> int:
    """The argument if given, else what Numba is set to (NUMBA_NUM_THREADS, or the processors there are)."""
    if threads is None:
        return int(numba.config.NUMBA_NUM_THREADS)
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or threads < 1:
        raise ValueRefused(f"threads is {threads!r}; expected a whole number of at least 1")
    return int(threads)


def _helpers(count: int) -> list[Worker]:
    if len(_workers) < count:
        with _lock:
            while len(_workers) < count:
                _workers.append(Worker(len(_workers)))
    return _workers[:count]


def run(kernel: Kernel, address: int, job: NDArray[np.int64], one: Any, threads: int) -> None:
    """Do all tasks of the job at an address, on this thread and up to threads − 1 others that have nothing to do.

    Which thread does which task changes no result. `job` is that job's memory as words.
    """
    tasks, double = job.item(TASKS), int(one.itemsize == 8)
    for worker in _helpers(min(threads, tasks) - 1):
        worker.offer(_native(kernel, double), address, job, double)
    kernel(address, one)
    while not finished(address + DONE, tasks, LOOKS):
        time.sleep(0)
