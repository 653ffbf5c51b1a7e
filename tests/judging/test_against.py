"""A solution judged against the assignment: the givens and conventions come from there, exercise by exercise."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import qkv
from qkv.check.model import BAD, Claim, Report, Verdict

ASSIGNMENT = r"""# Problem set 3

## Exercise 1
Let $Q=\begin{pmatrix}1&2\\0&1\end{pmatrix}$, $K=\begin{pmatrix}1&0\\2&1\end{pmatrix}$, $V=\begin{pmatrix}2\\4\end{pmatrix}$.
Compute the scaled dot-product attention.

## Exercise 2
Let $Q=\begin{pmatrix}1&1\end{pmatrix}$, $K=\begin{pmatrix}2&0\\0&1\\1&1\end{pmatrix}$,
$V=\begin{pmatrix}1&0\\0&1\\1&1\end{pmatrix}$. Compute the output without scaling.
"""
FIRST = r"""$$QK^T = \begin{pmatrix}1&4\\0&1\end{pmatrix}$$
$$A = \begin{pmatrix}0.107&0.893\\0.330&0.670\end{pmatrix}$$
$$AV = \begin{pmatrix}3.786\\3.340\end{pmatrix}$$
"""
SECOND = r"""$$QK^T = \begin{pmatrix}2&1&2\end{pmatrix}$$
$$A = \begin{pmatrix}0.422&0.155&0.422\end{pmatrix}$$
$$AV = \begin{pmatrix}0.845&0.578\end{pmatrix}$$
"""


def verdicts(report: Report) -> list[Verdict]:
    return [claim.verdict for claim in report.claims]


def slips(report: Report) -> list[Claim]:
    return [claim for claim in report.claims if claim.verdict is Verdict.WRONG]


@pytest.mark.parametrize(
    "solution",
    [
        f"## Exercise 1\n{FIRST}\n## Exercise 2\n{SECOND}",
        f"## Exercise 2\n{SECOND}\n## Exercise 1\n{FIRST}",
        f"**Q2.** {SECOND}",
        f"Ex. 1: done on paper.\n\n## 2. Without a scale\n\n### Scores\n{SECOND}",
    ],
)
def test_each_exercise_is_judged_by_its_own_givens(solution: str) -> None:
    report = qkv.check(solution, against=ASSIGNMENT)
    assert len(report.claims) >= 3
    assert set(verdicts(report)) <= {Verdict.RIGHT, Verdict.ROUNDED, Verdict.DRIFTED}


def test_without_the_assignment_only_what_follows_from_the_page_is_said() -> None:
    given = qkv.check(f"## Exercise 2\n{SECOND}")  # scores with nothing behind them are given
    assert [(claim.line, claim.verdict) for claim in given.claims] == [(3, Verdict.ROUNDED), (4, Verdict.UNREAD)]


def test_a_slip_in_the_second_exercise_is_found() -> None:
    wrong = SECOND.replace("2&1&2", "2&2&2")
    report = qkv.check(f"## Exercise 1\n{FIRST}\n## Exercise 2\n{wrong}", against=ASSIGNMENT)
    assert [(claim.line, claim.cells[0].column) for claim in slips(report)] == [(7, 2)]


def test_a_miscopied_given_is_the_slip_and_the_rest_follows() -> None:
    solution = r"""## Exercise 1
$Q=\begin{pmatrix}1&2\\0&1\end{pmatrix}$, $K=\begin{pmatrix}1&0\\2&2\end{pmatrix}$, $V=\begin{pmatrix}2\\4\end{pmatrix}$
$$QK^T = \begin{pmatrix}1&6\\0&2\end{pmatrix}$$
$$A = \begin{pmatrix}0.028&0.972\\0.196&0.804\end{pmatrix}$$
"""
    report = qkv.check(solution, against=ASSIGNMENT)
    (slip,) = slips(report)
    assert (slip.name, slip.line, slip.cells[0].shown, slip.cells[0].expected) == ("K", 2, "2", "1")
    carried = [claim for claim in report.claims if claim.verdict is Verdict.CARRIED]
    assert [claim.line for claim in carried] == [3, 4]
    assert slip.id in carried[0].follows_from


def test_what_the_assignment_says_of_masks_holds_for_the_solution() -> None:
    assignment = (
        "Causal self-attention. Q = [[1, 0], [1, 1]], K = [[1, 2], [0, 1]], V = [[1], [3]]. Compute the output."
    )
    solution = "A = [[1, 0], [0.804, 0.196]]\n\nOutput = [[1], [1.391]]"
    report = qkv.check(solution, against=assignment)
    assert set(verdicts(report)) <= {Verdict.RIGHT, Verdict.ROUNDED, Verdict.DRIFTED}
    assert len(report.claims) == 2


IN_WORDS = """Q = [[1, 0], [1, 1]], K = [[1, 2], [0, 1]], V = [[1], [3]]

