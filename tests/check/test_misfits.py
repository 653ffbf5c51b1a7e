"""Values of another shape than they should have: judged where a known mistake gives all of them, else left alone."""

from __future__ import annotations

import pytest

import qkv
from qkv.check.model import Claim, Verdict

HEADS = """
X = [[1, 2], [0, 1], [2, 1]]
W_1^Q = [[1, 0], [0, 1]], W_1^K = [[1, 1], [0, 1]], W_1^V = [[1, 0], [2, 1]]
W_2^Q = [[0, 2], [1, 1]], W_2^K = [[1, 0], [2, 1]], W_2^V = [[3, 1], [-1, 1]]

{}
"""
ONE = """
X = [[1, 2], [0, 1], [2, 1]]
W_Q = [[1, 0], [0, 1]]
W_K = [[1, 1], [0, 1]]
W_V = [[1, 0], [2, 1]]

{}
"""


def claims(frame: str, said: str) -> tuple[Claim, ...]:
    return qkv.check(frame.format(said)).claims


@pytest.mark.parametrize(
    "mistake, shown",
    [
        ("averaged heads", "[[2.681, 2.163], [2.943, 2.178], [2.610, 2.093]]"),
        ("added heads", "[[5.363, 4.325], [5.885, 4.355], [5.220, 4.186]]"),
        (
            "heads stacked",
            "[[4.308, 1.327], [4.229, 1.446], [4.170, 1.193], [1.055, 2.998], [1.656, 2.909], [1.050, 2.993]]",
        ),
    ],
)
def test_heads_that_were_not_put_side_by_side(mistake: str, shown: str) -> None:
    (claim,) = claims(HEADS, f"Concat(Z_1, Z_2) = {shown}")
    assert claim.verdict is Verdict.WRONG
    assert claim.cause is not None
    assert claim.cause.mistake == mistake
    assert "should be 3×4" in (claim.reason or "")


def test_a_row_left_out_and_what_follows_from_it() -> None:
    first, second = claims(ONE, "Q = X W_Q = [[1, 2], [0, 1]]\n\nS = Q K^T = [[7, 2, 8], [3, 1, 3]]")
    assert (first.verdict, second.verdict) == (Verdict.WRONG, Verdict.CARRIED)
    assert first.cause is not None
    assert first.cause.says == "row 3 is missing"
    assert second.follows_from == (first.id,)


def test_a_part_is_no_mistake() -> None:
    """Without a formula nothing says that all rows are meant; and a row alone is a row."""
    for said in ("Q = [[1, 2], [0, 1]]", "Q = X W_Q = [1, 2]"):
        assert [claim.verdict for claim in claims(ONE, said) if claim.verdict is Verdict.WRONG] == []


def test_a_shape_that_nothing_explains_is_left_alone() -> None:
    (claim,) = claims(HEADS, "Concat(Z_1, Z_2) = [[2.7, 2.2], [1.9, 2.1], [2.6, 2.0]]")
    assert claim.verdict is Verdict.UNREAD
