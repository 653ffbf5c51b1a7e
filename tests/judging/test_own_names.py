"""Pages under names that usually stand for something else: the page's own words and formulas decide."""

from __future__ import annotations

import pytest

import qkv
from qkv.judging.report import check_sheet
from qkv.reader import read_sheet

HEADS = """## Task

Compute softmax(q_1 k_1^T / √4) v_1 for both heads.

x = [[1, 1], [0, -1]]
a_1 = [[1, 0, 0, 3], [3, 0, 1, 0]]
a_2 = [[-1, 1, 0, 3], [0, 0, 1, 1]]
b_1 = [[2, 3, -1, 2], [0, -1, -1, 1]]
b_2 = [[1, 1, 1, 0], [-1, 1, 2, 0]]
c_1 = [[1, 1], [1, 1]]
c_2 = [[3, -1], [-1, 2]]

## Solution

q_1 = x a_1 = [[4, 0, 1, 3], [-3, 0, -1, 0]]
k_1 = x b_1 = [[2, 2, -2, 3], [0, 1, 1, -1]]
v_1 = x c_1 = [[2, 2], [-1, -1]]
t_1 = q_1 k_1^T = [[15, -2], [-4, -1]]
u_1 = softmax(t_1 / √4) = [[1.000, 0.000], [0.182, 0.818]]
alpha_1 = u_1 v_1 = [[1.999, 1.999], [-0.453, -0.453]]
q_2 = x a_2 = [[-1, 1, 1, 4], [0, 0, -1, -1]]
k_2 = x b_2 = [[0, 2, 3, 0], [1, -1, -2, 0]]
v_2 = x c_2 = [[2, 1], [1, -2]]
t_2 = q_2 k_2^T = [[5, -4], [-3, 2]]
u_2 = softmax(t_2 / √4) = [[0.989, 0.011], [0.076, 0.924]]
alpha_2 = u_2 v_2 = [[1.989, 0.967], [1.076, -1.772]]
"""


def verdicts(text: str) -> dict[str, str]:
    return {claim.name: claim.verdict.value for claim in check_sheet(read_sheet(text)).claims if claim.name}


def test_matrices_with_a_number_are_those_of_heads_whatever_their_letter_says() -> None:
    """α_1 is usually a row of weights; here it is all that the first head gives."""
    assert set(verdicts(HEADS).values()) <= {"right", "rounded", "drifted"}


GENERAL = """## Task

Compute softmax(s^T W H^T) H.

W = [[0, 1], [2, 0]]
s = [[1], [2]]
H = [[1, 0], [1, 1]]

## Solution

alpha = s^T W H^T = [[4, 5]]
b = softmax(alpha) = [[0.269, 0.731]]
c = b H = [[1, 0.731]]
"""


def test_scores_of_one_column_that_asks_are_scores_under_the_letter_of_weights() -> None:
    assert verdicts(GENERAL) == {"alpha": "right", "b": "rounded", "c": "rounded"}


CROSS = """## Task

Compute softmax(L Z^T / √2) V.

Weights of the queries:

$$G = \\begin{bmatrix} 1 & 0 \\\\ 0 & 2 \\end{bmatrix}$$

Weights of the keys:

$$A = \\begin{bmatrix} 1 & 1 \\\\ 0 & 1 \\end{bmatrix}$$

Weights of the values:

$$P = \\begin{bmatrix} 2 & 0 \\\\ 1 & 1 \\end{bmatrix}$$

Tokens:

$$X = \\begin{bmatrix} 1 & 1 \\\\ 0 & 1 \\end{bmatrix}$$

## Solution

Queries: $L = X G = \\begin{bmatrix} 1 & 2 \\\\ 0 & 2 \\end{bmatrix}$

Keys: $Z = \\begin{bmatrix} 1 & 2 \\\\ 0 & 5 \\end{bmatrix}$

Values: $V = X P = \\begin{bmatrix} 3 & 1 \\\\ 1 & 1 \\end{bmatrix}$
"""


