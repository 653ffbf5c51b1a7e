"""Workings one after the other, and what stands beside a value: small pages in, verdicts out."""

from __future__ import annotations

import pytest
from judged import claims


def verdicts(text: str) -> list[tuple[int, str]]:
    return [(claim.line, claim.verdict.value) for claim in claims(text)]


def test_copied_shares_are_what_was_printed_or_what_is_behind_it() -> None:
    """6.67 would need shares that nobody has; 6.65 is what both give."""
    page = "softmax([0.71, 0]) = [0.67, 0.33]\n\n0.67·[5, 5] + 0.33·[10, 0] = [{}, 3.35]\n"
    assert verdicts(page.format("6.67"))[-1] == (3, "wrong")
    assert verdicts(page.format("6.65"))[-1][1] in ("rounded", "right")


def test_a_number_that_is_not_what_stood_in_its_place() -> None:
    """3·0.25 + 0.5·2 is 1.75; 1.55 is the slip, and what follows from it is carried."""
    page = "s = \\frac{[0.5, 3] \\cdot [2, 0.25]}{\\sqrt{3}} = \\frac{1.55}{\\sqrt{3}} = 0.895\n"
    assert verdicts(page) == [(1, "wrong"), (1, "carried")]
    right = page.replace("1.55", "1.75").replace("0.895", "1.010")
    assert "wrong" not in [verdict for _, verdict in verdicts(right)]


def test_a_false_step_between_whole_numbers() -> None:
    assert verdicts("(1·1 + (-1)·2)/√2 = 1/√2 = 0.707\n") == [(1, "wrong"), (1, "carried")]


def test_a_vector_that_is_not_what_stood_in_its_place() -> None:
    page = "y = 0.2·[5, 5] + 0.8·[1, 9] = [1, 1] + [0.8, {}] = [1.8, {}]\n"
    assert verdicts(page.format("7.4", "8.4")) == [(1, "wrong"), (1, "carried")]
    assert [verdict for _, verdict in verdicts(page.format("7.2", "8.2"))] == ["right"]


def test_an_author_who_goes_on_from_a_side_is_not_accused() -> None:
    """'= 1.649 × 3' is no second value of e^0.5: its author goes on calculating."""
    assert verdicts("- exp(0.5) = 1.649 × 3 = 4.947\n") == [(1, "right")]
    assert verdicts("- exp(0.5) = 1.649 × 3 = 4.747\n") == [(1, "wrong")]


@pytest.mark.parametrize(("shares", "verdict"), [("0.63, 0.23, 0.14", "rounded"), ("0.55, 0.27, 0.18", "wrong")])
def test_an_arrow_says_what_is_done_to_the_numbers_before_it(shares: str, verdict: str) -> None:
    assert verdicts(f"점수: [2.0, 1.0, 0.5] → softmax → [{shares}]\n")[-1] == (1, verdict)


@pytest.mark.parametrize(("last", "verdict"), [("0.995", "rounded"), ("0.895", "wrong")])
def test_numbers_below_a_working_are_its_value(last: str, verdict: str) -> None:
    page = f"$$[\\sin(1), \\cos(1), \\sin(1/10), \\cos(1/10)]$$\n\nnumerically $[0.841, 0.540, 0.100, {last}]$\n"
    assert verdicts(page)[-1] == (3, verdict)


def test_arrays_behind_a_function_are_its_arguments() -> None:
    page = "d_k = 2\n\nCase 1: attention([[1, 0]], [[1, 0], [0, 1]], [[10, 20], [30, 40]])\nExpected: [[{}, {}]]\n"
    assert verdicts(page.format("16.6048", "26.6048"))[-1] == (4, "rounded")
    assert verdicts(page.format("16.7048", "26.7048"))[-1] == (4, "wrong")


def test_keys_behind_a_function_say_how_wide_they_are() -> None:
    page = "cross_attention([1, 0], [[1, 0], [0, 1]], [[10, 20], [30, 40]]) -> [16.{}048, 26.6048]\n"
    assert verdicts(page.format("6"))[-1][1] == "rounded"
    assert verdicts(page.format("7"))[-1][1] == "wrong"


