"""Schemes: what can be set, and what is said of one that does not fit."""

from __future__ import annotations

from fractions import Fraction

import pytest

from qkv.errors import QkvError
from qkv.grading.model import DEFAULT, Per
from qkv.grading.one import Setup, assignment_for
from qkv.grading.policy import ROWS, explained, policy_of


def test_a_scheme() -> None:
    policy = policy_of(
        'per = "cell"\n[points]\n1 = 3\nZ = 0.5\n[asks]\n2 = ["A", "S"]\n3 = "Z"\n[credit]\ncarried = 0.25\n'
    )
    assert policy.per is Per.CELL
    assert policy.carried == Fraction(1, 4)
    assert policy.points == (("1", 3), ("Z", Fraction(1, 2)))
    assert policy.asks == (("2", ("A", "S")), ("3", ("Z",)))


@pytest.mark.parametrize(
    "text, says",
    [
        ("[points]\n1 = -2", "'-2|-2 is no number from 0 to 1000"),
        ("[credit]\ncarried = 2", "no number from 0 to 1"),
        ("[credit]\ncaried = 1", "there is no 'caried'; there are drifted"),
        ("pionts = 3", "there is no 'pionts'"),
        ('per = "row"', "quantity or cell"),
        ("[points", "the scheme"),
    ],
)
def test_a_scheme_that_makes_no_sense_is_refused(text: str, says: str) -> None:
    with pytest.raises(QkvError, match=says):
        policy_of(text)


@pytest.mark.parametrize("text", ["[points]\n7 = 1", '[asks]\n1 = ["W"]', "[points]\nW = 1"])
def test_a_scheme_for_another_assignment_is_refused(text: str, masked: str) -> None:
    with pytest.raises(QkvError, match="the scheme"):
        assignment_for(Setup(masked, "t.md", policy_of(text)))


def test_every_row_of_the_policy_is_explained(masked: str) -> None:
    text = explained(assignment_for(Setup(masked, "t.md", DEFAULT)))
    assert all(f"({name})" in text for name in ROWS)
    assert "question 2     A                3×3    3 points" in text


def test_questions_that_nobody_can_grade_are_said(masked: str) -> None:
    text = masked + "4. Explain why the scores are divided by $\\sqrt{d_k}$.\n"
    assert "not graded: 4. Explain why" in explained(assignment_for(Setup(text, "t.md", DEFAULT)))
