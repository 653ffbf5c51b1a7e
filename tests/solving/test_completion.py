"""Documents that leave much to the library: what solve makes of them."""

from __future__ import annotations

import pytest

import qkv
from qkv.expr.names import Role, Symbol
from qkv.reader.read import read_sheet
from qkv.reading.reading import reading_of
from qkv.solving.solve import solve_sheet

Q = "Q = [[1, 0], [0, 1]]\nK = [[1, 1], [0, 1]]\nV = [[1, 0], [0, 2]]\n\n"


def values(text: str) -> dict[str, tuple[tuple[str, ...], ...]]:
    """What every step is called, and its value to four digits."""
    return {
        step.spelled: trace.digits(step.symbol, 4)
        for trace in solve_sheet(read_sheet(text)).traces
        for step in trace.program.steps
    }


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        (  # a mask in words holds for the formula, whether it has a name or not
            Q + "The mask is causal.\n\nCompute $A = softmax(Q K^T)$.",
            "A",
            (("1", "0"), ("0.5", "0.5")),
        ),
        (Q + "The last token is padding. Compute the weights.", "A", (("1", "0"), ("1", "0"))),
        ("X = [[1, 0], [0, 2]]\nW_Q = W_K = W_V = I\n\nCompute Q.", "Q", (("1", "0"), ("0", "2"))),
        (
            "e_1 = 0, e_2 = 0 for the encoder states h_1 = [1, 0], h_2 = [0, 1].\n\nCompute the weights.",
            "A",
            (("0.5", "0.5"),),
        ),
        (  # brackets that were marks of mathematics
            "- a ((Q = [1, 0])), b ((K_1 = [2, 1], V_1 = [1, 1])), c ((K_2 = [0, 1], V_2 = [3, 1]))\n\nCompute the scores.",
            "S",
            (("2", "0"),),
        ),
        (  # rows with a note
            "Input X:\n```\nToken 1 (the): [1, 2]\nToken 2 (cat): [3, 4]\n```\n\nW_Q = [[1, 0], [1, 1]]\n\nCompute Q.",
            "Q",
            (("3", "2"), ("7", "4")),
        ),
        ("Scores s_i = v^T h_i.\n\nv = [1; 1], h_1 = [1; 2], h_2 = [0; 1]\n\nCompute s_1.", "s_1", (("3",),)),
    ],
)
def test_what_words_and_names_leave_open(text: str, name: str, value: tuple[tuple[str, ...], ...]) -> None:
    assert values(text)[name] == value


def test_a_question_may_set_a_method_of_its_own() -> None:
    made = values(Q + "1. Compute the weights, scaled by √d_k.\n2. What would they be without scaling?")
    assert made["A' (without scaling)"] == (("0.7311", "0.2689"), ("0.5", "0.5"))
    assert made["A"] != made["A' (without scaling)"]


def test_inputs_given_anew_are_worked_out_twice() -> None:
    made = values(
        "X = [[1, 0], [0, 2]]\nW_V = [[1, 0], [0, 1]]\n\nCompute V.\n\nNow W_V = [[2, 0], [0, 2]]. Compute V again."
    )
    assert (made["V"], made["V'"]) == ((("1", "0"), ("0", "2")), (("2", "0"), ("0", "4")))


def test_where_queries_have_a_name_what_they_come_from_are_tokens():
    text = (
        "Decoder rows (queries come from here):\n\n|  | 1 | 2 |\n|---|---|---|\n| d1 | 1 | 2 |\n| d2 | 0 | 1 |\n\n"
        "Encoder rows (keys and values come from here):\n\n"
        "|  | 1 | 2 |\n|---|---|---|\n| e1 | 2 | 1 |\n| e2 | 0 | 3 |\n| e3 | 1 | 1 |\n\n"
        "W_Q = [[1, 0], [1, 1]]\nW_K = [[2, 0], [0, 1]]\nW_V = [[1, 1], [0, 1]]\n\n"
        "Q = [[3, 2], [1, 1]]\nK = [[4, 1], [0, 3], [2, 1]]\nV = [[2, 3], [0, 3], [1, 2]]\n"
    )
    found = values(text)
    assert found["S"] == (("14", "6", "8"), ("5", "3", "3"))
    assert found["Q"] == (("3", "2"), ("1", "1"))


