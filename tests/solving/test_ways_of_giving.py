"""Ways in which people give arrays, and what solve makes of them."""

from __future__ import annotations

import pytest
from test_labelled_answers import shown

import qkv

COLUMNS = "| word | Q（问） | K（签） | V（容） |\n|---|---|---|---|\n| a | [1, 0] | [0, 1] | [1, 0] |\n| b | [0, 1] | [1, 0] | [1, 1] |\n\n"
BEFORE = "Q = K = [[1, 0], [0, 1]], V = [[1, 2], [3, 4]], d_k = 2.\n\n"


def values(text: str) -> set[tuple[tuple[str, ...], ...]]:
    return {trace.digits(step.symbol, 4) for trace in qkv.solve(text).traces for step in trace.program.steps}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Query (Q): [1, 0], [0, 1]\nKey (K): [1, 0], [0, 2]\n\nCompute the scores.", (("1", "0"), ("0", "2"))),
        (COLUMNS + "Compute the weights.", (("0.3302", "0.6698"), ("0.6698", "0.3302"))),
        ("Given $Q K^T = [[4, 2], [1, 3]]$ and $d_k = 4$, compute the weights.", (("0.7311", "0.2689"), ("0.2689", "0.7311"))),
        ("q = [1, 0]\nK = [[1, 0], [0, 1]]\n\nscale = sqrt(2) ~ 1.414\n\nCompute the weights.", (("0.6698", "0.3302"),)),
    ],
)  # fmt: skip
def test_arrays_are_read_as_they_are_given(text: str, value: tuple[tuple[str, ...], ...]) -> None:
    assert value in values(text)


TWO = (("q", "[1, 0]", "[0, 1]"), ("k", "[1, 1]", "[0, 1]"), ("v", "[1, 0]", "[0, 1]"))


def _line(token: int, *, large: bool = False, between: str = ", ") -> str:
    return between.join(f"{row[0].upper() if large else row[0]} = {row[token]}" for row in TWO)


@pytest.mark.parametrize("given", [
    f"Token 1: {_line(1)}\nToken 2: {_line(2)}\n",
    f"- cat: {_line(1)}\n- dog: {_line(2)}\n",
    f'Token "cat": {_line(1, large=True)}\nToken "dog": {_line(2, large=True)}\n',
    f"A    {_line(1, between='    ')}\nB    {_line(2, between='    ')}\n",
    f"Wort 1:\n{_line(1, between=chr(10))}\n\nWort 2:\n{_line(2, between=chr(10))}\n",
    f"## Token 1\n{_line(1, between=chr(10))}\n\n## Token 2\n{_line(2, between=chr(10))}\n\n## Task\n",
])  # fmt: skip
def test_vectors_that_are_given_for_each_token_are_rows(given: str) -> None:
    assert (("0.6698", "0.3302"), ("0.5000", "0.5000")) in values(f"{given}\nCompute the attention output.\n")


def test_lines_that_only_call_rows_by_a_name_do_not_give_it_anew() -> None:
    table = "      q (query)   k (key)    v (value)\np0:   [1, 0]      [1, 0]     [1, 0]\np1:   [0, 1]      [1, 1]     [0, 1]\n"
    output = "q0 = 0.5·[1,0] + 0.5·[0,1] = [0.5, 0.5]\nq1 = 0.33·[1,0] + 0.67·[0,1] = [0.33, 0.67]\n"
    assert (("1", "1"), ("0", "1")) in values(f"{table}\nScale by sqrt(2). Output:\n\n{output}")


