"""Gradients and positions that a page asks for without a formula, and numbers that outrank a formula over unknown names."""

from __future__ import annotations

import pytest

from qkv.reader.read import read_sheet
from qkv.solving.solve import solve_sheet

ATTENTION = (
    "A = [[0.6, 0.4], [0.3, 0.7]], V = [[1, 2], [3, 4]], Q = [[1, 0], [0, 1]], K = [[1, 1], [0, 1]].\n"
    "dZ = [[1, 0], [0, 1]]\n\n"
)


def steps(page: str) -> dict[str, list[list[float]]]:
    """All steps of a page by the names that it has for them."""
    found = {}
    for trace in solve_sheet(read_sheet(page)).traces:
        for step in trace.program.steps:
            found[step.spelled] = [[float(cell) for cell in row] for row in trace.digits(step.symbol, 6)]
    return found


def test_gradients_go_back_through_attention():
    made = steps(ATTENTION + "Attention is scaled by √2. Do the backward pass: compute dV, dA, dS, dQ and dK.")
    assert made["dV"] == [[0.6, 0.3], [0.4, 0.7]]
    assert made["dA"] == [[1, 3], [2, 4]]
    assert made["dS"] == [[-0.48, 0.48], [-0.42, 0.42]]
    assert made["dQ"] == [[pytest.approx(-0.48 / 2**0.5, abs=1e-6), 0], [pytest.approx(-0.42 / 2**0.5, abs=1e-6), 0]]
    assert made["dK"][1] == [pytest.approx(0.48 / 2**0.5, abs=1e-6), pytest.approx(0.42 / 2**0.5, abs=1e-6)]


def test_one_step_of_descent_follows_a_gradient():
    page = "W = [[0.5, 0], [0, 0.5]], dW = [[1, 2], [0, -1]], learning rate η = 0.1. Compute the updated W."
    assert steps(page)["W_new"] == [[0.4, -0.2], [0, 0.6]]


def test_numbers_outrank_a_formula_over_names_that_the_page_does_not_have():
    page = "p = softmax(z) = [0.7, 0.2, 0.1], target y = [1, 0, 0].\n\nCompute ∂L/∂z = p - y."
    assert steps(page)["∂L/∂z"] == [[-0.3, 0.2, 0.1]]


@pytest.mark.parametrize(
    "page",
    [
        "PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos(pos / 10000^(2i/d)), d = 4.\n\nBerechne PE(3).",
        "Compute the sinusoidal positional encoding of position 3 for d_model = 4.",
        "Let d_model = 4.\n\n1. Compute the positional encoding for positions 2 and 3.",
    ],
)
def test_positions_are_worked_out_by_their_numbers(page):
    assert steps(page)["PE(3)"][0] == pytest.approx([0.141120, -0.989992, 0.0299955, 0.999550], abs=1e-5)


def test_the_base_is_that_of_the_page_and_another_formula_is_not_taken_for_the_usual_one():
    page = "PE(pos, 2i) = sin(pos / {}), PE(pos, 2i+1) = cos(pos / {}), d = 4.\n\nCompute PE(3)."
    assert steps(page.format("100^(2i/d)", "100^(2i/d)"))["PE(3)"][0][2] == pytest.approx(0.295520, abs=1e-5)
    assert "PE(3)" not in steps(page.format("100^(i/d)", "100^(i/d)"))


@pytest.mark.parametrize(
    "formula, value", [("0.5 x (1 + tanh(sqrt(2/π) (x + 0.044715 x^3)))", 0.841192), ("", 0.841345)]
)
def test_a_page_with_a_formula_for_gelu_means_that_one(formula, value):
    page = (f"GELU(x) = {formula}\n\n" if formula else "") + "u = [1, 0]\n\ny = GELU(u)"
    assert steps(page)["y"] == [[pytest.approx(value, abs=1e-6), 0]]


def test_what_a_page_works_out_outranks_what_a_letter_usually_is():
    page = "$y = [1, 0]$\n\n$z^{(1)} = 0.2(1) - 0.3(2) + 0.1 = -0.3$\n\n$a^{(1)} = \\sigma(z^{(1)}) \\approx 0.426$\n"
    assert steps(page)["a^{(1)}"] == [[pytest.approx(0.425557, abs=1e-5)]]
