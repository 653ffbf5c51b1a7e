"""Sinkhorn's entropic plan, and softmax attention as its one-sided case.

Minimise Σ P_ij C_ij + ε Σ P_ij (log P_ij − 1). With the row sums given and the column sums free, the minimum is
P_ij = (row sum) · softmax_j(−C_ij/ε): with C = −QKᵀ and ε = √d_k that is attention. Sinkhorn demands the column
sums too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qkv.errors import ShapeError, ValueRefused

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class EntropicPlan:
    """A plan P_ij = exp((f_i + g_j − C_ij)/ε) whose rows and columns sum to the masses, as far as `gap` says."""

    plan: Floats
    f: Floats
    g: Floats
    epsilon: float
    cost: float
    entropy: float
    rounds: int
    gap: float


@dataclass(frozen=True, slots=True, eq=False)
class OneSided:
    """Softmax attention beside the one-sided entropic plan with the same scores."""

    costs: Floats  # −QKᵀ
    epsilon: float  # √d_k
    weights: Floats  # softmax(QKᵀ/√d_k)
    plan: Floats  # the first half step of Sinkhorn with row sums 1
    column_sums: Floats  # free here; Sinkhorn would make them given
    spread: float  # how far C + ε log P is from constant along a row: the condition of the minimum
    difference: float


def log_sum_exp(values: Floats, axis: int) -> Floats:
    """log Σ exp, without overflow; a line of −∞ gives −∞."""
    top = values.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(np.exp(values - top).sum(axis=axis)) + top.squeeze(axis)
    return logs


def sinkhorn(
    masses_from: ArrayLike,
    masses_to: ArrayLike,
    costs: ArrayLike,
    epsilon: float,
    rounds: int = 10_000,
    accuracy: float = 1e-10,
) -> EntropicPlan:
    """The entropic plan, by making rows and columns right in turn (in logarithms, so that nothing underflows).

    >>> sinkhorn([1, 1], [1, 1], [[0, 1], [1, 0]], epsilon=1.0).plan.round(3)
    array([[0.731, 0.269],
           [0.269, 0.731]])
    """
    p, q, matrix = _checked(masses_from, masses_to, costs, epsilon)
    with np.errstate(divide="ignore"):
        log_p, log_q = np.log(p), np.log(q)
    f, g = np.zeros(len(p)), np.zeros(len(q))
    gap, done = np.inf, 0
    while gap > accuracy * p.sum() and done < rounds:
        f = epsilon * (log_p - log_sum_exp((g[None] - matrix) / epsilon, axis=1))
        g = epsilon * (log_q - log_sum_exp((f[:, None] - matrix) / epsilon, axis=0))
        done += 1
        plan = np.exp((f[:, None] + g[None] - matrix) / epsilon)
        gap = float(np.abs(plan.sum(axis=1) - p).sum())
    used = plan[plan > 0]
    entropy = float(-(used * np.log(used)).sum())
    return EntropicPlan(plan, f, g, epsilon, float((plan * matrix).sum()), entropy, done, gap)


def _checked(
    masses_from: ArrayLike, masses_to: ArrayLike, costs: ArrayLike, epsilon: float
) -> tuple[Floats, Floats, Floats]:
    p, q, matrix = (np.asarray(values, dtype=float) for values in (masses_from, masses_to, costs))
    if matrix.shape != (len(p), len(q)):
        raise ShapeError(f"The cost matrix is {matrix.shape}; {len(p)} points to {len(q)} need {(len(p), len(q))}.")
    if not epsilon > 0 or not np.isfinite(epsilon):
        raise ValueRefused(f"The entropy's weight must be a positive number, not {epsilon}.")
    if (p < 0).any() or (q < 0).any():
        raise ValueRefused("A mass cannot be negative.")
    if not np.isclose(p.sum(), q.sum(), rtol=1e-9) or not p.sum() > 0:
        raise ValueRefused(f"The masses do not balance: {p.sum():g} to move, {q.sum():g} to fill.")
    return p, q, matrix


def one_sided(Q: ArrayLike, K: ArrayLike) -> OneSided:
    """Attention weights, and the entropic plan with rows given and columns free: the same matrix.

    >>> shown = one_sided([[1, 2], [3, 1]], [[2, 1], [1, 1], [0, 1]])
    >>> shown.difference < 1e-12, shown.spread < 1e-12
    (True, True)
    """
    queries, keys = np.asarray(Q, dtype=float), np.asarray(K, dtype=float)
    if queries.ndim != 2 or keys.ndim != 2 or queries.shape[1] != keys.shape[1]:
        raise ShapeError(f"Q is {queries.shape} and K is {keys.shape}; both need the same number of columns.")
    costs = -queries @ keys.T
    epsilon = float(np.sqrt(keys.shape[1]))
    scores = -costs / epsilon
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=1, keepdims=True)
    f = -epsilon * log_sum_exp(-costs / epsilon, axis=1)  # the row prices of Sinkhorn's first half step from g = 0
    plan = np.exp((f[:, None] - costs) / epsilon)
    level = costs + epsilon * np.log(np.maximum(plan, np.finfo(float).tiny))
    shown = plan > np.finfo(float).tiny
    spread = float(np.abs(np.where(shown, level - f[:, None], 0)).max())
    return OneSided(costs, epsilon, weights, plan, plan.sum(axis=0), spread, float(np.abs(plan - weights).max()))
