"""Shapes, and what is said where they do not fit."""

from __future__ import annotations

import pytest

import qkv
from interpret.float_oracle import Floats
from qkv.errors import ShapeError
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.certified import Certified
from qkv.interpret.counts import Counts
from qkv.interpret.fit import along
from qkv.interpret.loop import evaluate
from qkv.interpret.shapes import Shapes, shapes

X = n.Name(Symbol("X"))
W = n.Name(Symbol("W"))


def ones(rows: int, columns: int) -> n.Matrix:
    return n.matrix([[1] * columns] * rows)


def test_every_quantity_has_its_shape() -> None:
    s = qkv.work(X=[[1] * 4] * 3, W_Q=[[1] * 2] * 4, W_K=[[1] * 2] * 4, W_V=[[1] * 5] * 4)
    found = {str(symbol): shape for symbol, shape in shapes(s.traces[0].program).items()}
    assert found["Q"] == (3, 2)
    assert found["A"] == (3, 3)
    assert found["Output"] == (3, 5)
    assert all(s[name].shape == found[name] for name in found)


MISFITS = [
    (n.Product(X, W), (3, 4), (3, 3), "X is 3×4 and W is 3×3, so 4 columns meet 3 rows"),
    (n.Sum((X, W)), (2, 3), (3, 2), "X is 2×3 and W is 3×2, so they cannot be added"),
    (n.Quotient(X, W), (2, 3), (2, 2), "X is 2×3 and W is 2×2, so the one cannot be divided by the other"),
    (n.Mask(X, W), (2, 3), (2, 2), "X is 2×3 and W is 2×2, so the mask does not cover the scores"),
    (n.Concat((X, W)), (2, 3), (3, 3), "matrices of shapes 2×3, 3×3 cannot be put side by side"),
    (n.Entry(X, row=3), (2, 3), (1, 1), "a 2×3 matrix has no row 3"),
    (n.Entry(X, columns=(2, 4)), (2, 3), (1, 1), "a 2×3 matrix has no column 4"),
    (n.Power(X, W), (1, 1), (2, 3), "an exponent is a number, not a 2×3 matrix"),
]


@pytest.mark.parametrize("algebra", [Shapes, Counts, Certified, Floats])
@pytest.mark.parametrize("expr, left, right, sentence", MISFITS, ids=[case[3] for case in MISFITS])
def test_all_interpretations_refuse_alike(
    expr: n.Expr, left: tuple[int, int], right: tuple[int, int], sentence: str, algebra: type
) -> None:
    with pytest.raises(ShapeError) as caught:
        evaluate(expr, _given(left, right, algebra), algebra())
    assert caught.value.message == sentence


def _given(left: tuple[int, int], right: tuple[int, int], algebra: type) -> dict[Symbol, object]:
    return {
        Symbol("X"): evaluate(ones(*left), {}, algebra()),
        Symbol("W"): evaluate(ones(*right), {}, algebra()),
    }


def test_on_a_page_a_row_may_stand_for_a_column() -> None:
    assert evaluate(n.Product(X, W), _given((2, 2), (1, 2), Shapes), Shapes()) == (2, 1)
    assert evaluate(n.Product(X, W), _given((1, 3), (1, 3), Shapes), Shapes()) == (1, 1)


def test_matrices_that_come_with_a_layout_are_taken_strictly() -> None:
    with pytest.raises(ShapeError, match=r"S = Q K\^T: Q is 1×2 and K\^T is 1×2, so 2 columns meet 1 row"):
        qkv.work(Q=[[1, 2]], K=[[1], [2]])


def test_a_column_of_scores_is_one_distribution_unless_rows_are_meant() -> None:
    assert along((3, 1), None) == 0
    assert along((3, 1), 1) == 1
    assert along((1, 3), None) == 1
    column = n.matrix([[0], [0]])
    assert evaluate(n.Softmax(column), {}, Floats()).tolist() == [[0.5], [0.5]]
    assert evaluate(n.Softmax(column, by_rows=True), {}, Floats()).tolist() == [[1.0], [1.0]]
