"""What `qkv.work` prints in a terminal is read back: every step is found, and nothing is accused."""

from __future__ import annotations

import random

import pytest

import qkv
from qkv.reader.terminal import laid_out

DRAWN = """given
        ⎡ 1  0 ⎤    W = ⎡ 3  2 ⎤
    X = ⎢ 2  1 ⎥        ⎣ 1  2 ⎦    b = [ 1  0 ]
        ⎣ 0  1 ⎦

10  Y = X W      the product  3×2
    ⎡ 3  2 ⎤
  = ⎢ 7  6 ⎥
    ⎣ 1  2 ⎦
"""


def test_lines_stay_where_they_are() -> None:
    made = laid_out(DRAWN).split("\n")
    assert len(made) == len(DRAWN.split("\n"))
    assert made[1].split("    ") == ["", "X = [[1, 0], [2, 1], [0, 1]]", "W = [[3, 2], [1, 2]]"]
    assert made[2].strip() == "b = [ 1  0 ]"
    assert [line.strip() for line in made[5:8]] == ["Y = X W", "= ⎡ 3  2 ⎤", "⎢ 7  6 ⎥"]


def test_other_drawings_are_left_alone() -> None:
    text = "    ⎡ 1  0 ⎤   ⎡ 2 ⎤   ⎡ 2 ⎤\n    ⎣ 2  1 ⎦ · ⎣ 1 ⎦ = ⎣ 5 ⎦\n"
    assert laid_out(text) == text


def a_block(seed: int) -> dict[str, object]:
    rng = random.Random(seed)
    n, d, f, words = rng.choice((2, 3)), rng.choice((2, 4)), rng.choice((2, 3)), 3

    def matrix(rows: int, columns: int) -> list[list[str]]:
        return [[f"{rng.uniform(-2, 2):.1f}" for _ in range(columns)] for _ in range(rows)]

    given: dict[str, object] = {"W_Q": matrix(d, d), "W_K": matrix(d, d), "W_V": matrix(d, d), "W_1": matrix(d, f)}
    given |= {"W_2": matrix(f, d), "b_1": matrix(1, f), "gamma_1": matrix(1, d), "beta_1": matrix(1, d)}
    given |= {"norm": rng.choice(("pre", "post", "pre rms", "post rms")), "eps": "0.001"}
    given |= {"mask": "causal"} if rng.random() < 0.5 else {"heads": 2}
    if rng.random() < 0.5:
        return given | {"X": matrix(n, d)}
    given |= {"E": matrix(words, d), "tokens": [rng.randrange(words) for _ in range(n)], "positions": "sinusoidal"}
    return given | {"W_U": matrix(d, words), "targets": [rng.randrange(words) for _ in range(n)]}


@pytest.mark.parametrize("seed", range(8))
def test_a_block_is_read_back_from_a_terminal(seed: int) -> None:
    solution = qkv.work(**a_block(seed))
    claims = qkv.check(solution.to_text(width=100)).claims
    assert {claim.verdict.value for claim in claims} <= {"right", "rounded", "drifted"}
    assert {str(step.symbol) for step in solution.traces[0].program.steps} <= {claim.name for claim in claims}
