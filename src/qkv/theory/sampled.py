"""Why attention divides by √d_k, seen in random numbers: a simulation, and what softmax does with and without it.

NumPy is loaded with this module, so what answers worksheets does not import it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from qkv.errors import ShapeError, ValueRefused

LIMIT = 100_000_000  # random numbers drawn at once
Z99 = 2.5758293035489004  # the normal distribution is within ± this with probability 0.99


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
    """The softness of scores as they are, and of the same scores divided by √d_k."""

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
    """How soft the softmax over the scores of given queries and keys is, scaled and unscaled."""
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