@pytest.mark.parametrize(("text", "value"), [
    ("Q = [1, 2]. The keys are K_A = [1, 0], K_B = [0, 1], K_C = [1, 1]; the values V_A = 1, V_B = 2, V_C = 3.\n\nOutput, scaled by sqrt(2)?", (("2.436",),)),
    ("Q =         K =         V =\n[           [           [\n 1  0    1  1    1  0\n 0  1    0  1    0  1\n]           ]           ]\n\nScores?", (("1", "0"), ("1", "1"))),
    ("Q (queries):   K (keys):\n[1, 0]         [1, 1]\n[0, 1]         [0, 1]\n\nScores?", (("1", "0"), ("1", "1"))),
    ("Sean q = (1, 0), k_1 = (1, 1), k_2 = (0, 1), v_1 = (2, 0), v_2 = (0, 2) y d = 2.\n\nCalcula la salida.", (("1.340", "0.6605"),)),
    ("Dati q = [1, 2] e le chiavi k1 = [1, 0] e k2 = [0, 1], senza scala: calcola i pesi.", (("0.2689", "0.7311"),)),
    ("Q = K = V =\n1 0\n0 1\n1 1\n\nCompute the scores.", (("1", "0", "1"), ("0", "1", "1"), ("1", "1", "2"))),
    ("query: 1, 0\nkey 1: 1, 0\nkey 2: 0, 1\nvalue 1: 5, 5\nvalue 2: 0, 10\n\nFind the attention output.", (("3.349", "6.651"),)),
    ("Query: 1 2 0\nk1: 1 0 1\nk2: 0 1 1\nv1: 10 0\nv2: 0 10\n\nFind the attention output.", (("3.595", "6.405"),)),
    ("The embeddings are\n\nI    -> 1 0\nlike -> 0 1\ntea  -> 1 1\n\nWq:\n1 0\n0 1\n\nWk:\n0 1\n1 0\n\nScores (not scaled)?", (("0", "1", "1"), ("1", "0", "1"), ("1", "1", "2"))),
    ("Hund = (2; 1), Katze = (0; 1). W_Q und W_K sind Einheitsmatrizen, W_V = 2·I. Berechne V.", (("4", "2"), ("0", "2"))),
    ("q = (1,1)\nKeys:  k1=(1,0)  k2=(0,2)\nValues: v1=10 v2=20\n\nAttention weights (no scaling)?", (("0.2689", "0.7311"),)),
    ("head 1: Q1 = 1 0\n             0 1\n        K1 = 1 1\n             0 1\n\nWhat are the scores of head 1?", (("1", "0"), ("1", "1"))),
    ("le = [1, 0], chat = [0, 1]. On prend Q = K = V = X et on ne divise pas par √d.\n\nCalculer les poids pour « chat ».", (("0.7311", "0.2689"), ("0.2689", "0.7311"))),
    ("Given:\n  Query: [2, 0]\n  Keys: [1, 0], [0, 1]\n  Values: [10], [20]\nCompute the attention output using dot products without scaling.", (("11.19",),)),
    ("Q = [[1,0],[0,1]], K = [[1,1],[0,1]], V = [[5,0],[0,5]], d = 1. Compute\na) the scores\nb) the output with a causal mask", (("5", "0"), ("2.500", "2.500"))),
    ("Q =    K =    V =\n1 0    1 1    2 2\n2 1    0 2    3 3\n\nScores?", (("1", "0"), ("3", "2"))),
    ("Weights: 0.6, 0.3, 0.1\nValues: [1, 2], [3, 4], [5, 6]\n\nOutput?", (("2", "3"),)),
])  # fmt: skip
def test_small_sheets_as_they_are_typed(text: str, value: tuple[tuple[str, ...], ...]) -> None:
    assert value in values(text)


def test_a_number_above_labelled_rows_is_no_name_of_these() -> None:
    (trace,) = qkv.solve("q = 3\nkeys: 1, 2, 3\nvalues: 10, 20, 30\n\nCompute the scores.\n").traces
    assert [given.spelled for given in trace.program.givens] == ["q", "K", "V"]


def test_letters_of_an_equation_are_no_words_where_the_page_defines_them() -> None:
    assert (("12",),) in values("y = 3, b = 2\n\na = 2 y b\n")


