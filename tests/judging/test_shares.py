"""Weights that no formula stands beside: the softmax that words take of what was printed last."""

from __future__ import annotations

import pytest

from judging.judged import claims
from qkv.check.model import Verdict

SCORES = "Scores: [1.2, 0.4, -0.3, 0.9]\n\n"
RIGHT = "[0.414, 0.186, 0.092, 0.307]"
WRONG = "[0.46, 0.21, 0.08, 0.25]"


def last(text: str) -> Verdict:
    return claims(text)[-1].verdict


@pytest.mark.parametrize(
    "said", ["Softmax:", "Softmax (to probabilities):\nWeights:", "### After softmax\n", "softmax →"]
)
def test_weights_after_a_softmax_are_that_of_the_scores(said: str) -> None:
    assert last(f"{SCORES}{said} {RIGHT}\n") is Verdict.ROUNDED
    assert last(f"{SCORES}{said} {WRONG}\n") is Verdict.WRONG


def test_numbers_one_by_one_are_scores_too() -> None:
    text = "q·a = 0.9\nq·b = 0.3\nq·c = 0.1\n\nAfter softmax: [0.7, 0.2, 0.1]\n"
    assert last(text) is Verdict.WRONG


@pytest.mark.parametrize("said", ["Softmax with temperature 0.7:", "Scaled, then softmax:", "Without the softmax:"])
def test_what_else_is_done_leaves_weights_open(said: str) -> None:
    assert last(f"{SCORES}{said} {WRONG}\n") is Verdict.UNREAD


def test_shares_without_a_softmax_are_left_open() -> None:
    assert last(f"{SCORES}Fractions of the day: {WRONG}\n") is Verdict.UNREAD


def test_who_repeats_false_weights_carries_them() -> None:
    text = (
        f"{SCORES}Softmax: {WRONG}\n\nHere 46% go to the first, 21% to the second, 8% to the third, 25% to the last.\n"
    )
    assert [claim.verdict for claim in claims(text)][-2:] == [Verdict.WRONG, Verdict.CARRIED]


def test_a_chain_that_says_softmax_between_its_sides() -> None:
    page = "Scaled = [[0.71, 0.20], [0.00, 0.92]]\n\nα ≈ softmax ≈ [[0.625, 0.375], [{}]]\n"
    assert last(page.format("0.285, 0.715")) is Verdict.ROUNDED
    assert last(page.format("0.355, 0.645")) is Verdict.WRONG


MASKED = "Puntajes:\n\nscores = [0.5, -∞, -∞; 0.2, 1.1, -∞; 0.3, 0.9, 0.4]\n\nα = [1.00, 0, 0; {}]\n"


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ("0.29, 0.71, 0; 0.25, 0.46, 0.28", "rounded"),
        ("0.18, 0.82, 0; 0.20, 0.56, 0.24", "unread"),  # a temperature of 0.6
        ("0.15, 0.85, 0; 0.30, 0.36, 0.34", "wrong"),
    ],
)
def test_shares_that_are_zero_just_where_scores_are_masked_are_their_softmax(rows: str, verdict: str) -> None:
    assert [claim.verdict.value for claim in claims(MASKED.format(rows))] == [verdict]


def test_a_share_beside_a_wrong_one_was_not_cut_off() -> None:
    claim = claims("S = [0, 1, 0; 0, 0, 0]\n\nsoftmax(S) = [0.5, 0.5, 0; 1/3, 1/3, 1/3]\n")[-1]
    assert [cell.verdict for cell in claim.cells] == [Verdict.WRONG] * 3
