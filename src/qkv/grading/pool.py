"""Hand-ins graded by worker processes, each with a limit of time and memory: a hostile file costs its own row only."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator, Iterable, Iterator
from queue import Queue

from qkv.grading.one import Graded, Setup, Submission, assignment_for, troubled
from qkv.workers import Ended, Limits, Worker

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
            with contextlib.closing(Worker("qkv.grading.one:Grader", setup, limits)) as worker:
                while not stop.is_set():
                    with lock:
                        submission = next(waiting, None)
                    if submission is None:
                        break
                    results.put(_graded(worker, submission, setup))
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


def _graded(worker: Worker, submission: Submission, setup: Setup) -> Graded:
    try:
        result: Graded = worker.ask(submission)
        return result
    except Ended as error:
        return troubled(submission.name, assignment_for(setup).asked, str(error), submission.on_paper)
