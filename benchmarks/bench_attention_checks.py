"""What is not a race: errors against float64, and how time and memory grow with the tokens."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench_attention_cases import Arrays, Case
from bench_attention_peers import PEERS, use_qkv
from bench_attention_timing import measure

MOST_INPUTS, INPUT_NUMBERS = 200, 100_000  # random inputs that errors are looked for with, and numbers in all of them
GROWTH = [128 << i for i in range(9)]


def exact(case: Case, arrays: Arrays, heads: int, rows: int) -> np.ndarray:
    """The first heads and rows in float64, by the plain formula."""
    group = case.heads // case.kv_heads
    q, k, v = (x.astype(np.float64) for x in arrays)
    q, k, v = q[0, : heads * group, :rows], k[0, :heads].repeat(group, 0), v[0, :heads].repeat(group, 0)
    rule = np.ones((1, case.n_k), bool) if case.rule is None else case.rule[: min(rows, len(case.rule))]
    if case.causal and case.rule is None:
        rule = np.tri(case.n_q, case.n_k, case.n_k - case.n_q, dtype=bool)[:rows]
    scores = np.where(rule, q @ k.swapaxes(1, 2) * case.d**-0.5, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def errors(case: Case) -> dict[str, float]:
    """Largest errors of qkv and torch against float64, over the first heads and rows; small cases with many inputs."""
    if case.backward or case.dtype != "float32":
        return {}
    heads, rows = min(case.kv_heads, 2), min(case.n_q, 256)
    group = case.heads // case.kv_heads
    found = {"qkv": 0.0, "torch": 0.0}
    for seed in range(max(1, min(MOST_INPUTS, INPUT_NUMBERS // (case.n_k * case.d)))):
        same = replace(case, seed=seed)
        expected = exact(same, same.arrays, heads, rows)
        for name in found:
            got = np.asarray(PEERS[name](same)())[0, : heads * group, :rows]
            found[name] = max(found[name], float(np.abs(got - expected).max()))
    return found


def grow_once(tokens: int) -> dict[str, float]:
    """Time, and peak memory above inputs and output, in a process of its own."""
    done = subprocess.run([sys.executable, __file__, str(tokens)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def memory(field: str) -> float:
    """Megabytes of this process, now (VmRSS) or at most (VmHWM), as Linux tells."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def grow(tokens: int) -> None:
    """What the process of its own does."""
    case = Case("growth", 1, tokens, tokens, 64, 1)
    use_qkv(Case("growth", 8, 256, 256, 64, 8))()  # loads the kernels and starts the threads
    run = use_qkv(case)
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before = memory("VmRSS")
    begin = time.perf_counter()
    out = run()
    once = time.perf_counter() - begin
    above = memory("VmHWM") - before - out.nbytes / 2**20
    best = min(measure(run)) if once < 2 else once
    print(json.dumps({"tokens": tokens, "seconds": best, "megabytes": max(above, 0.0)}))


if __name__ == "__main__":
    grow(int(sys.argv[1]))
