"""Two classes of our own, beside the shared one: a causal mask, and two heads."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from qkv.grading.model import DEFAULT, Mark, Policy
from qkv.grading.one import Setup, Submission, grade_one

MASKED = """# Masked self-attention

$$Q = \\begin{bmatrix} 1 & 0 \\\\ 0 & 2 \\\\ 1 & 1 \\end{bmatrix}, \\quad K = \\begin{bmatrix} 1 & 1 \\\\ 2 & 0 \\\\ 0 & 1 \\end{bmatrix}, \\quad V = \\begin{bmatrix} 1 & 2 \\\\ 3 & 0 \\\\ 0 & 4 \\end{bmatrix}$$

The mask is causal: a token sees itself and the tokens before it.

1. Compute the scores $S = QK^T$. (2 points)
2. Compute the attention weights with the scale $1/\\sqrt{d_k}$. (3 points)
3. Compute the output. (1 point)
"""
TWO_HEADS = """# Two heads

$$X = [[1, 0], [0, 1]], W_1^Q = [[1, 0], [0, 1]], W_1^K = [[1, 1], [0, 1]], W_1^V = [[1, 0], [2, 1]]$$
$$W_2^Q = [[0, 1], [1, 0]], W_2^K = [[2, 0], [1, 1]], W_2^V = [[0, 1], [1, 3]]$$

1. Compute $A_1$ and $A_2$, the attention weights of both heads, scaled by $\\sqrt{d_k}$.
2. Compute $Z_1$ and $Z_2$.
"""
TASKS = {"masked": MASKED, "two heads": TWO_HEADS}

Grade = Callable[..., Mark]


@pytest.fixture(scope="session")
def grade() -> Grade:
    """The marks of a hand-in for one of our assignments."""

    def graded(task: str, text: str, policy: Policy = DEFAULT) -> Mark:
        setup = Setup(TASKS.get(task, task), "task.md", policy)
        return grade_one(setup, Submission("one.md", text.encode())).mark

    return graded


@pytest.fixture(scope="session")
def masked() -> str:
    """The assignment about a causal mask."""
    return MASKED
