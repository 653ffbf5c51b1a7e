"""Plots as SVG: axes with labels, curves, and marks at what was chosen. Colours come from the style sheet."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 600, 340
LEFT, RIGHT, TOP, BOTTOM = 88, 34, 16, 52  # what the axes leave around the drawing


@dataclass(frozen=True, slots=True)
class Axis:
    """What is drawn along it, from where to where, and its ticks; `log` for powers."""

    label: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    log: bool = True

    def share(self, value: float) -> float:
        """How far along the axis a value lies, from 0 to 1."""
        low, high, value = (math.log(max(x, 1e-300)) if self.log else x for x in (self.low, self.high, value))
        return (value - low) / (high - low)


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points; the tone is a class of the style sheet."""

    says: str
    tone: str
    points: Sequence[tuple[float, float]]
    mark: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A line from the bottom to the top, with words beside it."""

    at: float
    says: str
    tone: str = ""


def plot(says: str, across: Axis, up: Axis, curves: Sequence[Curve], rules: Sequence[Rule] = ()) -> str:
    """A figure with its legend; `says` is what it shows, in a sentence."""
    drawn = "".join((*_axes(across, up), *_rules(rules, across), *_curves(curves, across, up)))
    legend = "".join(f'<li class="{each.tone}"><i></i>{escape(each.says)}</li>' for each in curves)
    return (
        f'<figure class="plot"><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(says)}">{drawn}</svg>'
        f'<figcaption><ul class="keys">{legend}</ul></figcaption></figure>'
    )


def _x(axis: Axis, value: float) -> float:
    return round(LEFT + axis.share(value) * (WIDTH - LEFT - RIGHT), 1)


def _y(axis: Axis, value: float) -> float:
    return round(HEIGHT - BOTTOM - axis.share(value) * (HEIGHT - TOP - BOTTOM), 1)


def _axes(across: Axis, up: Axis) -> Iterator[str]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for value, text in up.ticks:
        y = _y(up, value)
        yield f'<line class="tick" x1="{LEFT}" x2="{right}" y1="{y}" y2="{y}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 5}" text-anchor="end">{escape(text)}</text>'
    for value, text in across.ticks:
        x = _x(across, value)
        yield f'<line class="tick" x1="{x}" x2="{x}" y1="{bottom}" y2="{bottom + 5}"/>'
        yield f'<text x="{x}" y="{bottom + 21}" text-anchor="middle">{escape(text)}</text>'
    yield f'<line class="axis" x1="{LEFT}" x2="{right}" y1="{bottom}" y2="{bottom}"/>'
    middle, centre = (TOP + bottom) / 2, (LEFT + right) / 2
    yield f'<text class="label" x="{centre}" y="{HEIGHT - 8}" text-anchor="middle">{escape(across.label)}</text>'
    yield (
        f'<text class="label" x="14" y="{middle}" text-anchor="middle" transform="rotate(-90 14 {middle})">'
        f"{escape(up.label)}</text>"
    )


def _rules(rules: Sequence[Rule], across: Axis) -> Iterator[str]:
    """Words stand outside of two lines, and beside one on the side that has more room."""
    for k, rule in enumerate(sorted(rules, key=lambda each: each.at)):
        x = _x(across, rule.at)
        before = k == 0 and x > LEFT + 170 if len(rules) > 1 else x > WIDTH / 2
        before = before or x > WIDTH - RIGHT - 170
        yield f'<line class="rule {rule.tone}" x1="{x}" x2="{x}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
        yield (
            f'<text class="says {rule.tone}" x="{x - 7 if before else x + 7}" y="{TOP + 13 + 20 * k}" '
            f'text-anchor="{"end" if before else "start"}">{escape(rule.says)}</text>'
        )


def _curves(curves: Sequence[Curve], across: Axis, up: Axis) -> Iterator[str]:
    for curve in curves:
        points = " ".join(f"{_x(across, x)},{_y(up, y)}" for x, y in curve.points)
        yield f'<polyline class="curve {curve.tone}" points="{points}"/>'
        if curve.mark is not None:
            x, y = curve.mark
            yield f'<circle class="mark {curve.tone}" cx="{_x(across, x)}" cy="{_y(up, y)}" r="5"/>'


def powers(low: float, high: float, most: int = 6, base: int = 10) -> tuple[tuple[float, int], ...]:
    """Powers of a base between two numbers, with their exponents; at most so many of them, evenly spaced.

    >>> powers(5, 2e6, most=3)
    ((100.0, 2), (10000.0, 4), (1000000.0, 6))
    """
    first, last = (round_(math.log(x, base)) for round_, x in ((math.ceil, low), (math.floor, high)))
    every = max(1, math.ceil((last - first + 1) / most))
    return tuple((float(base) ** k, k) for k in range(last, first - 1, -every))[::-1]


def short(number: float) -> str:
    """A count as people say it.

    >>> short(124_439_808), short(1536), short(950)
    ('124 M', '1.54 k', '950')
    """
    for power, name in zip(range(24, 0, -3), "YZEPTGMk", strict=True):
        size = 10.0**power
        if number >= size:
            return f"{number / size:.3g} {name}" if number < 999.5 * size else f"{number / size:.0f} {name}"
    return f"{number:.3g}" if number != int(number) else str(int(number))


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a bar."""

    says: str
    tone: str
    size: float


def bar(says: str, shares: Sequence[Share]) -> str:
    """A bar cut into shares, with a legend that says how large each is."""
    total, at, drawn = sum(each.size for each in shares), 0.0, []
    for each in shares:
        width = WIDTH * each.size / total
        drawn.append(f'<rect class="{each.tone}" x="{at:.1f}" width="{max(width - 1.5, 0.5):.1f}" height="26"/>')
        at += width
    legend = "".join(
        f'<li class="{each.tone}"><i></i>{escape(each.says)} <b>{short(each.size)}</b> {each.size / total:.0%}</li>'
        for each in shares
    )
    return (
        f'<figure class="plot"><svg viewBox="0 0 {WIDTH} 26" role="img" aria-label="{escape(says)}">'
        f'{"".join(drawn)}</svg><figcaption><ul class="keys">{legend}</ul></figcaption></figure>'
    )
