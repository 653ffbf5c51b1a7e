"""What a symbol stands for: the roles that it may play, its head, and the row and column that it picks."""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache

from qkv.expr.names import Role, Symbol
from qkv.records import dataclass
from qkv.understand.roles import SCORE_ROLES, roles_of

# Letters whose number counts tokens; the numbers of all others count heads.
TOKEN_BASES = frozenset("q k v x h a e z o y c s u w alpha omega beta b d delta t n m p".split())  # noqa: SIM905
KNOWN_LABELS = frozenset(
    {"masked", "mask", "scaled", "norm", "causal", "tilde", "hat", "bar", "head", "heads", "model", "new", "unscaled"}
)
WEIGHTED = frozenset({Role.W_Q, Role.W_K, Role.W_V, Role.W_O, Role.B_Q, Role.B_K, Role.B_V, Role.B_O})
INDEX_LETTERS = frozenset("ijhlmnt")


@dataclass(frozen=True, slots=True)
class Place:
    """What a symbol stands for: the roles it may play, its head, and the row and column it picks."""

    roles: tuple[Role, ...]
    head: int | None = None
    row: int | None = None
    column: int | None = None
    generic: bool = field(default=False)  # carries an index letter: q_i, Z_i


@lru_cache(maxsize=4096)
def place_of(symbol: Symbol, head: int | None = None) -> Place:
    """Read a symbol's scripts.

    >>> place_of(Symbol("z", (), ("3", "1"))).row, place_of(Symbol("W", ("Q",), ("1",))).head
    (3, 1)
    """
    roles = roles_of(symbol)
    if symbol.base == "H" and symbol.indices:
        roles = (Role.HEAD,)
    if symbol.base in TOKEN_BASES and any(
        len(label) > 1 and label.lower() not in KNOWN_LABELS for label in symbol.labels
    ):
        roles = ()  # k_cat beside k_the: each a vector of its own
    written = [x for x in symbol.indices if x.isdigit()]
    numbers = [int(x) for x in written]
    letters = [x for x in symbol.indices if not x.isdigit()]
    scored = not (SCORE_ROLES | {Role.WEIGHTS}).isdisjoint(roles)
    paired = scored and not letters and len(written) == 1 and len(written[0]) == 2
    if paired:
        numbers = [int(digit) for digit in written[0]]  # a_{31} is a_{3,1}, and a_{00} is a_{0,0}
    if paired or (symbol.base in TOKEN_BASES and WEIGHTED.isdisjoint(roles[:1])):
        row = numbers[0] if numbers else None
        column = numbers[1] if len(numbers) > 1 else None
        if column is not None:  # s_{1,2} is a score, not a part of the vector s
            roles = tuple(role for role in roles if role in SCORE_ROLES | {Role.WEIGHTS}) or roles
        timed = symbol.base in ("s", "c", "e", "a", "alpha") and all(letter.startswith("t") for letter in letters)
        return Place(roles, head, row, column, bool(letters) and not numbers and not timed)
    if numbers:
        return Place(roles, numbers[0], numbers[1] if len(numbers) > 1 else None, generic=False)
    return Place(roles, head, generic=bool(letters))
