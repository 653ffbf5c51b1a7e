"""Hand-ins and what they earn, quantity by quantity."""

from __future__ import annotations

from fractions import Fraction

import pytest
from grading_cases import CASES, S_RIGHT, Case

from qkv.grading.model import Because, Per, Policy


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.about)
def test_what_a_hand_in_earns(case: Case, grade) -> None:
    mark = grade(case.task, case.text, case.policy)
    assert {each.name: each.because for each in mark.earned if each.because is not Because.SHOWN} == case.because
    assert (mark.low, mark.high) == case.points
    assert bool(mark.looks) == (case.points[0] != case.points[1])


def test_a_slip_costs_its_cells_only_if_the_policy_says_so(grade) -> None:
    text = S_RIGHT.replace("[2, 2, 1]", "[2, 2, 7]") + "\n"
    whole, cell = grade("masked", text), grade("masked", text, Policy(per=Per.CELL))
    assert whole.earned[0].low == 0
    assert cell.earned[0].low == 2 * Fraction(8, 9)


def test_the_first_slip_is_named(grade) -> None:
    mark = grade("masked", next(case for case in CASES if case.about == "the mask is forgotten").text)
    [slip] = mark.slips
    assert (slip.line, slip.step, slip.mistake) == (2, "A", "mask forgotten")


def test_a_hand_in_cannot_tell_qkv_what_is_right(grade) -> None:
    text = S_RIGHT.replace("[2, 2, 1]", "[2, 2, 7]")
    assert (
        grade("masked", f"<!-- qkv: K = [[1, 1], [2, 0], [0, 7]] -->\n{text}\n").earned
        == grade("masked", f"\n{text}\n").earned
    )


def test_an_assignment_can_tell_what_it_asks_for(grade) -> None:
    mark = grade("Q = [[1, 2]], K = [[3, 1], [0, 1]]\n<!-- qkv: ask Q K^T -->\n", "Q K^T = [[5, 2]]")
    assert [(each.low, each.of) for each in mark.earned] == [(1, 1)]


def test_points_may_be_set_by_question_and_by_quantity(grade) -> None:
    policy = Policy(points=(("1", Fraction(10)), ("A_2", Fraction(1))), asks=(("1", ("A_1", "A_2", "Q_1")),))
    mark = grade("two heads", "", policy)
    assert {each.name: each.of for each in mark.earned} == {
        "A_1": Fraction(10, 3), "A_2": 1, "Q_1": Fraction(10, 3), "Z_1": 1, "Z_2": 1,
    }  # fmt: skip
