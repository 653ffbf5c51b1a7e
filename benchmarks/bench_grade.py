"""How many hand-ins are graded a second, by one and two worker processes and on a Dask cluster, and in how much memory.

usage: bench_grade.py [HAND-INS]
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterable, Iterator
from functools import partial
from importlib.util import find_spec

from qkv.exercises.draw import exercise
from qkv.exercises.written import key, sheet, with_slip
from qkv.grading import pool, spread
from qkv.grading.model import DEFAULT
from qkv.grading.one import Graded, Setup, Submission

EXERCISE = exercise("self", 2, 3)
SETUP = Setup(sheet(EXERCISE), "assignment.md", DEFAULT)
TEXTS = (key(EXERCISE), with_slip(EXERCISE).text)


def hand_ins(count: int) -> Iterator[Submission]:
    """Worked solutions, every second one with a slip; no two have the same bytes."""
    for number in range(count):
        yield Submission(f"{number}.md", f"{TEXTS[number % 2]}\n<!-- {number} -->\n".encode())


def timed(name: str, graded: Iterable[Graded]) -> None:
    begin, done = time.perf_counter(), 0
    for _ in graded:
        done += 1
    seconds = time.perf_counter() - begin
    own, workers = (
        resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(f"{name:<14} {done / seconds:7.1f} hand-ins a second   {own} MB here, {workers} MB in the largest worker")


def main(count: int) -> None:
    for jobs in (1, 2):
        timed(f"{jobs} process{'es' * (jobs > 1)}", pool.graded(hand_ins(count), SETUP, jobs))
    if find_spec("distributed") is None:
        print("Dask is not installed: make test-peers installs it")
        return
    with spread.client_of(None) as client:
        timed("Dask", partial(spread.graded, setup=SETUP, client=client)(hand_ins(count)))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
