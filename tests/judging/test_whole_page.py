"""What a page as a whole says about its single values: families, misread givens, chains that end, drawings."""

from __future__ import annotations

from qkv import api
from qkv.check.model import Verdict

V = Verdict


def verdicts(text: str) -> list[V]:
    return [claim.verdict for claim in api.read(text).check().claims]


def test_a_given_that_workings_contradict_again_and_again_accuses_nobody() -> None:
    given = "K = [[9, 9], [9, 9]]\n\nq = [1, 2]\n\n"  # as if it had been misread
    lines = ["K[1] · q = 1·1 + 3·2 = 7", "K[2] · q = 2·1 + 5·2 = 12", "K[1] · K[2] = 1·2 + 3·5 = 17"]
    found = verdicts(given + "\n\n".join(lines))
    assert len(found) == 3
    assert V.WRONG not in found


def test_one_contradiction_is_a_slip() -> None:
    given = "a = [1, 2], b = [3, 4]\n\n"
    assert verdicts(given + "a · b = 1·3 + 2·5 = 13\n") == [V.WRONG]


def test_a_number_is_no_matrix() -> None:
    text = "S = [[2, 4], [6, 8]]\n\nScale by √4 = 2\n= [[1, 2],\n   [3, 4]]\n"
    assert V.WRONG not in verdicts(text)


def test_a_working_without_a_left_side_does_not_go_on_from_the_one_above() -> None:
    text = "```text\nscore(a → b)\n= [1, 0] · [0, 1]\n= 0\n\nscore(a → c)\n= [1, 0] · [2, 5]\n= 2\n```\n"
    assert V.WRONG not in verdicts(text)


def test_names_before_the_corners_of_drawn_matrices() -> None:
    text = "```\nA = ┌     ┐   B = ┌     ┐\n    │ 1 0 │       │ 2 1 │\n    │ 0 2 │       │ 1 3 │\n    └     ┘       └     ┘\n```\n\nA B = [[2, 1], [2, 6]]\n"
    assert verdicts(text) == [V.RIGHT]


def test_rows_that_end_in_one_backslash() -> None:
    text = "$$A = \\begin{bmatrix} 1 & 0 \\ 0 & 2 \\end{bmatrix}, B = \\begin{bmatrix} 2 & 1 \\ 1 & 3 \\end{bmatrix}$$\n\n$$A B = \\begin{bmatrix} 2 & 1 \\ 2 & 6 \\end{bmatrix}$$\n"
    assert verdicts(text) == [V.RIGHT]


def test_numbers_that_were_printed_one_by_one_are_judged_together() -> None:
    text = "u_1 = 0.3·2.41 = 0.723\n\nu_2 = 0.7·1.13 = 0.791\n\nu = [0.723, 0.791]\n"
    assert verdicts(text) == [V.RIGHT] * 3


def test_a_name_that_is_given_anew_by_itself() -> None:
    text = (
        "a = 0.25, b = 0.75\n\nv_1 = [4, 0], v_2 = [0, 8]\n\nv_1 = a v_1 + b v_2 = 0.25 [4, 0] + 0.75 [0, 8] = [1, 6]\n"
    )
    assert V.WRONG not in verdicts(text)


def test_what_is_only_supposed_is_nobodys_slip() -> None:
    text = "q = [1, 0, 1], k = [1, 1, 1]\n\ns = q·k / √3 = 1.155\n\nIf you omit the scaling you would get $s = 2$.\n"
    assert V.WRONG not in verdicts(text)


def test_a_mask_after_the_softmax_is_named() -> None:
    text = (
        "Causal attention.\n\nS = [[2, 1, 0], [1, 3, 1], [0, 1, 2]]\n\nsoftmax(S):\n\n"
        "[[0.665, 0.245, 0.090], [0.107, 0.787, 0.107], [0.090, 0.245, 0.665]]\n\nAfter the causal mask:\n\n"
        "[[0.665, 0, 0], [0.107, 0.787, 0], [0.090, 0.245, 0.665]]\n"
    )
    wrong = [claim for claim in api.read(text).check().claims if claim.verdict is V.WRONG]
    assert len(wrong) == 1
    assert wrong[0].cause is not None
    assert "after the softmax" in wrong[0].cause.says


