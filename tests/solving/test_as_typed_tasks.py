"""Tasks as people type them: what is done to a quantity, positions, heads and hidden keys said in other words."""

from __future__ import annotations

import json

import pytest

import qkv
from qkv.library.said import heads_said, sights_said


def answers(text: str) -> dict[str, list[str]]:
    """The labels of questions with the names of what answers them."""
    problems = json.loads(qkv.solve(text).to_json(digits=6))["problems"]
    return {
        answer["label"].strip("()."): [part["name"] for part in answer["values"]]
        for p in problems
        for answer in p["answers"]
    }


def values(text: str) -> dict[str, list[list[str]]]:
    """What a document comes to, by name."""
    problems = json.loads(qkv.solve(text).to_json(digits=6))["problems"]
    return {step["name"]: step["value"] for p in problems for step in p["steps"]}


RESIDUAL = "X = [[1, 2, 0], [3, 0, 1]], Z = [[1, 0, 1], [2, 2, 0]]\n\n1. Compute the residual R = X + Z.\n2. {}\n"


@pytest.mark.parametrize(
    "question",
    [
        "Apply layer norm to each row of R, without parameters.",
        "Compute the layer norm of every row of R (epsilon = 0).",
        "Appliquer la normalisation de couche à chaque ligne de R, avec ε = 0.",
    ],
)
def test_what_is_done_to_a_quantity_is_asked_for(question: str) -> None:
    text = RESIDUAL.format(question)
    (name,) = answers(text)["2"]
    assert name != "R"
    assert values(text)[name][0] == ["0.707107", "0.707107", "-1.41421"]


WAVES = """E = [[1, 0], [0.5, -1], [0, 1]]

Positional encoding is `PE(pos) = (sin(pos), cos(pos))`.

1. Compute X = E + PE.
2. With Q = K = V = X, compute the attention weights, scaled by 1/√2.
"""


def test_positions_are_as_many_as_tokens() -> None:
    assert values(WAVES)["X"] == [["1", "1"], ["1.34147", "-0.459698"], ["0.909297", "0.583853"]]
    assert answers(WAVES)["2"] == ["A"]


def test_a_sum_is_answered_by_itself_and_not_by_what_its_letter_suggests() -> None:
    text = "Q = [[1, 0]], K = [[1, 1], [0, 2]], V = [[3, 1], [0, 2]], X = [[1, 1]]\n\n"
    text += "a) Compute the output Z = softmax(Q K^T) V.\nb) Compute R = X + Z.\n"
    found = answers(text)
    assert found["b"] == ["R"]
    assert "Z" in found["a"]


def test_a_remark_in_brackets_asks_for_nothing() -> None:
    text = "Q = [[1, 0], [0, 1]], K = [[1, 1], [0, 2]]\n\n"
    text += "**2.2** Compute the attention weights (a matrix whose rows sum to 1).\n"
    assert answers(text)["2.2"] == ["A"]


@pytest.mark.parametrize(
    "text",
    [
        "Two heads, so every head gets two columns.",
        "A two-headed attention: head 1 works on columns 1-2 of X.",
        "Слой внимания с двумя головами. Первой голове достаются первые столбцы, второй последние.",
    ],
)
def test_heads_are_counted_in_other_words(text: str) -> None:
    assert heads_said(text) == 2


@pytest.mark.parametrize(
    ("text", "padded"),
    [
        ("The encoder has four states, the last one a <pad>.", (-1,)),
        ("o codificador quatro, sendo a última um `<pad>`.", (-1,)),
        (r"третий токен --- заполнитель \texttt{[PAD]}.", (3,)),
        ("Then I set the last column to -inf.", (-1,)),
    ],
)
def test_a_key_that_nobody_sees_is_told_by_its_place(text: str, padded: tuple[int, ...]) -> None:
    assert [sight.padded for sight in sights_said(text)] == [padded]


EVEN = "Q = [[0], [0]], K = [[1], [5]], V = [[2], [4]]. "


@pytest.mark.parametrize(
    "said",
    [
        "No hay máscara de ningún tipo.",
        "不使用掩码,不加偏置。",
        "We do not use any mask.",
        "On n'applique pas de masque.",
        "マスクなし。",
    ],
)
def test_a_mask_that_is_denied_is_no_mask(said: str) -> None:
    assert values(f"{EVEN}{said}\n\nCompute the output of attention.\n")["Z"] == [["3"], ["3"]]


def test_accents_of_latex_are_letters() -> None:
    page = r"Le jeton de remplissage est en deuxi\`eme position.\[Q=\begin{pmatrix}0\\0\end{pmatrix},"
    page += r"K=\begin{pmatrix}1\\5\end{pmatrix},V=\begin{pmatrix}2\\4\end{pmatrix}\] Calculer la sortie."
    assert values(rf"\begin{{document}}{page}\end{{document}}")["Z"] == [["2"], ["2"]]


STATES = "Encoder states h1 = (1, 0), h2 = (0, 1); decoder state s = (0, 0). Dot scores, no scaling.\n\n"
CUT = "W_c = [[2, 0, 0, 0], [0, 0, 1, 0]]\n\n1. Find the context vector c.\n2. Find the attentional {}.\n"


@pytest.mark.parametrize("asked", ["state tanh(W_c [c; s])", "vector, which is tanh( W_c [c ; s] )"])
def test_a_list_in_a_call_needs_no_marks_of_mathematics(asked: str) -> None:
    answers = [a for t in qkv.solve(STATES + CUT.format(asked)).traces for a in t.program.answers]
    assert [answer.parts != () for answer in answers] == [True, True]
    assert "tanh" in answers[1].parts[0].name


def test_a_name_that_the_page_states_is_answered_by_itself() -> None:
    text = STATES + CUT.format("state $\\tilde{h} = \\tanh(W_c [c; s])$")
    (answer,) = [a for t in qkv.solve(text).traces for a in t.program.answers if a.label.startswith("2")]
    assert [part.name for part in answer.parts] == ["h_tilde"]
