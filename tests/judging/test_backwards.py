"""Derivatives, steps of descent and statistics of a norm that a page prints without a formula that can be read."""

from __future__ import annotations

import qkv

NORM = """Backprop through layer norm

x = (1, 3, 5, 3)      gamma = (1, 1, 2, 1)     beta = (0, 0, 0, 1)    eps = 0

mu = 3
sigma^2 = 2
xhat = (x - mu)/sigma = (-1.4142, 0, 1.4142, 0)
y = gamma * xhat + beta = (-1.4142, 0, 2.8284, 1)

upstream gradient dL/dy = (1, 0, 1, -1)

dL/dgamma = dL/dy * xhat = {gamma}
dL/dx = 1/sigma * (dL/dxhat - mean(dL/dxhat) - xhat * mean(dL/dxhat * xhat)) = (0.7071, -0.3536, 0.7071, -1.0607)
dL/dxhat = dL/dy * gamma = (1, 0, 2, -1)

One step of gradient descent:

gamma' = gamma - 0.1 dL/dgamma = {after}
"""
LOSS = r"""The final hidden state is $h=(2,-1)^\top$, $W=\begin{pmatrix}1&0\\0&1\\1&1\end{pmatrix}$, the logits are $a=Wh$, the loss is
$\ell=-\ln p_3$ with $p=\operatorname{softmax}(a)$.

\[ \frac{\partial\ell}{\partial a}=p-e_3=(SLOPE)^\top. \]

One step of gradient descent with $\eta=0.5$ gives
\[ W'=\begin{pmatrix}0.3348&0.3326\\-0.0900&1.0450\\1.7552&0.6224\end{pmatrix}. \]
"""


def verdicts(page: str) -> dict[int, set[str]]:
    found: dict[int, set[str]] = {}
    for claim in qkv.check(page).claims:
        found.setdefault(claim.line, set()).add(claim.verdict.value)
    return found


GAMMA, AFTER = "(-1.4142, 0, 1.4142, 0)", "(1.1414, 1, 1.8586, 1)"


def test_a_norm_backwards_in_plain_text_is_right():
    found = verdicts(NORM.format(gamma=GAMMA, after=AFTER))
    assert all(kinds <= {"right", "rounded", "drifted"} for kinds in found.values())
    assert {7, 8, 12, 13, 14, 18} <= found.keys()


def test_a_wrong_slope_is_found_and_what_follows_is_carried():
    found = verdicts(NORM.format(gamma="(1.4142, 0, 1.4142, 0)", after="(0.8586, 1, 1.8586, 1)"))
    assert found[12] == {"wrong"}
    assert found[18] == {"carried"}


def test_e_3_is_a_unit_vector_and_a_step_goes_down_the_slope():
    found = verdicts(LOSS.replace("SLOPE", "0.7054,\\ 0.0351,\\ -0.7405"))
    assert {"right", "rounded"} & found[4]
    assert "wrong" not in found[4]


def test_the_gradient_of_weights_by_the_formulas_of_attention():
    page = """# Rückwärts
X = [[1, 1], [2, 0]], Q = [[1, 0], [0, 2]], K = [[1, -1], [2, 1]], V = [[0, 2], [2, 0]], dZ = [[1, -1], [2, 0]]

S = Q K^T / √2 = [[0.7071, 1.4142], [-1.4142, 1.4142]]
A = softmax(S) = [[0.3302, 0.6698], [0.0558, 0.9442]]
Z = A V = [[1.3395, 0.6605], [1.8884, 0.1116]]

dS = [[-0.8847, 0.8847], [-0.2108, 0.2108]]
dQ = dS K / √2 = [[0.6256, 1.2512], [0.1490, 0.2981]]
"""
    found = verdicts(page)
    assert found[8] <= {"rounded"}
    assert found[9] <= {"rounded"}  # by the exact dS, not by its rounded digits


def test_a_given_gradient_is_no_claim():
    page = "dZ = [[1, -1], [2, 0]], A = [[0.5, 0.5], [0, 1]]\n\ndV = A^T dZ = [[0.5, -0.5], [2.5, -0.5]]\n"
    assert verdicts(page) == {3: {"right"}}


def test_a_sum_without_bounds_runs_over_the_index_of_its_terms():
    page = "p = [0.2, 0.7, 0.1], y' = [0.05, 0.9, 0.05]\n\nL = -Σ y'ₖ ln pₖ = 0.5166\n"
    assert verdicts(page) == {3: {"rounded"}}  # 0.05 · 1.60944 + 0.9 · 0.356675 + 0.05 · 2.302585 = 0.516609


SMOOTHED = """The logits are z = (1.0, 2.5, 0.3, -0.7), and the correct word is the second one.

p = softmax(z) = (0.1623, 0.7274, 0.0806, 0.0297)

The smoothed label is y' = (1 - eps) y + eps/K with eps = 0.2 and K = 4:

y' = {label}

L = -Σ y'ₖ ln pₖ = {loss}
"""


def test_a_smoothed_label_is_made_of_the_word_that_is_right():
    assert verdicts(SMOOTHED.format(label="(0.05, 0.85, 0.05, 0.05)", loss="0.6632"))[9] <= {"right", "rounded"}
    claims = qkv.check(SMOOTHED.format(label="(0.05, 0.80, 0.05, 0.05)", loss="0.6473")).claims
    assert [cell.expected for claim in claims if claim.line == 9 for cell in claim.cells] == [
        "0.663232"
    ]  # with 0.8 + 0.05


def test_a_report_says_where_a_gradient_comes_from() -> None:
    page = "x = [1, 2], W = [[1, 0], [2, 1]], y = x W = [5, 2]. The gradient at y is ∂L/∂y = [1, -1].\n\n"
    claims = qkv.check(f"{page}∂L/∂W = [[1, -1], [2, -2]]\n\n∂L/∂x = [1, 1]\n").claims
    assert [claim.formula for claim in claims[1:]] == ["x^T ∂L/∂y", "∂L/∂y W^T"]