def test_a_size_that_is_only_mentioned_is_not_this_pages_size() -> None:
    text = (
        "Q = [1 2; 3 4], K = [2 1; 0 3]\n\nScale by √d_k = √2 ≈ 1.41:\n\n"
        "S = Q K^T / √d_k = [2.83 4.24; 7.07 8.49]\n\nFor d_k = 64 the products would be much larger.\n"
    )
    assert verdicts(text) == [V.ROUNDED, V.ROUNDED]


def test_a_size_that_is_given_above_holds_against_a_working() -> None:
    assert verdicts("d_k = 4\n\n√d_k = √3 = 1.732\n")[-1] is V.WRONG


def test_wide_gaps_before_a_plus_part_nothing() -> None:
    text = "```\nz = 0.5·[4, 0] + 0.5·[0, 6]\n  = [2, 0]   + [0, 3]\n  = [2, 3]\n```\n"
    assert verdicts(text) in ([V.RIGHT], [V.ROUNDED])


def test_raised_decimals() -> None:
    assert verdicts("Exponentiate: e¹·⁴¹ ≈ 4.10 and e⁰·⁷¹ ≈ 2.43.\n") == [V.ROUNDED, V.WRONG]


def test_shares_of_one_sentence_are_one_row() -> None:
    scores = "softmax([1, 2, 4]) = [0.042, 0.114, 0.844]\n\n"
    found = verdicts(scores + "So it pays 4.2% attention to A, 11.4% to B, and 84.4% to C.\n")
    assert found == [V.ROUNDED, V.ROUNDED]


def test_divided_in_place() -> None:
    text = "```\nscores = [[3, 0], [0, 6]]\n\nscores /= 3\n→ [[1, 0],\n   [0, 2]]\n```\n"
    assert V.WRONG not in verdicts(text)


def test_what_is_right_though_its_weights_are_wrong_is_not_carried() -> None:
    """0.27 and 0.46 should be 0.249 and 0.502, and give 5.0 all the same."""
    text = (
        "V = [[10, 0], [0, 10], [5, 5]]\n\nsoftmax([0.71, 0.71, 1.41]) = [0.27, 0.27, 0.46]\n\n"
        "z = 0.27·[10, 0] + 0.27·[0, 10] + 0.46·[5, 5] = [5.0, 5.0]\n"
    )
    assert verdicts(text) == [V.WRONG, V.ROUNDED]


def test_a_worked_example_in_the_comments_of_a_program() -> None:
    text = "    // x = [[1, 0], [0, 2]]\n    // Q = x, K = x\n    // Q K^T = [[1, 0], [0, 5]]\n"
    assert verdicts(text) == [V.WRONG]


def test_rows_in_brackets_with_names_before_them() -> None:
    text = "A = softmax([[0, 0], [0, 1]])\n\n```\n       k_a   k_b\nq_a  [ 0.5   0.5 ]\nq_b  [ 0.27  0.73 ]\n```\n"
    assert [claim.verdict for claim in api.read(text).check().claims if claim.verdict is not V.UNREAD]


def test_numbers_of_a_list_in_marks_of_mathematics_are_one_row() -> None:
    text = "$A = softmax([1, 2, 3])$. Los pesos son $0{,}090$, $0{,}245$ y $0{,}665$.\n"
    assert verdicts(text) == [V.ROUNDED]


def test_exponentials_below_a_softmax_are_no_weights() -> None:
    text = "Row 1 (cat): softmax([1.146, 0.912, 0.446])\n\nexp: [3.146, 2.489, 1.562]\n"
    assert V.WRONG not in verdicts(text)


def test_two_indices_without_braces_are_one_cell() -> None:
    assert verdicts("s_1,2 = 0.9*0.6 + 1.1*0.6 = 0.54 + 0.66 = 1.2\n")[-1] is V.RIGHT


def test_the_mask_of_a_causal_page_needs_no_numbers_to_be_held_against_a_formula() -> None:
    page = (
        "The mask M is causal.\n\nQ = [1 0; 0 2; 1 1], K = [1 1; 0 1; 2 0], V = [3 0; 0 3; 1 1]\n\n"
        "S = Q K^T = [1 0 2; 2 2 0; 2 1 2]\n\nA = softmax(S / √2 + M) = [1 0 0; 0.5 0.5 0; {}]\n"
    )
    right, unscaled = (api.check(page.format(row)) for row in ("0.40 0.20 0.40", "0.42 0.16 0.42"))
    assert right.is_clean
    assert unscaled.summary == {"right": 1, "wrong": 1}
