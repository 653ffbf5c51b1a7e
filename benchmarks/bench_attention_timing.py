"""Timing on a machine that others disturb: many short samples in random order, spread over the run; the best counts.

A contest is one case and those who compute it. In every round all of them get one sample each, so a disturbance hits
one as likely as another, and the best of many samples is from a moment without any.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

Run = Callable[[], object]
PAUSE = 0.003  # seconds: the peers' idle threads spin for a while after a call, at the expense of the next one
LONG_CALL = 5e-3  # seconds: a call that takes as long needs no warm-up and no repetition
SAMPLE = 2e-3  # seconds that a sample of a shorter call takes
LEAST = 4  # samples that everyone gets
HOPELESS = 3.0  # who is so many times slower than the best after those gets no more


@dataclass
class Contest:
    """Who computes a case, and the seconds per call of every sample so far."""

    name: str
    runs: dict[str, Run]
    samples: dict[str, list[float]] = field(default_factory=dict)
    spent: float = 0.0

    def best(self, who: str) -> float:
        return min(self.samples[who])

    def median(self, who: str) -> float:
        return statistics.median(self.samples[who])

    def contenders(self) -> list[str]:
        if len(next(iter(self.samples.values()), [])) < LEAST:
            return list(self.runs)
        limit = HOPELESS * min(map(self.best, self.runs))
        return [who for who in self.runs if self.best(who) <= limit]

    def take(self, who: str) -> None:
        begin = time.perf_counter()
        known = self.samples.setdefault(who, [])
        known.append(sample(self.runs[who], min(known, default=math.inf)))
        self.spent += time.perf_counter() - begin


def sample(run: Run, once: float) -> float:
    """Seconds per call, after a pause; short calls are warmed up and repeated."""
    time.sleep(PAUSE)
    if once > LONG_CALL:
        begin = time.perf_counter()
        run()
        once = time.perf_counter() - begin
    if once > LONG_CALL:
        return once
    calls = math.ceil(SAMPLE / once)
    for _ in range(max(1, calls // 2)):
        run()
    begin = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - begin) / calls


def compete(contests: Iterable[Contest], seconds: float, seed: int = 0) -> int:
    """Rounds until the time is over, no contest taking much more than its share; how many rounds that were."""
    every, order, rounds = list(contests), random.Random(seed), 0
    begin = time.perf_counter()
    while rounds < LEAST or time.perf_counter() - begin < seconds:
        share = (time.perf_counter() - begin) * 2 / len(every)
        turns = [(c, who) for c in every if rounds < LEAST or c.spent <= share for who in c.contenders()]
        order.shuffle(turns)
        for contest, who in turns:
            contest.take(who)
        rounds += 1
    return rounds
