"""Random problems of what stands around attention, small enough for paper."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from qkv.practice.problems import Numbers, Sizes
from qkv.program.block import Around

Given = dict[str, Any]
Maker = Callable[[Random, Numbers, Sizes], tuple[Given, Around]]


def _attending(rng: Random, draw: Numbers, size: Sizes) -> Given:
    shapes = {"X": (size.n, size.d), "W_Q": (size.d, size.k), "W_K": (size.d, size.k), "W_V": (size.d, size.v)}
    return {name: draw.matrix(rng, *shape) for name, shape in shapes.items()} | {
        "W_O": draw.matrix(rng, size.v, size.d)
    }


def _feeding(rng: Random, draw: Numbers, size: Sizes) -> Given:
    given: Given = {"W_1": draw.matrix(rng, size.d, size.k), "W_2": draw.matrix(rng, size.k, size.d)}
    return given | {"b_1": draw.matrix(rng, 1, size.k)[0], "b_2": draw.matrix(rng, 1, size.d)[0]}


def _scaling(rng: Random, size: Sizes, number: int) -> Given:
    row = [str(rng.choice((1, 2, 2, 3))) for _ in range(size.d)]
    return {f"gamma_{number}": row, f"beta_{number}": [str(rng.choice((-1, 1, 2))) for _ in range(size.d)]}


def _norm(rng: Random, draw: Numbers, size: Sizes) -> tuple[Given, Around]:
    kind = rng.choice(("pre", "pre", "pre rms"))
    scaled = _scaling(rng, size, 1)
    given = {"X": draw.matrix(rng, size.n, size.d), "gamma_1": scaled["gamma_1"]}
    return given | ({"beta_1": scaled["beta_1"]} if kind == "pre" else {}), Around(norm=kind, eps="0.1")


def _feed_forward(rng: Random, draw: Numbers, size: Sizes) -> tuple[Given, Around]:
    given = {"X": draw.matrix(rng, size.n, size.d), **_feeding(rng, draw, size)}
    return given, Around(activation=rng.choice(("relu", "relu", "gelu", "gelu_tanh", "silu")))


def _gated(rng: Random, draw: Numbers, size: Sizes) -> tuple[Given, Around]:
    given = {"X": draw.matrix(rng, size.n, size.d), "W_1": draw.matrix(rng, size.d, size.k)}
    given |= {"W_3": draw.matrix(rng, size.d, size.k), "W_2": draw.matrix(rng, size.k, size.d)}
    return given, Around(activation=rng.choice(("swiglu", "geglu")))


def _positions(rng: Random, draw: Numbers, size: Sizes) -> tuple[Given, Around]:
    table = draw.matrix(rng, 4, size.d)
    around = Around(
        tokens=[rng.randrange(4) for _ in range(size.n)], positions="sinusoidal", base=rng.choice((10000, 100))
    )
    return {"E": table}, around


def _loss(rng: Random, draw: Numbers, size: Sizes) -> tuple[Given, Around]:
    given = {"X": draw.matrix(rng, size.n, size.d), "W_U": draw.matrix(rng, size.d, 4)}
    return given, Around(targets=[rng.randrange(4) for _ in range(size.n)])


def _block(norm: str) -> Maker:
    def make(rng: Random, draw: Numbers, size: Sizes) -> tuple[Given, Around]:
        given = (
            _attending(rng, draw, size) | _feeding(rng, draw, size) | _scaling(rng, size, 1) | _scaling(rng, size, 2)
        )
        return given, Around(norm=norm, eps="0.001")

    return make


AROUND: dict[str, Maker] = {
    "norm": _norm,
    "feed-forward": _feed_forward,
    "gated": _gated,
    "positions": _positions,
    "loss": _loss,
    "post-norm block": _block("post"),
    "pre-norm block": _block("pre"),
}
