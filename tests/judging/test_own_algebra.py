"""What a page states itself, for every index and for names without a role: judged with no library at all."""

from __future__ import annotations

import pytest

from qkv.judging.report import check_sheet
from qkv.reader.read import read_sheet
from qkv.solving.solve import solve_sheet

SOFTMAX = r"""
$$z = [z_1, z_2, z_3] = [2, 1, 0]$$
$$y = [1, 0, 0]$$
$$p_i = \frac{e^{z_i}}{\sum_{j=1}^{3} e^{z_j}}$$
$$\frac{\partial L}{\partial z_i} = p_i - y_i$$
"""
POSITIONS = r"""
$$PE(pos, 2i) = \sin(pos / 10000^{2i/d_{model}})$$
$$PE(pos, 2i+1) = \cos(pos / 10000^{2i/d_{model}})$$

Let $d_{model} = 4$.

$PE(1, 0) = \sin(1) = 0.8415$
"""


def verdicts(text: str) -> list[str]:
    return [claim.verdict.value for claim in check_sheet(read_sheet(text)).claims]


@pytest.mark.parametrize(
    "name", [r"\frac{\partial L}{\partial z}", r"\nabla_z L", r"\frac{dL}{dz}", r"\partial L / \partial z"]
)
def test_a_gradient_is_a_name(name: str) -> None:
    assert verdicts(SOFTMAX + f"$${name} = [-0.335, 0.245, 0.090]$$") == ["rounded"]
    assert verdicts(SOFTMAX + f"$${name} = [-0.335, 0.345, 0.090]$$") == ["wrong"]


def test_a_cell_of_a_gradient_follows_from_the_rule_for_all() -> None:
    assert verdicts(SOFTMAX + r"$$\frac{\partial L}{\partial z_1} = -0.335$$") == ["rounded"]


def test_what_a_formula_above_gives_is_a_claim() -> None:
    page = "a = [2, 1]\n\nb = [3, 4]\n\n$s = a + b$\n\nSome words.\n\n$c = 4$\n\nThen $s = {}$."
    assert verdicts(page.replace("{}", "[5, 5]")) == ["right"]
    assert verdicts(page.replace("{}", "[6, 5]")) == ["wrong"]


def test_numbers_before_the_formula_are_given() -> None:
    assert "wrong" not in verdicts("z = [2, 1]\n\nW = [[1, 2], [3, 4]]\n\nx = [1, 1]\n\nNow $z = W x$.")


@pytest.mark.parametrize(
    "row, verdict", [("[0.8415, 0.5403, 0.0100, 1.0000]", "rounded"), ("[0.8415, 0.5403, 0.1000, 1.0000]", "wrong")]
)
def test_positions_by_the_page_s_own_formula(row: str, verdict: str) -> None:
    assert verdicts(POSITIONS + f"\n$PE(1) = {row}$") == ["rounded", verdict]


def test_positions_with_indices_below() -> None:
    page = POSITIONS.replace("PE(pos, 2i)", "PE_{(pos,2i)}").replace("PE(pos, 2i+1)", "PE_{(pos,2i+1)}")
    assert verdicts(page + "\n$PE(1, 3) = 0.9999$\n\n$PE(1, 2) = 0.0300$")[0] == "rounded"


def test_a_row_of_positions_is_worked_out() -> None:
    solution = solve_sheet(read_sheet(POSITIONS + "\nCompute $PE(2)$.\n\n$PE(2) = [0.909, -0.416, 0.020, 1.000]$"))
    values = [
        digits for trace in solution.traces for step in trace.program.steps for digits in trace.digits(step.symbol, 4)
    ]
    assert any(len(row) == 4 and row[0].startswith("0.9093") for row in values)


def test_words_before_a_sum_are_one_name() -> None:
    page = "Total MHA = 3 + 4 = 7\nTotal = 20\nFFN = 30\nTotal FFN = 5 + 6 = 11\n"
    assert "wrong" not in verdicts(page)
    assert verdicts(page.replace("= 11", "= 12"))[-1] == "wrong"


def test_a_cell_of_what_is_printed_below_may_be_rounded_there() -> None:
    page = "W = [[0.1, 0], [0, 0.1]]\n\nW[1][1]_new = 0.1 + 0.00376 = 0.10376\n\nW_new ≈ [[0.099, 0], [0, 0.104]]\n"
    assert "wrong" not in verdicts(page)


def test_sigma_of_something_is_the_logistic_function() -> None:
    assert verdicts(r"$z = [1, 2]$, $\hat{y} = \sigma(z) = [0.731, 0.881]$") == ["rounded"]


def last(text: str) -> str:
    return check_sheet(read_sheet(text)).claims[-1].verdict.value


def test_a_formula_with_an_unknown_name_is_what_was_printed_for_it() -> None:
    """Nobody says what M is; softmax(S + M) is that of the numbers printed for S + M."""
    page = "S = [[2, 1], [1, 2]]\n\nS + M = [[2, -inf], [1, 2]]\n\nsoftmax(S + M) ≈ [[1, 0], [{}]]\n"
    assert last(page.format("0.269, 0.731")) == "rounded"
    assert last(page.format("0.339, 0.661")) == "wrong"
