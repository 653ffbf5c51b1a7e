"""Displays over several lines, remarks in them, and what is no claim: small pages in, verdicts out."""

from __future__ import annotations

import pytest
from judged import claims

X = "X = [[1, 2], [3, 1]]\n\nW = [[2, 0], [1, 3]]\n\n"
PARTS = (
    r"\begin{bmatrix} 1 & 2 \\ 3 & 1 \end{bmatrix}",
    r"\begin{bmatrix} 2 & 0 \\ 1 & 3 \end{bmatrix}",
    r"\begin{bmatrix} 4 & 6 \\ 7 & 5 \end{bmatrix}",
)


def verdicts(text: str) -> list[str]:
    return [claim.verdict.value for claim in claims(text)]


@pytest.mark.parametrize("sign", ["\\cdot", "\\times", ""])
def test_a_sign_on_a_line_of_its_own_multiplies(sign: str) -> None:
    left, right, shown = PARTS
    page = f"{X}$$\nQ = X W =\n{left}\n{sign}\n{right}=\n{shown}\n$$\n".replace("\n\n\\begin", "\n\\begin")
    assert sorted(verdicts(page)) == ["right", "right", "wrong"]


def test_a_remark_in_a_matrix_is_no_cell() -> None:
    page = "$$X = \\begin{bmatrix}\n1 & 2 \\\\ % first\n3 & 1   % second\n\\end{bmatrix}$$\n\nW = [[2, 0], [1, 3]]\n\n"
    assert verdicts(page + "Q = X W = [[4, 6], [7, 3]]\n") == ["right"]


def test_a_shape_is_no_claim() -> None:
    assert verdicts(X + "The result has shape (2, 2)\n\nQ = X W = [[4, 6], [7, 3]]\n") == ["right"]


def test_sizes_of_another_example_are_given() -> None:
    page = "d_model = 64, h = 2\n\nd_k = d_model / h = 32\n\nNumerical example: T = 2, N = 3, d_k = 2\n"
    assert "wrong" not in verdicts(page)