def test_scores_one_by_one_give_nothing_where_there_are_keys() -> None:
    given = "q = [1, 0]\nK = [[1, 0], [0, 1]]\n\nNo scaling.\n\n"
    made = values(given + "Score(it, cat) = 7\nScore(it, dog) = 0\n\nCompute the weights.\n")
    assert (("0.7311", "0.2689"),) in made
    assert (("0.9991", "0.0009111"),) not in made


def test_numbers_that_lines_below_each_other_work_out_are_shown_as_one_row() -> None:
    assert (("11", "13"),) in values("cat: 1*3 + 2*4 = 11\ndog: 3*1 + 5*2 = 13\n")


def test_the_last_of_several_names_above_a_table_is_not_the_name_of_its_first_column() -> None:
    text = "The Q、K、V 如下：\n\n| token | Query | Key | Value |\n|---|---|---|---|\n| a | (1, 2) | (1, 0) | (1, 0) |\n| b | (2, 1) | (0, 1) | (0, 1) |\n\nCompute the scores.\n"
    assert (("1", "2"), ("2", "1")) in values(text)


def test_what_a_softmax_is_taken_of_shows_that_scores_are_not_scaled() -> None:
    text = "q = [1, 0]\nK = [[1, 0], [0, 1], [1, 1]]\nV = [[1, 0], [0, 1], [1, 1]]\n\nsoftmax([1, 0, 1]) = [0.42, 0.16, 0.42]\n\nCompute the output.\n"
    assert (("0.8446", "0.5777"),) in values(text)


def test_scores_that_are_given_by_their_formula_are_no_claim() -> None:
    assert not qkv.check("$Q K^T = [[4, 2], [1, 3]]$ and $d_k = 4$.\n").claims


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Let q = [1, 2], k_1 = [3, 4], k_2 = [1, 0].\n\nCompute q^T k_1.", (("11",),)),
        (
            "s = [0.5, 0.2], h_1 = [0.1, 0.4], h_2 = [0.6, 0.3], v_a = [1, 1].\n\n$e_1 = v_a^T \\tanh(s + h_1), e_2 = v_a^T \\tanh(s + h_2)$\n\nCompute the context vector.",
            (("0.3735", "0.3453"),),
        ),
    ],
)  # fmt: skip
def test_a_product_of_two_flat_vectors_is_a_number(text: str, value: tuple[tuple[str, ...], ...]) -> None:
    assert value in values(text)


def test_weights_beside_a_softmax_that_is_written_out_are_its_shares() -> None:
    text = "$\\alpha_1 = \\frac{e^2}{e^2 + e^1 + e^0} = 0.67$, $\\alpha_2 = 2.72 / 11.11 = 0.24$, $\\alpha_3 = 0.08$.\n"
    assert (("0.6652", "0.2447", "0.09003"),) in values(text)


SCORES = "S = [[1.0, 0.5, -0.5], [0.2, 1.2, 0.1], [-0.4, 0.6, 1.5]]\n\n"


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("(b) How much weight does token 2 give to itself?", "0.588"),
        ("(b) How much weight did token 1 give to the future in (a)?", "0.453"),
        ("(b) What share of its attention does token 3 pay to the other tokens?", "0.357"),
    ],
)
def test_keys_may_be_said_in_a_word(question: str, value: str) -> None:
    later = "\n(c) Now with a causal mask: find the weights.\n"
    for text in (SCORES + "(a) Apply softmax to every row, no mask.\n" + question + end for end in ("\n", later)):
        solved = qkv.solve(text)
        (found,) = ((t, a) for t in solved.traces for a in t.program.answers if a.label == "(b)")
        made = [found[0].evaluate(part.expr).cell for part in found[1].parts]
        assert [f"{float(cell):.3f}" for cell in made] == [value]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Given softmax(QK^T/√d_k) = [[0.7, 0.3], [0.4, 0.6]] and V = [[1, 2], [3, 4]], give the output.", (("1.6", "2.6"), ("2.2", "3.2"))),
        ("Two heads, d_model = 4, so each head has 2 dims.\n\nQ = [1, 0, 1, 1], K = [[1, 1, 0, 1], [0, 1, 1, 0]], V = [[1, 2, 3, 4], [5, 6, 7, 8]]\n\nGive the output.", (("2.321", "3.321", "5.000", "6.000"),)),
    ],
)  # fmt: skip
def test_everyday_sheets_are_worked_out(text: str, value: tuple[tuple[str, ...], ...]) -> None:
    assert value in values(text)


