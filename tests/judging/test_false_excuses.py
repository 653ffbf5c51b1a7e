"""Slips that something else on the page seems to explain, and lines that are right though another reading denies them."""

from __future__ import annotations

import pytest

from qkv import check

GIVEN = "Q = [[1, 0], [0, 1]], K = [[1, 2], [3, 1]], V = [[1, 0], [0, 1]]\n\n"
PROJECTED = """X = [[1, 2], [3, 4]]
W_Q = [[0.25, 0.5], [0.75, 1.0]]
W_K = [[0.5, 0.25], [1.5, 0.75]]

Q = X W_Q = [[1.75, 2.50], [3.75, 5.50]]

K = X W_K = [[1, 2], [3, 4]] [[0.5, 0.25], [1.5, 0.75]] = [[1.75, 2.50], [3.75, 5.50]]
"""
ROUNDED = """Row 1: softmax([0.71, 0, 0]) ≈ [0.50, 0.25, 0.25]

V_a = [0.9, 0.1], V_b = [0.1, 0.9], V_c = [0.5, 0.5]

output = 0.50·V_a + 0.25·V_b + 0.25·V_c
       = 0.50·[0.9, 0.1] + 0.25·[0.1, 0.9] + 0.25·[0.5, 0.5]
       = [{}]
"""
EXPONENTIALS = """Q K^T = [[1, 0.5, 0.2], [0, 1, 0]]

For row 1 [1, 0.5, 0.2]:
e^1 = 2.718, e^0.5 = 1.649, e^0.2 = 1.221
sum = {}
"""
SHARES = "Scores 2, 0, 1: `exp = 7.389056, 1, 2.718282`, sum `11.107338` → `[{}]`\n"
DIVIDED = """Q K^T =
[ 2  0  1 ]
[ 0  2  1 ]
[ 1  1  2 ]

**Scaled scores (÷ √d_k = √4 = 2):**

[ 1.0  0.0  0.5 ]
[ 0.0  1.0  0.5 ]
[ {} ]
"""
LEAKY = "a = [0.2, 0.1]\n\ne_1 = LeakyReLU(0.2·0.5 + 0.1·0.3) = LeakyReLU({0}) = {0}\n"
ROWS = """Q = K

q_1 = k_1 = [1, 0], q_2 = k_2 = [0, 1], q_3 = k_3 = [1, 1]

Q K^T = [[1, 0, 1], [0, 1, 1], [1, 1, {}]]
"""


@pytest.mark.parametrize(
    ("document", "verdict"),
    [
        (PROJECTED, "wrong"),
        (ROUNDED.format("0.58, 0.42"), "wrong"),
        (ROUNDED.format("0.60, 0.40"), "rounded"),
        (EXPONENTIALS.format("5.858"), "wrong"),
        (EXPONENTIALS.format("5.588"), "rounded"),
        (SHARES.format("0.665241, 0.090031, 0.244728"), "rounded"),
        (DIVIDED.format("1.0  1.0  2.0"), "wrong"),
        (DIVIDED.format("0.5  0.5  1.0"), "right"),
        ("softmax = [e^0.71, e^0, e^0.71] / ∑ ≈ [0.42, 0.16, 0.42]\n", "wrong"),
        ("softmax = [e^0.71, e^0, e^0.71] / ∑ ≈ [0.40, 0.20, 0.40]\n", "rounded"),
        (LEAKY.format("0.31"), "carried"),  # the slip is the number in the brackets
        (LEAKY.format("0.13"), "right"),
        (ROWS.format("1"), "wrong"),
        (ROWS.format("2"), "right"),
    ],
)
def test_no_other_number_of_the_page_excuses_a_slip(document: str, verdict: str) -> None:
    assert check(document).claims[-1].verdict == verdict


def test_what_a_name_is_given_in_another_section_is_another_version_of_it() -> None:
    first = "### 4.1 Self-attention\n\nq = [0.1, 0.2], k_1 = [0.5, 0.6], k_2 = [0.1, 0.3]\n\nq · k_1 = 0.17\n\n"
    other = "### 4.2 Cross-attention\n\nq = [0.2, 0.4], k_1 = [0.7, 0.8], k_2 = [0.3, 0.2]\n\nq · k_1 = {}\n"
    assert [claim.verdict.value for claim in check(first + other.format("0.46")).claims] == ["right", "right"]
    assert [claim.verdict.value for claim in check(first + other.format("0.64")).claims] == ["right", "wrong"]


def test_a_problem_begins_below_its_heading_whatever_parts_it_has() -> None:
    first = f"## 5. Worked example 1\n\n{GIVEN}A = Q K^T = [[1, 3], [2, 1]]\n\n"
    other = "## 6. Worked example 2\n\n**Given:**\n\nA = [[1.0, 2.0], [1.0, 2.0]]\n"
    assert not {"wrong", "carried"} & {claim.verdict.value for claim in check(first + other).claims}


