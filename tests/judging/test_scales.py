"""Weights that may be the softmax of the page's scores at a scale that nobody told."""

from __future__ import annotations

import pytest

from judging.judged import claims
from qkv.check.model import Verdict

GIVEN = "Q = [[1, 0], [0, 1], [1, 1]]\nK = [[1, 0], [0, 1], [1, 1]]\nS = Q K^T = [[1, 0, 1], [0, 1, 1], [1, 1, 2]]\n"
QUERY = "q = [1, 0]\nk_1 = [1, 0]\nk_2 = [0, 1]\nk_3 = [0.7, 0.7]\nq · k_1 = 1, q · k_2 = 0, q · k_3 = 0.7\n"


def weights(text: str) -> Verdict:
    return claims(text)[-1].verdict


@pytest.mark.parametrize(
    "shown",
    [
        "[[0.42, 0.16, 0.42], [0.16, 0.42, 0.42], [0.21, 0.21, 0.58]]",  # not scaled
        "[[0.44, 0.12, 0.44], [0.12, 0.44, 0.44], [0.18, 0.18, 0.65]]",  # a temperature that nobody told
        "[[0.35, 0.29, 0.35], [0.29, 0.35, 0.35], [0.31, 0.31, 0.38]]",
        "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]",
    ],
)
def test_any_scale_is_an_excuse(shown: str) -> None:
    assert weights(f"{GIVEN}\nThe attention matrix is, roughly:\n\nA = {shown}\n") is not Verdict.WRONG


def test_weights_of_one_query() -> None:
    assert weights(f"{QUERY}Scaled, the softmax gives roughly α = (0.54, 0.12, 0.34).\n") is not Verdict.WRONG


def test_without_scores_another_attention_may_be_meant() -> None:
    given = "Q = [[1, 2], [2, -1]]\nK = [[1, 1], [3, 1]]\n"
    assert weights(f"Linear attention.\n\n{given}\nA = [[0.375, 0.625], [0.25, 0.75]]\n") is not Verdict.WRONG


def test_a_row_that_sees_itself_alone_was_masked() -> None:
    masked = "[[1.000, 0, 0], [0.198, 0.401, 0.401], [0.248, 0.248, 0.503]]"  # the second row was not
    assert weights(f"{GIVEN}\nWeights:\n\n{masked}\n") is not Verdict.WRONG


def test_scores_are_divided_by_the_root_of_a_size_that_is_only_said() -> None:
    text = "The dot products of a query with four keys are [20, 5, -3, 8].\n\nWith $d_k = 64$ they become {}.\n"
    assert weights(text.format("[2.5, 0.625, -0.375, 1.0]")) is Verdict.RIGHT
