"""What a question asks for, however it is worded: a line a wording, in many languages."""

from __future__ import annotations

import pytest
from test_labelled_answers import WORDS, answers, shown

WORDINGS = [
    ("Compute Z for the third token.", ["Z[3]"]),
    ('What is the new vector for "cats"?', ["Z[3] (“cats”)"]),
    ("Scale the scores by the square root of d_k.", ["S_scaled"]),
    ("Divide the scores by sqrt(d_k).", ["S_scaled"]),
    ("What are the attention weights for the word love?", ["A[2] (“love”)"]),
    ('How much attention does "love" pay to "cats"?', ["A[2, 3] (“love”, “cats”)"]),
    ("Give the context vector of the last token.", ["Z[3] (“cats”)"]),
    ("Determine the attention matrix.", ["A"]),
    ("Normalise the scores with softmax, row by row.", ["A"]),
    ("Find the attention distribution over the tokens for the query 'I'.", ["A[1] (“I”)"]),
    ("Project the embeddings to queries, keys and values.", ["Q", "K", "V"]),
    ("Write down the raw (unscaled) scores.", ["S"]),
    ("Work out the output of the attention layer.", ["Z"]),
    ("What does the head output?", ["Z"]),
    ("Compute the dot product between the query of cats and the key of love.", ["S[3, 2] (“cats”, “love”)"]),
    ('Find the query of "love" and all keys.', ["Q[2] (“love”)", "K"]),
    ("Scale by the square root of the key dimension and apply softmax.", ["A"]),
    ("Compute the scores, normalise them with softmax and find the output.", ["S", "A", "Z"]),
    ("(4 pts) Compute the scores.", ["S"]),
    ("What is the sum of each row of A?", ["rowsum(A)"]),
    ("Verify that every row of the weights sums to 1.", ["rowsum(A)"]),
    ("Which element of A is the smallest?", ["min(A)"]),
    ("Stellen Sie Q, K und V auf.", ["Q", "K", "V"]),
    ("Berechnen Sie die Zeilensummen der Gewichte.", ["rowsum(A)"]),
    ("Berechnen Sie die Ausgabe für das Wort „cats“.", ["Z[3] (“cats”)"]),
    ("Wie lauten die Query-, Key- und Value-Vektoren?", ["Q", "K", "V"]),
    ("Bestimmen Sie die Aufmerksamkeitsmatrix.", ["A"]),
    ("Bestimme die Kontextvektoren.", ["Z"]),
    ("Skalieren Sie die Scores.", ["S_scaled"]),
    ("Calculez les requêtes, les clés et les valeurs.", ["Q", "K", "V"]),
    ("Calculer les poids d'attention.", ["A"]),
    ("Donner la sortie de la couche d'attention.", ["Z"]),
    ("Calculez le vecteur de contexte du troisième mot.", ["Z[3] (“cats”)"]),
    ("Calcule las matrices Q, K y V.", ["Q", "K", "V"]),
    ("Calcula los pesos de atención.", ["A"]),
    ("Calcula las puntuaciones escaladas.", ["S_scaled"]),
    ("¿Cuál es la salida para la segunda palabra?", ["Z[2] (“love”)"]),
    ("Calcule os pesos de atenção.", ["A"]),
    ("Determine a saída da atenção.", ["Z"]),
    ("Calcola i pesi di attenzione.", ["A"]),
    ("Determinare l'output della self-attention.", ["Z"]),
    ("Вычислите матрицы запросов, ключей и значений.", ["Q", "K", "V"]),
    ("Найдите веса внимания.", ["A"]),
    ("Чему равен выход слоя внимания?", ["Z"]),
    ("计算注意力权重。", ["A"]),
    ("求输出矩阵。", ["Z"]),
    ("计算查询、键和值矩阵。", ["Q", "K", "V"]),
    ("计算缩放后的分数。", ["S_scaled"]),
    ("アテンション重みを求めよ。", ["A"]),
    ("出力を計算せよ。", ["Z"]),
    ("어텐션 가중치를 구하시오.", ["A"]),
    ("Bereken de aandachtsgewichten.", ["A"]),
    ("Oblicz wagi uwagi.", ["A"]),
    ("Dikkat ağırlıklarını hesaplayın.", ["A"]),
]


@pytest.mark.parametrize(("question", "names"), WORDINGS)
def test_wordings(question: str, names: list[str]) -> None:
    assert [list(parts) for parts in shown(WORDS + f"a) {question}\n")] == [names]


