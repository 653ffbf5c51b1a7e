"""Worker processes with limits of time and memory: a hostile document costs its own answer only.

`python -m qkv.workers` is such a process. It is told over its pipes who serves in it ("module:Server"), what that
server is made with, and how much memory it may have; then it answers one task after the other until its input ends.
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
from dataclasses import dataclass, field
from typing import Any

from qkv.errors import QkvError

GARBAGE = 100_000  # objects that may pile up before a worker looks for those that are left over
READY = "ready"  # said when the server is made: from here on, time counts


@dataclass(frozen=True, slots=True)
class Limits:
    """What one task may use."""

    seconds: float = 60.0
    megabytes: int = 2000


class Ended(QkvError):
    """A task had to be ended: it took too long, or its process died."""


@dataclass(eq=False)
class Worker:
    """One worker process, started when it is first needed and again after it had to be ended."""

    server: str  # "module:Server": Server(setup) is called with each task, and returns its answer
    setup: Any
    limits: Limits = Limits()
    _process: subprocess.Popen[bytes] | None = field(default=None)

    def ask(self, task: Any) -> Any:
        """The answer to a task; Ended, if it took more than it may."""
        process = self._process = self._process or self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self.limits.seconds, end)
        timer.start()
        try:
            pickle.dump(task, process.stdin)
            process.stdin.flush()
            return pickle.load(process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            self.close()
            why = f"it took longer than {self.limits.seconds:g} seconds" if late.is_set() else "its process died"
            raise Ended(why) from error
        finally:
            timer.cancel()

    def start(self) -> None:
        """Start the process now, so that the first task need not wait for it."""
        self._process = self._process or self._started()

    def step_back(self) -> None:
        """Let others go first, where the system has priorities."""
        if self._process is not None:
            with contextlib.suppress(AttributeError, OSError):
                os.setpriority(os.PRIO_PROCESS, self._process.pid, 15)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(OSError):
                    pipe.close()  # type: ignore[union-attr]
            self._process = None

    def _started(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "qkv.workers"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            pickle.dump((self.server, self.setup, self.limits.megabytes), process.stdin)  # type: ignore[arg-type]
            process.stdin.flush()  # type: ignore[union-attr]
            pickle.load(process.stdout)  # type: ignore[arg-type]
        except (OSError, EOFError) as error:
            raise QkvError("a worker process could not be started; does it have enough memory?") from error
        return process


def main() -> None:
    """Serve until there is no more input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who pressed Ctrl-C meant the whole: it tells us to end
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing but answers may come out of the pipe
    tasks = sys.stdin.buffer
    name, setup, megabytes = pickle.load(tasks)
    _limit(megabytes)
    module, _, server_name = name.partition(":")
    server = getattr(importlib.import_module(module), server_name)(setup)
    gc.freeze()  # what every task uses need not be looked through again and again
    gc.set_threshold(GARBAGE, 20, 20)
    answer: Any = READY
    while True:
        pickle.dump(answer, answers)
        answers.flush()
        try:
            task = pickle.load(tasks)
        except EOFError:
            return
        answer = server(task)


def _limit(megabytes: int) -> None:
    """Memory for this process, where the system knows such a limit."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 1_000_000,) * 2)


if __name__ == "__main__":
    main()
