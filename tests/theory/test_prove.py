"""Identities are proven, altered ones refuted by numbers that NumPy agrees with."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from qkv.errors import LimitError, MaskedRowError, NameUnknownError, ShapeError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.loop import evaluate
from qkv.theory.cases import Sizes
from qkv.theory.identities import IDENTITIES, prove, refute
from qkv.theory.prove import Equation, prove_all
from qkv.theory.ring import Ring
from qkv.theory.symbols import Symbolic

KEYS = [identity.key for identity in IDENTITIES]
A, B = (n.Name(Symbol(letter)) for letter in "AB")


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("sizes", [Sizes(), Sizes(1, 2, 1, 1, 1, 1), Sizes(3, 2, 2, 1, 3, 3)])
def test_identities_hold(key, sizes):
    proof = prove(key, sizes)
    assert proof.verdict.holds is True
    assert proof.verdict.cells > 0
    assert proof.verdict.counterexample is None


@pytest.mark.parametrize("key", KEYS)
def test_altered_statements_are_false(key):
    proofs = refute(key)
    assert proofs
    for proof in proofs:
        assert proof.verdict.holds is False
        example = proof.verdict.counterexample
        assert example.left != example.right


def test_a_counterexample_is_one():
    (proof,) = refute("keys")
    example = proof.verdict.counterexample
    values = {name: np.array(rows, dtype=float) for name, rows in example.values}
    order = [int(word) - 1 for word in example.equation.label.removeprefix("order ").split()]

    def attend(q, k, v):
        weights = np.exp(q @ k.T)
        return weights / weights.sum(axis=1, keepdims=True) @ v

    cell = example.row - 1, example.column - 1
    assert attend(values["Q"], values["K"][order], values["V"])[cell] == pytest.approx(float(example.left), rel=1e-5)
    assert attend(values["Q"], values["K"], values["V"])[cell] == pytest.approx(float(example.right), rel=1e-5)


def test_the_expansion_of_a_score():
    texts = {e.label: e.text for e in prove("scores", Sizes(d_k=3)).verdict.expansions}
    assert texts["(QKᵀ)_12 = q_1ᵀ k_2"] == "q_11 k_21 + q_12 k_22 + q_13 k_23"


def test_the_expansion_of_a_weighted_sum():
    texts = [e.text for e in prove("values", Sizes(keys=3)).verdict.expansions]
    assert texts[0] == "a_11 v_11 + a_12 v_21 + a_13 v_31"


def test_what_needs_a_law_of_roots_is_left_open():
    equation = Equation("", n.Product(n.Root(A), n.Root(A)), A)
    assert prove_all((equation,), {A.symbol: (1, 1)}).holds is None


def test_shapes_that_differ_are_said():
    with pytest.raises(ShapeError, match="2×3"):
        prove_all((Equation("", A, n.Transpose(A)),), {A.symbol: (2, 3)})


def test_unknown_identity_and_sizes_out_of_range():
    with pytest.raises(NameUnknownError, match="scores"):
        prove("magic")
    with pytest.raises(ValueRefused, match="1 to 6"):
        Sizes(queries=0)
    with pytest.raises(LimitError, match="smaller"):
        prove("tokens", Sizes(6, 6, 6, 6, 6))


# --- symbolic cells against floats

small = st.integers(-2, 2)


def tree(depth):
    leaf = st.sampled_from([A, B, n.number(2)])
    if depth == 0:
        return leaf
    below = tree(depth - 1)
    return st.one_of(
        leaf,
        st.builds(lambda a, b: n.Sum((a, b)), below, below),
        st.builds(n.Product, below, below),
        st.builds(n.Negate, below),
        st.builds(n.Exp, st.sampled_from([A, B, n.Sum((A, B)), n.Negate(B)])),
        st.builds(lambda a, b: n.Quotient(a, n.Exp(b)), below, st.sampled_from([A, B])),
    )


def floats(node, a, b):
    match node:
        case n.Number(value=value):
            return float(value)
        case n.Name():
            return a if node == A else b
        case n.Sum(terms=terms):
            return sum(floats(t, a, b) for t in terms)
        case n.Product(left=x, right=y):
            return floats(x, a, b) * floats(y, a, b)
        case n.Negate(arg=x):
            return -floats(x, a, b)
        case n.Exp(arg=x):
            return float(np.exp(floats(x, a, b)))
        case n.Quotient(numerator=x, denominator=y):
            return floats(x, a, b) / floats(y, a, b)


@settings(max_examples=150, deadline=None)
@given(tree(3), tree(3))
def test_equal_symbols_are_equal_numbers(left, right):
    """Proven equal: equal at random points. Not proven: a point tells them apart."""
    ring = Ring()
    env = {A.symbol: Symbolic(ring).matrix("a", 1, 1), B.symbol: Symbolic(ring).matrix("b", 1, 1)}
    same = evaluate(left, env, Symbolic(ring))[0][0] == evaluate(right, env, Symbolic(ring))[0][0]
    points = [(0.3, -0.7), (1.1, 0.45), (-0.9, 0.2)]
    close = all(
        np.isclose(floats(left, a, b), floats(right, a, b), rtol=1e-9, atol=1e-12 * (1 + abs(floats(left, a, b))))
        for a, b in points
    )
    assert same == close


def test_masks_in_symbols():
    ring = Ring()
    algebra = Symbolic(ring)
    weights = algebra.softmax(algebra.mask(algebra.matrix("s", 3, 3), None, False), None)
    assert [ring.show(cell) for cell in weights[0]] == ["1", "0", "0"]
    assert ring.show(weights[1][2]) == "0"
    pattern = ((ring.constant(fmpq(0)),),)
    with pytest.raises(MaskedRowError):
        algebra.softmax(algebra.mask(algebra.matrix("t", 1, 1), pattern, True), 1)


def test_minus_infinity_times_a_symbol_is_refused():
    ring = Ring()
    with pytest.raises(ValueRefused):
        ring.minus_infinity() * ring.symbol("x", "x")