TASK = """# Aufgabe 3

X = [1 2; 0 1; 2 0], W_Q = [1 0; 1 1], W_K = [0 1; 1 0], W_V = [2 0; 0 1]

"""
MASKED_ROWS = (("1.000", "0.000", "0.000"), ("0.804", "0.196", "0.000"), ("0.768", "0.187", "0.045"))


@pytest.mark.parametrize("questions", [
    "a) Compute Q, K and V.\nb) Find the scaled scores with a causal mask.\nc) Give the weights to three decimal places.\n",
    "a) Berechnen Sie Q, K und V.\nb) Bestimmen Sie die skalierten Scores mit Kausalmaske.\nc) Geben Sie die Gewichte auf drei "
    "Nachkommastellen an.\n",
])  # fmt: skip
def test_a_mask_that_is_said_before_the_weights_are_asked_for_holds_for_them(questions: str) -> None:
    _, masked, weights = shown(TASK + questions)
    assert list(masked) == ["S_masked"]
    assert weights == {"A": MASKED_ROWS}


def test_a_mask_that_is_said_after_the_weights_holds_for_its_own_question() -> None:
    first, second = shown(
        TASK + "a) Find the weights to 3 decimals.\nb) Now find the weights with a causal mask to 3 decimals.\n"
    )
    assert first["A"] != MASKED_ROWS
    assert list(second.values()) == [MASKED_ROWS]


def test_a_numbered_step_between_questions_is_one() -> None:
    found = shown(TASK + "1. Compute the scores.\n2. Scale them by sqrt(2).\n3. Apply softmax.\n")
    assert [list(parts) for parts in found] == [["S"], ["S_scaled"], ["A"]]


@pytest.mark.parametrize("given", ["S = [2, 1, 0]", "Scores: 2, 1, 0", "scores = [2, 1, 0]"])
def test_scores_alone_are_enough_for_weights(given: str) -> None:
    assert shown(f"{given}\n\na) Find the attention weights to 3 decimals.\n") == [
        {"A": (("0.665", "0.245", "0.090"),)}
    ]


def test_vectors_that_words_call_keys_are_all_of_them() -> None:
    text = (
        "The query is q = (1, 0). The first token has key (1, 0) and value (2, 3), the second token has key (0, 1) and "
        "value (4, 5).\n\na) Compute the attention output to 3 decimals.\n"
    )
    assert shown(text) == [{"Z": (("2.660", "3.660"),)}]


def test_a_name_of_a_token_is_its_row() -> None:
    text = "x1 = [1, 0, 1]\nx2 = [0, 1, 0]\n\nWq = identity, Wk = identity, Wv = identity\n\na) The attention output for x1?\n"
    assert [list(parts) for parts in shown(text)] == [["Z[1]"]]


@pytest.mark.parametrize("questions", [
    "a) attention scores\nb) attention weights\nc) outputs\n",
    "Compute:\na) the scores\nb) the weights\nc) the output of every token\n",
    "Find (a) the scores, (b) the attention weights and (c) the outputs.\n",
])  # fmt: skip
def test_items_that_only_name_a_quantity_ask_for_it(questions: str) -> None:
    assert [list(parts) for parts in shown(TASK + questions)] == [["S"], ["A"], ["Z"]]


def test_a_question_may_speak_of_another_by_its_letter() -> None:
    found = answers(TASK + "(a) Find the scores. (b) Find the weights. (c) How large would (b) be without scaling?\n")
    assert [answer.label for _, answer in found] == ["(a)", "(b)", "(c)"]


def test_rounding_that_an_item_asks_for_is_its_own() -> None:
    first, second = shown(TASK + "1. Compute Q.\n2. What is the output? Round to two decimals.\n")
    assert first["Q"][0] == ("3", "2")
    assert second["Z"][0] == ("2.06", "1.86")


def test_labels_that_a_latex_list_gives_its_items() -> None:
    text = (
        r"\documentclass{article}\begin{document}$Q = \begin{pmatrix} 1 & 0 \end{pmatrix}$, $K = \begin{pmatrix} 1 & 1 \\ 2 & 1 \end{pmatrix}$"
        "\n\\begin{enumerate}\n\\item[(a)] (4 pts) Compute $S = QK^T$.\n\\item[(b)] Compute the weights.\n\\end{enumerate}\n\\end{document}\n"
    )
    assert [answer.label for _, answer in answers(text)] == ["(a)", "(b)"]
