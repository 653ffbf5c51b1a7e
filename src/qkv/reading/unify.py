"""The roles that a formula has, by unifying it with the equations of the library: E = Q Kᵀ makes E the scores."""

from __future__ import annotations

from collections.abc import Callable

from qkv.expr import nodes as n
from qkv.expr.functions import BY_KEY
from qkv.expr.names import Role, Symbol
from qkv.library.attention import role_in, rows_of, stand_ins
from qkv.library.roles import Place

DEPTH = 5


class Unifier:
    """Formulas against the library, with what names stand for as far as it is known."""

    def __init__(self, place: Callable[[Symbol], Place | None]) -> None:
        self._place = place
        self._known: dict[n.Expr, list[Role]] = {}

    def roles(self, expr: n.Expr, depth: int = 0) -> list[Role]:
        """The roles that an expression may have, likeliest first."""
        if isinstance(expr, n.Name):
            place = self._place(expr.symbol)
            return [place.role] if place else []
        if depth > DEPTH:
            return []
        if expr not in self._known:
            self._known[expr] = []  # while it is looked at
            self._known[expr] = list(dict.fromkeys(self._found(expr, depth)))
        return self._known[expr]

    def _found(self, expr: n.Expr, depth: int) -> list[Role]:
        found: list[Role] = []
        if isinstance(expr, (n.Softmax, n.Normalise)):
            found.append(Role.WEIGHTS)
        if isinstance(expr, n.Mask):
            found.append(Role.MASKED)
        if (
            isinstance(expr, n.Concat)
            and expr.axis == 1
            and all(Role.HEAD in self.roles(p, depth + 1) for p in expr.parts)
        ):
            found.append(Role.CONCAT)
        if isinstance(expr, n.Quotient) and Role.SCORES in self.roles(expr.numerator, depth + 1):
            found.append(Role.SCALED)
        if isinstance(expr, n.Transpose) and Role.SOURCE in self.roles(expr.arg, depth + 1):
            found.append(Role.SOURCE)  # sᵀ W Hᵀ: one vector that asks, written as a column
        if isinstance(expr, n.Product) and self._is_dot(expr):
            found.append(Role.SCORES)
        return found + [row.role for row in rows_of(type(expr)) if self._fits(row.expr, expr, depth)]

    def _is_dot(self, product: n.Product) -> bool:
        """q_1 · k_2, the product of a query and a key."""
        sides = [x.arg if isinstance(x, n.Transpose) else x for x in (product.left, product.right)]
        roles = {place.role for x in sides if isinstance(x, n.Name) and (place := self._place(x.symbol))}
        return roles in ({Role.Q, Role.K}, {Role.SOURCE, Role.STATES})

    def _fits(self, pattern: n.Expr, expr: n.Expr, depth: int) -> bool:
        if isinstance(pattern, n.Name):
            wanted = role_in(pattern.symbol)
            return wanted is not None and not stand_ins()[wanted].isdisjoint(self.roles(expr, depth + 1))
        parts = beside(pattern, expr)
        return parts is not None and all(self._fits(a, b, depth) for a, b in parts)


def beside(pattern: n.Expr, expr: n.Expr) -> list[tuple[n.Expr, n.Expr]] | None:
    """The parts of an expression beside those of a pattern with the same operation; None where it is another one.
    What the library calls by names of its own, causal(…) say, no page does."""
    match pattern, expr:
        case n.Call(function), n.Call(other) if function != other or function not in BY_KEY:
            return None
        case _ if type(pattern) is not type(expr):
            return None
    parts, others = n.children(pattern), n.children(expr)
    return list(zip(parts, others, strict=True)) if len(parts) == len(others) else None
