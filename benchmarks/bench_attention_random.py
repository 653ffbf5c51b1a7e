"""Shapes that nobody chose: drawn at random, and how far ahead of the fastest peer they come out."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence

from bench_attention_cases import Case

KINDS = ("plain", "causal", "window", "masked")
MASKS = ("padding", "blocks", "scattered")
MOST_TOKENS, MOST_KEYS, MOST_HEADS = 8192, 65536, 32
LEAST_D, MOST_D = 16, 256
MOST_OPERATIONS = 4e10  # a fifth of a second on two cores; larger draws are thrown away
MOST_MASK = 1 << 25  # cells of a mask: peers make several arrays of that size
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def _whole(rng: random.Random, low: int, high: int) -> int:
    """A whole number; its logarithm is uniform."""
    return min(high, int(math.exp(rng.uniform(math.log(low), math.log(high + 1)))))


def _draw_any(rng: random.Random) -> Case:
    kind = rng.choice(KINDS)
    tokens, heads, d = _whole(rng, 1, MOST_TOKENS), _whole(rng, 1, MOST_HEADS), _whole(rng, LEAST_D, MOST_D)
    alone = kind in ("causal", "window")  # self-attention; others also look at other sequences
    return Case(
        "random",
        heads,
        tokens,
        tokens if alone else _whole(rng, 1, MOST_KEYS),
        d if rng.random() < 0.25 else round(d / 8) * 8,  # most models have a multiple of 8
        rng.choice([n for n in range(1, heads + 1) if heads % n == 0]) if rng.random() < 0.4 else heads,
        causal=alone,
        window=_whole(rng, 1, tokens) if kind == "window" else None,
        mask=rng.choice(MASKS) if kind == "masked" else None,
    )


def draw(count: int, seed: int) -> list[Case]:
    """So many cases, always the same for one seed."""
    rng, found = random.Random(seed), []
    while len(found) < count:
        case = _draw_any(rng)
        masks = case.n_q * case.n_k if case.window or case.mask else 0
        if 4 * case.heads * case.n_q * case.n_k * case.d <= MOST_OPERATIONS and masks <= MOST_MASK:
            found.append(case)
    return found


def kind_of(case: Case) -> str:
    if case.mask:
        return "masked"
    return "window" if case.window else "causal" if case.causal else "plain"


def quantile(values: Sequence[float], share: float) -> float:
    """The value that this share of all lies below, between neighbours in proportion."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def distribution(ratios: Sequence[float]) -> dict[str, float]:
    """The geometric mean, the quantiles, the ends, and how many are below 1."""
    return {
        "cases": len(ratios),
        "geometric_mean": statistics.geometric_mean(ratios),
        "least": min(ratios),
        **{f"{share:.0%}": quantile(ratios, share) for share in QUANTILES},
        "most": max(ratios),
        "below_1": sum(ratio < 1 for ratio in ratios),
    }
