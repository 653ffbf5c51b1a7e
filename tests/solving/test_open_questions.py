"""Questions that only name what they want, around attention: each is worked out by the rows of the library."""

from __future__ import annotations

import pytest

import qkv

PAGE = """The hidden state is h = [2, 4, 6, 8], with gamma = [1, 1, 2, 0.5], beta = [0, 0.1, 0, -0.1] and epsilon = 1e-5.

a) {}
b) {}
c) {}
"""


def answers(text: str) -> list[list[tuple[str, ...]]]:
    solved = qkv.solve(text)
    found = (answer for trace in solved.traces for answer in trace.program.answers)
    return [[solved[part.name].decimals(3)[0] for part in answer.parts] for answer in found]


@pytest.mark.parametrize(
    "questions",
    [
        ("Compute the mean and the variance.", "Normalize h.", "Apply scale and shift."),
        ("Berechne Mittelwert und Varianz.", "Berechne h normalisiert.", "Berechne LayerNorm(h)."),
    ],
)
def test_layer_norm_is_asked_for_step_by_step(questions: tuple[str, str, str]) -> None:
    first, second, third = answers(PAGE.format(*questions))
    assert first == [("5.000",), ("5.000",)]
    assert second == [("-1.342", "-0.447", "0.447", "1.342")]
    assert third == [("-1.342", "-0.347", "0.894", "0.571")]


def test_what_cannot_be_worked_out_adds_no_steps() -> None:
    page = "x = [1, 2], y = [3, 4], z = [5, 6]\n\n1. What is the loss?\n2. What is the variance?\n"
    assert not [step for trace in qkv.solve(page).traces for step in trace.program.steps]
