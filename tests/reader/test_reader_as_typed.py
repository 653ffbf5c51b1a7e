"""Arrays as people type them: drawn, in cells, in a line of words, with slashes, growing under counted labels."""

from __future__ import annotations

import pytest

from qkv.expr.nodes import Matrix, Name, walk
from qkv.reader import read_sheet

Found = dict[str, tuple[int, int]]

LAYOUTS = {
    "rows that slashes part": ("A = 1 -1 / 2 0     B = 3 1 0 / 0 2 1\n", {"A": (2, 2), "B": (2, 3)}),
    "a drawn column behind drawn matrices": (
        "A = | 0.5  -1 |    b = |  2.5 |\n    | 0.1   2 |        | -1   |\n",
        {"A": (2, 2), "b": (2, 1)},
    ),
    "names between the two rows": (
        "       | 2  1 |        | 0  3 |\n   A = |      |    B = |      |\n       | 1  1 |        | 4  0 |\n",
        {"A": (2, 2), "B": (2, 2)},
    ),
    "corners in plain signs": (
        "      _      _\n     |  4  1  |\nA =  |  2  3  |\n      -      -\n",
        {"A": (2, 2)},
    ),
    "round brackets over two lines": ("A = ( 2   7   1 )\n    ( 3   5   0 )\n", {"A": (2, 3)}),
    "decimal commas between bars": ("A =\n\n  |  0,25   1,75 |\n  |  0,50  -0,25 |\n", {"A": (2, 2)}),
    "a decimal comma in square brackets": (
        "     [ 1  0 ]\nA =  [ 2  1 ]      b = [ 0,5   3 ]\n",
        {"A": (2, 2), "b": (1, 2)},
    ),
    "rows side by side on one line": ("asking   q1 = 5 2      q2 = 2 1\n", {"q_1": (1, 2), "q_2": (1, 2)}),
    "rows in braces": ("A = {[1, -1]; [0, 2]}\n", {"A": (2, 2)}),
    "rows in round brackets": ("A = (1 −1 ; 2 1),  B = (2 1 ; 0 4)\n", {"A": (2, 2), "B": (2, 2)}),
    "names tell which numbers are theirs": (
        "A = 4 0      b = 7 1      C = 2 0 1\n    1 3                       0 5 6\n    2 2\n",
        {"A": (3, 2), "b": (1, 2), "C": (2, 3)},
    ),
    "what stands before the first name is no part of it": (
        "first:  3 -> 2    A = 4 1      b = 1 0\n                      0 3\nlast:   2 -> 2    C = 5 0      d = 0 -1\n"
        "                      2 1\n",
        {"A": (2, 2), "b": (1, 2), "C": (2, 2), "d": (1, 2)},
    ),
    "the name in the middle, a vector beside it": (
        "      4  1  0\nA  =  0  2  7       b = (3, 0.5, 1)\n      1  1  5\n",
        {"A": (3, 3), "b": (1, 3)},
    ),
    "brackets that are open over the lines": (
        "A = [ 4 1      B = [ 2 0\n      0 3            5 1 ]\n      7 2 ]\n",
        {"A": (3, 2), "B": (2, 2)},
    ),
    "names above columns that an arrow parts": (
        "from:           to:\n[3  0  1]       [0.3  0    0.1]\n[0  2  1]   →   [0    0.2  0.1]\n",
        {"from": (2, 3), "to": (2, 3)},
    ),
    "lists beside each other, with what is said of their rows": (
        'P = X A (2×2):          R = X B (2×2):\n[[3, 2],   # "ice"      [[5, 0],   # "ice"\n [1, 4]]   # "tea"       [0, 6]]   # "tea"\n',
        {"P": (2, 2), "R": (2, 2)},
    ),
    "rows that bars part": ("A = [ 1  1  0 | 0  1  4 ]\n", {"A": (2, 3)}),
    "an identity in words": ("A = identity      B = | 5 1 |\n                      | 0 2 |\n", {"B": (2, 2)}),
    "matrices that empty columns part": (
        "| | $A$ | | | $B$ | |\n|--|--|--|--|--|--|\n| r | 1 | 0 | | 2 | 1 |\n| s | 3 | 1 | | 0 | 4 |\n",
        {"A": (2, 2), "B": (2, 2)},
    ),
    "lists in cells": (
        "| no. | Q | K |\n|--|--|--|\n| 1 | 1, 4 | 2, 0 |\n| 2 | 0, 3 | 1, 1 |\n",
        {"Q": (2, 2), "K": (2, 2)},
    ),
    "heads down the side": (
        "| | $A$ | $B$ |\n|--|--|--|\n"
        "| head 1 | $\\begin{bmatrix}1&0\\\\2&1\\end{bmatrix}$ | $\\begin{bmatrix}3&0\\\\1&1\\end{bmatrix}$ |\n"
        "| head 2 | $\\begin{bmatrix}0&1\\\\5&1\\end{bmatrix}$ | $\\begin{bmatrix}2&2\\\\0&1\\end{bmatrix}$ |\n",
        {"A_1": (2, 2), "A_2": (2, 2), "B_1": (2, 2), "B_2": (2, 2)},
    ),
    "vectors said in lines": (
        "- place 1: k = (4, 1, 0), v = (2, 5)\n- place 2: k = (0, 3, 1), v = (1, 1)\n",
        {"k": (2, 3), "v": (2, 2)},
    ),
    "the 'is' of another language": ("lo stato è s = (3, 1)\n", {"s": (1, 2)}),
    "the 'and' of another language": ("Q = X A + b e K = X B + c\n\nb = [1, 2]\n", {"b": (1, 2)}),
    "a word of one sign before a name": (
        "键 Э:\n\n| | 1 | 2 |\n|--|--|--|\n| 1 | 4 | 1 |\n| 2 | 0 | 3 |\n",
        {"Э": (2, 2)},
    ),
    "a clock before what is said": ("[18:04] ann: q = (3, 1)\n18:05 bob: k = (2, 0)\n", {"q": (1, 2), "k": (1, 2)}),
    "what an item is worth": ("a) (1,0) Find Z for q = (3, 1).\n", {"q": (1, 2)}),
}


def arrays(text: str) -> Found:
    """The shapes of arrays by the names that they are given."""
    found: Found = {}
    for statement in read_sheet(text).statements:
        first, last = statement.links[0].expr, statement.links[-1].expr
        inner = next((node for node in walk(last) if isinstance(node, Matrix)), None)
        if isinstance(first, Name) and inner is not None:
            found[str(first.symbol)] = inner.shape
    return found


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_array_is_read(layout: str) -> None:
    text, shapes = LAYOUTS[layout]
    assert shapes.items() <= arrays(text).items()


def test_what_is_worth_a_point_is_no_vector() -> None:
    assert "(1,0)" not in [statement.text for statement in read_sheet("a) (1,0) Find Z for q = (3, 1).\n").statements]


def test_a_row_of_numbers_behind_an_arrow_is_no_value_of_what_stands_before_it() -> None:
    statements = read_sheet("row 2: e^1.5 + e^0.5 -> 0.731  0.269\n").statements
    assert [len(statement.links) for statement in statements] == [1, 1]
    last = statements[-1].links[0].expr
    assert isinstance(last, Matrix)
    assert last.shape == (1, 2)


def test_the_rest_of_a_side_that_was_not_read_states_nothing() -> None:
    sheet = read_sheet("v_1 = [2, 1]\n\na1 dim/da1 = -0.54\n")
    assert [statement.text for statement in sheet.statements] == ["v_1 = [2, 1]"]
    assert [left.line for left in sheet.unread] == [3]
