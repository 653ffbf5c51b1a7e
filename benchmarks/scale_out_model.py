"""A model of attention on many machines: what it computes, what it moves, what its scheduler does, from six constants.

Causal self-attention of `tokens` tokens in float32, a block of queries against a block of keys in each task, as
`qkv.dask.attention` cuts it. All times are in seconds, all sizes in bytes or numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

NUMBER = 4  # bytes of a float32
FAN_IN = 4  # parts that a task joins
BLOCKS = tuple(1 << power for power in range(9, 21))  # lengths of a block to choose from
BLOCKS_AT_ONCE = 12  # that a worker holds: q, k, v, a few parts, what is arriving


@dataclass(frozen=True)
class Machine:
    """What one machine can do; `bench_scale_out.py` measures it."""

    cores: int
    flops: float  # a second, of the kernel on one core
    joined: float  # bytes of parts joined a second, on one core
    wire: float  # bytes a second that a worker receives from another one
    task: float  # seconds of the scheduler for a task
    start: float  # seconds of a worker's core for a task, besides its work
    memory: float = 2e9  # bytes a core may use


@dataclass(frozen=True)
class Problem:
    """Causal attention of every token to those before it."""

    tokens: int
    heads: int = 1
    d: int = 64


@dataclass(frozen=True)
class Forecast:
    """What one run takes; `compute`, `wire` and `scheduler` go on at the same time."""

    block: int
    pairs: int
    tasks: int
    received: float  # bytes, by all machines
    compute: float
    wire: float
    scheduler: float

    @property
    def least(self) -> float:
        """Seconds if the three overlap entirely."""
        return max(self.compute, self.wire, self.scheduler)

    @property
    def most(self) -> float:
        """Seconds if they do not overlap at all."""
        return self.compute + self.wire + self.scheduler

    @property
    def bound(self) -> str:
        times = {"compute": self.compute, "wire": self.wire, "scheduler": self.scheduler}
        return max(times, key=times.__getitem__)


def forecast(p: Problem, machines: int, machine: Machine, block: int) -> Forecast:
    """One way to cut the work: blocks of so many tokens, each of one head."""
    along = math.ceil(p.tokens / block)
    rows = along * p.heads
    pairs = rows * (along + 1) // 2
    joins = p.heads * sum(_joins(i + 1) for i in range(along)) if along <= 2048 else pairs // (FAN_IN - 1)
    workers = machines * machine.cores
    flops = 2 * p.heads * p.tokens * (p.tokens + block) * p.d  # half of 4 n² d, and the diagonal is computed in part
    parts = (pairs - rows) * FAN_IN / (FAN_IN - 1) * block * p.d * NUMBER  # read by the joins
    tasks = 3 * rows + pairs + joins  # the blocks of q, k and v are made, too
    work = flops / machine.flops + parts / machine.joined + tasks * machine.start
    compute = work / min(workers, pairs) * _imbalance(pairs, workers)
    received = _received(p, machines, block, along, pairs)
    wire = received / machines / machine.wire
    return Forecast(block, pairs, tasks, received, compute, wire, tasks * machine.task)


def best(p: Problem, machines: int, machine: Machine) -> Forecast:
    """The forecast for the block that suits best, of those that fit into memory."""
    fitting = [
        n for n in BLOCKS if n <= max(p.tokens, BLOCKS[0]) and n * p.d * NUMBER * BLOCKS_AT_ONCE <= machine.memory
    ]
    return min((forecast(p, machines, machine, block) for block in fitting), key=lambda f: (f.least, f.most))


def _received(p: Problem, machines: int, block: int, along: int, pairs: int) -> float:
    """Bytes over the wire: the blocks of q, k and v that a machine's pairs need, once each, and the parts of others.

    Pairs go to whichever machine is free, and any block is as likely to be elsewhere as any machine.
    """
    rows = along * p.heads
    needed = rows * -math.expm1(pairs / machines * math.log1p(-1 / rows)) if rows > 1 else 1.0
    parts = (pairs - p.heads) * FAN_IN / (FAN_IN - 1)  # a row's first block of queries has nothing to join
    elsewhere = (machines - 1) / machines
    return (machines * 3 * needed + parts) * elsewhere * block * p.d * NUMBER


def _joins(parts: int) -> int:
    """Tasks that join so many parts as a tree."""
    count = 0
    while parts > 1:
        groups, rest = divmod(parts, FAN_IN)
        count += groups + (rest > 1)
        parts = groups + (rest > 0)
    return count


def _imbalance(pairs: int, workers: int) -> float:
    """How much longer the last worker takes than the average: whole tasks are dealt out."""
    return math.ceil(pairs / workers) * workers / pairs if pairs > workers else 1.0
