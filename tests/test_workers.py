"""Worker processes: tasks that are stopped, that take too long, and processes that are closed or do not start.

partial(sleep) serves in most of them: it sleeps as many seconds as a task says.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time
import timeit
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from qkv.errors import QkvError
from qkv.workers import Ended, Limits, Stopped, Worker

USUAL = Limits()


@contextlib.contextmanager
def worker(serves: Callable[..., Any], limits: Limits = USUAL) -> Iterator[Worker]:
    with contextlib.closing(Worker("functools:partial", serves, limits)) as found:
        found.start()
        yield found


def soon(act: Callable[[], None]) -> threading.Timer:
    timer = threading.Timer(0.3, act)
    timer.start()
    return timer


def test_a_task_that_is_stopped_costs_no_process() -> None:
    with worker(time.sleep) as sleeper:
        process = sleeper._process
        soon(sleeper.stop)
        start = time.monotonic()
        with pytest.raises(Stopped):
            sleeper.ask(50)
        assert time.monotonic() - start < 40
        assert sleeper.ask(0) is None
        assert sleeper._process is process


def test_a_stop_between_two_tasks_stops_neither() -> None:
    with worker(time.sleep) as sleeper:
        sleeper.ask(0)
        sleeper.stop()
        assert sleeper.ask(0.2) is None


def test_a_task_may_use_so_many_seconds_of_processor_and_wait_for_longer() -> None:
    with worker(timeit.timeit, Limits(processor=0.2)) as busy:
        with pytest.raises(Stopped):
            busy.ask("sum(range(100_000))")
        assert busy.ask("pass") > 0
    with worker(time.sleep, Limits(processor=0.2)) as sleeper:
        assert sleeper.ask(0.5) is None


def test_a_task_that_hears_no_signal_is_ended_with_its_process() -> None:
    with worker(sum, Limits(seconds=1, processor=0.1)) as busy:
        with pytest.raises(Ended, match="longer than 1 seconds"):
            busy.ask(range(10**12))
        assert busy.ask(range(10)) == 45  # by a new process


def test_who_waits_for_a_process_that_is_closed_is_told_so() -> None:
    with worker(time.sleep) as sleeper:
        closing = soon(sleeper.close)
        with pytest.raises(Ended, match="its process died"):
            sleeper.ask(50)
        closing.join()
        assert sleeper._process is None


def test_a_process_that_does_not_start_leaves_nothing_open(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[subprocess.Popen[bytes]] = []

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            made.append(self)

    monkeypatch.setattr("subprocess.Popen", Noted)
    with pytest.raises(QkvError, match="could not be started"):
        Worker("qkv.no_such_module:Server", None).ask(1)
    (process,) = made
    assert process.returncode is not None
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdin.closed
    assert process.stdout.closed
