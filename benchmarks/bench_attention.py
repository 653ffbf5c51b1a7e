"""Attention side by side with its peers: each library in a process of its own, in turns, as ratios.

python benchmarks/bench_attention.py                     all of it, about ten minutes
python benchmarks/bench_attention.py --random 100 --seed 7
python benchmarks/bench_attention.py --only decode       chosen cases whose group or name contains this
python benchmarks/bench_attention.py --only random       random cases alone

python benchmarks/bench_attention.py --processor-time    for a machine that others use: one thread and its own time

Ratios are the best time of the fastest peer over our best time. Some cases were chosen; the others are drawn at
random (`bench_attention_random.py`).
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
from pathlib import Path
from typing import Any

from bench_attention_cases import CASES, Case
from bench_attention_checks import GROWTH, errors, grow_once
from bench_attention_limits import LARGE, LIMITS, PRODUCTS, SIDE, STREAM
from bench_attention_peers import PEERS
from bench_attention_random import distribution, draw, kind_of
from bench_attention_timing import THREADS, Contest, Library, compete, use_one_processor

RESULTS = Path(__file__).parent / "results"
WORST = 5  # cases that are named


def judge(contest: Contest) -> dict[str, Any]:
    """One row of the table."""
    case = contest.case
    best = {name: contest.best(name) for name in PEERS if name in contest.times}
    mine = best["qkv"]
    fastest = min((t, name) for name, t in best.items() if name != "qkv")
    products = [contest.best(name) for name in PRODUCTS if name in contest.times]
    return {
        "case": case.name,
        "group": case.group,
        "kind": kind_of(case),
        "seconds": best,
        "medians": {name: contest.median(name) for name in best},
        "samples": {name: len(contest.times[name]) for name in best},
        "ratio": fastest[0] / mine,
        "fastest_peer": fastest[1],
        "gflops": case.multiplications / mine / 1e9,
        "gbytes": case.key_bytes / mine / 1e9,
        "stream": case.key_bytes / contest.best(STREAM) / 1e9 if STREAM in contest.times else None,
        "sgemm": 2 * SIDE**3 / min(products) / 1e9 if products else None,
    }


def show_header() -> None:
    peers = "".join(f"{name:>12}" for name in PEERS if name != "qkv")
    print(f"{'case':<36}{'qkv':>11}{peers}{'ratio':>8}{'GFLOP/s':>9}{'GB/s':>7}")


def show(row: dict[str, Any]) -> None:
    times = row["seconds"]
    cells = "".join(f"{times[n] / times['qkv']:>11.2f}×" if n in times else f"{'–':>12}" for n in PEERS if n != "qkv")
    share = f" ({row['gflops'] / row['sgemm']:.0%} of sgemm)" if row["sgemm"] else ""
    share = f" ({row['gbytes'] / row['stream']:.0%} of the stream)" if row["stream"] else share
    rates = f"{row['gflops']:>9.0f}{row['gbytes']:>7.1f}"
    print(f"{row['case']:<36}{times['qkv'] * 1e6:>9.1f}µs{cells}{row['ratio']:>7.2f}×{rates}{share}", flush=True)


def median_ratio(row: dict[str, Any]) -> float:
    """As the ratio, from the middle instead of the best times: what a machine in use gives."""
    return min(t for name, t in row["medians"].items() if name != "qkv") / row["medians"]["qkv"]


def summary(rows: list[dict[str, Any]]) -> dict[str, object]:
    """What holds for all rows: the distribution of ratios, by kind too, and the cases that come out worst."""
    ratios = [row["ratio"] for row in rows]
    kinds = {kind: [row["ratio"] for row in rows if row["kind"] == kind] for kind in {row["kind"] for row in rows}}
    return {
        **distribution(ratios),
        "geometric_mean_of_medians": statistics.geometric_mean(map(median_ratio, rows)),
        "geometric_means": {kind: statistics.geometric_mean(found) for kind, found in sorted(kinds.items())},
        "worst": [[r["case"], r["fastest_peer"], r["ratio"]] for r in sorted(rows, key=lambda r: r["ratio"])[:WORST]],
    }


def limits(rows: list[dict[str, Any]]) -> dict[str, object]:
    """Shares of what the machine can do, the smallest calls, and errors, over the chosen cases."""
    large = [r["gflops"] / r["sgemm"] for r in rows if r["case"] in LARGE and r["sgemm"]]
    long = [r["gbytes"] / r["stream"] for r in rows if r["stream"] and "65536" in r["case"]]
    apart = [r["errors"]["qkv"] / r["errors"]["torch"] for r in rows if r["errors"]]
    return {
        "least_share_of_sgemm": min(large, default=None),
        "least_share_of_stream": min(long, default=None),
        "tiny_microseconds": max(
            (r["seconds"]["qkv"] * 1e6 for r in rows if r["case"].startswith("1×3×3")), default=None
        ),
        "error_over_torch": max(apart, default=None),
    }


def show_distribution(title: str, found: dict[str, Any]) -> None:
    figures = [f"{name} {value:.2f}" for name, value in found.items() if isinstance(value, float)]
    print(f"\n{title}: {found['cases']} cases, {found['below_1']} below 1")
    print("  " + ", ".join(figures))
    print("  by kind: " + ", ".join(f"{kind} {mean:.2f}" for kind, mean in found["geometric_means"].items()))
    print("  worst: " + "; ".join(f"{case} {ratio:.2f} ({peer})" for case, peer, ratio in found["worst"]), flush=True)


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    """Every peer's time over ours, one line a case."""
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


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=4.0, help="for each case; three rounds take longer sometimes")
    parser.add_argument("--random", type=int, default=60, help="how many cases are drawn")
    parser.add_argument("--seed", type=int, default=0, help="of the draws")
    parser.add_argument("--only", default="", help="cases whose group or name contains this; nothing is written")
    parser.add_argument("--peers", default=",".join(PEERS), help="comma-separated; qkv is always among them")
    parser.add_argument("--processor-time", action="store_true", help="for a machine that others use; see above")
    return parser.parse_args()


