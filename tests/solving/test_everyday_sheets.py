"""Small sheets as people type them, solved from their text: what each question is answered with."""

from __future__ import annotations

import pytest
from test_labelled_answers import shown

QUIZ = "x1 = [2, 1]\nx2 = [1, 3]\nWq = [[1, 0], [1, 1]]\nWk = [[0, 1], [1, 0]]\nWv = [[1, 1], [0, 2]]\n\n"
LETTERS = "".join(
    f"{what}:\n- {letter}_A: {first}\n- {letter}_B: {second}\n\n"
    for what, letter, first, second in (
        ("queries", "q", [1, 0], [0, 2]),
        ("keys", "k", [1, 1], [0, 1]),
        ("values", "v", [5, 0], [0, 5]),
    )
)
TABLE = (
    "Requête : $q = (1, 1, 0)$\n\n| position | clé | valeur |\n|---|---|---|\n| 1 | (1, 0, 1) | (4, 0) |\n| 2 | (0, 2, 0) | (0, 4) |\n"
    "| 3 | (1, 1, 1) | (2, 2) |\n\n1. Donnez le vecteur de sortie (2 décimales).\n2. Que devient la sortie si la position 2 est masquée ?\n"
)
SCALED = (
    "In a decoder with causal masking the score matrix (already scaled) is\n\n```\n 2.0   1.0\n 1.0   3.0\n```\n\n"
    "a) Write down the masked score matrix.\nb) If V = [[1, 0], [0, 1]], compute the output to 3 decimals.\n"
)
HEADS = (
    "X = ((1,2),(3,4)), two heads with\nW1Q = ((1,0),(0,1)), W1K = ((0,1),(1,0)), W1V = ((1,1),(0,1))\n"
    "W2Q = ((1,1),(0,1)), W2K = ((1,0),(0,1)), W2V = ((2,0),(0,1))\n\na) Compute the output of each head to 2 decimals.\n"
)


@pytest.mark.parametrize(("question", "answer"), [
    ("q1, k1, v1 = ?", {"q_1": (("3", "1"),), "k_1": (("1", "2"),), "v_1": (("2", "4"),)}),
    ("Attention score of token 2 on token 1?", {"S[2, 1]": (("10",),)}),
    ("Attention weights for token 2 (use sqrt(dk) scaling)?", {"A[2]": (("0.0283179", "0.971682"),)}),
    ("Output z2, to three significant digits?", {"z_2": (("1.03", "6.92"),)}),
])  # fmt: skip
def test_names_that_only_questions_use(question: str, answer: object) -> None:
    assert shown(QUIZ + f"(a) {question}\n") == [answer]


@pytest.mark.parametrize(("question", "answer"), [
    ("score(A,B)", {"S[1, 2]": (("0",),)}),
    ("weights for B", {"A[2]": (("0.500000", "0.500000"),)}),
    ("new vector for B", {"Z[2]": (("2.50000", "2.50000"),)}),
])  # fmt: skip
def test_letters_that_name_tokens(question: str, answer: object) -> None:
    assert answer in shown(LETTERS + f"Tasks\n1) {question}\n2) the attention weights\n")


def test_a_position_that_is_masked_in_one_question_only() -> None:
    first, second = shown(TABLE)
    assert first == {"Z": (("1.66", "2.34"),)}
    assert list(second.values()) == [(("2.71909", "1.28091"),)]


def test_scores_that_words_give_are_where_one_begins() -> None:
    masked, output = shown(SCALED)
    assert masked == {"S_masked": (("2", "-inf"), ("1", "3"))}
    assert output == {"Z": (("1.000", "0.000"), ("0.119", "0.881"))}


def test_a_letter_a_number_and_a_letter_are_one_name() -> None:
    assert [list(parts) for parts in shown(HEADS)] == [["Z_1", "Z_2"]]
    assert shown(HEADS)[0]["Z_1"] == (("2.97", "6.94"), ("3.00", "7.00"))


def test_a_question_is_answered_by_the_formula_above_it() -> None:
    """What a later question states anew is another problem with the same givens."""
    text = (
        "The encoder states are h_1 = [1, 2], h_2 = [3, 4], the decoder state is s = [1, 1]. W = [[1,0],[1,1]].\n\n"
        "a. Let e_j = s · h_j. Compute the scores.\n\nb. Now let e_j = s^T W h_j. Compute the scores.\n"
    )
    assert [list(answer.values()) for answer in shown(text)] == [[(("3", "7"),)], [(("4", "10"),)]]


EXAM = (
    "$$X=\\begin{pmatrix}1&0&1\\\\0&1&0\\\\1&1&0\\end{pmatrix},\\; W_q=\\begin{pmatrix}1&0\\\\0&1\\\\1&0\\end{pmatrix},\\; "
    "W_k=\\begin{pmatrix}0&1\\\\1&0\\\\1&1\\end{pmatrix},\\; W_v=\\begin{pmatrix}1&2\\\\0&1\\\\1&0\\end{pmatrix}$$\n\n"
    "(a) Hence find the first row of the attention matrix, correct to 3 d.p. [2 marks]\n\n(b) Find the output vector $z_1$.\n\n"
    "(c) Suppose a causal mask is applied. Which entries of the attention matrix become zero and what is the new $z_2$?\n"
)


def test_a_mask_that_one_question_supposes_holds_for_it_alone() -> None:
    weights, output, masked = shown(EXAM)
    assert (weights["A[1]"], output["z_1"]) == ((("0.333", "0.333", "0.333"),), (("1.00000", "2.00000"),))
    assert masked["Z' (causal)[2]"] == (("1.60886", "1.80443"),)


def test_polish() -> None:
    text = (
        "Dane są zapytanie $q = [1, 2]$, klucze $k_1 = [1, 0]$, $k_2 = [0, 1]$ oraz wartości $v_1 = 1$, $v_2 = 2$.\n\n"
    )
    text += "1. Oblicz iloczyny skalarne.\n2. Oblicz wagi uwagi (softmax, bez skalowania).\n3. Oblicz wynik.\n"
    assert [list(answer.values()) for answer in shown(text)] == [
        [(("1", "2"),)], [(("0.268941", "0.731059"),)], [(("1.73106",),)]
    ]  # fmt: skip


def test_scores_that_are_given_row_after_row_are_not_all_scores() -> None:
    rows = "Zeile 1: scores = [1, 0]\n\nSoftmax: [0.731, 0.269]\n\nZeile 2: scores = [1, 1]\n\nSoftmax: [0.5, 0.5]\n\n"
    page = f"Q = [1, 0; 0, 1], K = [1, 1; 0, 1], V = [2, 0; 0, 2].\n\nQ K^T = [1, 0; 1, 1]\n\n{rows}A = [0.731, 0.269; 0.5, 0.5]\n"
    assert shown(f"{page}\n(a) Compute O = A V.\n") == [{"O": (("1.46212", "0.537883"), ("1", "1"))}]
