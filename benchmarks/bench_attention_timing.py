"""Timing on a machine that others disturb: each library in a process of its own, in turns, with a pause between.

The idle threads of some libraries spin for 0.2 s after a call. In one process, or without a pause, they would slow
down whoever is measured next. A contest is one case; in every round each library takes one turn, in random order, so
that a disturbance hits one as likely as another.
"""

from __future__ import annotations

import math
import os
import random
import statistics
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from typing import Any

from bench_attention_cases import Case

Run = Callable[[], object]
Maker = Callable[[Case], Run | None]  # None where a library cannot compute a case
ONE_PROCESSOR = "QKV_BENCH_ONE_PROCESSOR"  # set for libraries that have one thread and count its processor time
BY_PROCESSOR = ONE_PROCESSOR in os.environ
THREADS = 1 if BY_PROCESSOR else os.cpu_count() or 1
CLOCK = time.process_time if BY_PROCESSOR else time.perf_counter
PAUSE = 0.0 if BY_PROCESSOR else 0.25  # seconds after every turn, longer than idle threads spin
WARM_UP, TURN, CHUNK = 4e-3, 20e-3, 2e-3  # seconds of a turn that do not count, that count, and that one time is for
LEAST = 3  # turns that everyone gets who is not
BEHIND = 2.0  # times slower than the fastest peer: then one turn is enough


def measure(run: Run) -> list[float]:
    """Seconds per call, one number for each chunk of calls."""
    begin = CLOCK()
    run()
    once = CLOCK() - begin
    while CLOCK() - begin < WARM_UP:
        begin_call = CLOCK()
        run()
        once = min(once, CLOCK() - begin_call)
    calls = math.ceil(CHUNK / once)
    times: list[float] = []
    while not times or sum(times) * calls < TURN:
        begin = CLOCK()
        for _ in range(calls):
            run()
        times.append((CLOCK() - begin) / calls)
    return times


def use_one_processor() -> None:
    """Processes that are started from now on use one thread and count its time, which others do not disturb as much."""
    os.environ[ONE_PROCESSOR] = "1"
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def _serve(makers: dict[str, Maker], name: str, pipe: Any) -> None:
    """What the process of a library does: keep one case ready, and measure it when told to."""
    run: Run | None = None
    with suppress(EOFError):  # the end of the parent
        while True:
            case: Case | None = pipe.recv()
            if case is not None:
                run = None  # frees the arrays of the case before
                run = makers[name](case)
                pipe.send(run is not None)
            elif run is not None:
                pipe.send(measure(run))


class Library:
    """A process that computes cases with one library."""

    def __init__(self, makers: dict[str, Maker], name: str) -> None:
        context = get_context("spawn")
        self.name = name
        self.pipe, theirs = context.Pipe()
        context.Process(target=_serve, args=(makers, name, theirs), daemon=True).start()
        theirs.close()

    def prepare(self, case: Case) -> bool:
        """Get a case ready; whether the library can compute it."""
        self.pipe.send(replace(case))  # a copy without the arrays
        return bool(self.pipe.recv())

    def take_turn(self) -> list[float]:
        self.pipe.send(None)
        times: list[float] = self.pipe.recv()
        time.sleep(PAUSE)
        return times


@dataclass
class Contest:
    """A case, and the seconds per call of everybody's turns so far."""

    case: Case
    times: dict[str, list[float]] = field(default_factory=dict)

    def best(self, who: str) -> float:
        return min(self.times[who])

    def median(self, who: str) -> float:
        return statistics.median(self.times[who])

    def far_behind(self, who: str, peers: Iterable[str]) -> bool:
        return who in peers and self.best(who) > BEHIND * min(self.best(p) for p in peers if p in self.times)


def compete(case: Case, libraries: list[Library], peers: Iterable[str], seconds: float, seed: int = 0) -> Contest:
    """Rounds until the time is over; peers that are far behind take part in the first one only."""
    able = [library for library in libraries if library.prepare(case)]
    contest, order, rounds = Contest(case), random.Random(seed), 0
    begin = time.perf_counter()
    while rounds < LEAST or time.perf_counter() - begin < seconds:
        for library in order.sample(able, len(able)):
            contest.times.setdefault(library.name, []).extend(library.take_turn())
        able = [library for library in able if not contest.far_behind(library.name, peers)]
        rounds += 1
    return contest
