"""Why attention divides by √d_k: the derivation, a simulation beside it, and what softmax does without."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike, NDArray

from qkv.errors import ShapeError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.loop import evaluate
from qkv.theory.moments import Moments, Random
from qkv.theory.ring import Ratio, Ring

Floats = NDArray[np.float64]
LIMIT = 100_000_000  # random numbers drawn at once
TEX = str.maketrans({"μ": r"\mu", "σ": r"\sigma", "−": "-", "²": "^2", "⁴": "^4", "√": r"\surd "})
Z99 = 2.5758293035489004  # the normal distribution is within ± this with probability 0.99


@dataclass(frozen=True, slots=True)
class Line:
    """One step of the derivation: a formula, its LaTeX, and the rule that allows it."""

    formula: str
    latex: str
    rule: str


@dataclass(frozen=True, slots=True)
class Derivation:
    """E and Var of qᵀk for components with mean μ and standard deviation σ, and the scale that follows."""

    lines: tuple[Line, ...]
    mean: str
    variance: str
    scaled_variance: str


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
    mean, term, second = (ring.show(value) for value in (plain.mean, single.mean, one.second))
    each = ring.show(single.variance)
    lines = (*_mean_lines(mean, term), *_variance_lines(term, second, each), *_scale_lines(f"D_k ({each})"))
    return Derivation(lines, mean, f"D_k ({each})", f"D_k ({each}) / s²")


def _mean_lines(mean: str, term: str) -> tuple[Line, ...]:
    return (
        Line("qᵀk = Σ_i q_i k_i", r"q^\top k = \sum_{i=1}^{D_k} q_i k_i", "definition of the dot product"),
        Line(
            "E[qᵀk] = Σ_i E[q_i k_i]", r"\mathbb{E}[q^\top k] = \sum_i \mathbb{E}[q_i k_i]", "linearity of expectation"
        ),
        Line(
            f"E[q_i k_i] = E[q_i] E[k_i] = {term}",
            rf"\mathbb{{E}}[q_i k_i] = \mathbb{{E}}[q_i]\,\mathbb{{E}}[k_i] = {_tex(term)}",
            "q_i and k_i are independent",
        ),
        Line(f"E[qᵀk] = {mean}", rf"\mathbb{{E}}[q^\top k] = {_tex(mean)}", "D_k equal terms"),
    )


def _variance_lines(term: str, second: str, each: str) -> tuple[Line, ...]:
    return (
        Line(
            "Var(qᵀk) = Σ_i Var(q_i k_i)",
            r"\mathrm{Var}(q^\top k) = \sum_i \mathrm{Var}(q_i k_i)",
            "the products q_i k_i are independent of each other",
        ),
        Line(
            "Var(q_i k_i) = E[q_i² k_i²] − E[q_i k_i]²",
            r"\mathrm{Var}(q_i k_i) = \mathbb{E}[q_i^2 k_i^2] - \mathbb{E}[q_i k_i]^2",
            "definition of the variance",
        ),
        Line(
            f"E[q_i²] = Var(q_i) + E[q_i]² = {second}, and E[k_i²] likewise",
            rf"\mathbb{{E}}[q_i^2] = \mathrm{{Var}}(q_i) + \mathbb{{E}}[q_i]^2 = {_tex(second)}",
            "definition of the variance, turned round",
        ),
        Line(
            f"E[q_i² k_i²] = E[q_i²] E[k_i²] = ({second})²",
            rf"\mathbb{{E}}[q_i^2 k_i^2] = ({_tex(second)})^2",
            "q_i² and k_i² are independent",
        ),
        Line(
            f"Var(q_i k_i) = ({second})² − ({term})² = {each}",
            rf"\mathrm{{Var}}(q_i k_i) = {_tex(each)}",
            "Var(XY) of independent X and Y",
        ),
    )


def _scale_lines(variance: str) -> tuple[Line, ...]:
    return (
        Line(f"Var(qᵀk) = {variance}", rf"\mathrm{{Var}}(q^\top k) = {_tex(variance)}", "D_k equal terms"),
        Line(
            f"Var(qᵀk / s) = {variance} / s²",
            r"\mathrm{Var}(q^\top k / s) = \mathrm{Var}(q^\top k) / s^2",
            "Var(aX) = a² Var(X)",
        ),
        Line(
            "for μ = 0, σ = 1: E = 0, Var(qᵀk) = D_k, Var(qᵀk / s) = D_k / s² = 1 for s = √D_k",
            r"\mu = 0,\ \sigma = 1:\quad \mathrm{Var}(q^\top k / s) = D_k / s^2 = 1 \iff s = \sqrt{D_k}",
            "s is positive",
        ),
    )


def _tex(text: str) -> str:
    return text.translate(TEX)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number from a simulation, the interval that holds it with 99 % confidence, and what theory says."""

    name: str
    theory: float
    found: float
    low: float
    high: float

    @property
    def agrees(self) -> bool:
        """Whether theory lies within the interval."""
        return self.low <= self.theory <= self.high


