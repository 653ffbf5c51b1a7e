"""A false value that only words name is carried on: through a mask, exponentials, weights and outputs."""

from __future__ import annotations

from judged import claims

PAGE = """
Q = [[2, 0], [1, 1]], K = [[1, 1], [1, 2]], V = [[1, 0], [0, 1]], und Token 1 sieht Token 2 nicht (kausal).

Q K^T = [[2, 2], [2, 3]]

Skaliert:

[[2/1.41, 2/1.41], [2/1.41, 3/1.41]] = [[1.42, 1.42], [1.42, {}]]

Abgedeckt:

[[1.42, -∞], [1.42, {}]]

Zweite Zeile:

e^1.42 = 4.14
e^{} = {}

Gewichte = [[1.00, 0.00], {}]
"""


def said(*numbers: str) -> list[str]:
    return [claim.verdict.value for claim in claims(PAGE.format(*numbers)) if claim.line > 5]


def test_a_slip_in_what_words_call_scaled_is_carried_through_the_mask() -> None:
    assert said("3.13", "3.13", "3.13", "22.87", "[0.15, 0.85]") == [
        "wrong",
        "carried",
        "drifted",
        "carried",
        "carried",
    ]
    right = said("2.13", "2.13", "2.13", "8.41", "[0.33, 0.67]")
    assert {"wrong", "carried", "unread"}.isdisjoint(right)
    assert len(right) == 5


def test_decimals_behind_a_row_of_fractions_are_those_fractions() -> None:
    page = "Result: [1/4, 3/4] = [0.25, {}]\n\nThen [0, 1/√2] ≈ [0, 0.71]\n"
    assert [claim.verdict.value for claim in claims(page.format("0.85"))] == ["unread", "wrong", "unread", "rounded"]
    assert "wrong" not in [claim.verdict.value for claim in claims(page.format("0.75"))]
