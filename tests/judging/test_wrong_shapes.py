"""Matrices of the wrong shape in a solution: none of their cells has a true value beside it."""

from __future__ import annotations

from judging.judged import claims

TASK = """## Task: cross-attention

Compute softmax(Q K^T / √d_k) V. Here d_k = 2.

X = [[2, 1, 0], [0, 1, 1], [1, 3, 1]]
W_Q = [[1, 0], [0, 1], [1, 1]]
W_K = [[0, 1], [1, 1], [2, 0]]
W_V = [[1, 0], [2, 1], [0, 1]]

## Solution

Q = [[2, 1], [1, 2], [2, 4]]
K = [[1, 3], [3, 1], [5, 4]]
"""


def test_tokens_in_the_place_of_the_values_are_a_slip() -> None:
    found = claims(f"{TASK}V = [[2, 1, 0], [0, 1, 1], [1, 3, 1]]\n")
    assert [claim.verdict for claim in found] == ["right", "right", "wrong"]
    assert found[-1].cause is not None
    assert found[-1].cause.mistake == "projection left out"


def test_what_follows_from_a_row_left_out_is_carried() -> None:
    short = TASK.replace("Q = [[2, 1], [1, 2], [2, 4]]", "Q = X W_Q = [[2, 1], [1, 2]]")
    found = claims(
        f"{short}V = [[4, 1], [2, 2], [7, 4]]\nS = [[5, 7, 14], [7, 5, 13]]\n\nT = S / √2 = [[3.54, 4.95, 9.90], [4.95, 3.54, 9.19]]\n"
    )
    assert [claim.verdict for claim in found] == ["wrong", "right", "right", "carried", "carried"]
