"""The expression language as data."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from fractions import Fraction

import pytest

from qkv.errors import Location
from qkv.expr import nodes as n
from qkv.expr.names import Symbol

Q, K, V = (n.Name(Symbol(letter)) for letter in "QKV")
ATTENTION = n.Product(n.Softmax(n.Quotient(n.Product(Q, n.Transpose(K)), n.Root(n.number(3)))), V)


def test_numbers_remember_their_digits() -> None:
    assert (n.number("0.468").value, n.number("0.468").places) == (Fraction(468, 1000), 3)
    assert n.number("0.50").ulp == Fraction(1, 100)
    assert n.number("1.20e3").ulp == 10
    assert n.number("3e5").places == -5
    assert n.number(Fraction(1, 3)).ulp == 0
    assert n.number("0.5") != n.number("0.50")  # the same number, printed with other care


def test_nodes_are_frozen_and_equality_ignores_their_place() -> None:
    with pytest.raises(FrozenInstanceError):
        n.number(1).places = 3  # type: ignore[misc]
    assert n.Name(Symbol("Q"), at=Location(3, 4)) == Q
    assert hash(n.Product(Q, K)) == hash(n.Product(n.Name(Symbol("Q"), "q"), K))


def test_walk_children_and_names() -> None:
    assert [type(part).__name__ for part in n.walk(ATTENTION)][:4] == ["Product", "Softmax", "Quotient", "Product"]
    assert n.names_in(ATTENTION) == (Symbol("Q"), Symbol("K"), Symbol("V"))
    assert not n.is_literal(ATTENTION)
    assert n.is_literal(n.matrix([[1, 2], [3, 4]]))


def test_rewrite_changes_every_place_and_keeps_the_rest() -> None:
    without_root = n.rewrite(ATTENTION, lambda part: part.arg if isinstance(part, n.Root) else part)
    expected = n.Product(n.Softmax(n.Quotient(n.Product(Q, n.Transpose(K)), n.number(3))), V)
    assert without_root == expected
    assert n.rewrite(ATTENTION, lambda part: part) == ATTENTION
    swapped = n.rewrite(n.matrix([[Q, 2]]), lambda part: n.number(7) if isinstance(part, n.Name) else part)
    assert swapped == n.matrix([[7, 2]])


def test_rewrite_passes_a_matrix_of_numbers_whole() -> None:
    seen: list[n.Expr] = []
    n.rewrite(n.matrix([[1, 2]]), lambda part: seen.append(part) or part)
    assert seen == [n.matrix([[1, 2]])]


def test_matrices() -> None:
    assert n.matrix([[1, 2], [3]]).is_ragged
    assert n.matrix([[1, 2], [3, 4]]).shape == (2, 2)
    assert n.matrix([1, 2, 3]).loose


def test_a_deep_tree_is_walked_without_recursion() -> None:
    deep: n.Expr = Q
    for _ in range(5000):
        deep = n.Negate(deep)
    assert sum(1 for _ in n.walk(deep)) == 5001