def test_the_other_shares_of_a_family() -> None:
    """α_1 is worked out in full; α_2 and α_3 are what is left of the same sum."""
    page = "α_1 = \\frac{2.718}{2.718 + 1.649 + 1} = 0.506\n\nα_2 = {}\n\nα_3 = 0.186\n"
    page = page.replace("{2.718}", "{{2.718}}").replace("{2.718 + 1.649 + 1}", "{{2.718 + 1.649 + 1}}")
    assert [verdict for _, verdict in verdicts(page.format("0.307"))] == ["rounded"] * 3
    assert [verdict for _, verdict in verdicts(page.format("0.407"))] == ["rounded", "wrong", "rounded"]


def test_a_label_that_ends_in_a_name_of_the_page() -> None:
    page = "scores = [1.7, 0.2, 0.8]\nweights = softmax(scores)\n\nAttention weights: [{}]\n"
    assert verdicts(page.format("0.6136, 0.1369, 0.2495"))[-1][1] in ("rounded", "misrounded")
    assert verdicts(page.format("0.5898, 0.1316, 0.2786"))[-1] == (4, "wrong")


def test_a_layer_norm_over_the_variance_is_wrong() -> None:
    page = (
        "| | 1 | 2 | 3 |\n|---|---|---|---|\n| h1 | 4 | 1 | 1 |\n| h2 | 2 | 5 | -1 |\n\nLayerNorm (γ = 1, β = 0):\n\n"
    )
    table = "| | 1 | 2 | 3 |\n|---|---|---|---|\n| n1 | {} | {} | {} |\n| n2 | {} | {} | {} |\n"
    right = ("1.414", "-0.707", "-0.707", "0.000", "1.225", "-1.225")
    wrong = ("1.000", "-0.500", "-0.500", "0.000", "0.500", "-0.500")
    assert verdicts(page + table.format(*right))[-1][1] == "rounded"
    assert verdicts(page + table.format(*wrong))[-1][1] == "wrong"


def test_a_wrong_vector_cut_into_heads_is_carried() -> None:
    page = (
        "W = [[1, 2], [0, 1], [3, 0], [1, 1]]\nh = [[2], [1]]\nq = W h = [[4], [1], [6], [5]]\n\nq = [[4, 1], [6, 5]]\n"
    )
    assert [verdict for _, verdict in verdicts(page)][-2:] == ["wrong", "carried"]


def test_who_copies_a_badly_rounded_number_drifts() -> None:
    page = "a = cos(0.002) ≈ 0.9999\n\nb = cos(0.2) ≈ 0.9801\n\n[0.9999, 0.9801]\n"
    assert [verdict for _, verdict in verdicts(page)] == ["misrounded", "rounded", "drifted"]


def test_what_was_just_worked_out_is_no_copy_of_a_false_number() -> None:
    text = "a = 0.20·0.35 + 0.10·0.40 = 0.070 - 0.040 = 0.030\nb = 0.50·0.14 - 0.20·0.15 = 0.070 - 0.030 = 0.040\n"
    assert verdicts(text)[-1][1] == "right"


def test_a_result_that_the_numbers_of_a_working_do_not_reach_is_wrong() -> None:
    text = "softmax([0.707, 0]) = [0.670, 0.330]\nz = 0.670·[10, 20] + 0.330·[30, 40] = [16.67, 26.60]\n"
    assert verdicts(text)[-1][1] == "wrong"


def test_a_value_that_is_wrong_by_the_line_above_it_is_reported_in_its_own() -> None:
    text = "z = 0.4·[1, 2] + 0.6·[3, 4]\n  = [0.4, 0.8] + [1.8, 2.4]\n  = [2.2, 3.5]\n"
    assert verdicts(text) == [(3, "wrong")]


def test_the_larger_of_two_vectors_is_taken_cell_by_cell() -> None:
    assert verdicts("m = max([1.5, 2.5], [2.0, 0.5]) = [2.0, 2.5]\n") == [(1, "right")]


@pytest.mark.parametrize(
    "working",
    [
        "(-1.99900) + 2 ≈ 0.000999251",
        "1.09986 + (-1.8) ≈ -0.700136",
        "1/1.00000 ≈ 0.999995",
        "1.06667/1.50849 ≈ 0.707107",
    ],
)
def test_digits_that_what_is_written_cannot_give_come_from_behind_it(working: str) -> None:
    assert verdicts(f"N = {working}\n")[-1][1] in ("rounded", "drifted")


@pytest.mark.parametrize("working", ["(-1.99900) + 2 ≈ 0.001999", "1.5 + 2.25 = 3.762", "1.09986 + (-1.8) ≈ -0.71014"])
def test_but_only_if_they_could(working: str) -> None:
    assert verdicts(f"N = {working}\n")[-1][1] == "wrong"


