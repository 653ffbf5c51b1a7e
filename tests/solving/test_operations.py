"""Assignments that say in words, one after another, what is done around attention."""

from __future__ import annotations

import pytest
from test_labelled_answers import shown

import qkv
from qkv.expr.show import plain

GIVEN = "X = [[1, 2], [3, 0]]\n\nW_Q = W_K = W_V = I\n\nW_1 = [[1, 0, 1], [0, 1, -1]]\n\nb_1 = [0, 0, 1]\n\nW_2 = [[1, 0], [0, 1], [1, 1]]\n\nb_2 = [0, 0]\n\n"
BLOCK = {
    "X": [[1, 2], [3, 0]], "W_Q": [[1, 0], [0, 1]], "W_K": [[1, 0], [0, 1]], "W_V": [[1, 0], [0, 1]],
    "W_1": [[1, 0, 1], [0, 1, -1]], "b_1": [0, 0, 1], "W_2": [[1, 0], [0, 1], [1, 1]],
}  # fmt: skip
ATTEND, ADD, NORM, FEED = (
    "Apply self-attention with scaling.",
    "Add the residual connection.",
    "Apply layer normalisation.",
    "Apply the feed-forward network.",
)


def listed(*items: str) -> qkv.Solution:
    return qkv.solve(GIVEN + "".join(f"{i}. {item}\n" for i, item in enumerate(items, 1)))


def answer(solved: qkv.Solution, label: str) -> tuple[tuple[str, ...], ...]:
    (found,) = (a for trace in solved.traces for a in trace.program.answers if a.label == label)
    return tuple(map(tuple, solved[found.parts[-1].name].digits(8)))


POST = ("Add the sinusoidal positional encoding.", ATTEND, ADD, NORM, FEED, ADD, NORM)
PRE = (NORM, ATTEND, ADD, NORM, FEED, ADD)


@pytest.mark.parametrize(
    "items, options, label, name",
    [
        (POST, {"positions": "sinusoidal", "norm": "post"}, "1.", "X_P"),
        (POST, {"positions": "sinusoidal", "norm": "post"}, "3.", "R_1"),
        (POST, {"positions": "sinusoidal", "norm": "post"}, "7.", "N_2"),
        (PRE, {"norm": "pre"}, "3.", "R_1"),
        (PRE, {"norm": "pre"}, "6.", "R_2"),
        ((ATTEND, "Add & Norm"), {"norm": "post"}, "2.", "N_1"),
    ],
)
def test_each_operation_takes_what_the_one_before_gave(
    items: tuple[str, ...], options: dict[str, str], label: str, name: str
) -> None:
    assert answer(listed(*items), label) == tuple(map(tuple, qkv.work(**BLOCK, **options)[name].digits(8)))


def test_positions_may_start_at_one() -> None:
    solved = listed("Add the sinusoidal positional encoding (positions 1 and 2).", ATTEND)
    expected = qkv.work(**BLOCK, positions="sinusoidal", first_position=1)["X_P"].digits(8)
    assert answer(solved, "1.") == tuple(map(tuple, expected))
    assert "positions are counted from 0" in listed("Add the positional encoding.", ATTEND).notes


def test_nothing_is_answered_on_a_step_that_was_not_understood() -> None:
    solved = listed("Add the learned positional embeddings.", ATTEND, ADD)
    first, *later = (a for trace in solved.traces for a in trace.program.answers)
    assert "have to be given" in first.missing
    assert [(a.parts, "stands on 1." in a.missing) for a in later] == [((), True), ((), True)]
    assert "Q" not in solved


def test_what_a_function_does_with_any_x_is_no_step() -> None:
    text = "X = [[1, 2], [3, 0]]\n\nW_1 = [[1, 0], [0, 1]]\n\nB = [[1, 1], [0, 1]]\n\nFFN(x) = max(0, x W_1)\n\nCompute FFN(X B).\n"
    steps = [step for trace in qkv.solve(text).traces for step in trace.program.steps]
    assert [plain(step.expr) for step in steps] == ["X B", "value_1 W_1", "relu(U)"]


FED = "x = [1, -1, 2], W1 = [[1,0],[0,1],[1,1]], b1 = [0, -2], W2 = [[1,0,1],[0,1,1]], b2=[0,0,1].\n\n1. Compute {}h = ReLU(x W1 + b1).\n"


@pytest.mark.parametrize("asked", [
    FED.format("the hidden layer ") + "2. Compute the FFN output y = h W2 + b2.\n3. Add the residual.\n4. Apply layer normalisation (eps = 0).\n",
    FED.format("") + "2. Compute y = h W2 + b2.\n3. Compute the residual connection x + y.\n4. Apply layer normalisation to the result (eps = 0).\n",
])  # fmt: skip
def test_what_the_page_has_a_formula_for_is_not_done_again(asked: str) -> None:
    assert [next(iter(answer.values())) for answer in shown(asked)] == [
        (("3", "0"),), (("3", "0", "4"),), (("4", "-1", "6"),), (("0.339683", "-1.35873", "1.01905"),)
    ]  # fmt: skip
