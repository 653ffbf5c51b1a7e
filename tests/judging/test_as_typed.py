"""Hand-ins as people type them: what the task asks for decides, and what was rounded on the way is nobody's slip."""

from __future__ import annotations

import pytest

import qkv

QK = "Q = [[2, 1], [0, 1], [1, 3]]\n\nK = [[1, 1], [2, 0], [0, 2]]\n\nV = [[4, 0], [1, 5], [2, 2]]\n\n"
ASKED = f"Find the output of the layer softmax(QK^T / sqrt(d_k)) V where d_k = 2.\n\n{QK}"
STATED = f"We use Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V.\n\n{QK}d_k = 2\n\nScores:\n\n"
UNSCALED = (
    "| | k1 | k2 | k3 |\n|--|--|--|--|\n| **q1** | 3 | 4 | 2 |\n| **q2** | 1 | 0 | 2 |\n| **q3** | 4 | 2 | 6 |\n\n"
    "Softmax of every row:\n\n* row 1: (0.2447, 0.6652, 0.0900)\n* row 2: (0.2447, 0.0900, 0.6652)\n"
    "* row 3: (0.1173, 0.0159, 0.8668)\n"
)


def verdicts(text: str) -> list[tuple[int, str]]:
    """The lines of a document that something is said of, with what is said."""
    return [(claim.line, claim.verdict.value) for claim in qkv.check(text).claims]


@pytest.mark.parametrize("task", [ASKED, STATED], ids=["asked for", "stated for the whole"])
def test_a_scale_that_the_formula_of_the_page_has_is_missed(task: str) -> None:
    report = qkv.check(task + UNSCALED)
    wrong = [claim for claim in report.claims if claim.verdict == "wrong"]
    assert [claim.cause.mistake for claim in wrong if claim.cause] == ["no scale"]


def test_where_the_formula_is_denied_the_scale_is_not_missed() -> None:
    said = verdicts(f"{STATED}To keep it short we leave out the scale.\n\n{UNSCALED}")
    assert {verdict for _, verdict in said} == {"right", "rounded"}


MASKED = """Causal self-attention, three tokens, d_k = 1.

Q = [[1], [2], [1]]

K = [[1], [0], [2]]

V = [[5, 1], [2, 2], [1, 7]]

Weights after the mask:

| | on 1 | on 2 | on 3 |
|---|---|---|---|
| token 1 | 1.000 | 0.000 | 0.000 |
| token 2 | {row} |
| token 3 | 0.245 | 0.090 | 0.665 |
"""


def test_a_mask_may_be_forgotten_in_one_row() -> None:
    right = qkv.check(MASKED.format(row="0.881 | 0.119 | 0.000")).claims[-1]
    wrong = qkv.check(MASKED.format(row="0.117 | 0.016 | 0.867")).claims[-1]
    assert right.verdict == "rounded"
    assert wrong.verdict == "wrong"
    assert {cell.row for cell in wrong.cells if cell.verdict == "wrong"} == {2}
    assert wrong.cause is not None
    assert "mask forgotten" in wrong.cause.mistake


GROWING = """Causal self-attention, d_k = 1. Q = [[1], [2], [1]], K = [[1], [0], [2]]

Softmax:

  token 1:   1
  token 2:   0.881  {second}
  token 3:   0.245  0.090  0.665
"""


def test_lines_that_grow_leave_out_what_a_mask_hides() -> None:
    assert verdicts(GROWING.format(second="0.119"))[-1][1] == "rounded"
    wrong = qkv.check(GROWING.format(second="0.191")).claims[-1]
    assert wrong.verdict == "wrong"
    assert [(cell.row, cell.column) for cell in wrong.cells if cell.verdict == "wrong"] == [(2, 2)]


RESULTS = """Queries Q = (11, 2), (13, 4); keys K = (5, 7), (12, 2); values V = (6, 0), (0, 4). No scaling.

| # | what | answer |
|---|------|--------|
| 1 | raw scores | 69, 136 ; 93, {cell} |
| 2 | attention weights | 0.0000, 1.0000 ; 0.0000, 1.0000 |
"""


