"""How one cell comes about, in plain text and in LaTeX."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from render_problems import KINDS, traces

from qkv.expr import nodes as n
from qkv.interpret.trace import Trace
from qkv.program.model import Program
from qkv.render.workings import LATEX, Writer, cell_workings

EMPTY = Trace(Program("", (), ()))


def working(expr: n.Expr, row: int = 1, column: int = 1, **options: int) -> str:
    return cell_workings(expr, EMPTY.evaluate, **options)(row, column)


ROW = n.matrix([[2, 2, 2]])
COLUMN = n.matrix([[2], [3], [1]])
SCORES = n.matrix([[2, 4, 4], [4, 16, 12]])

CASES = [
    (n.Product(ROW, COLUMN), (1, 1), "2·2 + 2·3 + 2·1 = 12"),
    (n.Product(n.matrix([[-2, "0.5"]]), n.matrix([[3], [-1]])), (1, 1), "(-2)·3 + 0.5·(-1) = -6.5"),
    (n.Product(ROW, n.matrix([[2, 3, 1]])), (1, 1), "2·2 + 2·3 + 2·1 = 12"),  # two rows: their dot product
    (n.Product(n.number(3), n.matrix([[1, 2]])), (1, 2), "3·2 = 6"),
    (n.Quotient(n.number(4), n.Root(n.number(3))), (1, 1), "4/√3 ≈ 2.30940"),
    (n.Quotient(SCORES, n.Root(n.number(4))), (2, 3), "12/√4 = 6"),
    (n.Quotient(n.Product(ROW, COLUMN), n.number(5)), (1, 1), "(2·2 + 2·3 + 2·1)/5 = 2.4"),
    (n.Softmax(SCORES), (1, 1), "e^2/(e^2 + 2e^4) ≈ 0.0633789"),
    (n.Softmax(SCORES), (2, 1), "e^4/(e^4 + e^16 + e^12) ≈ 6.03366e-6"),
    (n.Softmax(SCORES, axis=0), (1, 1), "e^2/(e^2 + e^4) ≈ 0.119203"),
    (n.Softmax(n.matrix([[1], [1]])), (2, 1), "e^1/(2e^1) = 0.5"),
    (n.Softmax(n.Matrix(((n.number(2), n.Infinite(-1)),))), (1, 2), "e^(-∞)/e^2 = 0"),
    (n.Normalise(n.matrix([[1, 3]])), (1, 2), "3/(1 + 3) = 0.75"),
    (n.Sum((n.Product(ROW, COLUMN), n.matrix([[-1]]))), (1, 1), "2·2 + 2·3 + 2·1 + (-1) = 11"),
    (n.Transpose(n.Product(COLUMN, n.matrix([[1, 2]]))), (2, 3), "1·2 = 2"),
    (n.Mask(n.matrix([[1, 2], [3, 4]])), (1, 2), "query 1 may not see key 2: -∞"),
    (n.Mask(n.matrix([[1, 2], [3, 4]])), (2, 1), "3"),
    (n.Mask(n.matrix([[1, 2]]), n.Matrix(((n.number(0), n.Infinite(-1)),))), (1, 2), "2 + (-∞) = -∞"),
    (n.Call("tanh", (n.Sum((n.number(1), n.number(2))),)), (1, 1), "tanh(1 + 2) ≈ 0.995055"),
    (n.Exp(n.number(2)), (1, 1), "e^2 ≈ 7.38906"),
    (n.Power(n.number(2), n.number(3)), (1, 1), "2^3 = 8"),
    (n.Absolute(n.number(-3)), (1, 1), "|-3| = 3"),
    (n.Negate(n.number(3)), (1, 1), "-3"),
    (n.number(7), (1, 1), "7"),
]  # fmt: skip


@pytest.mark.parametrize(("expr", "place", "expected"), CASES, ids=[case[2] for case in CASES])
def test_working(expr: n.Expr, place: tuple[int, int], expected: str) -> None:
    assert working(expr, *place) == expected


def test_latex() -> None:
    def latex(expr: n.Expr, digits: int = 6) -> str:
        return Writer(LATEX, EMPTY.evaluate, digits, None).equation(expr, 1, 1)

    assert latex(n.Softmax(SCORES), 3) == r"\frac{e^{2}}{e^{2} + 2e^{4}} \approx 0.0634"
    assert latex(n.Product(ROW, COLUMN)) == r"2 \cdot 2 + 2 \cdot 3 + 2 \cdot 1 = 12"
    tiny = n.Product(n.number(Fraction(1, 3 * 10**12)), n.number(2))
    assert latex(tiny, 3) == r"(3.33 \times 10^{-13}) \cdot 2 \approx 6.67 \times 10^{-13}"


def test_places() -> None:
    assert working(n.Quotient(n.number(4), n.Root(n.number(3))), places=2) == "4/√3 ≈ 2.31"


def test_a_long_sum_loses_its_middle_and_says_so() -> None:
    text = working(n.Product(n.matrix([[1] * 30]), n.matrix([[k] for k in range(30)])))
    assert text == "1·0 + 1·1 + 1·2 + … + 1·28 + 1·29 (30 terms) = 435"


def test_concat_names_the_cell_that_is_copied() -> None:
    (trace,) = traces("two heads")
    concat = next(step for step in trace.program.steps if isinstance(step.expr, n.Concat))
    assert cell_workings(concat.expr, trace.evaluate, 4)(1, 5).startswith("Z_2(1, 2) ≈ ")


@pytest.mark.parametrize("kind", KINDS)
def test_every_cell_of_every_kind_has_a_working_that_ends_in_its_value(kind: str) -> None:
    (trace,) = traces(kind)
    for step in trace.program.steps:
        for i, row in enumerate(trace.digits(step.symbol, 6), 1):
            for j, text in enumerate(row, 1):
                shown = text.replace("-inf", "-∞")
                assert cell_workings(step.expr, trace.evaluate)(i, j).split(" ")[-1] == shown


@given(st.lists(st.tuples(st.integers(-99, 99), st.integers(-99, 99)), min_size=1, max_size=9))
def test_a_dot_product_can_be_worked_out_again_from_its_working(pairs: list[tuple[int, int]]) -> None:
    left, right = n.matrix([[a for a, _ in pairs]]), n.matrix([[b] for _, b in pairs])
    body, _, result = working(n.Product(left, right)).partition(" = ")
    assert eval(body.replace("·", "*")) == int(result) == sum(a * b for a, b in pairs)
