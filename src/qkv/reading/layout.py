"""How tokens lie, as the formulas of a page show it: as rows or as columns."""

from __future__ import annotations

from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.reading.choices import DOWN_KEYS, DOWN_QUERIES, ROWS, Choices
from qkv.reading.equation import Kind
from qkv.reading.page import Page
from qkv.reading.system import System
from qkv.reading.usage import layouts_shown

WEIGHTS = frozenset({Role.W_Q, Role.W_K, Role.W_V})


def stated_layout(page: Page, choices: Choices, scope: int) -> frozenset[str] | None:
    """The layout that a formula of the page shows: Q Kᵀ and X W have tokens as rows, Kᵀ Q and W X as columns. With an
    assignment, its formulas first."""
    place = System(page, choices).place
    own = sorted((e for e in page.equations if e.scope == scope), key=lambda e: e.index >= page.assigned)

    def role(node: n.Expr) -> Role | None:
        found = place(node.symbol) if isinstance(node, n.Name) else None
        return found.role if found is not None and found.row is None else None

    for formula in (item.expr for e in own for item in e.of(Kind.FORMULA)):
        for node in n.walk(formula):
            if not isinstance(node, n.Product):
                continue
            left, right = role(node.left), role(node.right)
            turned = (
                isinstance(node.left, n.Transpose) and role(node.left.arg),
                isinstance(node.right, n.Transpose) and role(node.right.arg),
            )
            if (left, turned[1]) == (Role.Q, Role.K) or (left in (Role.X, Role.Y) and right in WEIGHTS):
                return ROWS
            if (turned[0], right) in ((Role.K, Role.Q), (Role.Q, Role.K)):
                return DOWN_KEYS if right is Role.Q else DOWN_QUERIES
    shown = layouts_shown((item.expr for e in own for item in e.of(Kind.FORMULA)), page.stated)
    return next(iter(shown)) if len(shown) == 1 else None


def applied_layout(page: Page, choices: Choices, scope: int) -> str:
    """Whether a formula of one token has it as a column, q_i = W_Q x_i, or as a row, q_i = x_i W_Q."""
    place = System(page, choices).place
    for formula in (item.expr for e in page.equations if e.scope == scope for item in e.of(Kind.FORMULA)):
        for node in (x for x in n.walk(formula) if isinstance(x, n.Product)):
            sides = [place(x.symbol) if isinstance(x, n.Name) else None for x in (node.left, node.right)]
            tokens = [side is not None and side.role is Role.X and side.row is not None for side in sides]
            weights = [side is not None and side.role in WEIGHTS for side in sides]
            if (tokens[0] and weights[1]) or (weights[0] and tokens[1]):
                return "rows" if tokens[0] else "columns"
    return ""
