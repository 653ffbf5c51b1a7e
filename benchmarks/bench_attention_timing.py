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
LEAST = 4  # samples that everyone gets, and
LEAST_SLOW = 2  # who takes more than
SLOW_CALL = 0.5  # seconds
BEHIND = 3.0  # who is so many times slower than the best gets a sample only
SELDOM = 4  # in every fourth round, and none any more if that takes longer than
SELDOM_CALL = 0.1  # seconds


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

    def due(self, who: str, turn: int, share: float) -> bool:
        """Whether someone gets a sample in this round; `share` is how long this contest may have taken."""
        known = self.samples.get(who, [])
        if len(known) < LEAST:
            return len(known) < LEAST_SLOW or min(known) < SLOW_CALL
        if self.spent > share:
            return False
        best = min(map(min, self.samples.values()))
        return min(known) <= BEHIND * best or (turn % SELDOM == 0 and min(known) < SELDOM_CALL)

    def take(self, who: str) -> None:
        begin = time.perf_counter()
        known = self.samples.setdefault(who, [])
        known.append(sample(self.runs[who], min(known, default=math.inf)))
        if len(known) > LEAST:
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
        turns = [(c, who) for c in every for who in c.runs if c.due(who, rounds, share)]
        order.shuffle(turns)
        for contest, who in turns:
            contest.take(who)
        rounds += 1
    return rounds
