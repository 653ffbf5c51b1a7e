"""Names of quantities: what a symbol is, apart from how it is spelled.

`W_{0^Q}`, `W_0^Q`, `W^{(0)}_Q` and `W_Q^0` are one symbol: base W, labels (Q), indices (0). A symbol's role is a
property of its base and labels; the tables below are all that is known about spelling.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

INDEX_LETTERS = frozenset("ijlmnprstu")  # letters that count tokens, heads and steps


class Role(StrEnum):
    """What a quantity is for."""

    X = "X"  # the tokens, one a row
    Y = "Y"  # the second sequence of cross-attention: keys and values come from it
    W_Q = "W_Q"
    W_K = "W_K"
    W_V = "W_V"
    W_O = "W_O"
    B_Q = "b_Q"
    B_K = "b_K"
    B_V = "b_V"
    B_O = "b_O"
    Q = "Q"
    K = "K"
    V = "V"
    K_CACHE = "K_cache"  # keys and values of the tokens before
    V_CACHE = "V_cache"
    BIAS = "bias"  # added to the scaled scores: relative positions, ALiBi
    BIASED = "biased"
    SCORES = "scores"  # Q Kᵀ
    SCALED = "scaled"  # Q Kᵀ / √d_k
    MASK = "mask"
    MASKED = "masked"  # scores with −∞ where the mask forbids
    WEIGHTS = "weights"  # softmax
    HEAD = "head"  # the output of one head
    CONCAT = "concat"
    OUTPUT = "output"
    SOURCE = "source"  # s, the one vector that attends
    STATES = "states"  # h_1 … h_n, attended to
    CONTEXT = "context"  # Σ α_i h_i
    W_A = "W_a"  # additive and general scores
    U_A = "U_a"
    V_A = "v_a"
    D_K = "d_k"
    D_V = "d_v"
    D_MODEL = "d_model"
    HEADS = "h"
    BLOCK = "block"  # what is worked out around attention: residual sums, norms, logits …
    LEARNED = "learned"  # weights of what stands around attention: W_1, γ_1, E …
    OTHER = "other"

    __hash__ = str.__hash__  # roles are keys everywhere; Enum's own hash is many times slower


Family = tuple[str, tuple[str, ...], int]


class Symbol(NamedTuple):
    """A quantity: base letters, labels (letters in scripts, sorted), indices (numbers in scripts, in order) and primes.
    A tuple, since symbols are keys everywhere, and tuples are compared fastest.

    >>> Symbol("W", ("Q",), ("1",)) == Symbol("W", ("Q",), ("1",))
    True
    """

    base: str
    labels: tuple[str, ...] = ()
    indices: tuple[str, ...] = ()  # digits, or an index letter such as "i"
    primes: int = 0

    @property
    def family(self) -> Family:
        """What names that differ only in their indices have in common: x_1 and x_2, but not x'_1."""
        return self.base, self.labels, self.primes

    def __str__(self) -> str:
        scripts = ",".join((*self.labels, *self.indices))
        return self.base + (f"_{scripts}" if scripts else "") + "'" * self.primes


# One object for all that spell the same name: looking it up then compares nothing.
shared_symbol = lru_cache(maxsize=4096)(Symbol)
