"""Means and variances against brute force over small distributions, and the simulation against theory."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qkv.errors import ShapeError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.loop import evaluate
from qkv.theory.moments import Moments, Random
from qkv.theory.ring import Ring
from qkv.theory.sampled import own_scores, saturation, simulate, sizes_up_to, softness
from qkv.theory.scale import derive, dot_product


def value(ratio, ring, **symbols):
    """A quotient at numbers for its symbols."""
    at = [Fraction(symbols.get(label, 0)) for label in ring.labels]

    def whole(polynomial):
        total = Fraction(0)
        for exponents, coefficient in polynomial.to_dict().items():
            term = Fraction(int(coefficient.p), int(coefficient.q))
            for x, power in zip(at, exponents, strict=False):
                term *= x ** int(power)
            total += term
        return total

    return whole(ratio.top) / whole(ratio.bottom)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=2, max_size=3), st.integers(1, 2))
def test_mean_and_variance_by_enumeration(outcomes, d_k):
    """Components drawn from a few equally likely numbers: every outcome of q and k is listed."""
    mu = Fraction(sum(outcomes), len(outcomes))
    sigma2 = Fraction(sum(x * x for x in outcomes), len(outcomes)) - mu**2
    products = [
        sum(a * b for a, b in zip(q, k, strict=True))
        for q in itertools.product(outcomes, repeat=d_k)
        for k in itertools.product(outcomes, repeat=d_k)
    ]
    mean = Fraction(sum(products), len(products))
    variance = Fraction(sum(x * x for x in products), len(products)) - mean**2
    ring = Ring()
    plain, _ = dot_product(ring)
    assert value(plain.mean, ring, D_k=d_k, μ=mu) == mean
    # σ occurs in even powers only; a rational stand-in for σ² would need its root, so the formula is written out
    assert d_k * (sigma2**2 + 2 * mu**2 * sigma2) == variance
    for s in (Fraction(1), Fraction(2), Fraction(1, 3)):
        assert value(plain.variance, ring, D_k=d_k, μ=mu, σ=s) == d_k * (s**4 + 2 * mu**2 * s**2)


def test_the_derivation():
    derivation = derive()
    assert derivation.mean == "D_k μ²"
    assert derivation.variance == "D_k (σ⁴ + 2 σ² μ²)"
    rules = " ".join(line.rule for line in derivation.lines)
    for word in ("linearity", "independent", "Var(XY)", "a² Var(X)"):
        assert word in rules
    assert "√D_k" in derivation.lines[-1].formula


def test_the_scale_makes_the_variance_one():
    ring = Ring()
    _, scaled = dot_product(ring)
    assert value(scaled.variance, ring, D_k=9, μ=0, σ=1, s=3) == 1
    assert value(scaled.mean, ring, D_k=9, μ=0, σ=1, s=3) == 0


def test_steps_that_mean_and_variance_do_not_decide():
    ring = Ring()
    algebra = Moments(ring)
    x = Random(algebra.one, algebra.one, ring.symbol("m", "m"), ring.symbol("v", "v"))
    env = {Symbol("x"): x}
    name = n.Name(Symbol("x"))
    for node in (n.Softmax(name), n.Exp(name), n.Root(name), n.Quotient(n.number(1), name)):
        with pytest.raises(ValueRefused):
            evaluate(node, env, algebra)


@pytest.mark.parametrize("d_k, mu, sigma", [(1, 0, 1), (64, 0, 1), (16, 0.5, 2), (8, -1, 0.25)])
def test_simulation_agrees(d_k, mu, sigma):
    for estimate in simulate(d_k, mu, sigma, draws=20_000, seed=1):
        assert estimate.agrees
        assert estimate.low < estimate.found < estimate.high


def test_simulation_would_notice_a_wrong_formula():
    _, variance, _ = simulate(64, 0.5, 1.0, draws=20_000)
    assert not variance.low <= 64 <= variance.high  # D_k σ⁴ alone, without 2 μ² σ²


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_softness_by_hand(seed):
    scores = np.random.default_rng(seed).normal(size=(3, 5)) * 3
    found = softness(scores)
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert found.largest == pytest.approx(weights.max(axis=1).mean())
    assert found.entropy == pytest.approx(-(weights * np.log(weights)).sum(axis=1).mean() / np.log(5))
    norms = [np.linalg.norm(np.diag(a) - np.outer(a, a)) for a in weights]
    assert found.jacobian == pytest.approx(np.mean(norms))


def test_softmax_saturates_without_the_scale():
    rows = saturation((4, 64, 256))
    unscaled, scaled = [r.unscaled for r in rows], [r.scaled for r in rows]
    assert unscaled[0].entropy > unscaled[1].entropy > unscaled[2].entropy
    assert unscaled[1].jacobian > unscaled[2].jacobian
    assert max(s.largest for s in scaled) < 0.3 < min(u.largest for u in unscaled)


def test_own_scores_and_sizes():
    row = own_scores([[1, 2], [3, 1]], [[2, 1], [1, 1], [0, 1]])
    assert row.d_k == 2
    assert row.scaled.largest == pytest.approx((0.575975 + 0.881645) / 2, abs=1e-5)
    assert sizes_up_to(64) == (1, 4, 16, 64, 256)
    with pytest.raises(ShapeError):
        own_scores([[1, 2]], [[1, 2, 3]])


@pytest.mark.parametrize("arguments", [(0,), (4, 0, -1), (4, float("nan")), (4, 0, 1, 1), (10**6, 0, 1, 10**6)])
def test_refusals(arguments):
    with pytest.raises(ValueRefused):
        simulate(*arguments)
