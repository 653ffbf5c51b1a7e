"""Measure the constants of `scale_out_model.py` here, run attention on small clusters, and hold the model against them.

Run it as: python benchmarks/bench_scale_out.py. It writes results/scale_out.json, which docs/scale_out.py draws.
Rates of a core are taken from processor time, which other people's processes on the machine hardly change.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.task_spec import Task
from distributed import Client, LocalCluster, wait

import qkv
from scale_out_model import Forecast, Machine, Problem, forecast

RESULTS = Path(__file__).resolve().parent / "results" / "scale_out.json"
BLOCK, D = 2048, 64
WORKERS, TOKENS = (1, 2, 4), (8_192, 16_384, 32_768)
REPEATS = 3


def lazy(tokens: int, seed: int, block: int = BLOCK) -> Any:
    """One head of normal numbers that workers make for themselves, (1, tokens, d)."""
    return da.random.default_rng(seed).standard_normal((1, tokens, D), chunks=(1, block, D), dtype=np.float32)


def start(workers: int) -> tuple[LocalCluster, Client]:
    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0")
    return cluster, Client(cluster)


def processor_seconds(work: Callable[[], object]) -> float:
    """The best of a few tries, in time of this thread's processor."""
    best = float("inf")
    for _ in range(REPEATS):
        begin = time.thread_time()
        work()
        best = min(best, time.thread_time() - begin)
    return best


def kernel_rate() -> float:
    q, k, v = (np.random.default_rng(i).standard_normal((1, BLOCK, D), np.float32) for i in range(3))
    return 4 * BLOCK**2 * D / processor_seconds(lambda: qkv.attention(q, k, v, return_lse=True, threads=1))


def join_rate() -> float:
    parts = [(np.ones((1, BLOCK, D), np.float32), np.ones((1, BLOCK), np.float32)) for _ in range(4)]
    return sum(out.nbytes for out, _ in parts) / processor_seconds(lambda: qkv.merge_attention(*parts))


def wire_rate(client: Client) -> float:
    """Bytes that go from one worker to another in a second of the busier one's processor, in blocks of 16 MB."""
    here, there = list(client.nthreads())[:2]
    best = 0.0
    for attempt in range(REPEATS):
        made = [client.submit(_ones, (attempt, i), workers=[here]) for i in range(8)]
        wait(made)
        before = client.run(time.process_time)
        wait([client.submit(len, block, workers=[there], pure=False) for block in made])
        after = client.run(time.process_time)
        best = max(best, 8 * 16e6 / max(after[worker] - before[worker] for worker in (here, there)))
    return best


def _ones(_: object) -> Any:
    return np.ones(4_000_000, np.float32)


def task_seconds(client: Client) -> tuple[float, float]:
    """Processor time that a task costs besides its work: of the scheduler (with the client, which shares its process
    here), and of the workers."""
    found = []
    for attempt in range(REPEATS):
        arrays = (lazy(32 * 32, 3 * attempt + i, 32) for i in range(3))
        (out,) = dask.optimize(qkv.dask.attention(*arrays, causal=True))
        count, workers, begin = count_tasks(out), processor(client), time.process_time()
        wait(client.persist(out))
        found.append(((time.process_time() - begin) / count, (processor(client) - workers) / count))
    return min(found)


def count_tasks(array: Any) -> int:
    """Tasks that are work, not only another name for one."""
    return sum(isinstance(node, Task) for node in dict(array.__dask_graph__()).values())


def processor(client: Client) -> float:
    """Processor time that all workers have used."""
    return float(sum(client.run(time.process_time).values()))


def received_bytes(client: Client) -> float:
    return float(sum(client.run(_received).values()))


def _received(dask_worker: Any) -> int:
    return int(sum(entry["total"] for entry in dask_worker.transfer_incoming_log))


def run(client: Client, tokens: int) -> dict[str, float]:
    """One causal attention, its output left with the workers."""
    (out,) = dask.optimize(qkv.dask.attention(*(lazy(tokens, seed) for seed in range(3)), causal=True))
    bytes_before, processor_before = received_bytes(client), processor(client)
    begin = time.perf_counter()
    kept = client.persist(out)
    wait(kept)
    seconds = time.perf_counter() - begin
    return {
        "seconds": seconds,
        "processor": processor(client) - processor_before,
        "received": received_bytes(client) - bytes_before,
        "tasks": count_tasks(out),
    }


def main() -> None:
    qkv.attention(*(np.ones((1, 64, D), np.float32),) * 3)  # compiles
    cluster, client = start(2)
    with cluster, client:
        client.run(_compile)
        wire, (task, start_up) = wire_rate(client), task_seconds(client)
    machine = Machine(1, flops=kernel_rate(), joined=join_rate(), wire=wire, task=task, start=start_up)
    print(machine)
    print(f"{'workers':>7} {'tokens':>7} | {'tasks':>6} {'model':>6} | {'MB moved':>8} {'model':>6} | ", end="")
    print(f"{'cpu s':>6} {'model':>6} | {'seconds':>7} {'model, from':>11} {'to':>5}")
    runs = []
    for workers in WORKERS:
        cluster, client = start(workers)
        with cluster, client:
            client.run(_compile)
            for tokens in TOKENS:
                found = min((run(client, tokens) for _ in range(REPEATS)), key=lambda found: found["seconds"])
                told = forecast(Problem(tokens, d=D), workers, machine, BLOCK)
                runs.append({"workers": workers, "tokens": tokens, "block": BLOCK, "d": D, **found})
                print(line(workers, tokens, found, told), flush=True)
    RESULTS.write_text(json.dumps({"machine": asdict(replace(machine, cores=2)), "runs": runs}, indent=1) + "\n")


def _compile() -> None:
    qkv.attention(*(np.ones((1, 64, D), np.float32),) * 3)


def line(workers: int, tokens: int, found: dict[str, float], told: Forecast) -> str:
    return (
        f"{workers:7} {tokens:7} | {found['tasks']:6.0f} {told.tasks:6} | {found['received'] / 1e6:8.1f} "
        f"{told.received / 1e6:6.1f} | {found['processor']:6.2f} {told.compute * workers:6.2f} | "
        f"{found['seconds']:7.2f} {told.least:11.2f} {told.most:5.2f}"
    )


if __name__ == "__main__":
    main()