def test_a_mask_in_a_later_item_of_latex_is_not_for_the_first() -> None:
    items = "\\item Compute the weights.\n\\item Repeat with a causal mask.\n"
    text = f"$$Q = K = [[1, 0], [0, 1]], V = [[1, 2], [3, 4]]$$\n\\begin{{enumerate}}[(a)]\n{items}\\end{{enumerate}}\n"
    (first, *_) = (a for trace in qkv.solve(text).traces for a in trace.program.answers)
    assert [part.name for part in first.parts] == ["A"]
    assert qkv.solve(text)["A"].digits(4) == (("0.6698", "0.3302"), ("0.3302", "0.6698"))


def test_a_notebook_without_line_breaks_is_solved() -> None:
    cells = '[{"cell_type": "markdown", "source": "Compute the weights.\\n\\nq = [1, 0]\\n\\nK = [[1, 0], [0, 1]]"}]'
    assert (("0.6698", "0.3302"),) in values(f'{{"cells": {cells}}}')


def test_a_name_that_a_question_gives_has_that_value_in_it() -> None:
    solved = qkv.solve("z = [2, 1, 0.1]\n\n- What is softmax(z / T) with T = 0.5?\n- And with T = 2?\n")
    (trace, answer, *_) = next((t, a) for t in solved.traces for a in t.program.answers if a.parts)
    assert f"{float(trace.evaluate(answer.parts[0].expr).rows[0][0]):.4f}" == "0.8638"


@pytest.mark.parametrize("joint", ["y", "e", "и", "and", "und"])
def test_the_and_of_another_language_is_no_name(joint: str) -> None:
    """It was a factor: W_K = [[1, 0], [1, 1]] y W_V was what W_V is."""
    text = f"X = [[1, 0], [0, 1]], W_Q = [[1, 1], [0, 1]], W_K = [[1, 0], [1, 1]] {joint} W_V = [[2, 0], [0, 2]].\n\na) Compute K and V.\n"
    assert shown(text) == [{"K": (("1", "0"), ("1", "1")), "V": (("2", "0"), ("0", "2"))}]


def test_marks_before_a_question() -> None:
    text = "Q = [[1, 0], [0, 2]], K = [[1, 0], [0, 1]]\n\n(i)  [3] Write down QK^T.\n(ii) [4] Compute the attention weights to 2 decimals.\n"
    assert shown(text) == [{"S": (("1", "0"), ("0", "2"))}, {"A": (("0.67", "0.33"), ("0.20", "0.80"))}]


@pytest.mark.parametrize(("text", "answer"), [
    ("The attention scores are 2, 1 and 0. The values are 10, 20 and 30.", (("14.2479",),)),
    ("v1 = [1, 0], v2 = [0, 1], v3 = [1, 1].\nThe attention weights are 0.2, 0.3 and 0.5.", (("0.7", "0.8"),)),
    ("V = [[1, 0], [0, 1], [1, 1]]\nAttention weights: [0.2, 0.3, 0.5]", (("0.7", "0.8"),)),
    ("Die Gewichte sind 0.25 und 0.75. V = [[4, 0], [0, 4]]", (("1", "3"),)),
])  # fmt: skip
def test_lists_in_sentences_and_weights_without_a_name(text: str, answer: object) -> None:
    assert [list(found.values())[-1] for found in shown(text + "\n\n1. Compute the output.\n")] == [answer]