def test_what_is_marked_alike_belongs_together():
    text = (
        Q + "S = Q K^T\nA = softmax(S)\nY = A V\n\nNow with a causal mask.\n\n"
        "E_masked = [[1, -inf], [1, 1]]\nA_masked = [[1, 0], [0.5, 0.5]]\nY_masked = [[1, 0], [0.5, 1]]\n"
    )
    found = values(text)
    assert found["Y_masked"] == (("1", "0"), ("0.5000", "1.000"))
    assert found["Y"][0] == ("0.7311", "0.5379")


def test_what_a_working_puts_in_for_a_name_is_worked_out():
    text = (
        Q
        + "S = Q K^T = [[1, 0], [1, 1]]\n\nY = A V = [[0.67, 0.33], [0.5, 0.5]] [[1, 0], [0, 2]] = [[0.67, 0.66], [0.5, 1]]\n"
    )
    assert values(text)["A"][0] == ("0.6698", "0.3302")


def test_vectors_of_a_printed_matrix_are_its_rows_and_counts_are_no_scores():
    text = (
        "T_q = 2, T_k = 2, d_k = 2\n\n" + Q + "A_0 = [0.67, 0.33]\nA_1 = [0.5, 0.5]\n\n"
        "A = [[0.67, 0.33], [0.5, 0.5]]\n\nCompute A V.\n"
    )
    assert values(text)["A"][0] == ("0.6698", "0.3302")


def test_weights_that_only_a_slip_explains_are_worked_out_by_the_method_of_the_page() -> None:
    """0.622 is what a second division by √2 gives: the page says what is divided, once."""
    text = "X = [[1, 0], [0, 1]]\n\nScores = [[1, 0], [0, 1]]\n\nScaled = Scores / √2 ≈ [[0.707, 0], [0, 0.707]]\n\nα ≈ softmax ≈ [[0.622, 0.378], [0.378, 0.622]]\n"
    assert qkv.solve(text)["α"].digits(4) == (("0.6698", "0.3302"), ("0.3302", "0.6698"))


def test_numbers_put_in_for_a_name_are_the_formula_that_they_copy_the_result_of() -> None:
    text = "V = [[2, 0], [0, 4]]\n\nsoftmax([3, 1] / 2) = [0.73, 0.27]\n\nC = w V = [0.73, 0.27] [[2, 0], [0, 4]] = [1.46, 1.08]\n"
    assert qkv.solve(text)["C"].digits(5) == (("1.4621", "1.0758"),)


def test_a_name_with_a_number_is_what_formulas_make_of_its_family() -> None:
    """A_1 is the output of a head by its formula: so is A_2, and no matrix of weights."""
    text = "V_1 = [[1, 0], [0, 1]]\n\nP_1 = softmax([[1, 0], [0, 1]])\n\nA_1 = P_1 V_1\n\nA_2 = [[1, 1], [0, 0]]\n"
    place = reading_of(read_sheet(text)).system.place(Symbol("A", (), ("2",)))
    assert place is not None
    assert place.role is Role.HEAD


@pytest.mark.parametrize(
    ("givens", "formulas", "value"),
    [  # letters suggest weights and an output, the page's own formulas say something else
        (
            "W = [[6, 2], [2, 7]]\nU = [[7, 1], [6, 2]]\nV = [[2, 5]]\nR = [[-0.6, 5.7]]",
            "A = U + W\nM = mean(R)",
            "2.55",
        ),
        ("l = [2, 2]\nu = [[5.2, -1.4, -1.1], [-0.4, 5.5, 3.0]]", "r = sum(l) + 3\na = u^T\nM = r sum(a)", "75.6"),
    ],
)
def test_what_is_given_stays_given(givens: str, formulas: str, value: str) -> None:
    assert values(f"{givens}\n\n{formulas}\n\nCompute M.\n")["M"] == ((value,),)


def test_a_running_index_is_no_token_of_its_own() -> None:
    solved = qkv.solve("""$x_1 = [1, 2]^T$, $x_2 = [0, 1]^T$, $W_Q = [[1, 0], [0, 1]]$, $W_K = [[1, 1], [0, 1]]$

$q_i = W_Q^T x_i$, $k_i = W_K^T x_i$, $z_{1,i} = q_1^T k_i$

Compute the scores S.""")
    assert solved["S"].digits() == (("7", "2"), ("3", "1"))
    assert not {"x_i", "q_i", "k_i"} & {str(step.symbol) for step in solved.traces[0].program.steps}
