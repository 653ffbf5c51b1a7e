"""Why attention divides by √d_k: the derivation; `sampled` has a simulation to put beside it."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from flint import fmpq

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.loop import evaluate
from qkv.theory.moments import Moments, Random
from qkv.theory.ring import Ratio, Ring

TEX = str.maketrans({"μ": r"\mu", "σ": r"\sigma", "−": "-", "²": "^2", "⁴": "^4", "√": r"\surd "})


class Line(NamedTuple):
    """One step of the derivation: a formula, its LaTeX, and the rule that allows it."""

    formula: str
    latex: str
    rule: str


class Derivation(NamedTuple):
    """E and Var of qᵀk for components with mean μ and standard deviation σ, and the scale that follows."""

    lines: tuple[Line, ...]
    mean: str
    variance: str


# The derivation: a formula, its LaTeX and the rule that allows it; what is in {} is worked out.
LINES = (
    ("qᵀk = Σ_i q_i k_i", r"q^\top k = \sum_{{i=1}}^{{D_k}} q_i k_i", "definition of the dot product"),
    (
        "E[qᵀk] = Σ_i E[q_i k_i]",
        r"\mathbb{{E}}[q^\top k] = \sum_i \mathbb{{E}}[q_i k_i]",
        "linearity of expectation",
    ),
    (
        "E[q_i k_i] = E[q_i] E[k_i] = {term}",
        r"\mathbb{{E}}[q_i k_i] = \mathbb{{E}}[q_i]\,\mathbb{{E}}[k_i] = {term}",
        "q_i and k_i are independent",
    ),
    ("E[qᵀk] = {mean}", r"\mathbb{{E}}[q^\top k] = {mean}", "D_k equal terms"),
    (
        "Var(qᵀk) = Σ_i Var(q_i k_i)",
        r"\mathrm{{Var}}(q^\top k) = \sum_i \mathrm{{Var}}(q_i k_i)",
        "the products q_i k_i are independent of each other",
    ),
    (
        "Var(q_i k_i) = E[q_i² k_i²] − E[q_i k_i]²",
        r"\mathrm{{Var}}(q_i k_i) = \mathbb{{E}}[q_i^2 k_i^2] - \mathbb{{E}}[q_i k_i]^2",
        "definition of the variance",
    ),
    (
        "E[q_i²] = Var(q_i) + E[q_i]² = {second}, and E[k_i²] likewise",
        r"\mathbb{{E}}[q_i^2] = \mathrm{{Var}}(q_i) + \mathbb{{E}}[q_i]^2 = {second}",
        "definition of the variance, turned round",
    ),
    (
        "E[q_i² k_i²] = E[q_i²] E[k_i²] = ({second})²",
        r"\mathbb{{E}}[q_i^2 k_i^2] = ({second})^2",
        "q_i² and k_i² are independent",
    ),
    (
        "Var(q_i k_i) = ({second})² − ({term})² = {each}",
        r"\mathrm{{Var}}(q_i k_i) = {each}",
        "Var(XY) of independent X and Y",
    ),
    ("Var(qᵀk) = {variance}", r"\mathrm{{Var}}(q^\top k) = {variance}", "D_k equal terms"),
    (
        "Var(qᵀk / s) = {variance} / s²",
        r"\mathrm{{Var}}(q^\top k / s) = \mathrm{{Var}}(q^\top k) / s^2",
        "Var(aX) = a² Var(X)",
    ),
    (
        "for μ = 0, σ = 1: E = 0, Var(qᵀk) = D_k, Var(qᵀk / s) = D_k / s² = 1 for s = √D_k",
        r"\mu = 0,\ \sigma = 1:\quad \mathrm{{Var}}(q^\top k / s) = D_k / s^2 = 1 \iff s = \sqrt{{D_k}}",
        "s is positive",
    ),
)


def _entries(ring: Ring, rows: Ratio, columns: Ratio) -> Random:
    sigma, mu = ring.symbol("sigma", "σ"), ring.symbol("mu", "μ")
    return Random(rows, columns, mu, sigma * sigma)


def dot_product(ring: Ring) -> tuple[Random, Random]:
    """qᵀk and qᵀk/s, interpreted in means and variances; D_k, μ, σ and s stay symbols."""
    algebra = Moments(ring)
    size = ring.symbol("D_k", "D_k")
    vector = _entries(ring, size, algebra.one)
    q, k, s = (n.Name(Symbol(letter)) for letter in "qks")
    env = {q.symbol: vector, k.symbol: vector, s.symbol: algebra.known(ring.symbol("s", "s"))}
    product = n.Product(n.Transpose(q), k)
    return evaluate(product, env, algebra), evaluate(n.Quotient(product, s), env, algebra)


@cache
def derive() -> Derivation:
    """The derivation, its right-hand sides computed.

    >>> derive().mean, derive().variance
    ('D_k μ²', 'D_k (σ⁴ + 2 σ² μ²)')
    """
    ring = Ring()
    size, s = ring.symbol("D_k", "D_k"), ring.symbol("s", "s")
    plain, scaled = dot_product(ring)
    one = _entries(ring, ring.constant(fmpq(1)), ring.constant(fmpq(1)))
    single = Moments(ring).multiply(one, one)  # q_i k_i
    assert plain.variance == size * single.variance  # D_k equal terms
    assert scaled.variance * s * s == plain.variance
    values = {"mean": plain.mean, "term": single.mean, "second": one.second, "each": single.variance}
    known = {name: ring.show(value) for name, value in values.items()}
    known["variance"] = f"D_k ({known['each']})"
    in_tex = {name: text.translate(TEX) for name, text in known.items()}
    lines = tuple(Line(text.format(**known), tex.format(**in_tex), rule) for text, tex, rule in LINES)
    return Derivation(lines, known["mean"], known["variance"])
