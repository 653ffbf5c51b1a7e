"""What a page may leave open for all of a problem: few choices, mostly binary."""

from __future__ import annotations

from typing import NamedTuple

from qkv.expr import nodes as n
from qkv.expr.names import Family, Role
from qkv.library.said import Sight

ROWS, DOWN_KEYS, DOWN_QUERIES = frozenset({"rows"}), frozenset({"columns", "keys"}), frozenset({"columns", "queries"})
USUAL = frozenset({"rows", "scaled", "open"})


class Choices(NamedTuple):
    """One way to read a page.

    conventions     for each scope: rows or columns, scaled or unscaled, causal or open
    roles           families of names that are taken for another role than the likeliest, or for none
    zero_based      tokens and heads count from 0
    capitals_index  Q_1 is the query of token 1, not the queries of head 1
    arrays          arrays without a name that are inputs, by the number of their equation
    sight, scale    which keys are seen, and what scores are divided by, where a question says so for itself
    supposed        a question sets another method than the page: its formulas for what follows scores do not hold
    claimed         equations that give a name numbers alone, and these follow from what is given elsewhere
    answered        equations of a solution that answer its assignment: what they say of a name does not define it
    """

    conventions: tuple[frozenset[str], ...]
    roles: tuple[tuple[Family, Role | None], ...] = ()
    zero_based: bool = False
    capitals_index: bool = False
    claimed: frozenset[int] = frozenset()
    answered: frozenset[int] = frozenset()
    arrays: tuple[tuple[int, Role], ...] = ()
    sight: Sight | None = None
    scale: n.Expr | None = None
    supposed: bool = False

    def with_conventions(self, scope: int, conventions: frozenset[str]) -> Choices:
        """The same with other conventions in one scope."""
        made = list(self.conventions)
        made[scope] = conventions
        return self._replace(conventions=tuple(made))
