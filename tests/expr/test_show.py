"""Expressions as text and as LaTeX."""

from __future__ import annotations

from fractions import Fraction

import pytest

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.expr.show import latex, plain, symbol_latex, symbol_plain

Q, K, V, S = (n.Name(Symbol(letter)) for letter in "QKVS")
D_K = n.Name(Symbol("d", ("k",)))

SHOWN = [
    (n.Product(Q, n.Transpose(K)), "Q K^T", r"Q \, K^\top"),
    (n.Quotient(n.Product(Q, n.Transpose(K)), n.Root(D_K)), "Q K^T / √d_k", r"\frac{Q \, K^\top}{\sqrt{d_{k}}}"),
    (n.Product(n.Sum((Q, K)), V), "(Q + K) V", r"(Q + K) \, V"),
    (n.Sum((Q, n.Negate(K))), "Q - K", "Q - K"),
    (n.Product(n.number(2), n.number(3)), "2 · 3", r"2 \cdot 3"),
    (n.Product(n.number(2), n.number(-3)), "2 · (-3)", r"2 \cdot (-3)"),
    (n.Quotient(S, n.number(Fraction(1, 3))), "S / (1/3)", r"\frac{S}{1/3}"),
    (n.Exp(n.number(2)), "e^2", "e^{2}"),
    (n.Mask(S), "causal(S)", r"\mathrm{causal}\left(S\right)"),
    (n.Mask(S, Q, truth=True), "mask(S, Q)", r"\mathrm{mask}\left(S, Q\right)"),
    (n.Transpose(n.Mask(S, Q)), "(S + Q)^T", r"(S + Q)^\top"),
    (n.Softmax(S), "softmax(S)", r"\mathrm{softmax}\left(S\right)"),
    (n.Softmax(S, axis=0), "softmax over columns(S)", r"\mathrm{softmax over columns}\left(S\right)"),
    (n.Concat((Q, K)), "Concat(Q, K)", r"\mathrm{Concat}\left(Q, K\right)"),
    (n.Entry(Q, row=2), "Q[2]", r"Q[2]"),
    (n.Entry(Q, columns=(1, 3)), "Q_{:,1:3}", "Q_{:,1:3}"),
    (n.matrix([[1, "0.50"]]), "[1, 0.50]", r"\begin{bmatrix} 1 & 0.50 \end{bmatrix}"),
    (n.number("6.03e-6"), "6.03e-6", r"6.03 \times 10^{-6}"),
    (n.number("3e-2"), "3e-2", r"3 \times 10^{-2}"),
    (n.Number(Fraction(3, 100), 2, r"3 \times 10^{-2}"), r"3 \times 10^{-2}", r"3 \times 10^{-2}"),
    (n.Call("tanh", (S,)), "tanh(S)", r"\tanh\left(S\right)"),
    (n.Infinite(), "-∞", r"-\infty"),
    (n.Series("j", n.number(1), n.number(3), S), "Σ_{j=1}^3 S", r"\sum_{j=1}^{3} S"),
    (n.Transpose(n.Name(Symbol("W", ("Q",), ("1",)))), "(W_1^Q)^T", r"(W_{1}^{Q})^\top"),
]


@pytest.mark.parametrize("expr, text, tex", SHOWN, ids=[text for _, text, _ in SHOWN])
def test_forms(expr: n.Expr, text: str, tex: str) -> None:
    assert plain(expr) == text
    assert latex(expr) == tex


def test_symbols() -> None:
    assert symbol_plain(Symbol("S", ("scaled",), ("2",))) == "S_2^scaled"
    assert symbol_latex(Symbol("alpha", (), ("3", "1"))) == r"\alpha_{3,1}"
    assert symbol_plain(Symbol("a", (), ("3", "1"))) == "a_{3,1}"