def test_a_table_of_results_has_words_beside_arrays() -> None:
    assert [verdict for _, verdict in verdicts(RESULTS.format(cell="164"))] == ["right", "rounded"]
    assert verdicts(RESULTS.format(cell="146"))[0][1] == "wrong"


SHARES = """Scores: s = [2.31, 1.07, 2.5]

e^2.31 = 10.1
e^1.07 = 2.9
e^2.5 = 12.2

Sum: 10.1 + 2.9 + 12.2 = 25.2

Weights: a_1 = {first}, a_2 = 0.1151, a_3 = 0.4841
"""


def test_weights_of_rounded_exponentials_are_no_slip() -> None:
    assert {verdict for _, verdict in verdicts(SHARES.format(first="0.4008"))} <= {"rounded", "drifted"}
    assert {verdict for _, verdict in verdicts(SHARES.format(first="0.4408"))} & {"wrong", "unread"}


PUT_IN = """S = [[2.3, 3.8], [1.3, 1.4]]

V = [[1.9, 0.5], [0.8, 1.3]]

Z = softmax(S) V = [[0.2, 0.8], [0.5, 0.5]] [[1.9, 0.5], [0.8, 1.3]] = [[1.02, {cell}], [1.35, 0.90]]
"""


def test_rounded_numbers_that_are_put_in_are_worked_with() -> None:
    assert verdicts(PUT_IN.format(cell="1.14"))[-1][1] == "drifted"
    assert verdicts(PUT_IN.format(cell="1.41"))[-1][1] == "wrong"


COPIED = """A = softmax([[1, 0], [0, 2]]) = [[0.731, 0.269], [0.{second}, 0.881]]

V = [[1, 0], [0, 2]]

Z = A V = [[0.731, 0.538], [0.119, 1.762]]
"""


def test_a_slip_of_the_pen_that_nobody_goes_on_with_carries_nothing() -> None:
    assert [verdict for _, verdict in verdicts(COPIED.format(second="119"))][-1] in ("right", "rounded", "drifted")
    said = [verdict for _, verdict in verdicts(COPIED.format(second="191"))]
    assert "wrong" in said
    assert "carried" not in said


AGAIN = """h_1 = (1, 0, 1), h_2 = (0, 2, 1), s = (1, 1, 0), s' = (0, 1, -1). Dot scores, not scaled.

α = (0.2689, 0.7311)

c = Σ_i α_i h_i = (0.269, 1.462, 1.000)

α' = (0.1192, 0.8808)

c' = ({first}, 1.762, 1.000)
"""


def test_a_prime_is_another_one_of_the_same() -> None:
    assert verdicts(AGAIN.format(first="0.119"))[-1][1] not in ("wrong", "carried")
    assert verdicts(AGAIN.format(first="0.911"))[-1][1] == "wrong"


def test_a_matrix_that_logits_are_made_with_is_no_scores() -> None:
    page = "Q = [[1, 1], [2, 0]], K = [[0, 1], [1, 1]], V = [[1, 0], [0, 2]], d_k = 2\n\n"
    page += "Outputs Z are turned into logits ZU with U = [[1, 0, 1], [0, 1, -1]].\n\nQ K^T = [[1, 2], [0, 2]]\n\n"
    page += "A = [[0.330, 0.670], [0.196, 0.804]]\n"
    assert [verdict for _, verdict in verdicts(page)] == ["right", "rounded"]


def test_a_name_whose_items_code_changes_is_not_what_it_was_given() -> None:
    page = "```python\nz = np.array([1, 2, 4])\np = softmax(z)\ndz = p.copy()\ndz[1] -= 1\n```\n\n"
    page += "p = [0.0420, 0.1142, 0.8438]\n\ndz = [0.0420, -0.8858, 0.8438]\n"
    said = dict(verdicts(page))
    assert said[8] == "rounded"
    assert said.get(10) not in ("wrong", "carried", "misrounded")


PRINTED = ">>> A = softmax(np.array([[1, 2, 4]]))\n>>> A\narray([[0.0420, 0.1142, 0.8438]])\n>>> A @ V\narray([[{}]])\n"