The mask is causal: a token sees itself and the tokens before it.

1. Compute the scores $S = Q K^T$.
2. Compute the weights $A = softmax(S / \\sqrt{d_k})$.
3. Compute the output $Z = A V$.
"""


@pytest.mark.parametrize("between", ["", "S_masked = [[0.707, -inf], [2.121, 0.707]]\n\n"])
def test_a_mask_in_words_holds_for_the_formulas_of_the_assignment(between: str) -> None:
    solution = f"S = [[1, 0], [3, 1]]\n\n{between}A = [[1, 0], [0.804, 0.196]]\n\nZ = [[1], [1.391]]\n"
    assert not set(verdicts(qkv.check(solution, against=IN_WORDS))) & set(BAD)


def test_a_mask_in_words_may_be_forgotten() -> None:
    task = IN_WORDS.replace("[[1, 0], [1, 1]]", "[[1, 0], [0, 2], [1, 1]]").replace("[[1], [3]]", "[[1], [3], [0]]")
    solution = "A = [[0.284, 0.576, 0.140], [0.446, 0.108, 0.446], [0.401, 0.401, 0.198]]\n"
    [slip] = slips(qkv.check(solution, against=task.replace("[[1, 2], [0, 1]]", "[[1, 1], [2, 0], [0, 1]]")))
    assert (slip.line, slip.cause and slip.cause.mistake) == (1, "mask forgotten")


# — two classes of our own, with NumPy as the one who knows —

Array = NDArray[np.float64]


def softmax(scores: Array) -> Array:
    powers = np.exp(scores)
    return powers / powers.sum(axis=1, keepdims=True)


def cell(x: float, digits: int) -> str:
    return "-∞" if np.isneginf(x) else f"{x:.{digits}f}"


def lists(m: Array, digits: int = 3) -> str:
    return "[" + ", ".join("[" + ", ".join(cell(x, digits) for x in row) + "]" for row in m) + "]"


def latex(m: Array, digits: int = 3) -> str:
    rows = r" \\ ".join(" & ".join(cell(x, digits) for x in row) for row in m)
    return rf"\begin{{pmatrix}} {rows} \end{{pmatrix}}".replace("-∞", r"-\infty")


def lines(m: Array, digits: int = 3) -> str:
    return "\n".join("    " + "  ".join(cell(x, digits) for x in row) for row in m)


def table(m: Array, digits: int = 3) -> str:
    head = "| " + " | ".join(f"c{i + 1}" for i in range(m.shape[1])) + " |\n" + "|---" * m.shape[1] + "|\n"
    return head + "\n".join("| " + " | ".join(cell(x, digits) for x in row) + " |" for row in m)


def with_cell(m: Array, i: int, j: int, x: float) -> Array:
    made = m.copy()
    made[i, j] = x
    return made


X = np.array([[1.0, 0], [0, 2], [1, 1]])
W_Q, W_K, W_V = np.array([[1.0, 2], [0, 1]]), np.array([[0.0, 1], [1, 1]]), np.array([[2.0, 0], [1, 3]])
Q, K, V = X @ W_Q, X @ W_K, X @ W_V
S = Q @ K.T
P = S / np.sqrt(2)
N = np.where(np.tri(3) > 0, P, -np.inf)
A, OPEN = softmax(N), softmax(P)
UNSCALED = softmax(np.where(np.tri(3) > 0, S, -np.inf))

MASKED_TASK = f"""# Sheet 5: masked self-attention

The rows of X are the embeddings of three tokens:

