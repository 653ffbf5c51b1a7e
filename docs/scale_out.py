"""Draw docs/scale-out.svg from what benchmarks/bench_scale_out.py measured, and print the tables of docs/scale-out.md.

Run it as: python docs/scale_out.py
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
from scale_out_model import Machine, Problem, best, forecast  # noqa: E402

RESULTS = json.loads((ROOT / "benchmarks" / "results" / "scale_out.json").read_text(encoding="utf-8"))
MACHINE = Machine(**RESULTS["machine"])
TOKENS = [10**power for power in range(5, 10)]
MACHINES = [1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000]
COLOURS = {"compute": "tab:green", "wire": "tab:orange", "scheduler": "tab:purple"}
TIMES = ((31_557_600, "years"), (86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
SIZES = ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"))


def said(amount: float, units: tuple[tuple[float, str], ...]) -> str:
    """A time or a size as people say it."""
    size, unit = next((pair for pair in units if amount >= pair[0]), units[-1])
    return f"{amount / size:.3g} {unit}"


def picture() -> None:
    """Time and traffic over machines, a line for each length; the colour says what bounds it."""
    plt.rcParams["svg.hashsalt"] = "qkv"  # the same file from the same numbers
    figure, (times, traffic) = plt.subplots(1, 2, figsize=(11, 5))
    for power, tokens in zip("⁵⁶⁷⁸⁹", TOKENS, strict=True):
        told = [best(Problem(tokens), machines, MACHINE) for machines in MACHINES]
        colours = [COLOURS[f.bound] for f in told]
        line(times, MACHINES, [f.least for f in told], colours, f"10{power} tokens")
        line(traffic, MACHINES[1:], [f.received for f in told[1:]], colours[1:], f"10{power} tokens")
    for bound, colour in COLOURS.items():
        times.scatter([], [], color=colour, s=18, label=f"bound by {bound}")
    times.legend(loc="lower left", fontsize=8)
    times.set_ylabel("seconds")
    traffic.set_ylabel("bytes moved between machines, in all")
    for axes in (times, traffic):
        axes.set_xlabel(f"machines of {MACHINE.cores} cores")
        axes.grid(alpha=0.3)
    figure.suptitle("causal attention, one head of d = 64", fontsize=10)
    figure.tight_layout()
    figure.savefig(ROOT / "docs" / "scale-out.svg", metadata={"Date": None})


def line(axes: Axes, x: list[int], y: list[float], colours: list[str], name: str) -> None:
    axes.loglog(x, y, color="0.8", zorder=1)
    axes.scatter(x, y, c=colours, s=18, zorder=2)
    axes.annotate(name, (x[0], y[0]), (-4, 6), textcoords="offset points", fontsize=8)


def table() -> str:
    """The model's times, and the block that each asks for."""
    columns = (1, 10, 100, 1000)
    lines = ["| tokens | " + " | ".join(f"{m} machine{'s' * (m > 1)}" for m in columns) + " |", "|---:|" + "---|" * 4]
    for tokens in TOKENS:
        told = [best(Problem(tokens), machines, MACHINE) for machines in columns]
        cells = (f"{said(f.least, TIMES)} · {f.bound} · {f.block:,} · {said(f.received, SIZES)}" for f in told)
        lines.append(f"| {tokens:,} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def check() -> str:
    """The model beside the runs."""
    lines = [
        "| workers | tokens | tasks | model | MB moved | model | processor s | model | seconds | model |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    one_core = replace(MACHINE, cores=1)
    for run in RESULTS["runs"]:
        told = forecast(Problem(run["tokens"], d=run["d"]), run["workers"], one_core, run["block"])
        cells = [
            f"{run['workers']} | {run['tokens']:,} | {run['tasks']} | {told.tasks}",
            f"{run['received'] / 1e6:.1f} | {told.received / 1e6:.1f}",
            f"{run['processor']:.2f} | {told.compute * run['workers']:.2f}",
            f"{run['seconds']:.2f} | {told.least:.2f} to {told.most:.2f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    picture()
    print(MACHINE, table(), check(), sep="\n\n")
