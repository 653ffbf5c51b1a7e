"""Theory, sizes and general formulas in the report of a page, beside its plain numbers."""

import pytest

from qkv.judging.report import check_sheet
from qkv.judging.shapes import sizes_in
from qkv.reader import read_sheet

MATRICES = r"$X = \begin{bmatrix} 1 & 2 \\ 3 & 4 \\ 5 & 6 \end{bmatrix}$, $W = \begin{bmatrix} 1 & 0 & 1 \\ 0 & 1 & 1 \end{bmatrix}$"
PRODUCT = r"$$Q = \begin{bmatrix} 1 & 2 \end{bmatrix} \begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix}$$"


def verdicts(text):
    return [(claim.line, claim.name, claim.verdict.value) for claim in check_sheet(read_sheet(text)).claims]


def test_expectations_are_not_judged_as_numbers():
    text = "Assume $\\mu = 0$ and $\\sigma = 1$.\n\n$$E[q_i^2] = E[k_i^2] = 1$$\n\n$$\\text{Var}(q_i k_i) = 1$$\n"
    assert [(line, verdict) for line, _, verdict in verdicts(text)] == [(3, "right"), (5, "right")]


def test_a_premise_is_no_claim():
    assert verdicts("Let $E[q_i] = 0$ and $\\mathrm{Var}(q_i) = 1$.") == []


def test_the_variance_of_given_numbers_is_no_theory():
    claims = verdicts("x = [1, 2, 3, 4]\n\nVar(x) = 1.25\n")
    assert [verdict for *_, verdict in claims] == ["right"]


def test_a_cost_of_transport_is_judged_once():
    text = "Moving mass: $P = (1, 1)$ becomes $R = (0, 2)$ by transport.\n\nThe total cost is $3$.\n"
    assert [(line, verdict) for line, _, verdict in verdicts(text)] == [(3, "wrong")]


@pytest.mark.parametrize(
    "line, said",
    [
        (r"$(3 \times 2)(2 \times 3) = (3 \times 3)$", ["right"]),
        ("(3×2)(2×3) = 3×3", ["right"]),
        (r"$(3 \times 2)(2 \times 3) = (2 \times 2)$", ["wrong"]),
        (r"$(3 \times 2)(3 \times 2) = (3 \times 2)$", []),  # cell by cell, perhaps
        (r"$X \in \mathbb{R}^{3 \times 2}$", ["right"]),
        (r"$X \in \mathbb{R}^{2 \times 3}$", []),
    ],
)
def test_sizes(line, said):
    assert [verdict for *_, verdict in verdicts(f"{MATRICES}\n\n{line}\n")] == said


@pytest.mark.parametrize(
    "line, said",
    [
        ("1×2 2×2 1×2", "right"),
        ("1×2 2×2", "right"),
        (r"$1 \times \cancel{2}$ $\cancel{2} \times 2$", "right"),
        ("1×2 2×2 2×2", "wrong"),
    ],
)
def test_sizes_in_the_margin(line, said):
    assert (3, "sizes", said) in verdicts(f"{PRODUCT}\n\n{line}\n")


def test_other_lines_hold_no_sizes():
    assert sizes_in("3 x 2 = 6") == sizes_in("2 × 3 matrices") == []


@pytest.mark.parametrize(
    "formula, right",
    [
        (r"Z = \text{softmax}(Q K^T / \sqrt{d_k}) V", True),
        (r"Z_i = \text{softmax}(Q_i K_i^T / \sqrt{d_k}) V_i", True),
        (r"Z_i = \text{softmax}(Q_i K_j^T / \sqrt{d_k}) V_i", False),
        (r"Z = \text{softmax}(Q K^T / \sqrt{d_v}) V", False),
        (r"Z = \text{softmax}(K Q^T / \sqrt{d_k}) V", False),
    ],
)
def test_general_formulas(formula, right):
    assert [verdict for *_, verdict in verdicts(f"Attention is\n\n$${formula}$$\n")] == ["right"] * right


def test_a_formula_that_defines_something_of_its_own_is_no_claim():
    assert verdicts("a = 3\n\nb = a + 2\n") == []
