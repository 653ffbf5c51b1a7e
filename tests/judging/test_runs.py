"""Numbers that are copied in a row: what is made of a false row is carried, however little each number says."""

from __future__ import annotations

from judged import claims

PAGE = """
Q = [[1, 0], [1, 2]], K = [[2, 1], [1, 1]], V = [[1, 0], [0, 1]]

S = Q K^T = [[2, 1], [4, {}]]

Row 2: $e^{{4}} = 54.598$, $e^{{{}}} = {}$. Sum = {}.

weights of row 2: [{}, {}]
"""


def verdicts(text: str) -> list[str]:
    return [claim.verdict.value for claim in claims(text)]


def test_exponentials_and_sums_of_a_false_row_are_carried() -> None:
    false = PAGE.format(2, 2, "7.389", "61.987", "0.881", "0.119")
    assert verdicts(false) == ["wrong", "rounded", "carried", "carried", "carried"]


def test_of_a_right_row_all_is_right() -> None:
    right = PAGE.format(3, 3, "20.086", "74.684", "0.731", "0.269")
    assert set(verdicts(right)) <= {"right", "rounded"}


def test_a_sum_of_exponentials_that_are_not_all_printed() -> None:
    """Two of four exponentials are printed, since the others are the same."""
    page = "q = [1, 1]\n\nq·[1, 0] = 1\n\nq·[0, 1] = 1\n\nq·[2, 1] = {}\n\nq·[1, 2] = {}\n\n"
    page += "Scores: [1, 1, {}, {}]\n\nexp(1) = 2.718, exp({}) = {}; sum = {}\n"
    assert verdicts(page.format(3, 2, 3, 2, 3, "20.086", "32.911"))[-1] == "carried"
    assert verdicts(page.format(3, 3, 3, 3, 3, "20.086", "45.607"))[-1] in ("right", "rounded")


def test_numbers_over_one_divisor_are_those_before_them() -> None:
    page = "q = [1, 2]\n\nq·[1, 1] = 3\n\nq·[2, 0] = {}\n\n√2 ≈ 1.414: [3/1.414, {}/1.414] = [2.122, {}]\n"
    assert verdicts(page.format(4, 4, "2.829"))[-1] == "carried"
    assert verdicts(page.format(2, 2, "1.414"))[-1] in ("right", "rounded")


def test_what_is_carried_through_exponentials_names_the_false_claim() -> None:
    scores, _, exponential, total, _ = claims(PAGE.format(2, 2, "7.389", "61.987", "0.881", "0.119"))
    assert (exponential.follows_from, total.follows_from) == ((scores.id,), (exponential.id,))
    assert [cell.expected for cell in total.cells] == ["74.6837"]
