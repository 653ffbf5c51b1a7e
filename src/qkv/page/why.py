"""Why attention divides by √d_k, to be tried: random queries and keys, with and without the division.

Given a random query q, the products q·k with random keys are normal with the variance |q|², and |q|² has the χ²
distribution with d_k degrees of freedom. So the products can be drawn without drawing the vectors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from random import Random
from statistics import fmean

from qkv.page.answer import Answer
from qkv.page.plot import Axis, Curve, Rule, plot

KEYS = 8
DRAWS = 200
SIZES = tuple(2**k for k in range(11))  # d_k


def panel() -> str:
    """The sliders; what they show is asked for at once."""
    return (
        '<section class="why"><h2>Why divide by √d_k?</h2>'
        '<form hx-post="calculator/why" hx-trigger="input delay:30ms, load" hx-target="#why" hx-sync="this:replace">'
        '<label>d_k <input type="range" name="power" min="0" max="10" value="6" data-power></label>'
        '<label>temperature <input type="range" name="heat" min="0.2" max="4" step="0.1" value="1"></label>'
        '</form><div id="why" aria-live="polite"></div></section>'
    )


def shown(form: Mapping[str, str]) -> Answer:
    """Weights over eight random keys, scaled and not, and the largest of them for every d_k."""
    size = 2 ** int(_number(form, "power", 6, 0, 10))
    heat = _number(form, "heat", 1, 0.1, 10)
    products = sorted(_products(size), key=lambda each: max(softmax(each, 1)))[DRAWS // 2]  # a usual one
    pairs = (("divided by √d_k", "cool", heat * math.sqrt(size)), ("not divided", "warm", heat))
    rows = "".join(_row(says, tone, softmax(products, scale)) for says, tone, scale in pairs)
    curves = [
        Curve(says, tone, [(k, _largest(k, heat * (math.sqrt(k) if tone == "cool" else 1))) for k in SIZES], None)
        for says, tone, _ in pairs
    ]
    across = Axis("d_k", 1, SIZES[-1], tuple((k, str(k)) for k in SIZES[::2]))
    up = Axis("largest weight (mean)", 0, 1, tuple((k / 4, f"{k / 4:g}") for k in range(5)), log=False)
    words = (
        f"Components of variance 1 make q·k of variance d_k = {size}: it spreads by √{size} ≈ {math.sqrt(size):.3g}. "
        "Divided by √d_k it spreads by 1, whatever d_k is. Without, softmax gives nearly all weight to one key, and "
        "its gradient vanishes."
    )
    temperature = "" if heat == 1 else f" All scores are divided by the temperature {heat:g} too."
    return Answer(
        f"<p>d_k = <b>{size}</b>, temperature <b>{heat:g}</b>. {escape(words + temperature)}</p>"
        f'<div class="sides"><table class="heats strip"><caption>One random query over {KEYS} random keys</caption>'
        f"<tbody>{rows}</tbody></table>"
        f"{plot(f'The largest of {KEYS} weights by d_k', across, up, curves, [Rule(size, f'd_k = {size}')])}</div>"
    )


def _number(form: Mapping[str, str], name: str, usual: float, low: float, high: float) -> float:
    try:
        value = float(form.get(name, usual))
    except ValueError:
        return usual
    return min(max(value, low), high) if math.isfinite(value) else usual


def _row(says: str, tone: str, weights: Sequence[float]) -> str:
    cells = "".join(f'<td class="heat h{round(w * 10)}">{w:.2f}</td>' for w in weights)
    return f'<tr><th scope="row" class="{tone}">{escape(says)}</th>{cells}</tr>'


@cache
def _products(size: int) -> tuple[tuple[float, ...], ...]:
    """Products of random queries with random keys, a row for each query."""
    source = Random(size)
    lengths = [math.sqrt(source.gammavariate(size / 2, 2)) for _ in range(DRAWS)]
    return tuple(tuple(length * source.gauss(0, 1) for _ in range(KEYS)) for length in lengths)


def softmax(scores: Sequence[float], scale: float) -> list[float]:
    """Weights from scores, in floats: these are random numbers, and nobody needs their digits."""
    top = max(scores)
    powers = [math.exp((score - top) / scale) for score in scores]
    return [power / sum(powers) for power in powers]


def _largest(size: int, scale: float) -> float:
    return fmean(max(softmax(scores, scale)) for scores in _products(size))