$$X = {latex(X, 0)}$$

$$W_Q = {latex(W_Q, 0)}, \\quad W_K = {latex(W_K, 0)}, \\quad W_V = {latex(W_V, 0)}$$

1. Compute $Q$, $K$ and $V$.
2. Compute the scaled scores $QK^T/\\sqrt{{d_k}}$ and apply the causal mask.
3. Compute the attention weights $A$.
4. Compute the output $Z = AV$.
"""

HandIn = tuple[str, int | None, str]  # what is handed in, the line of its fault, and what the fault is called

MASKED: dict[str, HandIn] = {
    "lists": (
        f"Q = X W_Q = {lists(Q, 0)}\nK = X W_K = {lists(K, 0)}\nV = X W_V = {lists(V, 0)}\n\n"
        f"QK^T/sqrt(2) = {lists(P)}\n\nmasked: {lists(N)}\n\nA = {lists(A)}\n\nZ = A V = {lists(A @ V)}\n",
        None,
        "",
    ),
    "latex with other names": (
        f"$$E = \\frac{{QK^\\top}}{{\\sqrt{{2}}}} = {latex(P, 2)}$$\n\n$$\\alpha = {latex(A, 2)}$$\n\n$$O = \\alpha V = {latex(A @ V, 2)}$$\n",
        None,
        "",
    ),
    "token by token": (
        "\n\n".join(
            f"### Token {i + 1}\n\n- q{i + 1} = ({Q[i, 0]:g}, {Q[i, 1]:g})\n- weights: "
            + ", ".join(cell(x, 3) for x in A[i])
            + f"\n- output: z{i + 1} = ({(A @ V)[i, 0]:.3f}, {(A @ V)[i, 1]:.3f})"
            for i in range(3)
        ),
        None,
        "",
    ),
    "says what it would be": (
        f"Q = {lists(Q, 0)}\nK = {lists(K, 0)}\nV = {lists(V, 0)}\n\n"
        f"Without the mask the weights would be {lists(OPEN)}.\n\nWith it: A = {lists(A)}\n\nZ = {lists(A @ V)}\n",
        None,
        "",
    ),
    "no mask": (
        f"Q = {lists(Q, 0)}\nK = {lists(K, 0)}\nV = {lists(V, 0)}\n\nA = {lists(OPEN)}\n\nZ = {lists(OPEN @ V)}\n",
        5,
        "mask",
    ),
    "no scale": (
        f"Abfragen:\n\n{lines(Q, 0)}\n\nGewichte:\n\n{lines(UNSCALED)}\n\nAusgabe:\n\n{lines(UNSCALED @ V)}\n",
        9,
        "√d_k",
    ),
    "W_V miscopied": (
        f"W_V = {lists(with_cell(W_V, 1, 1, 2), 0)}\n\nV = XW_V = {lists(X @ with_cell(W_V, 1, 1, 2), 0)}\n\n"
        f"A = {lists(A)}\n\nZ = {lists(A @ X @ with_cell(W_V, 1, 1, 2))}\n",
        1,
        "",
    ),
    "a slip in a table": (
        f"**Q**\n\n{table(Q, 0)}\n\n**Weights**\n\n{table(with_cell(A, 2, 1, 0.557))}\n\n**Z**\n\n"
        f"{table(with_cell(A, 2, 1, 0.557) @ V)}\n",
        13,
        "",
    ),
}

X4 = np.array([[1.0, 0, 1, 0], [0, 1, 0, 1]])
HEADS = [
    (np.array([[1.0, 0], [0, 1], [1, 0], [0, 1]]), np.array([[2.0, 1], [1, 0], [1, 1], [0, 1]]), np.array([[1.0, 2], [0, 1], [1, 0], [2, 0]])),
    (np.array([[0.0, 1], [1, 1], [0, 0], [1, 0]]), np.array([[1.0, 0], [0, 2], [0, 1], [1, 1]]), np.array([[0.0, 1], [3, 0], [1, 1], [0, 1]])),
]  # fmt: skip
W_O = np.array([[1.0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 2]])
SCORES = [(X4 @ q) @ (X4 @ k).T for q, k, _ in HEADS]
A_1, A_2 = (softmax(s / np.sqrt(2)) for s in SCORES)
V_1, V_2 = (X4 @ v for _, _, v in HEADS)
H_1, H_2 = A_1 @ V_1, A_2 @ V_2
C = np.hstack([H_1, H_2])
WIDE = [softmax(s / 2) for s in SCORES]  # divided by √d_model
C_WIDE = np.hstack([WIDE[0] @ V_1, WIDE[1] @ V_2])

HEADS_TASK = (
    f"# Exercise 2\n\nTwo tokens are the rows of $X = {latex(X4, 0)}$. Two heads with d_k = 2 have\n\n"
    + "\n\n".join(
        f"$$W_Q^{{({i})}} = {latex(q, 0)}, W_K^{{({i})}} = {latex(k, 0)}, W_V^{{({i})}} = {latex(v, 0)}$$"
        for i, (q, k, v) in enumerate(HEADS, 1)
    )
    + f"\n\nand $$W_O = {latex(W_O, 0)}$$\n\n(a) Compute scaled dot-product attention (scaled by $\\sqrt{{d_k}}$) for both heads.\n"
    "(b) Concatenate the heads and multiply by $W_O$.\n"
)


def two_heads(a: Array, b: Array, first: Array, second: Array, out: Array) -> str:
    return f"A_1 = {lists(a)}\n\nA_2 = {lists(b)}\n\nhead_1 = {lists(first)}\n\nhead_2 = {lists(second)}\n\nOutput = {lists(out)}\n"


TWO_HEADS: dict[str, HandIn] = {
    "lists": (two_heads(A_1, A_2, H_1, H_2, C @ W_O), None, ""),
    "latex": (
        f"$$Q_1 = {latex(X4 @ HEADS[0][0], 0)}, K_1 = {latex(X4 @ HEADS[0][1], 0)}, V_1 = {latex(V_1, 0)}$$\n\n"
        f"$$A_1 = {latex(A_1)}$$\n\n$$Z_1 = A_1 V_1 = {latex(H_1)}$$\n\n$$Z_2 = {latex(H_2)}$$\n\n"
        f"$$\\mathrm{{Concat}}(Z_1, Z_2) W_O = {latex(C @ W_O)}$$\n",
        None,
        "",
    ),
    "grids under headings": (
        f"## Head 1\n\nWeights:\n\n{lines(A_1)}\n\nOutput:\n\n{lines(H_1)}\n\n"
        f"## Head 2\n\nWeights:\n\n{lines(A_2)}\n\nOutput:\n\n{lines(H_2)}\n",
        None,
        "",
    ),
    "only the end": (f"O = {lists(C @ W_O, 2)}\n", None, ""),
    "√d_model": (two_heads(*WIDE, WIDE[0] @ V_1, WIDE[1] @ V_2, C_WIDE @ W_O), 1, ""),
    "values of the other head": (two_heads(A_1, A_2, A_1 @ V_2, H_2, np.hstack([A_1 @ V_2, H_2]) @ W_O), 5, ""),
    "a slip in a weight": (
        two_heads(A_1, with_cell(A_2, 1, 0, 0.5), H_1, with_cell(A_2, 1, 0, 0.5) @ V_2,
                  np.hstack([H_1, with_cell(A_2, 1, 0, 0.5) @ V_2]) @ W_O),
        3,
        "",
    ),
    "heads the wrong way round": (two_heads(A_1, A_2, H_1, H_2, np.hstack([H_2, H_1]) @ W_O), 9, "order"),
}  # fmt: skip

CLASSES = [(MASKED_TASK, name, *hand_in) for name, hand_in in MASKED.items()]
CLASSES += [(HEADS_TASK, name, *hand_in) for name, hand_in in TWO_HEADS.items()]


@pytest.mark.parametrize(("task", "name", "text", "line", "cause"), CLASSES, ids=[row[1] for row in CLASSES])
def test_a_class(task: str, name: str, text: str, line: int | None, cause: str) -> None:
    report = qkv.check(text, against=task)
    bad = [(claim.line, claim.verdict) for claim in report.claims if claim.verdict in BAD]
    assert any(claim.verdict is not Verdict.UNREAD for claim in report.claims), name
    wrong = [claim for claim in report.claims if claim.verdict is Verdict.WRONG]
    if line is None:
        assert bad == []
    else:
        assert wrong, "nothing was found"
        assert wrong[0].line <= line <= wrong[0].end_line
        assert cause in (wrong[0].cause.says if wrong[0].cause is not None else "")
        again = [claim for claim in wrong[1:] if claim.cause is None or claim.cause != wrong[0].cause]
        assert again == []  # the same mistake in another head is a slip there, the rest is carried


def test_nothing_handed_in_is_not_fine() -> None:
    for text in ("", "I was ill all week, sorry.\n"):
        assert qkv.check(text, against=MASKED_TASK).is_empty


# — names, mentions and departures —

OPEN_TASK = MASKED_TASK.replace("masked self-attention", "self-attention").replace(" and apply the causal mask", "")
OPEN_TASK = OPEN_TASK.replace("weights $A$", r"weights $A = softmax(S)$ with $S = QK^T/\sqrt{d_k}$")
RAW = softmax(S)


@pytest.mark.parametrize(
    "text",
    [
        f"S = QK^T = {lists(S, 0)}\n\nS' = S/√2 = {lists(P)}\n\nA = softmax(S') = {lists(OPEN)}\n",
        f"S = {lists(S, 0)}\n\nS/√2 = {lists(P)}\n\nA = {lists(OPEN)}\n",
        f"P = {lists(P, 1)}\n\nA = {lists(softmax(np.round(P, 1)), 2)}\n",
        f"E = exp(S) = {lists(np.exp(P))}\n\nA = {lists(OPEN)}\n\nZ^T = {lists((OPEN @ V).T)}\n",
    ],
)
def test_other_names_for_the_same_steps_are_no_slips(text: str) -> None:
    report = qkv.check(text, against=OPEN_TASK)
    assert not report.is_empty
    assert [claim for claim in report.claims if claim.verdict in BAD] == []


@pytest.mark.parametrize(
    ("text", "line", "cause"),
    [
        (f"S = {lists(S, 0)}\n\nA = softmax(S) = {lists(RAW)}\n\nZ = AV = {lists(RAW @ V)}\n", 3, "√d_k"),
        (f"A = {lists(P)}\n\nZ = {lists(P @ V)}\n", 1, "softmax"),
        (f"Q = {lists(K, 0)}\n\nV = {lists(V, 0)}\n", 1, "W_K in place of W_Q"),
        (f"d_k = 3\n\nQK^T/√3 = {lists(S / np.sqrt(3))}\n\nA = {lists(softmax(S / np.sqrt(3)))}\n", 1, ""),
        (f"After masking: A = {lists(A)}\n\nZ = {lists(A @ V)}\n", 1, "no mask"),
    ],
)
def test_another_method_is_a_slip_where_it_departs(text: str, line: int, cause: str) -> None:
    report = qkv.check(text, against=OPEN_TASK)
    (slip,) = slips(report)
    assert (slip.line, cause in (slip.cause.says if slip.cause is not None else "")) == (line, True)


def test_what_is_asked_once_more_with_a_mask_is_not_held_against_the_first_run() -> None:
    task = OPEN_TASK + "5. Repeat with a causal mask: compute the weights and the output again.\n"
    first = f"A = {lists(OPEN)}\n\nZ = {lists(OPEN @ V)}\n"
    for text in (first, f"{first}\nWith the mask:\n\nA = {lists(A)}\n\nZ = {lists(A @ V)}\n"):
        assert [claim for claim in qkv.check(text, against=task).claims if claim.verdict in BAD] == []


@pytest.mark.parametrize(("shown", "verdict"), [("5.66", "rounded"), ("6.66", "wrong"), ("566", "misread")])
def test_a_typed_digit_is_a_slip_and_a_lost_point_is_damage(shown: str, verdict: str) -> None:
    page = f"S = [8 16; 4 8]\nT = S / √2 = [{shown} 11.31; 2.83 5.66]\n"
    assert [claim.verdict.value for claim in qkv.check(page).claims] == [verdict]


CROSS = r"""The decoder has the states $D = \begin{bmatrix} 1 & 0 \\ 1 & 2 \end{bmatrix}$, the encoder
$E = \begin{bmatrix} 1 & 1 \\ 0 & 2 \\ 2 & 0 \end{bmatrix}$, and $W_Q = \begin{bmatrix} 1 & 0 \\ 1 & 1 \end{bmatrix}$,
$W_K = \begin{bmatrix} 0 & 1 \\ 1 & 0 \end{bmatrix}$.

