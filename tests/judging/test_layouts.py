"""What is said of small pages, each in a layout that people use: nothing of it may be lost, and no layout may accuse."""

from __future__ import annotations

import pytest
from judged import claims

RIGHT = {"right", "rounded", "drifted"}


def told(page: str) -> list[tuple[int, str]]:
    """The line and the verdict of each claim; what is right in any way is 'right'."""
    return [(c.line, "right" if c.verdict in RIGHT else str(c.verdict)) for c in claims(page)]


PAGES = {
    "pairs where commas are decimal marks": (
        "q = [3,0]\nk = [2,1]\nq·k = 6\ne^0,5 = 1,649\n0,5(2,4) + 0,25(4,0) = (2,0; 2,0)",
        [(3, "right"), (4, "right"), (5, "right")],
    ),
    "a claim begins at its name, not at the numbers below it": (
        "Q = [[1, 2], [3, 4]]\nK = [[1, 1], [0, 2]]\n\n$$\nQ K^T =\n\\begin{bmatrix}\n3 & 4 \\\\ 7 & 8\n\\end{bmatrix}\n$$",
        [(5, "right")],
    ),
    "a dot that parts two statements": ("e^0.71 ≈ 2.03 · e^0 = 1", [(1, "right")]),
}


@pytest.mark.parametrize(("page", "expected"), PAGES.values(), ids=PAGES)
def test_layouts(page: str, expected: list[tuple[int, str]]) -> None:
    assert told(page) == expected
