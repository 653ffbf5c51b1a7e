"""What is said of small pages, each in a layout that people use: nothing of it may be lost, and no layout may accuse."""

from __future__ import annotations

import pytest
from judged import claims

RIGHT = {"right", "rounded", "drifted"}


def told(page: str) -> list[tuple[int, str]]:
    """The line and the verdict of each claim; what is right in any way is 'right'."""
    return [(c.line, "right" if c.verdict in RIGHT else str(c.verdict)) for c in claims(page)]


PAGES = {
    "pairs where commas are decimal marks": (
        "q = [3,0]\nk = [2,1]\nq·k = 6\ne^0,5 = 1,649\n0,5(2,4) + 0,25(4,0) = (2,0; 2,0)",
        [(3, "right"), (4, "right"), (5, "right")],
    ),
    "a claim begins at its name, not at the numbers below it": (
        "Q = [[1, 2], [3, 4]]\nK = [[1, 1], [0, 2]]\n\n$$\nQ K^T =\n\\begin{bmatrix}\n3 & 4 \\\\ 7 & 8\n\\end{bmatrix}\n$$",
        [(5, "right")],
    ),
    "braces around a sign only set the spacing": (
        r"$$q\cdot k = \begin{bmatrix} 1{\cdot}3 + 2{\cdot}0 & 1{\cdot}2 + 2{\cdot}2 \end{bmatrix} = [3, 7]$$",
        [(1, "wrong")],
    ),
    "a fence that is called Python and holds drawn matrices": (
        "```python\n[1, 0]   [2, 3]   [2, 3]\n[0, 2] x [1, 1] = [2, 2]\n\nsoftmax([1, 0]) = [0.73, 0.27]\n```",
        [(2, "right"), (5, "right")],
    ),
    "what print puts behind words, in a comment with remarks": (
        "```python\nQ = np.array([[1.0, 2.0], [0.0, 1.0]])\nK = np.array([[1.0, 1.0], [2.0, 0.5]])\nS = Q @ K.T\n"
        'print("Scores:\\n", S.round(1))\n# [[3.0, 3.0],   the first\n#  [1.0, 0.7]]   the second\n```',
        [(4, "wrong")],
    ),
    "brackets that a converter escaped": (
        "* Query: \\[2, 1]\n* \\[2, 1] · \\[0, 3] = 3\n* 0.5 \\* \\[2, 1] = \\[1, 0.9]",
        [(2, "right"), (3, "wrong")],
    ),
    "displays that lost their backslashes": (
        "- Output:\n  [\n  0.6 \\cdot [2, 0] + 0.4 \\cdot [3, 1] = [2.4, 0.9]\n  ]",
        [(3, "wrong")],
    ),
    "words in math: a call, a remark": (
        "$V = [[1, 2], [3, 4]]$, $\\text{Scores} = [[1, 0], [0, 1]]$\n\n"
        "$\\text{Output} = \\text{Softmax(Scores)} \\times V = [[1.54, 2.54], [2.46, 3.64]]$\n\n"
        "$$\\text{softmax}([1, 0]) = [0.73, 0.27]\\ (\\text{over two keys})$$",
        [(3, "wrong"), (5, "right")],
    ),
    "what cannot be read between two sides": (
        r"$X = [[1, 2], [1, 2]]$ $W = [[1, 0], [1, 1]]$ "
        r"$$Q = X W = \begin{pmatrix} 1+2 & 2 \\ \text{idem} & \text{idem} \end{pmatrix} = [[3, 2], [3, 4]]$$",
        [(1, "wrong")],
    ),
    "rows as slices": (
        "$S = [[1, 2], [3, 4]]$\n\nα(1,:) = softmax([1, 2]) = [0.27, 0.73]\n\n$A_{2,:} = \\text{softmax}(S_{2,:}) = [0.27, 0.83]$",
        [(3, "right"), (5, "wrong")],
    ),
    "arrays in ticks, results in bold": (
        "0.6·`[10, 0]` + 0.4·`[0, 10]` = **`[6, 4]`**\n\n- score(cat) = 1·1 + 2·0 = **2**",
        [(1, "right"), (3, "wrong")],
    ),
    "the rows of a matrix in turn are no new problems": (
        "$Q = [[1, 0], [0, 2]]$, $K = [[1, 1], [0, 1]]$\n\n$$S = Q K^T = [[1, 0], [2, 2]]$$\n\n"
        "## Row 1\n\n$s = [1, 0]$\n\n## Row 2\n\n$s = [2, 2]$\n\n## All\n\n$$S / 2 = [[0.5, 0], [1, 2]]$$",
        [(3, "right"), (15, "wrong")],
    ),
    "a vector behind a number is no index": (
        "Q = [[1, 2], [1, 1]], K = [[1, 1], [1, 0]]\n\n$q_1 k_1 = 3$\n\n$0.5[1, 0] + 0.5[0, 1] = [0.5, 0.5]$",
        [(3, "right"), (5, "right")],
    ),
    "numbers put into a formula that was stated before": (
        "Q = [[1, 2], [3, 1]], K = [[1, 0], [2, 1]], V = [[1, 5], [2, 3]]\n\n"
        "$$F(Q, K, V) = \\text{softmax}(Q K^T) V$$\n\n$$F(Q, K, V) = [[0.05, 0.95], [0.20, 0.80]] [[1, 5], [2, 3]]$$",
        [(5, "wrong"), (5, "right")],
    ),
    "a result in words is no input": (
        "x_1 = [1, 1], x_2 = [0, 1], d_k = 2\n\nQ = K = V = X = [[1, 1], [0, 1]]\n\n"
        "$$Q K^T = [[2, 1], [1, 1]]$$\n\n**Final answer:** The self-attention output is\n\n"
        "$$[[0.6698, 1.0000], [0.5000, 0.5000]]$$",
        [(3, "right"), (5, "right"), (9, "wrong")],
    ),
    "another list of numbers is no excuse beside a working": (
        "softmax([2, 0, 2]) = [0.422, 0.156, 0.422]\n\nsoftmax([0, 2, 2]) = [0.156, 0.422, 0.422]",
        [(1, "wrong"), (3, "wrong")],
    ),
    "words in brackets are indices": (
        "- K(cat) = `[1, 2]`  ·  K(dog) = `[0, 1]`\n- Q(cat) = [3, 1]\n\nQ(cat) · K(cat) = 5, Q(cat) · K(dog) = 2",
        [(4, "right"), (4, "wrong")],
    ),
    "from one word to another": (
        r"$$\alpha(\text{cat} \to \text{sat}) = \frac{1.5}{6} = 0.25$$",
        [(1, "right")],
    ),
    "a particle behind a number": ("예: d=64일 때, √d = 8, √d = 9", [(1, "right"), (1, "wrong")]),
    "a letter before a colon is a factor": (
        "A = [[1, 2], [0, 1]]\nV = [[1, 0], [3, 1]]\nO = A V :\n [[7 2]\n [3 2]]",
        [(3, "wrong"), (3, "right")],
    ),
    "which token is meant is no number of a run": (
        "i = 1: e^0 = 1\n\ni = 2: e^1 = 2.718\n\ni = 3: e^2 = 7.389\n\nsum = 11.107",
        [(1, "right"), (3, "right"), (5, "right"), (7, "right")],
    ),
    "a sign on a line of its own": (
        "Q = [[1, 2], [3, 4]]\nK = [[1, 1], [0, 2]]\n\n$$\nS\n=\nQ K^T\n\\approx\n[[3, 4], [7, 8]]\n$$",
        [(5, "right"), (7, "right")],
    ),
    "numbers under a name that follow from what was printed": (
        "Q = [[1, 0], [0, 2]], K = [[1, 1], [0, 2]]\n\n$$\\frac{Q K^T}{\\sqrt{2}} = [[0.707, 0], [1.414, 2.828]]$$\n\n"
        "row = [0.670, 0.330]\n\nrow = [0.196, 0.804]\n\nrow = [0.123, 0.877]",
        [(3, "right"), (5, "right"), (7, "right")],
    ),
    "inputs given anew below formulas and sizes begin a problem": (
        "## One\n\nQ = [[1, 0], [0, 1]], K = [[1, 1], [0, 1]]\n\n$Q K^T = [[1, 0], [1, 1]]$\n\n## Two\n\n$S = Q K^T$\n\n"
        "n = 2\n\nQ = [[2, 0], [0, 1]], K = [[1, 1], [0, 1]]\n\n$Q K^T = [[2, 0], [1, 2]]$",
        [(5, "right"), (9, "right"), (15, "wrong")],
    ),
    "a dot that parts two statements": ("e^0.71 ≈ 2.03 · e^0 = 1", [(1, "right")]),
}


