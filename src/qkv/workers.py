"""Worker processes with limits of time and memory: a hostile document costs its own answer only.

`python -m qkv.workers` is such a process. It is told over its pipes who serves in it ("module:Server"), what that
server is made with, and what it may use; then it answers one task after the other until its input ends.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from qkv.errors import QkvError

GARBAGE = 100_000  # objects that may pile up before a worker looks for those that are left over
_READY = True, None  # said when the server is made: from here on, time counts
_LAST = 15  # the priority of who lets others go first


@dataclass(frozen=True, slots=True)
class Limits:
    """What one task may use: seconds by the clock, memory, seconds of processor (where the system can tell)."""

    seconds: float = 60.0
    megabytes: int = 2000
    processor: float | None = None


class Ended(QkvError):
    """A task had to be ended: it took too long, or its process died."""


class Stopped(QkvError):
    """A task was given up: it was told to stop, or took more of the processor than it may. Its process lives on."""


@dataclass(eq=False)
class Worker:
    """One worker process, started when it is first needed and again after it had to be ended."""

    server: str  # "module:Server": Server(setup) is called with each task, and returns its answer
    setup: Any
    limits: Limits = Limits()
    steps_back: bool = False  # whether it lets others go first, where the system has priorities
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, init=False)  # who talks to the process holds it

    def ask(self, task: Any) -> Any:
        """The answer to a task; Stopped, if it was given up; Ended, if its process had to go with it."""
        with self._lock:
            process = self._process = self._process or self._started()
            late = threading.Event()

            def end() -> None:
                late.set()
                process.kill()

            timer = threading.Timer(self.limits.seconds, end)
            timer.start()
            try:
                is_done, answer = _told(process, task)
            except (EOFError, OSError, pickle.UnpicklingError) as error:
                self.close()
                why = f"it took longer than {self.limits.seconds:g} seconds" if late.is_set() else "its process died"
                raise Ended(why) from error
            finally:
                timer.cancel()
        if not is_done:
            raise Stopped("it was given up")
        return answer

    def start(self) -> None:
        """Start the process now, so that the first task need not wait for it."""
        with self._lock:
            self._process = self._process or self._started()

    def stop(self) -> None:
        """Have the task given up that is being worked on, if there is one."""
        if (process := self._process) is not None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGUSR1 if hasattr(signal, "SIGUSR1") else signal.SIGTERM)

    def close(self) -> None:
        """End the process, whatever it is doing."""
        if (process := self._process) is not None:
            process.kill()  # then whoever waits for its answer lets go of its pipes
        with self._lock:
            if self._process is not None:
                _end(self._process)
                self._process = None

    def _started(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "qkv.workers"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            _told(process, (self.server, self.setup, self.limits, self.steps_back))
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            _end(process)
            raise QkvError("a worker process could not be started; does it have enough memory?") from error
        return process


def _told(process: subprocess.Popen[bytes], what: Any) -> tuple[bool, Any]:
    """What a process says to what it is told: whether it is done, and its answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    pickle.dump(what, process.stdin)
    process.stdin.flush()
    found: tuple[bool, Any] = pickle.load(process.stdout)
    return found


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            pipe.close()  # type: ignore[union-attr]


# — in the process —


def main() -> None:
    """Serve until there is no more input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who pressed Ctrl-C meant the whole: it tells us to end
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing but answers may come out of the pipe
    tasks = sys.stdin.buffer
    name, setup, limits, steps_back = pickle.load(tasks)
    if steps_back and hasattr(os, "nice"):
        os.nice(_LAST)
    _limit_memory(limits.megabytes)
    stop = _Stop(limits.processor)
    module, _, server_name = name.partition(":")
    server = getattr(importlib.import_module(module), server_name)(setup)
    gc.freeze()  # what every task uses need not be looked through again and again
    gc.set_threshold(GARBAGE, 20, 20)
    answer = _READY
    while True:
        pickle.dump(answer, answers)
        answers.flush()
        try:
            task = pickle.load(tasks)
        except EOFError:
            return
        answer = stop.worked(server, task)


class _GivenUp(BaseException):
    """Raised in the middle of a task, where no handler of errors may take it for one."""


class _Stop:
    """Gives up the task in hand at a signal: one that is sent, or one that comes when its time of processor is up."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds, self._is_working = seconds, False
        for name in ("SIGUSR1", "SIGPROF"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self._heard)

    def _heard(self, *_: object) -> None:
        if self._is_working:
            raise _GivenUp

    def worked(self, server: Callable[[Any], Any], task: Any) -> tuple[bool, Any]:
        """Whether a task was done, and its answer."""
        try:
            try:
                self._is_working = True
                self._count(self._seconds)
                return True, server(task)
            finally:
                self._is_working = False
                self._count(0 if self._seconds else None)
        except _GivenUp:
            return False, None

    @staticmethod
    def _count(seconds: float | None) -> None:
        if seconds is not None and hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_PROF, seconds)


def _limit_memory(megabytes: int) -> None:
    """Memory for this process, where the system knows such a limit."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 1_000_000,) * 2)


if __name__ == "__main__":
    main()
