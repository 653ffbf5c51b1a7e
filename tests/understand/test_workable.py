"""Programs that can be worked out."""

from __future__ import annotations

import pytest

from qkv.errors import NameUnknownError
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.program.model import Given, Program, Step
from qkv.understand.workable import Worked, computed, workable

A, B, C = Symbol("A"), Symbol("B"), Symbol("C")


def step(symbol: Symbol, expr: n.Expr) -> Step:
    return Step(symbol, expr, Role.OTHER, str(symbol))


def test_values_are_worked_out_when_asked_for() -> None:
    nothing = n.Quotient(n.number(1), n.number(0))
    given = Given(A, n.matrix([[1, 2]]), Role.OTHER, "A")
    steps = (step(B, n.Product(n.number(3), n.Name(A))), step(C, nothing))
    worked = Worked(Program("", (given,), steps))
    assert [int(cell) for cell in worked.evaluate(n.Name(B)).rows[0]] == [3, 6]


def test_what_stands_on_itself_has_no_value() -> None:
    steps = (step(A, n.Transpose(n.Name(B))), step(B, n.Transpose(n.Name(A))))
    worked = Worked(Program("", (), steps))
    with pytest.raises(NameUnknownError):
        worked.evaluate(n.Name(A))


def test_of_two_givens_of_one_name_the_first_is_worked_with() -> None:
    first, second = (Given(A, n.matrix(rows), Role.OTHER, "A") for rows in ([[1, 2, 3]], [[1, 2]]))
    other = Given(B, n.matrix([[1, 1]]), Role.OTHER, "B")
    product = step(C, n.Product(n.Name(A), n.Transpose(n.Name(B))))
    trace = computed(workable(Program("", (first, second, other), (product,))), {})
    assert trace.values().keys() == {A, B}  # 1×3 does not meet 2×1