@pytest.mark.parametrize(("page", "expected"), PAGES.values(), ids=PAGES)
def test_layouts(page: str, expected: list[tuple[int, str]]) -> None:
    assert told(page) == expected


def test_a_softmax_of_every_row_leaves_tokens_as_rows() -> None:
    page = (
        "## Answer\n\nFor\n\n$$Q = K = I_2$$\n\nthe scaled scores are\n\n$$S = \\begin{bmatrix} 0.707 & 0 \\\\ 0 & 0.707 \\end{bmatrix}.$$\n\nRow-wise "
        "softmax gives\n\n$$A = \\begin{bmatrix} 0.670 & 0.330 \\\\ 0.330 & 0.670 \\end{bmatrix}.$$\n\nWith $$V = \\begin{bmatrix} 2 & 0 \\\\ 0 & 4 "
        "\\end{bmatrix}$$\n\nthe output is\n\n$$O = \\begin{bmatrix} 1.340 & 0.660 \\\\ 1.321 & 2.679 \\end{bmatrix}.$$\n"
    )
    assert [c.formula for c in claims(page)][:2] == ["scores / √d_k", "softmax(S)"]


RUNNING = """s = (1; 0), g_1 = (1; 0), g_2 = (0; 2), U = [[0, 1], [1, 0.5]]

|       | U g_i  | s + U g_i |
|-------|--------|-----------|
| $g_1$ | (0; 1) | (1; 1)    |
| $g_2$ | (2; 1) | (3; 2)    |
"""


def test_vectors_under_formulas_that_run_are_claims_of_their_own_and_no_chain() -> None:
    found = [(claim.line, claim.verdict.value) for claim in claims(RUNNING)]
    assert found == [(5, "right"), (5, "right"), (6, "right"), (6, "wrong")]


BOXES = """Q2 = [[0, 1], [1, 0]], K2 = [[0, 1], [1, 0]]

Q2 K2ᵀ = ┌ 1  0 ┐
         └ 0  1 ┘

After scaling:

(Q2 K2ᵀ) / √2

≈ ┌ 0.7071  0      ┐
  └ 0       0.7071 ┘
"""


def test_corners_of_a_box_are_brackets_and_words_end_a_chain() -> None:
    assert [(claim.line, claim.verdict.value) for claim in claims(BOXES)] == [(3, "right"), (10, "rounded")]
