"""What a mask looks like, and along which axis softmax runs."""

from __future__ import annotations

from collections.abc import Mapping

from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.interpret.counts import SizePair
from qkv.theory.cost import cost, program_of
from qkv.theory.cost_kinds import KINDS
from qkv.theory.polynomial import number

SHOWN = 8  # rows and columns of a mask that are still printed in full
MASK_RULE = "M_ij = 0 for j ≤ i (on and below the diagonal), and −∞ for j > i (strictly above it)"
MASK_EFFECT = "e^(−∞) = 0, so that query i gives the keys after it weight 0"
ZERO, FORBIDDEN = "0", "−∞"


def softmax_axis() -> int:
    """1 if each row of the scores becomes a distribution, 0 if each column does: read off the program.

    >>> softmax_axis()
    1
    """
    weights = next(step.expr for step in program_of(KINDS["attention"]).steps if step.role is Role.WEIGHTS)
    return weights.axis if isinstance(weights, n.Softmax) else 1


def causal_mask(queries: int, keys: int) -> tuple[tuple[str, ...], ...]:
    """0 where query i may see key j, −∞ where not; the last query sits at the last key.

    >>> causal_mask(2, 2)
    (('0', '−∞'), ('0', '0'))
    """
    offset = max(keys - queries, 0)
    return tuple(tuple(ZERO if j <= i + offset else FORBIDDEN for j in range(keys)) for i in range(queries))


def mask_of(sizes: Mapping[str, int | None]) -> tuple[SizePair, tuple[tuple[str, ...], ...]]:
    """Shape and values of the causal mask that is added to the scores; an example of 4 × 4 where sizes are open."""
    scores = cost(causal=True, sizes=sizes).step(Role.SCORES)
    assert scores is not None
    rows, columns = (number(size) for size in scores.shape)
    known = rows is not None and columns is not None and max(rows, columns) <= SHOWN
    return scores.shape, causal_mask(rows, columns) if known and rows and columns else causal_mask(4, 4)
