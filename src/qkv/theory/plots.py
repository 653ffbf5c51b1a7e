"""Plots as PNG, SVG or PDF, drawn by matplotlib where it is installed."""

from __future__ import annotations

import io
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from qkv import files
from qkv.errors import MissingExtra, ValueRefused
from qkv.theory.cost import Cost, crossing
from qkv.theory.polynomial import number, substitute
from qkv.theory.scale import SoftnessRow
from qkv.transport import TransportResult
from qkv.transport.exact import to_float

SUFFIXES = (".png", ".svg", ".pdf")
BLUE, ORANGE, GREY = "#1f6f8b", "#d1603d", "#888888"


def figure(width: float = 7.0, height: float = 4.2, parts: int = 1) -> tuple[Any, Any]:
    """A figure and its axes; the one place where matplotlib is imported (without pyplot, so no window system)."""
    try:
        from matplotlib.figure import Figure
    except ImportError as missing:
        raise MissingExtra("A plot needs matplotlib; install it with: pip install 'qkv[plot]'.") from missing
    drawing = Figure(figsize=(width, height), layout="constrained")
    return drawing, drawing.subplots(1, parts)


def save(drawing: Any, path: str | Path) -> Path:
    """Write the figure; the name says which format."""
    target = checked(path)
    drawn = io.BytesIO()
    drawing.savefig(drawn, dpi=150, format=target.suffix[1:].lower())
    files.write(str(target), drawn.getvalue())
    return target


def checked(path: str | Path) -> Path:
    """The path of a plot, if its ending is one that we write."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise ValueRefused(f"A plot is written as {', '.join(SUFFIXES)}; {target.name!r} is none of these.")
    return target


def growth_points(cost: Cost, most: int, count: int = 60) -> list[tuple[int, int, int]]:
    """(tokens, multiplications of the projections, of attention) up to `most`; n must be the only open size."""
    lengths = sorted({max(1, round(most * (i + 1) / count)) for i in range(count)})
    points = []
    for tokens in lengths:
        values = [
            number(substitute(part.multiplications, {"n": tokens, "n_q": tokens, "n_k": tokens}))
            for part in (cost.projections, cost.attention)
        ]
        if values[0] is None or values[1] is None:
            raise ValueRefused("A growth plot needs numbers for all sizes but the number of tokens: give d and heads.")
        points.append((tokens, values[0], values[1]))
    return points


def plot_growth(cost: Cost, path: str | Path, most: int | None = None) -> Path:
    """Multiplications against tokens, projections and attention apart, with the crossing marked."""
    checked(path)
    meeting = crossing(cost)
    tokens = meeting.tokens if meeting else None
    points = growth_points(cost, most or _reach(tokens))
    drawing, axes = figure()
    lengths = [p[0] for p in points]
    axes.plot(lengths, [p[1] for p in points], color=BLUE, label="projections (∝ n)")
    axes.plot(lengths, [p[2] for p in points], color=ORANGE, label="scores and weighted sums (∝ n²)")
    if tokens is not None and tokens <= lengths[-1]:
        axes.axvline(float(tokens), color=GREY, linestyle="--", linewidth=1)
        axes.annotate(f"n = {float(tokens):g}", (float(tokens), 0), xytext=(5, 8), textcoords="offset points")
    axes.set_xlabel("tokens n")
    axes.set_ylabel("multiplications")
    axes.set_title(cost.kind)
    axes.legend(frameon=False)
    return save(drawing, path)


def _reach(tokens: Fraction | None) -> int:
    return round(2 * tokens) if tokens else 4096


def plot_saturation(rows: Sequence[SoftnessRow], path: str | Path) -> Path:
    """Entropy, largest weight and Jacobian norm of softmax against d_k, scaled and unscaled."""
    checked(path)
    drawing, parts = figure(10.5, 3.6, 3)
    sizes = [row.d_k for row in rows]
    for axes, (name, title) in zip(
        parts,
        (("entropy", "entropy / log n"), ("largest", "largest weight"), ("jacobian", "norm of the Jacobian")),
        strict=True,
    ):
        axes.plot(sizes, [getattr(r.scaled, name) for r in rows], "o-", color=BLUE, label="divided by √d_k")
        axes.plot(sizes, [getattr(r.unscaled, name) for r in rows], "s--", color=ORANGE, label="not scaled")
        axes.set_xscale("log", base=2)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("d_k")
        axes.set_title(title)
    parts[0].legend(frameon=False)
    return save(drawing, path)


def plot_transport(result: TransportResult, path: str | Path) -> Path:
    """The plan: points and moves in one or two dimensions, otherwise the table as a picture."""
    checked(path)
    drawing, axes = figure()
    if result.source.dimension <= 2 and result.costs.name != "matrix":
        _moves(axes, result)
    else:
        table = [[to_float(cell) for cell in row] for row in result.table()]
        drawing.colorbar(axes.imshow(table, cmap="Blues", aspect="auto"), label="mass")
        axes.set_xlabel("to")
        axes.set_ylabel("from")
    axes.set_title(f"cost {result.decimals()}")
    return save(drawing, path)


def _moves(axes: Any, result: TransportResult) -> None:
    largest = max(to_float(move.mass) for move in result.plan)
    x, y = (
        [(to_float(p[0]), to_float(p[1]) if len(p) > 1 else level) for p in side.points]
        for side, level in ((result.source, 1.0), (result.target, 0.0))
    )
    for move in result.plan:
        (x0, y0), (x1, y1) = x[move.source], y[move.target]
        axes.plot([x0, x1], [y0, y1], color=GREY, linewidth=0.5 + 2.5 * to_float(move.mass) / largest, zorder=1)
    axes.scatter(*zip(*x, strict=True), color=BLUE, label="from", zorder=2)
    axes.scatter(*zip(*y, strict=True), color=ORANGE, label="to", zorder=2)
    axes.legend(frameon=False)
