"""A long formula of the page is worked out in small steps, and questions that speak of its parts get them."""

from __future__ import annotations

from test_labelled_answers import shown

import qkv

CHAIN = r"""
$$R=\begin{bmatrix}3&4\\0&5\end{bmatrix},\;W_1=\begin{bmatrix}2&-1\\0&1\end{bmatrix},\;W_2=\begin{bmatrix}1&0\\2&1\end{bmatrix}.$$

The layer gives
\[
Y=R+\max\!\bigl(0,\;\mathrm{RMSNorm}(R)\,W_1\bigr)W_2 .
\]

1. The normalised $R$, all its vectors.
2. Hidden layer after the ReLU, and $Y$.
3. Find the outputs once more.
"""


def test_the_parts_of_a_formula_are_steps_of_their_own() -> None:
    steps = qkv.solve(CHAIN).traces[0].program.steps
    assert [step.says for step in steps[:5]] == [
        "the root of its mean square", "the norm", "what the activation takes", "the activation",
        "the product after the activation",
    ]  # fmt: skip


def test_words_ask_for_parts_of_a_formula() -> None:
    """√(25/2) = 3.535534 for both rows: 3/3.535534 = 0.848528, 4/3.535534 = 1.131371, 5/3.535534 = 1.414214."""
    first, second = shown(CHAIN)[:2]
    norm = (("0.848528", "1.13137"), ("0", "1.41421"))
    assert norm in first.values()
    assert (("1.69706", "0.282843"), ("0", "1.41421")) in second.values()  # 2·0.848528, 1.131371 − 0.848528
    assert (("5.26274", "4.28284"), ("2.82843", "6.41421")) in second.values()


GATED = """FFN(x) = (SiLU(x W_g) ⊙ (x W_u)) W_d with x = [1, -2], W_g = [[1, 0], [0, 1]], W_u = [[2, 1], [1, 0]],
W_d = [[1, 0], [2, 1]].

1. Compute FFN(x).
2. What is the element-wise product of the two branches?
"""


def test_the_branches_of_a_gate_are_steps() -> None:
    """silu(1) = 0.7310586, silu(-2) = -0.2384058; the other branch is [0, 1]."""
    assert (("0", "-0.238406"),) in shown(GATED)[1].values()


def test_a_gain_is_what_words_call_so() -> None:
    """√((9 + 1 + 4 + 1)/4) = 1.936492."""
    text = "x = (3, -1, 2, 1). RMSNorm has gain g = (1, 2, 1, 0.5), take epsilon = 0.\n\nCompute n = RMSNorm(x).\n"
    assert shown(text)[0]["n"] == (("1.54919", "-1.03280", "1.03280", "0.258199"),)
    assert shown(text.replace("has gain", "and a vector"))[0]["n"] == (("1.54919", "-0.516398", "1.03280", "0.516398"),)


def test_a_y_before_a_full_stop_is_a_name() -> None:
    text = "x = [2, -1, 3], W1 = [[1, 0], [0, 1], [1, -1]]\n\ny = ReLU(x W1)\n\n1. Compute y.\n"
    assert shown(text)[0]["y"] == (("5", "0"),)
