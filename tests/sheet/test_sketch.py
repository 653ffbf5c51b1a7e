"""Drawings of products and sums over several lines."""

from __future__ import annotations

import pytest

from qkv.sheet.sketch import sketch_at

DRAWN = [
    (
        ["            [0, 1]", "[1, 0, 2] x [1, 1] = [4, 1]", "            [2, 0]"],
        "[1, 0, 2] × [[0, 1], [1, 1], [2, 0]] = [4, 1]",
        2,
    ),
    (
        ["[1 0]   [2 3]   [2 3]", "[0 1] @ [4 5] = [4 5]"],
        "[[1, 0], [0, 1]] @ [[2, 3], [4, 5]] = [[2, 3], [4, 5]]",
        2,
    ),
    (["  [0.5, 1.0]", "+ [1.5, -2]", "------------", "= [2.0, -1]"], "[0.5, 1.0] + [1.5, -2] = [2.0, -1]", 2),
]


@pytest.mark.parametrize(("lines", "text", "line"), DRAWN)
def test_a_drawing_on_one_line(lines: list[str], text: str, line: int) -> None:
    found = sketch_at([*lines, "", "more"], 0)
    assert found is not None
    assert (found.text, found.line, found.end) == (text, line, len(lines))


@pytest.mark.parametrize(
    "lines",
    [
        ["[1, 2] x [3, 4] = [11]"],  # one line needs no drawing
        ["[1, 2]", "[3, 4]"],  # no sign
        ["[1, 2] = [3, 4]", "and [5, 6] = [7, 8]"],  # words
        ["[1, 2] x [3, 4] = [1, 2]", "[5, 6] x [7, 8] = [3, 4]"],  # two statements, each of its own
        ["[1, 2] [3, 4]", "[5, 6] x [7, 8]"],  # a row reaches over two matrices
        ["+ [1, 2]", "+ [3, 4]"],
    ],
)
def test_what_is_no_drawing(lines: list[str]) -> None:
    assert sketch_at(lines, 0) is None
