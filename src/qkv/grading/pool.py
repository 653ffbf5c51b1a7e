"""Hand-ins graded by worker processes, each with a limit of time and memory: a hostile file costs its own row only."""

from __future__ import annotations

import contextlib
import pickle
import subprocess
import sys
import threading
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from queue import Queue

from qkv.errors import QkvError
from qkv.grading.one import Graded, Setup, Submission, assignment_for, troubled


@dataclass(frozen=True, slots=True)
class Limits:
    """What one hand-in may use."""

    seconds: float = 60.0
    megabytes: int = 2000


LIMITS = Limits()


def graded(
    submissions: Iterable[Submission], setup: Setup, jobs: int = 1, limits: Limits = LIMITS
) -> Generator[Graded]:
    """Each submission graded, in the order in which they are done. Only as many are read ahead as there are jobs."""
    assignment_for(setup)  # an assignment that cannot be read is said here, once
    waiting = iter(submissions)
    lock, results = threading.Lock(), Queue[Graded | BaseException | None](maxsize=2 * jobs)
    stop = threading.Event()

    def serve() -> None:
        try:
            with contextlib.closing(_Worker(setup, limits)) as worker:
                while not stop.is_set():
                    with lock:
                        submission = next(waiting, None)
                    if submission is None:
                        break
                    results.put(worker.grade(submission))
        except BaseException as error:  # noqa: BLE001  it is raised where the results are read
            results.put(error)
        results.put(None)

    threads = [threading.Thread(target=serve, daemon=True) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    try:
        yield from _until_done(results, jobs)
    finally:
        stop.set()
        while any(thread.is_alive() for thread in threads):  # whoever waits to put a result may go
            with contextlib.suppress(Exception):
                results.get(timeout=0.05)


def _until_done(results: Queue[Graded | BaseException | None], jobs: int) -> Iterator[Graded]:
    left = jobs
    while left:
        result = results.get()
        if isinstance(result, BaseException):
            raise result
        if result is None:
            left -= 1
        else:
            yield result


@dataclass
class _Worker:
    """One worker process, started when it is first needed and again after it had to be ended."""

    setup: Setup
    limits: Limits
    _process: subprocess.Popen[bytes] | None = field(default=None)

    def grade(self, submission: Submission) -> Graded:
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
            pickle.dump(submission, process.stdin)
            process.stdin.flush()
            result: Graded = pickle.load(process.stdout)
            return result
        except (EOFError, OSError, pickle.UnpicklingError):
            self.close()
            why = (
                f"it took longer than {self.limits.seconds:g} seconds"
                if late.is_set()
                else "the process that read it died"
            )
            return troubled(submission.name, assignment_for(self.setup).asked, why)
        finally:
            timer.cancel()

    def _started(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "qkv.grading.worker"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            pickle.dump((self.setup, self.limits.megabytes), process.stdin)  # type: ignore[arg-type]
            process.stdin.flush()  # type: ignore[union-attr]
            pickle.load(process.stdout)  # type: ignore[arg-type]
        except (OSError, EOFError) as error:
            raise QkvError("a worker process could not be started; does it have enough memory?") from error
        return process

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(OSError):
                    pipe.close()  # type: ignore[union-attr]
            self._process = None
