"""Cross-attention whose two sequences a task only gives: which one keys and values come from, whatever its letter."""

from __future__ import annotations

import json

import pytest

import qkv
from qkv.check.model import Verdict

TASK = """{title}

Compute softmax(Q K^T / √d_k) V. Here d_k = 4.

W_Q = [[2, 1, 2, 1], [-1, 2, 0, 1], [2, 0, 1, 1]]

W_K = [[2, 2, -1, 1], [0, -1, 1, 2], [-1, 0, 0, 2]]

W_V = [[1, 2], [4, 2], [2, 2]]

X = [[0, 2, 1], [2, 1, 0]]

{letter} = [[-1, 2, 0], [2, -1, 2]]
"""
SOLUTION = """
Solution

Q = [[0, 4, 1, 3], [3, 4, 4, 3]]

K = [[-2, -4, 3, 3], [2, 5, -3, 4]]

V = [[7, 2], [2, 6]]
"""
LETTERS = ("Y", "S", "T", "H", "M", "C", "Z", "E", "B", "P")


@pytest.mark.parametrize("letter", LETTERS)
def test_cross_attention_in_the_title_says_it(letter: str) -> None:
    task = TASK.format(title="Cross-attention", letter=letter)
    solution = json.loads(qkv.read(task).solve().to_json())
    steps = {step["name"]: step["value"] for step in solution["problems"][0]["steps"]}
    assert steps["K"] == [["-2", "-4", "3", "3"], ["2", "5", "-3", "4"]]


@pytest.mark.parametrize("title", ["Cross-attention", "Attention"])
@pytest.mark.parametrize("letter", LETTERS)
def test_nobody_is_accused_of_using_what_the_task_gives(letter: str, title: str) -> None:
    report = qkv.check(TASK.format(title=title, letter=letter) + SOLUTION.replace("[7, 2]", "[7, 3]"))
    assert [claim.verdict for claim in report.claims[:2]] == [Verdict.RIGHT] * 2
