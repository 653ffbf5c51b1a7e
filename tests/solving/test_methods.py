"""What the words of a page say about its method, and what its numbers show about what attention reads."""

from __future__ import annotations

import pytest
from test_labelled_answers import shown

import qkv
from qkv.check.model import Verdict

QKV = "q = [1, 0]\n\nK = [[1, 0], [0, 1]]\n\nV = [[10, 20], [30, 40]]\n\n"


def values(solved: qkv.Solution) -> set[tuple[tuple[str, ...], ...]]:
    return {trace.digits(step.symbol, 4) for trace in solved.traces for step in trace.program.steps}


def names(solved: qkv.Solution, label: str) -> list[str]:
    (found,) = (a for trace in solved.traces for a in trace.program.answers if a.label == label)
    return [part.name for part in found.parts]


def test_scores_are_shares_of_their_sum_where_a_softmax_is_denied() -> None:
    text = "q = [2, 3]\n\nK = [[1, 0], [0, 1]]\n\nV = [[5, 0], [0, 5]]\n\n1. Divide every score by the sum of the scores (no softmax).\n2. Give the output.\n3. Repeat 1 with a softmax (no scaling).\n"
    solved = qkv.solve(text)
    assert solved["A"].digits(3) == (("0.4", "0.6"),)
    assert solved["Z"].digits(3) == (("2", "3"),)
    assert solved["A' (without scaling)"].digits(4) == (("0.2689", "0.7311"),)


def test_a_contrast_that_is_worked_out_is_solved_beside_the_method() -> None:
    text = QKV + "The weights are $A = [0.670, 0.330]$.\n\nSin dividir: los pesos serían 0.731 y 0.269.\n"
    assert {(("0.6698", "0.3302"),), (("0.7311", "0.2689"),)} <= values(qkv.solve(text))


def test_a_score_of_one_number_is_no_head() -> None:
    solved = qkv.solve(QKV + "score0 = 0.707, score1 = 0\n\nCompute the output.\n")
    assert (("16.60", "26.60"),) in values(solved)
    assert not any("multi-head" in trace.program.kind for trace in solved.traces)


def test_rows_are_answered_for_the_positions_that_a_question_puts_in() -> None:
    text = "$$PE(pos, 2i) = \\sin(pos / 10000^{2i / d_{model}}), \\qquad PE(pos, 2i+1) = \\cos(pos / 10000^{2i / d_{model}})$$\n\n$d_{model} = 4$\n\n(a) Compute $PE$ for $pos = 3$ and $pos = 5$.\n"
    solved = qkv.solve(text)
    assert names(solved, "(a)") == ["PE_3", "PE_5"]
    assert (("0.1411", "-0.9900", "0.03000", "0.9996"),) in values(solved)


BLOCK = """Embeddings

| token | a | b |
|---|---|---|
| the | 0.5 | -0.2 |
| cat | 0.1 | 0.4 |

LayerNorm output

| token | a | b |
|---|---|---|
| the | 1.25 | -0.75 |
| cat | -1.5 | 0.25 |

W_Q = [[1, 2], [0, 1]]

W_K = [[2, 0], [1, 1]]

W_V = [[1, 1], [0, 3]]

Q = [[1.25, 1.75], [-1.5, -2.75]]

K = [[1.75, -0.75], [-2.75, 0.25]]

Compute V.
"""


def test_attention_reads_the_array_that_its_numbers_show() -> None:
    """The queries and keys are those of the normed tokens, whatever words call an input."""
    assert qkv.solve(BLOCK)["V"].digits(4) == (("1.25", "-1"), ("-1.5", "-0.75"))


def test_what_a_formula_with_unknown_names_came_to_stands_for_its_name() -> None:
    solved = qkv.solve("X = lookup + place = [[1, 2], [3, 4]]\n\nB = [[1, 1], [0, 1]]\n\nY = X B\n")
    assert solved["Y"].digits(3) == (("1", "3"), ("3", "7"))
    (claim,) = qkv.check("X = lookup + place = [[1, 2], [3, 4]]\n").claims
    assert claim.verdict is Verdict.UNREAD  # its own print is no reason to call it right


def test_prose_in_a_question_is_no_formula() -> None:
    text = "A = [[1, 2], [3, 4]]\n\nThe bright table:\n\n| 1 | 2 |\n| 3 | 5 |\n\nApply the bright table to matrix A.\n"
    assert not [step.spelled for t in qkv.solve(text).traces for step in t.program.steps if "bright" in step.spelled]


WHAT_IF = "Q = [[1,0],[0,2]], K = [[1,0],[1,1]], V = [[1,2],[3,4]].\n\n1. Compute the output.\n2. {}\n"


@pytest.mark.parametrize(("question", "answer"), [
    ("If the temperature is 0.5, what are the weights?", (("0.500000", "0.500000"), ("0.0558072", "0.944193"))),
    ("What are the weights if all scores are doubled?", (("0.500000", "0.500000"), ("0.0558072", "0.944193"))),
    ("What happens to the weights if all scores are multiplied by 2?", (("0.500000", "0.500000"), ("0.0558072", "0.944193"))),
    ("What would the output be if the second key were masked?", (("1", "2"), ("1", "2"))),
    ("What is the sum of the weights in each row?", (("1.00000",), ("1.00000",))),
])  # fmt: skip
def test_what_if(question: str, answer: object) -> None:
    output, supposed = shown(WHAT_IF.format(question))
    assert list(supposed.values()) == [answer]
    assert list(output.values()) == [(("2.00000", "3.00000"), ("2.60886", "3.60886"))]