def main() -> None:
    given = options()
    peers = [name for name in PEERS if name != "qkv" and name in given.peers.split(",")]
    cases = [c for c in [*CASES, *draw(given.random, given.seed)] if given.only in c.group or given.only in c.name]
    clock, threads = "time", THREADS
    if given.processor_time:
        use_one_processor()
        clock, threads = "processor time", 1
    libraries = [Library({**PEERS, **LIMITS}, name) for name in ("qkv", *peers, *LIMITS)]
    print(f"{platform.processor() or platform.machine()}, {threads} threads, {clock}")
    show_header()
    rows = []
    for case in cases:
        rows.append(judge(compete(case, libraries, peers, given.seconds)))
        show(rows[-1])
    chosen, drawn = ([r for r in rows if (r["group"] == "random") is random] for random in (False, True))
    found = {title: summary(part) for title, part in (("chosen", chosen), ("random", drawn)) if part}
    for title, part in found.items():
        show_distribution(title, part)
    if not given.only:
        write(cases, rows, {"threads": threads, "clock": clock, "summary": found})


def write(cases: list[Case], rows: list[dict[str, Any]], found: dict[str, Any]) -> None:
    """Errors, growth, and everything into the results."""
    for case, row in zip(cases, rows, strict=True):
        row["errors"] = errors(case) if case.group != "random" else {}
    bounds = limits(rows)
    print(json.dumps(bounds, indent=1))
    growth = [grow_once(n) for n in GROWTH]
    print(f"\n{'tokens':>8}{'seconds':>12}{'MB above inputs and output':>30}")
    for point in growth:
        print(f"{point['tokens']:>8}{point['seconds']:>12.5f}{point['megabytes']:>30.1f}")
    RESULTS.mkdir(exist_ok=True)
    written = {**found, "limits": bounds, "rows": rows, "growth": growth}
    (RESULTS / "attention.json").write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n")
    plot([row for row in rows if row["group"] != "random"], RESULTS / "attention.png")


if __name__ == "__main__":
    main()
