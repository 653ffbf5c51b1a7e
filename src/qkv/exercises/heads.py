"""Draws heads one at a time until each has good weights: two heads that are both good at once are rare."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import exp, sqrt
from random import Random
from typing import Any

from qkv.practice.problems import Numbers

TRIES = 500
LEAST, APART = 0.015, 0.02  # a weight that is seen, and the least difference between two of a row
Floats = list[list[float]]


def differ(weights: Sequence[float]) -> bool:
    """Whether the weights of a row differ visibly and none vanishes; what is masked aside."""
    seen = sorted(weight for weight in weights if weight)
    return seen[0] > LEAST and all(b - a > APART for a, b in pairwise(seen))


def with_good_heads(
    matrices: dict[str, Any], tokens: Sequence[Sequence[Any]], rng: Random, draw: Numbers, causal: bool = False
) -> dict[str, Any]:
    """The matrices with W_Q, and W_K where each head has its own, drawn anew until the weights of each head differ."""
    rows = [[float(cell) for cell in row] for row in tokens]
    made = {name: list(matrices[name]) for name in ("W_Q", "W_K") if _per_head(matrices[name])}
    for head in range(len(made["W_Q"])):
        for _ in range(TRIES):
            if _is_good(rows, made["W_Q"][head], made["W_K"][head] if "W_K" in made else matrices["W_K"], causal):
                break
            for each in made.values():
                each[head] = draw.matrix(rng, len(each[head]), len(each[head][0]))
    return matrices | made


def _per_head(weights: Any) -> bool:
    return isinstance(weights[0][0], list)


def _is_good(tokens: Floats, w_q: Any, w_k: Any, causal: bool) -> bool:
    """In floats: a quick look, the proof comes later."""
    queries, keys = _product(tokens, w_q), _product(tokens, w_k)
    rows = [_weights(query, keys[: i + 1] if causal else keys) for i, query in enumerate(queries)]
    return all(map(differ, rows)) and len({tuple(round(weight, 3) for weight in row) for row in rows}) == len(rows)


def _weights(query: list[float], keys: Floats) -> list[float]:
    scores = [_dot(query, key) / sqrt(len(key)) for key in keys]
    shares = [exp(score - max(scores)) for score in scores]
    return [share / sum(shares) for share in shares]


def _product(left: Floats, right: Any) -> Floats:
    columns = [[float(cell) for cell in column] for column in zip(*right, strict=True)]
    return [[_dot(row, column) for column in columns] for row in left]


def _dot(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))