GRADIENT = """z = [2.0, 1.0, 0.1]

softmax(z)₀ = 7.389 / 11.212 ≈ 0.659
softmax(z)₁ = 2.718 / 11.212 ≈ 0.242

∂L/∂z₀ = softmax(z)₀ − 1 = {}
∂L/∂z₁ = softmax(z)₁ − 0 = 0.242
"""


@pytest.mark.parametrize("shown, verdict", [("-0.341", "rounded"), ("-0.441", "wrong")])
def test_derivatives_and_entries_in_plain_text(shown: str, verdict: str) -> None:
    assert verdicts(GRADIENT.format(shown))[-2:] == [(6, verdict), (7, "rounded")]


ROW_LEFT_OUT = """## Task

$$Q = [[0.3, -0.5, 0.1, 0.1], [1.2, -0.3, 0.5, -0.3], [-0.2, 1.2, -0.5, -0.2]]$$

$$K = [[1.1, -0.5, 1.2, 0.5], [0.5, 0.9, 1.2, 0.3]]$$ $$V = [[-0.2, -0.3], [0.1, -0.3]]$$

## Solution

$$E = Q K^T = [[0.75, -0.15], [1.92, 0.84], [-1.52, 0.32]]$$

$$P = E / \\sqrt{d_k} = [[0.96, 0.42], [-0.76, 0.16]]$$

$$A = softmax(P) = [[0.63, 0.37], [0.28, 0.72]]$$

$$O = A V = [[-0.09, -0.30], [0.02, -0.30]]$$
"""


def test_what_lacks_a_row_because_one_was_left_out_is_carried_to_the_end() -> None:
    assert [verdict for _, verdict in verdicts(ROW_LEFT_OUT)] == ["right", "wrong", "carried", "carried"]


def test_what_follows_from_a_false_number_in_the_same_step_is_no_second_slip() -> None:
    """e^0.7071 is 2.0281; 3.1281 is the sum with the false number."""
    page = "softmax([0.7071, 0]) = [e^0.7071/(e^0.7071 + e^0), e^0/(e^0.7071 + e^0)] ≈ [{}/{}, 1/{}] ≈ [{}, {}]\n"
    false = verdicts(page.format("2.1281", "3.1281", "3.1281", "0.680", "0.320"))
    assert "wrong" in [verdict for _, verdict in false]
    assert false[-1][1] == "carried"
    right = verdicts(page.format("2.0281", "3.0281", "3.0281", "0.670", "0.330"))
    assert {verdict for _, verdict in right} <= {"right", "rounded"}


def test_what_a_function_is_taken_of_is_a_step_too() -> None:
    text = "$$e = \\text{LeakyReLU}(0.2 + 0.05 + 0.1) = \\text{LeakyReLU}(0.37) = 0.37$$\n"
    assert verdicts(text) == [(1, "wrong"), (1, "carried")]
    unknown = "$$h = \\sigma(0.5 \\cdot [2, 4] + 0.5 \\cdot [0, 2]) = \\sigma([1.0, 4.0])$$\n"
    (claim,) = claims(unknown)
    assert [(cell.row, cell.column) for cell in claim.cells if cell.verdict.value == "wrong"] == [(1, 2)]


def test_a_softmax_of_other_numbers_may_be_the_same() -> None:
    text = "$$w = \\text{softmax}(0.5 \\cdot [4, 8]) = \\text{softmax}([0, 2]) = [0.119, 0.881]$$\n"
    assert "wrong" not in [verdict for _, verdict in verdicts(text)]


STEP_BY_STEP = """Memory = 2 × 80 × 64
       = 2 × 80 = 160
       = 160 × 64 = {}
       = {} × 4 = {}
"""


def test_an_author_who_calculates_step_by_step_says_no_equalities() -> None:
    assert verdicts(STEP_BY_STEP.format("10,240", "10,240", "40,960")) == [(2, "right"), (3, "right"), (4, "right")]
    assert verdicts(STEP_BY_STEP.format("10,420", "10,420", "41,680")) == [(2, "right"), (3, "wrong"), (4, "carried")]


