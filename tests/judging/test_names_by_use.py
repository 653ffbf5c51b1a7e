"""What formulas do with a name, and the words above it, say what it is where its letter says something else or nothing."""

from __future__ import annotations

import pytest

from judging.judged import claims


def told(text: str) -> list[tuple[int, str]]:
    """The line and the verdict of every claim."""
    return [(claim.line, str(claim.verdict)) for claim in claims(text)]


def wrong_cells(text: str) -> list[tuple[int, int, int]]:
    """The line, the row and the column of every cell that is called wrong."""
    return [(c.line, x.row, x.column) for c in claims(text) for x in c.cells if x.verdict == "wrong"]


STATES = r"""
$L = [[1, 1], [2, 0]]$, $W = [[0, 1], [1, 1], [2, -1]]$, $X = [[1, 2], [3, 4], [5, 6]]$

$L W^\top = [[1, 2, 1], [0, 2, 4]]$

$R = L W^\top/\sqrt{2} = [[0.707, 1.414, 0.707], [0.000, 1.414, 2.828]]$

$A = softmax(R) = [[0.248, 0.503, 0.248], [0.045, 0.187, 0.768]]$

$Z = A X = [[2.999, 3.999], [4.446, 5.446]]$
"""


def test_keys_that_are_given_are_no_copy_of_the_states_that_are_mixed() -> None:
    assert {verdict for _, verdict in told(STATES)} <= {"right", "rounded", "drifted"}
    assert 2 not in [line for line, _ in told(STATES)]  # W is given


LETTERS = """## Task

Compute softmax(f^T U K^T) K.

f = [[0.8], [-0.2], [0.8]]
K = [[0.9, 0.2, -0.5], [0.3, -0.5, -0.5], [0.5, 0.4, 0.9]]
U = [[0.2, 0.2, 0.1], [0.2, -0.3, -0.2], [0.9, 0.6, 0.9]]

## Solution

f^T U K^T = [[0.476, -0.518, 1.4456]]
h = softmax(f^T U K^T) = [[0.248, 0.092, 0.660]]
l = h K = [[0.581, 0.268, 0.425]]
"""


def test_a_result_that_no_formula_goes_on_with_is_no_logits_whatever_its_letter() -> None:
    assert told(LETTERS) == [(11, "wrong"), (12, "rounded"), (13, "rounded")]
    assert wrong_cells(LETTERS) == [(11, 1, 3)]  # 1.456


TAKEN = """Task

Compute softmax(a b^T) c. The mask is causal: a token sees itself and the tokens before it.

a = [[1, 0], [0, 1]]
b = [[2, 1], [1, 3]]
c = [[1, 2], [3, 4]]

Solution

t = a b^T = [[2, 1], [1, 3]]
u = {u}
g = softmax(u) = [[1.000, 0.000], [0.119, 0.881]]
h = g c = [[1.000, 2.000], [2.762, 3.762]]
"""


@pytest.mark.parametrize(
    ("shown", "wrong"),
    [
        ("[[2, -inf], [1, 3]]", []),
        ("[[2, -inf], [1, 4]]", [(12, 2, 2)]),
        ("[[2, 1], [1, 3]]", [(12, 1, 2)]),  # the mask was forgotten
    ],
)
def test_what_a_softmax_is_taken_of_is_what_the_task_makes_of_it(shown: str, wrong: list[tuple[int, int, int]]) -> None:
    assert wrong_cells(TAKEN.replace("{u}", shown)) == wrong


WORDS = """Task

Compute softmax(maple^T amber^T) amber.

maple = [[0.5], [1.2]]
amber = [[1, 0], [1, 1], [0, 1]]

Solution

copper = [[0.5, 1.7, 1.3]]
pine = softmax(copper) = [[0.153, 0.507, 0.340]]
gold = pine amber = [[0.660, 0.847]]
"""


def test_a_word_that_a_softmax_is_taken_of_holds_scores_and_is_no_token() -> None:
    assert wrong_cells(WORDS) == [(10, 1, 3)]  # 0.5·0 + 1.2·1 = 1.2


CAPTIONED = """## Task

Compute $softmax(S J^T) Y$.

Tokens $X$:

$[[1, 1], [0, -1]]$

Weights of the queries $U$:

$[[0, 1], [0, 1]]$

Weights of the keys $Q$:

$[[1, 0], [3, -1]]$

Weights of the values $M$:

$[[-1, 2], [2, 0]]$

## Solution

Queries $S$: $[[0, 2], [0, -1]]$

Keys $J$: $[[4, -1], [-3, 1]]$

Values $Y$: $[[1, 2], [-2, 1]]$
"""


def test_matrices_that_words_call_weights_project_under_the_letters_of_queries_and_masks() -> None:
    assert wrong_cells(CAPTIONED) == [(27, 2, 2)]  # 0·2 + (−1)·0 = 0


HEAD_BY_HEAD = """## Task

Compute $softmax(S_1 G_1^T) Q_1$ for each head.

Tokens:

$j_1 = [[0, 2]]$

$j_2 = [[2, 0]]$

Weights of the queries:

$Z_1 = [[1, 3], [1, -1]]$

Weights of the keys:

$H_1 = [[1, 1], [1, 0]]$

## Solution

Queries:

$S_1 = [[0, 2], [2, 0]]$

Keys:

$G_1 = J H_1 = [[2, 0], [2, 2]]$

Scores:

$S_1 G_1^T = [[0, 4], [4, 4]]$
"""


def test_a_matrix_is_no_single_state_that_attends_and_what_follows_from_it_is_carried() -> None:
    assert told(HEAD_BY_HEAD) == [(23, "wrong"), (27, "right"), (31, "carried")]


APART = """Q = [[1, 2], [0, 1]], K = [[1, 0], [1, 1]], V = [[1, 2], [3, 4]]

u = [[5, 1], [1, 5]]
g = softmax(u) = [[0.982, 0.018], [0.018, 0.982]]
h = g V = [[1.036, 2.036], [2.964, 3.964]]
"""


def test_what_a_softmax_is_taken_of_is_given_where_nothing_else_gives_any_of_it() -> None:
    assert told(APART) == [(4, "rounded"), (5, "rounded")]


RESULT = """Q = [[1, 2], [0, 1]], K = [[1, 0], [1, 1]]

The result is

P = [[1, 3], [0, 1]]

A = softmax(P) = [[0.119, 0.881], [0.269, 0.731]]
"""


def test_a_result_that_a_formula_goes_on_with_is_not_the_last() -> None:
    assert {verdict for _, verdict in told(RESULT)} <= {"right", "rounded"}
