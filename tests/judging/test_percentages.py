"""Percentages in a sentence that are numbers printed above."""

from __future__ import annotations

import pytest
from judged import claims

WEIGHTS = "softmax([1, 0, 2]) = [{}, 0.090, 0.665]\n\n"


@pytest.mark.parametrize(
    "said", ["67% to sun, 24% to sea, 9% to light", "à 67 % « soleil », à 24 % « mer », à 9 % « lumière »"]
)
def test_percentages_are_the_weights_above_in_any_order(said: str) -> None:
    assert [claim.verdict.value for claim in claims(f"{WEIGHTS.format('0.245')}It attends {said}.\n")] == [
        "rounded",
        "rounded",
    ]


def test_percentages_of_a_false_weight_are_carried() -> None:
    page = f"{WEIGHTS.format('0.345')}The token attends 67% to sun, 35% to sea.\n"
    assert [claim.verdict.value for claim in claims(page)] == ["wrong", "carried"]


def test_percentages_of_anything_else_are_left_alone() -> None:
    assert [claim.verdict.value for claim in claims(f"{WEIGHTS.format('0.245')}About 51% of people like it.\n")][
        1:
    ] in ([], ["unread"])
