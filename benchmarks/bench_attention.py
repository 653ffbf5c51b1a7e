"""Attention side by side with its peers: one run, in random turns, the best of many samples, as ratios.

python benchmarks/bench_attention.py              all of it, about seven minutes
python benchmarks/bench_attention.py --seconds 60
python benchmarks/bench_attention.py --only decode
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench_attention_cases import CASES, Arrays, Case
from bench_attention_limits import SIDE, products, stream
from bench_attention_peers import PEERS, THREADS, use_qkv
from bench_attention_timing import Contest, compete, sample

STREAM = "read stream"
MOST_INPUTS, INPUT_NUMBERS = 200, 100_000  # random inputs that errors are looked for with, and numbers in all of them
RESULTS = Path(__file__).parent / "results"
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


def contest(case: Case, peers: list[str]) -> Contest:
    runs = {name: run for name in peers if (run := PEERS[name](case)) is not None}
    if case.group == "decode":
        runs[STREAM] = stream(case)
    return Contest(case.name, runs)


def judge(case: Case, timed: Contest) -> dict[str, object]:
    """One row of the table."""
    best = {name: timed.best(name) for name in timed.runs}
    read = best.pop(STREAM, None)
    mine = best["qkv"]
    fastest = min((t, name) for name, t in best.items() if name != "qkv")
    return {
        "case": case.name,
        "group": case.group,
        "seconds": best,
        "medians": {name: timed.median(name) for name in best},
        "samples": {name: len(timed.samples[name]) for name in best},
        "ratio": fastest[0] / mine,
        "fastest_peer": fastest[1],
        "gflops": case.multiplications / mine / 1e9,
        "gbytes": case.key_bytes / mine / 1e9,
        "stream": None if read is None else case.key_bytes / read / 1e9,
        "errors": errors(case),
    }


def show_header() -> None:
    peers = "".join(f"{name:>12}" for name in PEERS if name != "qkv")
    print(f"{'case':<32}{'qkv':>11}{peers}{'ratio':>8}{'GFLOP/s':>9}{'GB/s':>7}  error (torch)")


def show(row: dict, sgemm: float) -> None:
    times = row["seconds"]
    cells = "".join(f"{times[n] / times['qkv']:>11.2f}×" if n in times else f"{'–':>12}" for n in PEERS if n != "qkv")
    rate = f"{row['gflops']:>9.0f}" if row["group"] != "decode" else f"{'':>9}"
    share = f"{row['gflops'] / sgemm:>6.0%} " if row["group"] != "decode" else ""
    if row["group"] == "decode":
        share = f"{row['gbytes']:>7.1f} ({row['gbytes'] / row['stream']:.0%} of the stream) "
    error = f" {row['errors']['qkv']:.1e} ({row['errors']['torch']:.1e})" if row["errors"] else ""
    mine = f"{times['qkv'] * 1e6:>9.1f}µs"
    print(f"{row['case']:<32}{mine}{cells}{row['ratio']:>7.2f}×{rate}{share}{error}", flush=True)


def grow_once(tokens: int) -> dict[str, float]:
    """Time, and peak memory above inputs and output, in a process of its own."""
    done = subprocess.run([sys.executable, __file__, "--grow", str(tokens)], capture_output=True, text=True, check=True)
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
    best = min(sample(run, once) for _ in range(5)) if once < 2 else once
    print(json.dumps({"tokens": tokens, "seconds": best, "megabytes": max(above, 0.0)}))


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def median_ratio(row: dict) -> float:
    """As the ratio, from the middle samples instead of the best: what a machine in use gives."""
    return min(t for name, t in row["medians"].items() if name != "qkv") / row["medians"]["qkv"]


def summary(rows: list[dict], sgemm: float) -> dict[str, object]:
    ratios = [row["ratio"] for row in rows]
    worst = min(rows, key=lambda row: row["ratio"])
    large = [r for r in rows if r["case"] in ("8×2048×64", "8×4096×128", "1×8192×64", "32×1024×80")]
    long = [r for r in rows if r["group"] == "decode" and "65536" in r["case"]]
    tiny = [r["seconds"]["qkv"] for r in rows if r["case"].startswith("1×3×3")]
    return {
        "geometric_mean": geometric_mean(ratios),
        "geometric_mean_of_medians": geometric_mean([median_ratio(row) for row in rows]),
        "worst": [worst["case"], worst["ratio"]],
        "behind": [[r["case"], r["fastest_peer"], r["ratio"]] for r in rows if r["ratio"] < 1],
        "least_share_of_sgemm": min((r["gflops"] / sgemm for r in large), default=None),
        "least_share_of_stream": min((r["gbytes"] / r["stream"] for r in long), default=None),
        "tiny_microseconds": max(tiny, default=0) * 1e6,
        "error_over_torch": max((r["errors"]["qkv"] / r["errors"]["torch"] for r in rows if r["errors"]), default=None),
    }


def plot(rows: list[dict], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 0.24 * len(rows) + 1.2))
    marks = {"torch": "o", "onnxruntime": "s", "jax": "^", "numpy": "x"}
    for name, mark in marks.items():
        points = [(r["seconds"][name] / r["seconds"]["qkv"], -i) for i, r in enumerate(rows) if name in r["seconds"]]
        axes.plot([x for x, _ in points], [y for _, y in points], mark, label=name, markersize=5, alpha=0.8)
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xscale("log")
    axes.set_yticks([-i for i in range(len(rows))], [r["case"] for r in rows], fontsize=7)
    axes.set_xlabel("time over qkv's (right of the line: qkv is faster)")
    axes.legend(loc="lower right", fontsize=8)
    axes.grid(axis="x", alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=330.0, help="how long to measure")
    parser.add_argument("--only", default="", help="cases whose group or name contains this; nothing is written")
    parser.add_argument("--peers", default=",".join(PEERS), help="comma-separated; qkv is always among them")
    parser.add_argument("--grow", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.grow:
        grow(given.grow)
        return
    peers = ["qkv", *(p for p in given.peers.split(",") if p != "qkv")]
    cases = [c for c in CASES if given.only in c.group or given.only in c.name]
    limit = Contest("sgemm", products())
    contests = [contest(case, peers) for case in cases]
    rounds = compete([limit, *contests], given.seconds)
    sgemm = 2 * SIDE**3 / min(map(limit.best, limit.runs)) / 1e9
    print(
        f"{platform.processor() or platform.machine()}, {THREADS} threads, {rounds} rounds, sgemm {sgemm:.0f} GFLOP/s"
    )
    show_header()
    rows = []
    for case, timed in zip(cases, contests, strict=True):
        rows.append(judge(case, timed))
        show(rows[-1], sgemm)
    found = summary(rows, sgemm)
    print(json.dumps(found, indent=1, ensure_ascii=False))
    if given.only:
        return
    growth = [grow_once(n) for n in GROWTH]
    print(f"\n{'tokens':>8}{'seconds':>12}{'MB above inputs and output':>30}")
    for point in growth:
        print(f"{point['tokens']:>8}{point['seconds']:>12.5f}{point['megabytes']:>30.1f}")
    RESULTS.mkdir(exist_ok=True)
    written = {"rounds": rounds, "sgemm": sgemm, "threads": THREADS, "summary": found, "rows": rows, "growth": growth}
    (RESULTS / "attention.json").write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n")
    plot(rows, RESULTS / "attention.png")


if __name__ == "__main__":
    main()
