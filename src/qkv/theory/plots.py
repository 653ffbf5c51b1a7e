"""Plots as PNG, SVG or PDF, drawn by matplotlib where it is installed."""

from __future__ import annotations

import io
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from qkv import files
from qkv.errors import MissingExtra, ValueRefused
from qkv.theory.cost import Cost, crossing
from qkv.theory.polynomial import number, substitute
from qkv.theory.sampled import SoftnessRow
from qkv.transport import TransportResult
from qkv.transport.exact import to_float

SUFFIXES = (".png", ".svg", ".pdf")
BLUE, ORANGE, GREY, INK = "#1f6f8b", "#d1603d", "#888888", "#1c2330"


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


def plot_growth(cost: Cost, path: str | Path, given: int | None = None) -> Path:
    """Multiplications against tokens, projections and attention apart; the crossing and a given n are marked."""
    checked(path)
    meeting = crossing(cost)
    tokens = meeting.tokens if meeting else None
    points = growth_points(cost, _reach(tokens, given))
    drawing, axes = figure()
    lengths = [p[0] for p in points]
    axes.plot(lengths, [p[1] for p in points], color=BLUE, label="projections (∝ n)")
    axes.plot(lengths, [p[2] for p in points], color=ORANGE, label="scores and weighted sums (∝ n²)")
    if tokens is not None and tokens <= lengths[-1]:
        axes.axvline(float(tokens), color=GREY, linestyle="--", linewidth=1)
        axes.annotate(f"equal at n = {float(tokens):g}", (float(tokens), 0), xytext=(5, 8), textcoords="offset points")
    if given is not None:
        _mark(axes, growth_points(cost, given, 1)[-1])
    axes.set_xlabel("tokens n")
    axes.set_ylabel("multiplications")
    axes.set_title(cost.kind)
    axes.legend(frameon=False)
    return save(drawing, path)


def _mark(axes: Any, point: tuple[int, int, int]) -> None:
    """The two counts at the number of tokens that was given; their numbers stand in the legend."""
    tokens, linear, square = point
    axes.axvline(tokens, color=INK, linewidth=1, label=f"n = {tokens:,}: {linear:.3g} and {square:.3g}")
    for count, colour in ((linear, BLUE), (square, ORANGE)):
        axes.plot([tokens], [count], "o", color=colour, zorder=3)


def _reach(tokens: Fraction | None, given: int | None) -> int:
    """How far to draw: past the crossing and past the number of tokens that was given."""
    return max(round(2 * tokens) if tokens else 0, round(1.25 * given) if given else 0) or 4096


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
    """The plan: masses over a line, moves in a plane, otherwise the table as a picture."""
    checked(path)
    drawing, axes = figure()
    if result.costs.name == "matrix" or result.source.dimension > 2:
        _table(drawing, axes, result)
    elif result.source.dimension == 2:
        _plane(axes, result)
    else:
        _line(axes, result)
    axes.set_title(f"cost {result.decimals()}")
    return save(drawing, path)


def _line(axes: Any, result: TransportResult) -> None:
    """Masses as bars over their places, what is there above the line and what is wanted below; moves between."""
    gap = 0.12 * max(map(to_float, (*result.source.masses, *result.target.masses)))
    wide = 0.3 * _nearest([to_float(p[0]) for side in (result.source, result.target) for p in side.points])
    for side, sign, colour, name in ((result.source, 1, BLUE, "from"), (result.target, -1, ORANGE, "to")):
        places, masses = [to_float(p[0]) for p in side.points], [to_float(mass) for mass in side.masses]
        axes.bar(places, [sign * mass for mass in masses], wide, sign * gap, color=colour, label=name)
        for place, mass, text in zip(places, masses, side.masses, strict=True):
            where = (place, sign * (gap + mass))
            axes.annotate(
                str(text), where, xytext=(0, 4 * sign), textcoords="offset points", ha="center",
                va="bottom" if sign > 0 else "top", color=colour,
            )  # fmt: skip
    for move in result.plan:
        ends = [to_float(result.source.points[move.source][0]), to_float(result.target.points[move.target][0])]
        axes.plot(ends, [gap, -gap], color=GREY, linewidth=_width(move.mass, result), solid_capstyle="butt", alpha=0.6)
    axes.axhline(0, color=GREY, linewidth=0.5, linestyle=":")
    axes.set_xlabel("place")
    axes.set_ylabel("mass")
    axes.set_yticks([])  # each bar has its mass written at its end
    axes.margins(y=0.15)
    axes.legend(frameon=False)


def _nearest(places: Sequence[float]) -> float:
    """The smallest distance between two places, 1 if there is only one."""
    apart = sorted(set(places))
    return min((b - a for a, b in pairwise(apart)), default=1.0)


def _plane(axes: Any, result: TransportResult) -> None:
    """Places as circles whose area is their mass, moves as lines whose width is theirs."""
    largest = max(map(to_float, (*result.source.masses, *result.target.masses)))
    for move in result.plan:
        ends = result.source.points[move.source], result.target.points[move.target]
        across, up = ([to_float(point[axis]) for point in ends] for axis in (0, 1))
        axes.plot(across, up, color=GREY, linewidth=_width(move.mass, result), zorder=1)
    for side, colour, name in ((result.source, BLUE, "from"), (result.target, ORANGE, "to")):
        across, up = ([to_float(point[axis]) for point in side.points] for axis in (0, 1))
        areas = [260 * to_float(mass) / largest for mass in side.masses]
        axes.scatter(across, up, areas, color=colour, label=name, zorder=2, alpha=0.85)
        for x, y, mass in zip(across, up, side.masses, strict=True):
            axes.annotate(str(mass), (x, y), xytext=(9, 6), textcoords="offset points", color=colour)
    axes.set_xlabel("first coordinate")
    axes.set_ylabel("second coordinate")
    axes.margins(0.15)
    axes.legend(frameon=False, markerscale=0.6)


def _table(drawing: Any, axes: Any, result: TransportResult) -> None:
    """The plan as a picture of its table; more mass is darker, and each move has its number."""
    table = [[to_float(cell) for cell in row] for row in result.table()]
    most = max(max(row) for row in table)
    drawing.colorbar(axes.imshow(table, cmap="Blues", vmin=0, vmax=most, aspect="auto"), label="mass moved")
    for move in result.plan:
        dark = to_float(move.mass) > 0.6 * most
        axes.annotate(
            str(move.mass), (move.target, move.source), ha="center", va="center", color="white" if dark else INK
        )
    for axis, side, word in ((axes.xaxis, result.target, "to"), (axes.yaxis, result.source, "from")):
        axis.set_ticks(range(len(side.masses)), [f"{k}  ({mass})" for k, mass in enumerate(side.masses, 1)])
        axis.set_label_text(f"{word} (mass)")


def _width(mass: Any, result: TransportResult) -> float:
    return 0.8 + 5 * to_float(mass) / max(to_float(move.mass) for move in result.plan)