def test_a_given_matrix_that_is_called_the_weights_of_the_keys_is_no_attention_weights() -> None:
    """With A as W_K the keys are known, and the slip in them is found."""
    found = {claim.name: [(d.row, d.column) for d in claim.cells] for claim in check_sheet(read_sheet(CROSS)).claims}
    assert found["Z"] == [(2, 2)]
    assert found["L"] == found["V"] == []


BULLETS = """## Task

Compute softmax(lambda Delta^T) rho.

Queries lambda:
- the: [0, 2]
- cat: [1, 2]

Keys Delta:
- the: [0, 1]
- cat: [2, 0]

Values rho:
- the: [3, 1]
- cat: [2, 1]

## Solution

Scores mu = lambda Delta^T:
- the: [2, 0]
- cat: [2, 2]

Weights eta = softmax(mu):
- the: [0.881, 0.119]
- cat: [0.5, 0.5]

Output chi = eta rho:
- the: [2.881, 1]
- cat: [2.5, 1]
"""


def test_a_word_above_bullets_is_a_name_where_formulas_use_it() -> None:
    assert verdicts(BULLETS) == {"mu": "right", "eta": "right", "chi": "right"}


def test_a_word_that_a_softmax_is_taken_of_is_a_name() -> None:
    text = "Scores $\\text{lantern}$:\n\n| | 1 | 2 |\n|---|---|---|\n| 1 | 2 | 0 |\n| 2 | 1 | 1 |\n\n"
    text += "$B = \\mathrm{softmax}(\\text{lantern})$:\n\n| | 1 | 2 |\n|---|---|---|\n| 1 | 0.881 | 0.119 |\n| 2 | 0.5 | 0.7 |\n"
    claims = check_sheet(read_sheet(text)).claims
    assert [(c.name, c.verdict.value, [(d.row, d.column) for d in c.cells]) for c in claims][-1] == (
        "B",
        "wrong",
        [(2, 2)],
    )


SWAPPED = """## Task

Compute softmax(X V^T) A.

Tokens S:

S = [[1, 0], [1, 1]]

L = [[1, 2], [0, 1]]
F = [[1, 0], [1, 1]]
H = [[2, 0], [0, 1]]

## Solution

Queries X = S L = [[1, 2], [1, 3]]

Keys V = S F = [[1, 0], [2, 1]]

Values A = S H = [[2, 0], [2, 1]]

Attention weights:

$$Q = \\begin{bmatrix} 0.047 & 0.953 \\\\ 0.018 & 0.928 \\end{bmatrix}$$
"""


def test_letters_that_usually_stand_for_each_other_are_what_formulas_and_captions_say() -> None:
    """S holds the tokens, X the queries, and Q the weights: only the last of these is false."""
    found = {claim.name: [(d.row, d.column) for d in claim.cells] for claim in check_sheet(read_sheet(SWAPPED)).claims}
    assert found == {"X": [], "V": [], "A": [], "Q": [(2, 2)]}


LISTED = """Query: [2, 1]
Keys:
  k1 = [1, 0]
  k2 = [0, 1]
  k3 = [1, 1]

Raw scores
  s1 = 2*1 + 1*0 = 2
  s2 = 2*0 + 1*1 = 1
  s3 = 2*1 + 1*1 = 3
Scaled (divide by sqrt(2) = 1.414)
  {0}1{1} = 1.414
  {0}2{1} = 0.707
  {0}3{1} = 2.212
"""


@pytest.mark.parametrize("name", [("s", "'"), ("t", ""), ("b", ""), ("u", "")])
def test_scaled_scores_one_by_one_under_any_name(name: tuple[str, str]) -> None:
    """The s'_2 is no s_2, and no transposed number; what stands in the brackets of a caption does not end it."""
    found = {claim.line: claim.verdict.value for claim in check_sheet(read_sheet(LISTED.format(*name))).claims}
    assert [found[line] for line in (12, 13, 14)] == ["rounded", "rounded", "wrong"]


@pytest.mark.parametrize("caption", ["Scores A P^T", "Pontuações A P^T", "Pontuações B P^T"])
def test_a_capital_amid_words_is_no_article(caption: str) -> None:
    name = caption.split()[1]
    page = f"Keys P:\n- the: [2, 3]\n- cat: [0, 5]\n\nQueries {name}:\n- the: [3, -1]\n- cat: [4, 1]\n\n"
    (claim,) = check_sheet(read_sheet(f"{page}{caption}:\n- the: [3, -5]\n- cat: [11, 5]\n")).claims
    assert claim.verdict == "right"
    assert claim.formula == f"{name} P^T"