def simulate(d_k: int, mu: float = 0.0, sigma: float = 1.0, draws: int = 20_000, seed: int = 0) -> tuple[Estimate, ...]:
    """Mean and variance of qᵀk over random normal q and k, with 99 % confidence intervals.

    >>> [e.name for e in simulate(16, draws=1000)]
    ['E[qᵀk]', 'Var(qᵀk)', 'Var(qᵀk/√d_k)']
    """
    _positive(d_k=d_k, draws=draws)
    if sigma < 0 or not math.isfinite(mu + sigma):
        raise ValueRefused(f"μ = {mu} and σ = {sigma}: σ cannot be negative, and both must be finite.")
    if draws < 2 or d_k * draws > LIMIT:
        raise ValueRefused(f"{draws} draws of {d_k} numbers: take between 2 draws and {LIMIT:,} numbers in all.")
    source = np.random.default_rng(seed)
    products = np.empty(draws)
    for start in range(0, draws, 1000):  # a thousand draws at a time keep the memory small
        shape = (min(1000, draws - start), d_k)
        q, k = (mu + sigma * source.standard_normal(shape) for _ in range(2))
        products[start : start + len(q)] = (q * k).sum(axis=1)
    mean, variance = float(products.mean()), float(products.var(ddof=1))
    fourth = float(((products - mean) ** 4).mean())
    off_mean = Z99 * math.sqrt(variance / draws)
    off_variance = Z99 * math.sqrt(max(fourth - variance**2, 0.0) / draws)
    true_variance = d_k * (sigma**4 + 2 * mu**2 * sigma**2)
    return (
        Estimate("E[qᵀk]", d_k * mu**2, mean, mean - off_mean, mean + off_mean),
        Estimate("Var(qᵀk)", true_variance, variance, variance - off_variance, variance + off_variance),
        Estimate(
            "Var(qᵀk/√d_k)",
            true_variance / d_k,
            variance / d_k,
            (variance - off_variance) / d_k,
            (variance + off_variance) / d_k,
        ),
    )


@dataclass(frozen=True, slots=True)
class Softness:
    """How a softmax row behaves: entropy as a share of its largest, the largest weight, the norm of its Jacobian."""

    entropy: float
    largest: float
    jacobian: float


@dataclass(frozen=True, slots=True)
class SoftnessRow:
    """The same for scores as they are and for scores divided by √d_k."""

    d_k: int
    unscaled: Softness
    scaled: Softness


def softness(scores: ArrayLike) -> Softness:
    """The mean over the rows of a matrix of scores; −∞ scores have no weight.

    >>> softness([[0, 0], [0, 0]])
    Softness(entropy=1.0, largest=0.5, jacobian=0.5)
    """
    rows = np.atleast_2d(np.asarray(scores, dtype=float))
    weights = np.exp(rows - rows.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    logs = np.log(np.where(weights > 0, weights, 1.0))
    seen = np.maximum(np.isfinite(rows).sum(axis=1), 2)  # a row with one key has entropy 0 of 0
    entropy = -(weights * logs).sum(axis=1) / np.log(seen)
    # ‖diag(a) − a aᵀ‖² = Σ a² − 2 Σ a³ + (Σ a²)²
    squares = (weights**2).sum(axis=1)
    jacobian = np.sqrt(np.maximum(squares - 2 * (weights**3).sum(axis=1) + squares**2, 0))
    return Softness(float(entropy.mean()), float(weights.max(axis=1).mean()), float(jacobian.mean()))


def saturation(sizes: Sequence[int], keys: int = 16, trials: int = 200, seed: int = 0) -> tuple[SoftnessRow, ...]:
    """Softmax over the scores of a random query and `keys` random keys, for each d_k, scaled and unscaled."""
    _positive(keys=keys, trials=trials)
    rows = []
    for d_k in sizes:
        _positive(d_k=d_k)
        if d_k * keys * trials > LIMIT:
            raise ValueRefused(f"d_k = {d_k} with {keys} keys and {trials} trials is too much to simulate.")
        source = np.random.default_rng((seed, d_k))
        queries, key_vectors = source.standard_normal((trials, d_k)), source.standard_normal((trials, keys, d_k))
        scores = np.einsum("td,tkd->tk", queries, key_vectors)
        rows.append(SoftnessRow(d_k, softness(scores), softness(scores / math.sqrt(d_k))))
    return tuple(rows)


def own_scores(Q: ArrayLike, K: ArrayLike) -> SoftnessRow:
    """The same for somebody's own queries and keys."""
    queries, keys = np.atleast_2d(np.asarray(Q, dtype=float)), np.atleast_2d(np.asarray(K, dtype=float))
    if queries.shape[1] != keys.shape[1]:
        raise ShapeError(f"Q is {queries.shape} and K is {keys.shape}; both need the same number of columns.")
    scores = queries @ keys.T
    d_k = keys.shape[1]
    return SoftnessRow(d_k, softness(scores), softness(scores / math.sqrt(d_k)))


def sizes_up_to(d_k: int) -> tuple[int, ...]:
    """The sizes for the table: powers of four up to the next after d_k, and d_k itself."""
    powers = [4**e for e in range(6) if 4 ** (e - 1) <= d_k]
    return tuple(sorted({*powers, d_k}))


def _positive(**sizes: int) -> None:
    for name, size in sizes.items():
        if size < 1:
            raise ValueRefused(f"{name} = {size}: it must be a positive whole number.")