@pytest.mark.parametrize("doubt", ["Wait, let me recalculate:", "Moment, verrechnet.", "等等，重新计算："])
def test_what_its_author_doubts_and_works_out_again_is_struck(doubt: str) -> None:
    page = f"2 × 8 × 64 = 1,042 bytes\n\n{doubt}\n\n2 × 8 × 64 = 1,024 bytes\n"
    assert verdicts(page) == [(1, "struck"), (5, "right")]
    assert verdicts(page.replace(doubt, "And so:")) == [(1, "wrong"), (5, "right")]


def test_a_function_of_the_page_is_a_factor_without_a_sign() -> None:
    page = "φ(x) = relu(x) + 1\n\nq1 = [1, -2], G = [[2, 4], [1, 3]]\n\nφ(q1) = [2, 1]\n\nφ(q1) G = [5, 11]\n"
    assert verdicts(page)[-1] == (7, "right")


def test_what_a_formula_makes_of_a_false_name_beside_a_copied_number_is_carried() -> None:
    page = "X = [1, 2; 0, 1], W = [1, 1; 2, 0]\n\nB = X W = [5, 1; 2, 1]\n\n√2 ≈ 1.414\n\nC = B / 1.414 = [3.54, 0.71; 1.41, 0.71]\n"
    assert [verdict for _, verdict in verdicts(page)] == ["wrong", "rounded", "carried"]


GAIN = """x̂1 = (2 - 5)/2 = -1.5
x̂2 = (8 - 5)/2 = 1.5

x̂ = [-1.5, 1.5]

γ = [2, 1], β = [0, 1]

y = γ × x̂ + β = [-3, {}]
"""


def test_a_letter_with_a_hat_is_another_letter_and_a_gain_is_multiplied_cell_by_cell() -> None:
    assert verdicts(GAIN.format("2.5"))[-1] == (8, "right")
    assert verdicts(GAIN.format("3.5"))[-1] == (8, "wrong")


def test_an_author_may_go_on_in_a_larger_unit() -> None:
    assert verdicts("Cache = 2048 × 32 × 4096 × 2 = 536 MB (per layer) × 32 = 17 GB\n")[-1] == (1, "rounded")
    assert verdicts("Cache = 2048 × 32 × 4096 × 2 = 536 MB (per layer) × 32 = 27 GB\n")[-1] == (1, "wrong")


def test_a_minus_before_a_function_in_a_sentence_is_a_sign() -> None:
    assert verdicts("The loss would then be -ln 0.0975 = 2.3279 nats.\n") == [(1, "rounded")]


def test_points_between_groups_of_three_are_none_in_brackets_either() -> None:
    assert verdicts("2 · 2048 · (4.194.304 + 8.388.608) = 51.539.607.552\n") == [(1, "right")]


OPERATIONS = """x = [1, -2, 3]
W1 = [[1, 0, -1, 2], [0, 1, 1, -1], [2, 1, 0, 1]]
W2 = [[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]]
b2 = [0.5, 0, -0.5]

xW1 = [7, 1, -3, 7]

Step 1: ReLU: [7, 1, 0, 7]
Step 2: times W2: [7, 1, {}]
Step 3: add b2: [7.5, 1, {}]
"""


def test_what_words_do_with_a_name_is_no_definition_of_it() -> None:
    assert verdicts(OPERATIONS.format("14", "13.5"))[-2:] == [(9, "right"), (10, "right")]
    assert "wrong" not in [verdict for _, verdict in verdicts(OPERATIONS.format("41", "40.5"))][-1:]


COUNTS = """- embeddings: 50257 × 768 = 38,597,376
- attention per layer: 4 × 768² = 2,359,296
- feed-forward per layer: 8 × 768² = 4,718,592
- per layer: 7,077,888
- 12 layers: {}
- total: {}
"""


def test_so_many_layers_and_the_total_of_the_parts() -> None:
    right = verdicts(COUNTS.format("84,934,656", "123,532,032"))
    assert [verdict for _, verdict in right] == ["right"] * 6
    false = verdicts(COUNTS.format("84,943,656", "123,532,032"))
    assert "right" not in [verdict for _, verdict in false][-2:-1]


def test_the_jacobian_of_a_row_is_a_matrix() -> None:
    page = "p = softmax([1, 2, 3]) = [0.0900, 0.2447, 0.6652]\n\nJ = diag(p) - p p^T = "
    page += "[[0.0819, -0.0220, -0.0599], [-0.0220, 0.1848, -0.1628], [-0.0599, -0.1628, {}]]\n"
    assert verdicts(page.format("0.2227"))[-1] == (3, "rounded")
    assert verdicts(page.format("0.6652"))[-1] == (3, "wrong")
