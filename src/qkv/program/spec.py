"""What is given and what is meant, before any step is planned; and the usual letters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol, shared_symbol
from qkv.interpret.fit import Shape
from qkv.program.model import Given

Key = tuple[Role, int | None]


class Score(StrEnum):
    """How a query and a key are compared."""

    DOT = "dot product"
    GENERAL = "general"  # sᵀ W h
    ADDITIVE = "additive"  # vᵀ tanh(W s + U h)
    COSINE = "cosine"  # q · k / (|q| |k|)


class Scale(StrEnum):
    """What scores are divided by."""

    ROOT_DK = "√d_k"
    NONE = "nothing"
    GIVEN = "a given number"


class Rope(NamedTuple):
    """Rotary positions: which columns are turned together ('interleaved': 1 and 2; 'halves': 1 and 1 + d/2), the base
    of the angles and the number of the first position."""

    pairs: str
    base: n.Number
    first: int = 0


@dataclass(frozen=True, slots=True)
class Spec:
    """What is given, by role and head, and what is meant."""

    givens: Mapping[Key, Given]
    shapes: Mapping[Key, Shape]
    scale: Scale = Scale.ROOT_DK
    divisor: n.Expr | None = None  # for Scale.GIVEN
    causal: bool = False
    mask_truth: bool = False  # the given mask holds true/false rather than 0/−∞
    plain_sum: bool = False
    columns: bool = False
    turned: bool = False  # weights are transposed: Q = X W_Qᵀ, or W_Qᵀ X with `columns`
    keys_first: bool = False  # with `columns`: scores are KᵀQ, normalised down each column, as in V softmax(KᵀQ)
    split: int | None = None  # one big weight matrix, cut into this many heads
    first_head: int = 1  # the number of the first of them
    groups: Mapping[int, int] = field(default_factory=dict)  # grouped queries: whose keys and values a head uses
    score: Score = Score.DOT
    rope: Rope | None = None  # queries and keys are turned by their positions
    linear: str | None = None  # φ of linear attention, see library/heads.py
    shared: bool = True  # linear attention is divided by what all keys add up to
    values_from: Symbol | None = None  # a third sequence: V W_V beside Q W_Q and K W_K
    names: Mapping[Key, Symbol] = field(default_factory=dict)  # the sheet's own names for what is worked out
    title: str = ""
    line: int = 1
    notes: tuple[str, ...] = ()

    @property
    def heads(self) -> tuple[int | None, ...]:
        """The heads, or one None for a single unnamed head."""
        found = sorted({head for _, head in self.givens if head is not None})
        if self.split:
            return tuple(range(self.first_head, self.first_head + self.split))
        return tuple(found) or (None,)

    def own(self, role: Role, head: int | None) -> int | None:
        """The head under which a role is kept: with grouped queries, that of the keys and values."""
        return self.groups.get(head, head) if head is not None and role in GROUPED else head

    def has(self, role: Role, head: int | None = None) -> bool:
        """Whether a role is given, for this head or for all."""
        return (role, None) in self.givens or (head is not None and (role, self.own(role, head)) in self.givens)

    def name(self, role: Role, head: int | None = None) -> n.Name:
        """The symbol of a role: as given, as the sheet calls it, or the usual letter."""
        head = self.own(role, head) if head is not None else None
        shared = not (self.split and head is not None and role in (Role.Q, Role.K, Role.V))
        for key in ((role, head), (role, None)) if shared else ():
            if key in self.givens:
                return n.Name(self.givens[key].symbol)
        return n.Name(self.names.get((role, head)) or default_symbol(role, head))

    def shape(self, role: Role, head: int | None = None) -> Shape | None:
        """The printed shape of a given."""
        return self.shapes.get((role, self.own(role, head))) or self.shapes.get((role, None))


GROUPED = frozenset({Role.K, Role.V, Role.W_K, Role.W_V, Role.B_K, Role.B_V, Role.K_CACHE, Role.V_CACHE})

# What training changes.
LEARNED = frozenset(
    {Role.W_Q, Role.W_K, Role.W_V, Role.W_O, Role.B_Q, Role.B_K, Role.B_V, Role.B_O}
    | {Role.W_A, Role.U_A, Role.V_A, Role.LEARNED}
)

# The usual names, where they are not those that roles have themselves: W_Q, b_K, d_k.
_LETTERS = {
    Role.SCORES: "S", Role.SCALED: "S_scaled", Role.BIAS: "B", Role.BIASED: "S_biased", Role.MASK: "M",
    Role.MASKED: "S_masked", Role.WEIGHTS: "A", Role.HEAD: "Z", Role.CONCAT: "Concat", Role.OUTPUT: "Output",
    Role.SOURCE: "s", Role.STATES: "H", Role.CONTEXT: "c",
}  # fmt: skip
LETTERS: dict[Role, tuple[str, tuple[str, ...]]] = {
    role: (base, (label,) if label else ())
    for role in Role
    for base, _, label in [_LETTERS.get(role, role.value).partition("_")]
}


def default_symbol(role: Role, head: int | None = None) -> Symbol:
    """The usual letter of a role: Q, W_1^Q, A_2."""
    base, labels = LETTERS[role]
    return shared_symbol(base, labels, () if head is None else (str(head),))
