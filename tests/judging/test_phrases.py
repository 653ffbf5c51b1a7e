"""What words say of a number: a cell, the mean of a row, what is done to the numbers before it, and which method."""

from __future__ import annotations

from qkv import api
from qkv.check.model import Verdict

V = Verdict
GIVEN = "Q = [[1, 0], [0, 1], [1, 1]]\nK = [[1, 1], [0, 1], [1, 0]]\nV = [[1, 2], [3, 4], [5, 6]]\n\n"


def verdicts(text: str) -> list[Verdict]:
    return [claim.verdict for claim in api.read(text).check().claims]


def test_words_name_a_cell() -> None:
    assert verdicts(GIVEN + "The score between token 3 and token 1 = 2.\n") == [Verdict.RIGHT]


def test_a_cell_that_words_name_is_not_accused() -> None:
    assert verdicts(GIVEN + "The score between token 3 and token 1 = 7.\n") == [Verdict.UNREAD]


def test_words_name_what_is_taken_of_a_row() -> None:
    text = "The sum of row 3 = 4.\nThe mean of row 1 = 0.667 in the scores.\nThe largest score in row 3 = 2.\n"
    assert verdicts(GIVEN + text) == [Verdict.RIGHT, Verdict.ROUNDED, Verdict.RIGHT]


def test_mean_and_variance_of_what_stands_above() -> None:
    assert verdicts("x = [1, 3]: mean = 2, variance = 1\n") == [Verdict.RIGHT, Verdict.RIGHT]


def test_words_divide_the_numbers_before_them() -> None:
    text = "q = [2, 2], a = [1, 2], b = [2, 0]\n\nq . a = 2*1 + 2*2 = 6\nq . b = 2*2 + 2*0 = 4\ndivide by sqrt(2): 4.243, 2.828\n"
    assert verdicts(text) == [Verdict.RIGHT, Verdict.RIGHT, Verdict.ROUNDED]


def test_what_is_divided_carries_a_slip_on() -> None:
    text = "q = [2, 2], a = [1, 2], b = [2, 0]\n\nq . a = 2*1 + 2*1 = 4\nq . b = 2*2 + 2*0 = 4\ndivide by sqrt(2): 2.828, 2.828\n"
    assert verdicts(text) == [Verdict.WRONG, Verdict.RIGHT, Verdict.CARRIED]


TASK = (
    "# Exercise\n\nCompute scaled dot product attention for\n\n"
    + GIVEN
    + "# Solution\n\nQ K^T = [[1, 0, 1], [1, 1, 0], [2, 1, 1]]\n\n"
)


def test_the_method_of_the_task_decides() -> None:
    weights = "Weights:\n[[0.422, 0.155, 0.422], [0.422, 0.422, 0.155], [0.576, 0.212, 0.212]]\n"
    assert verdicts(TASK + weights) == [Verdict.RIGHT, Verdict.WRONG]


def test_who_follows_the_task_is_right() -> None:
    weights = "Weights:\n[[0.401, 0.198, 0.401], [0.401, 0.401, 0.198], [0.503, 0.248, 0.248]]\n"
    assert verdicts(TASK + weights) == [Verdict.RIGHT, Verdict.ROUNDED]


def test_cell_by_cell() -> None:
    text = "H = [[-1, 2], [3, -4]]\n\nR = max(0, H) = [[0, 2], [3, 0]]\n"
    assert verdicts(text) == [Verdict.RIGHT]


def test_sums_of_rows_are_those_of_the_array_with_as_many_rows() -> None:
    given = "S = [[1, 2, 3], [2, 1, 0]]\n\nA = softmax(S) = [[0.090, 0.245, 0.665], [0.665, 0.245, 0.090]]\n\n"
    for said in ("Row sums: [1.0, 1.0]", "Somme des lignes de A : [1. 1.]", "Zeilensummen von S: [6, 3]"):
        assert verdicts(f"{given}{said}\n")[-1].value in ("right", "rounded")
    assert verdicts(f"{given}Row sums: [1.0, 0.9]\n")[-1].value == "unread"


def test_exponentials_by_words_may_miss_a_last_digit_and_are_no_scores_then() -> None:
    page = "row[t] = [0.9, 0.4, -0.2]\nexp: [2.46, 1.49, 0.81]\ntotal: 4.76\nsoftmax: [0.517, 0.313, 0.170]\n"
    assert set(verdicts(page)) == {Verdict.DRIFTED}


def test_what_is_given_beside_a_softmax_in_words_is_not_rounded() -> None:
    assert verdicts("z[k] = (1.5, -0.5)\n\nSoftmax: (0.87, 0.13)\n") == [Verdict.WRONG]
    assert verdicts("z[k] = (1.5, -0.5)\n\nSoftmax: (0.88, 0.12)\n") == [Verdict.ROUNDED]


def test_numbers_given_under_a_name_again_are_what_follows_is_made_of() -> None:
    again = "k  [1]\n\nscores = [3/2, 1/2] = [1.5, 0.5]\n\nAnother batch. Attention scores:\nscores = [0.8, 0.5; 0.4, 0.9]\n\nCausal mask:\n"
    assert verdicts(f"{again}[0.8, -inf; 0.4, 0.9]\n")[-1] is Verdict.RIGHT


def test_softmax_is_no_name_of_what_is_given() -> None:
    page = "Scores [6, 4] → Softmax ≈ [{}, 0.12]\n"
    assert [verdicts(page.format(shown))[-1] for shown in ("0.88", "0.78")] == [Verdict.ROUNDED, Verdict.WRONG]