(a) Compute $Q = D W_Q$ and $K = E W_K$.
(b) Compute the scores $S = QK^\top$ without scaling.
"""


@pytest.mark.parametrize("formula", ["E W_Q = ", ""])
def test_another_input_than_the_assignment_says_is_a_slip_in_whatever_shape(formula: str) -> None:
    text = f"Q = {formula}[2 1; 2 2; 2 0]\n\nK = [1 1; 2 0; 0 2]\n\nS = [3 4 2; 4 4 4; 2 4 0]\n"
    report = qkv.check(text, against=CROSS)
    assert verdicts(report) == [Verdict.WRONG, Verdict.RIGHT, Verdict.CARRIED]
    assert report.claims[0].cause is not None
    assert "E in place of D" in report.claims[0].cause.says


def test_what_is_shown_of_an_answer_need_not_be_all_of_it() -> None:
    text = "Q = [1 0; 3 2]\n\nK = [1 1; 2 0; 0 2]\n\nq_2 = [3 2]\n\nS = [1 2 0; 5 6 4]\n"
    assert not slips(qkv.check(text, against=CROSS))


HEADS = r"""Two heads have the values $V_1 = \begin{bmatrix} 2 & 1 \\ 1 & 3 \end{bmatrix}$ and
$V_2 = \begin{bmatrix} 0 & 1 \\ 4 & 2 \end{bmatrix}$, the queries and keys
$Q_1 = \begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix}$, $K_1 = \begin{bmatrix} 1 & 1 \\ 0 & 2 \end{bmatrix}$,
$Q_2 = \begin{bmatrix} 1 & 1 \\ 0 & 1 \end{bmatrix}$, $K_2 = \begin{bmatrix} 2 & 0 \\ 1 & 1 \end{bmatrix}$, and the output matrix
$W_O = \begin{bmatrix} 1 & 0 & 0 & 1 \\ 0 & 1 & 1 & 0 \\ 1 & 1 & 0 & 0 \\ 0 & 0 & 1 & 1 \end{bmatrix}$.