def test_what_a_program_prints_is_rounded() -> None:
    page = "V = [[301], [202], [103]]\n\n```python\n" + PRINTED + "```\n"
    assert verdicts(page.format("122.6229"))[-1][1] in ("rounded", "drifted")
    assert verdicts(page.format("126.2229"))[-1][1] == "wrong"


def test_a_star_between_a_number_and_a_bracket_multiplies() -> None:
    assert verdicts("W_K und W_V: je 4096*(8*128) = 4194304 Parameter.") == [(1, "right")]
    assert verdicts("W_K und W_V: je 4096*(8*128) = 4194034 Parameter.") == [(1, "wrong")]


def test_what_is_about_a_name_is_taken_for_it() -> None:
    page = "X = [[1, 3], [2, 4]]\n\nN = LayerNorm(X) ≈ X\n\nW = [[1, 0], [1, 1]]\n\nK = N W = [[4, 3], [6, 4]]\n"
    assert verdicts(page) == [(7, "right")]
    assert verdicts(page.replace("[6, 4]", "[6, 5]")) == [(7, "wrong")]


HEADS = """X has the rows **x₁ = [1, 0]** and **x₂ = [0, 2]**. Head 1 gives (3.5, 2), head 2 gives (1, -1.5); side by side:

| token | head 1 | head 2 |
|---|---|---|
| x₁ | 3.5 | 1 |
| x₂ | 2 | {last} |
"""


def test_tokens_beside_their_heads_are_rows_of_all_heads() -> None:
    found = verdicts(HEADS.format(last="-1.5"))
    assert {verdict for _, verdict in found} <= {"right", "rounded", "unread"}


ABOVE = """Q

| | 1 | 2 |
|---|---|---|
| **le** | 1,0 | 0,5 |
| **chat** | -0,5 | 2,0 |

K

| | 1 | 2 |
|---|---|---|
| **le** | 1,0 | 2,0 |
| **chat** | 0,0 | 1,5 |

**1.** Produits scalaires, S = QKᵀ (ligne : requête)

| | le | chat |
|---|---|---|
| **le** | {first} |
| **chat** | {second} |
"""


def test_a_table_below_a_formula_is_its_value() -> None:
    """K was not transposed: 1·1 + 0.5·0 = 1 for 1·1 + 0.5·2 = 2."""
    assert verdicts(ABOVE.format(first="2,00 | 0,75", second="3,50 | 3,00"))[-1][1] == "right"
    wrong = qkv.check(ABOVE.format(first="1,00 | 2,75", second="-0,50 | 2,00")).claims[-1]
    assert (wrong.verdict.value, wrong.cause.mistake if wrong.cause else None) == ("wrong", "K not transposed")


APART = """$Q = \\begin{{bmatrix}} 1 & 1 \\\\ 0 & 2 \\\\ -1 & 1 \\end{{bmatrix}}$, $K = \\begin{{bmatrix}} 1 & 1 \\\\ 1 & 0 \\\\ 0 & 1 \\end{{bmatrix}}$

Scores are not scaled, no mask.

1. What is $QK^\\top$?
2. What are the attention weights of token 2?
3. What are the attention weights of token 3?

## Answer page

1. $\\begin{{bmatrix}} 2 & 1 & 1 \\\\ 2 & 0 & 2 \\\\ 0 & -1 & 1 \\end{{bmatrix}}$
2. 0.4683, 0.0634, 0.4683
3. {last}
"""


def test_answers_apart_from_their_questions_go_by_their_numbers() -> None:
    """Softmax of (0, -1, 1): 0.2447, 0.0900, 0.6652."""
    assert {verdict for _, verdict in verdicts(APART.format(last="0.2447, 0.0900, 0.6652"))} <= {"right", "rounded"}
    assert verdicts(APART.format(last="0.2447, 0.0900, 0.6625"))[-1] == (13, "wrong")


def test_a_quotient_behind_scaled_scores_is_their_value() -> None:
    page = "q = [[1,0],[0,2]]\n\nk = [[1,0],[0,2]]\n\nscale = 1/sqrt(2)\n\nscores = q·kᵀ * scale = [[1,0],[0,4]] / 1.41421\n"
    assert "wrong" not in {verdict for _, verdict in verdicts(page)}