def test_a_remark_in_brackets_keeps_a_caption_with_its_rows() -> None:
    page = "S = [[0, 0], [1, 1]]\n\nV = [[1, 2], [3, 4]]\n\nWeights (softmax) A = softmax(S):\n"
    page += "- the: [0.4, 0.6]\n- cat: [0.5, 0.5]\n\nO = A V = [[2.2, 3.2], [2, 3]]\n"
    assert verdicts(page) == {"A": "wrong", "O": "carried"}


def test_a_word_behind_a_transposed_name_is_a_factor() -> None:
    page = "Weights $\\text{Saffron}$:\n\n|  | 1 | 2 |\n|---|---|---|\n| 1 | 3 | 1 |\n| 2 | 0 | 2 |\n\n"
    page += "$\\text{maple} = [[1], [2]]$\n\nScores $e = \\text{maple}^\\top \\, \\text{Saffron} \\, H^\\top$:\n\n"
    page += "|  | 1 |\n|---|---|\n| 1 | 14 |\n"
    page = f"$H = [[3, 1]]$\n\n{page}"
    assert verdicts(page) == {"e": "right"}


def test_a_column_of_decimal_commas_has_one_number_in_each_row() -> None:
    page = "s = [[-0,1]; [0,2]; [0,5]]\n\nH = [[0,2; 0,9; 0,8]; [0,1; 0,4; -0,3]]\n\ne = s^T H^T = [0,56; -0,80]\n"
    assert verdicts(page) == {"e": "wrong"}


def test_a_row_of_a_matrix_above_is_not_that_of_a_later_example() -> None:
    """q_1 is a row of q, until the second head gives a q_1 of its own."""
    text = """
q = k = [[1, 0], [0, 1]], counted from 0
q0·k0 = 1, q1·k1 = 1
head 0: q0 = [1, 0], q1 = [0, 0]
head 1: q0 = [0, 0], q1 = [0, 1]
"""
    found = [claim.verdict.value for claim in check_sheet(read_sheet(text)).claims if claim.line == 3]
    assert found == ["right", "right"]


def test_a_chinese_letter_is_all_of_its_rows() -> None:
    page = "丙_1 = [1, 2]\n丙_2 = [3, 1]\n丁 = [[1, 2], [0, 1]]\n\n卯 = 丙 丁^T = [[5, 2], [5, 1]]\n"
    page += "\n己_2 = 丙_2 丁:\n     d1  d2\nd1    3   7\n"
    assert verdicts(page) == {"卯": "right", "己_2": "right"}


ONE_HEAD_CALLED_I = """V_i = [[1, 0], [0, 2]] [[3, 1], [1, 2]] = [[3, 1], [2, 4]]

V_2 = [[1, 0], [0, 2]] [[5, 4], [7, 2]] = [[5, 4], [14, 4]]

A = [[0.25, 0.75], [0.5, 0.5]]

Z = A V_2 = [[11.75, 4], [9.5, 5]]
"""


def test_numbers_put_in_for_one_index_hold_for_no_other() -> None:
    """A formula in i holds for every i; a working of one head that is called i does not."""
    (slip,) = [claim for claim in check_sheet(read_sheet(ONE_HEAD_CALLED_I)).claims if claim.verdict.value == "wrong"]
    assert [(cell.row, cell.column, cell.expected, cell.working) for cell in slip.cells] == [
        (2, 2, "4", "0.5·4 + 0.5·4 = 4")
    ]


def test_a_matrix_with_a_word_beside_its_letter_is_no_row_of_a_token() -> None:
    page = "Q_full = [[1, 0], [0, 1]], K_full = [[1, 0], [0, 1]], V_full = [[1, 0], [1, 1]]\n\nCompute the attention weights.\n"
    assert qkv.solve(page)["A"].decimals(3) == (("0.670", "0.330"), ("0.330", "0.670"))