1. Compute the attention weights $A_1$ and $A_2$, scores divided by $\sqrt{2}$.
2. Compute $H_1 = A_1V_1$ and $H_2 = A_2V_2$.
3. Concatenate the heads and multiply by $W_O$: the output $O$.
"""
WEIGHTS_1 = "Head 1\n\nweights\n\n0.670 0.330\n0.330 0.670\n\noutput of the head\n\n1.670 1.660\n1.330 2.340\n\n"


def test_what_follows_from_weights_without_a_name_is_carried_to_the_end() -> None:
    wrong = "Head 2\n\nweights\n\n0.500 0.500\n0.670 0.330\n\noutput of the head\n\n2.000 1.500\n1.320 1.330\n\n"
    output = "output O\n\n3.670 3.660 3.160 3.170\n2.650 3.660 3.670 2.660\n"
    report = qkv.check(f"{WEIGHTS_1}{wrong}{output}", against=HEADS)
    assert [claim.line for claim in slips(report)] == [17]
    assert verdicts(report)[-1] is Verdict.CARRIED


@pytest.mark.parametrize(
    ("more", "slip"), [("", True), ("\n\nO W_O = [3.670 3.660 3.160 3.170; 4.009 5.019 4.009 3.000]", False)]
)
def test_heads_are_not_the_output_that_is_asked_for(more: str, slip: bool) -> None:
    text = "H_1 = [1.670 1.660; 1.330 2.340]\n\nH_2 = [2.000 1.500; 2.679 1.670]\n\nO = [1.670 1.660 2.000 1.500; 1.330 2.340 2.679 1.670]"
    report = qkv.check(text + more, against=HEADS)
    assert any(claim.name == "O" and claim.verdict is Verdict.WRONG for claim in report.claims) is slip
