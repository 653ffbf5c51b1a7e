"""Transport problems in the notations that sheets use."""

from __future__ import annotations

import pytest

from qkv.reader import read_sheet
from qkv.theory.transport_sheet import transport_problems

TABLEAU = """# Optimal transport

| | shop 1 | shop 2 | supply |
|---|---|---|---|
| mill 1 | 2 | 5 | 4 |
| mill 2 | 4 | 1 | 3 |
| demand | 5 | 2 | |

Find the cheapest plan.
"""
ROWS = """# Optimal transport

The earth mover's distance between P and Q:

| x | 1 | 2 | 4 |
|---|---|---|---|
| P | 0.2 | 0.5 | 0.3 |
| Q | 0.5 | 0 | 0.5 |
"""
COLUMNS = """# Wasserstein distance

| point | P | Q |
|---|---|---|
| 0 | 1/2 | 0 |
| 1 | 1/2 | 1/4 |
| 3 | 0 | 3/4 |
"""


@pytest.mark.parametrize(
    "text, cost",
    [
        (TABLEAU, "14"),
        (ROWS, "7/10"),
        (COLUMNS, "2"),
        (
            r"Optimal transport of $a = (0.5, 0.5)^T$ to $b = (0.25, 0.75)^T$, cost matrix $C = \begin{bmatrix} 0 & 1 \\ 1 & 0 \end{bmatrix}$.",
            "1/4",
        ),
        (
            r"Wasserstein distance: $p = (1/2, 1/2)$ sits at positions $x = (0, 3)$ and $q = (1/3, 2/3)$ at $y = (1, 2)$.",
            "7/6",
        ),
        (r"Optimal transport from $\mu = 0.5\delta_0 + 0.5 \delta_1$ to $\nu = \delta_2$.", "3/2"),
        (
            r"Earth mover: $x_1 = (0, 0)$, $x_2 = (1, 0)$ with masses $a_1 = 1, a_2 = 2$ go to $y_1 = (0, 1)$, $y_2 = (1, 1)$ with $b_1 = 2, b_2 = 1$.",
            "2 + √2",
        ),
        ("EMD of two histograms\n\n```python\nP = [3, 2, 1, 4]\nQ = [1, 2, 4, 3]\n```\n", "5"),
        (r"Optimal transport: $P = (4, 0, 2)$ on the points $1, 2, 4$ becomes $Q = (1, 3, 2)$.", "3"),
        (r"Optimal transport: $P = (4, 0, 2)$ becomes $Q = (1, 3, 2)$ where the cost is $(x-y)^2$.", "3"),
        ("The transport plan\n\nfrom \\ to  4 6\n1  1 0\n2  0 1\n", "7"),
    ],
)
def test_problems(text, cost):
    (problem,) = transport_problems(read_sheet(text))
    assert str(problem.solved().cost) == cost


@pytest.mark.parametrize(
    "text",
    [
        r"Let $P = (1, 2)$ and $Q = (3, 0)$.",  # nobody speaks of transport
        r"Optimal transport of $P = (1, 2)$ to $Q = (3, 1)$.",  # the totals differ
        r"Optimal transport of $P = (1, -1)$ to $Q = (0, 0)$.",  # a negative mass
        "Optimal transport is a field of mathematics.",
    ],
)
def test_no_problem(text):
    assert transport_problems(read_sheet(text)) == ()
