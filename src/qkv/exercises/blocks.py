"""A causal two-head block with layer norm, with tokens whose norm is exact: half of their numbers above the mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from random import Random

from qkv.exercises.heads import with_good_heads
from qkv.practice.problems import Numbers, Rows
from qkv.program.block import Around, planned
from qkv.program.model import Program
from qkv.program.request import Options

BLOCK = "block"
TOKENS, WIDTH = 3, 4
SIZES = {"W_Q": 3, "W_K": 3, "W_V": 2}  # d_k is not √d_model
SIGNS = tuple(dict.fromkeys(permutations((1, 1, -1, -1))))  # which numbers of a token are above its mean
ENTRIES = Numbers(lambda rng: str(rng.choice((-1, 0, 0, 0, 0, 1, 1))))  # few, so that scores stay small
SUM = "R"  # the residual sum, after which a block without a feed-forward layer ends


def block(rng: Random, draw: Numbers = ENTRIES) -> Program:
    """X is normed, attends in two heads under a causal mask, and is added to the result."""
    heads = {name: [draw.matrix(rng, WIDTH, size) for _ in range(2)] for name, size in SIZES.items()}
    signs = rng.sample(SIGNS, TOKENS)
    gamma, beta = ([rng.choice(among) for _ in range(WIDTH)] for among in ((1, 1, 2), (0, 0, 1)))
    normed = [[sign * by + plus for sign, by, plus in zip(row, gamma, beta, strict=True)] for row in signs]
    scale = {"gamma_1": list(map(str, gamma)), "beta_1": list(map(str, beta))}
    given = {"X": _tokens(signs, rng), **scale, **with_good_heads(heads, normed, rng, draw, causal=True)}
    given |= {"W_O": draw.matrix(rng, WIDTH, WIDTH)}
    program = planned(given, Options(mask="causal"), Around(norm="pre"))
    last = next(i for i, step in enumerate(program.steps) if step.symbol.base == SUM)
    return replace(program, steps=program.steps[: last + 1])


def _tokens(signs: Sequence[Sequence[int]], rng: Random) -> Rows:
    """Tokens: each is its mean plus and minus its spread."""
    rows = []
    for row in signs:
        mean, spread = rng.choice((0, 1, 1, 2)), rng.choice((1, 1, 2))
        rows.append([str(mean + sign * spread) for sign in row])
    return rows