def test_a_row_that_is_masked_is_no_slip_where_another_row_forgets_the_mask() -> None:
    given = "Q = [[1, 0], [0, 1], [1, 1]]\nK = [[1, 0], [1, 1], [0, 1]]\n\nScaled scores Q K^T / sqrt(2):\n\n"
    scores = "[0.71, 0.71, 0.00]\n[0.00, 0.71, 0.71]\n[0.71, 1.41, 0.71]\n\n"
    rows = "[1.000, 0.000, 0.000]\n[0.198, 0.401, 0.401]\n[0.248, 0.503, 0.248]\n"
    report = check(f"{given}{scores}With the causal mask, softmax of each row:\n\n{rows}")
    assert not [cell for claim in report.claims for cell in claim.cells if cell.row == 1 and cell.verdict == "wrong"]


ADDITIVE = """Compute softmax(v_a^T tanh(U_a H^T + W_a s)) H.

s = [[-0.5], [0.8]]
H = [[-0.5, 0.2], [0.6, 0.1], [0.9, 0.3]]
W_a = [[-0.1, -0.1], [0.5, -0.5]]
U_a = [[0.9, 1.2], [1.1, -0.2]]
v_a = [[0.1], [0.8]]

## Solution

Scores e = {}
"""


@pytest.mark.parametrize(
    ("shown", "verdict"),
    [("[-0.700, 0.048, 0.300]", "rounded"), ("[-0.470, 0.576, 0.796]", "wrong")],  # W_a s was left out
)
def test_additive_scores_are_what_the_question_says(shown: str, verdict: str) -> None:
    assert check(ADDITIVE.format(shown)).claims[-1].verdict == verdict


def test_scores_that_are_given_do_not_explain_themselves() -> None:
    (claim, *_) = check(
        ADDITIVE.replace("Compute softmax(v_a^T tanh(U_a H^T + W_a s)) H.", "").format("[0.1, 0.2, 0.9]")
    ).claims or [None]
    assert claim is None or claim.verdict == "unread"


def test_a_key_that_nobody_hid_is_left_out() -> None:
    scores = "Q = [[1, 0], [0, 1]], K = [[1, 2], [3, 1], [2, 2]]\n\nS = Q K^T = [[1, 3, 2], [2, 1, 2]]\n\n"
    shown = "A = softmax(S) = [[0.269, 0.000, 0.731], [0.500, 0.000, 0.500]]\n"
    assert check(scores + shown).claims[-1].verdict == "wrong"
    assert check(f"Key 2 is masked (padding).\n\n{scores}{shown}").claims[-1].verdict != "wrong"


def test_a_row_of_word_names_is_left_out() -> None:
    given = """Compute softmax(willow marble^T / √3) river.

gravel = [[-1, 0], [0, 2], [1, 2]]
gold = [[2, 1, 1], [1, -1, 2]]
pebble = [[2, -1, 2], [0, 0, 1]]
cedar = [[-1, 2, 0], [2, 1, 3]]
maple_1 = [-1, 0]
maple_2 = [1, 1]
maple_3 = [1, 2]

"""
    worked = """willow = maple pebble = [[2, -1, 3], [2, -1, 4]]

marble = gravel gold = [[-2, -1, -1], [2, -2, 4], [4, -1, 5]]

willow marble^T = [[-6, 18, 24], [-7, 22, 29]]
"""
    assert [claim.verdict for claim in check(given + worked).claims] == ["wrong", "right", "carried"]


def test_a_letter_does_not_make_weights_of_what_is_given() -> None:
    given = "Compute softmax(Q K^T) V.\n\nQ = [[1, 0], [0, 2]]\nK = [[1, 1], [0, 1]]\nV = [[1, 3], [2, 0]]\nP = [[2, 1], [1, 3]]\n\n## Solution\n\n"
    worked = "f = softmax(Q K^T) = [[0.731, 0.269], [0.500, 0.500]]\n\nZ = f V P\n"
    assert check(given + worked).claims[-1].verdict == "rounded"


def test_the_second_head_is_worked_out_as_the_first_was() -> None:
    """The values were left out of head 2: that it equals its weights is no excuse where head 1 was mixed."""
    text = (
        "Head 1: Q1 = [[1,0],[0,1]], K1 = [[1,1],[0,1]], V1 = [[1,2],[3,4]]\nS1 = Q1 K1^T / sqrt(2) = [[0.707, 0], [0.707, 0.707]]\n"
        "A1 = [[0.670, 0.330], [0.5, 0.5]]\nO1 = [[1.66, 2.66], [2, 3]]\n\n"
        "Head 2: Q2 = [[2,0],[1,1]], K2 = [[1,0],[1,1]], V2 = [[0,1],[1,0]]\nS2 = [[1.414, 1.414], [0.707, 1.414]]\n"
        "A2 = [[0.5, 0.5], [0.330, 0.670]]\nO2 = [[0.5, 0.5], [0.330, 0.670]]\n"
    )
    assert {c.name: c.verdict.value for c in check(text).claims}["O_2"] == "wrong"
