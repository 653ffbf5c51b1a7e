"""Recognising what a formula works out: Q K^T are scores, softmax(...) V is the output.

Only shapes of formulas that attention really has are recognised; anything else stays a formula of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce

from qkv.expr import nodes as n
from qkv.expr.names import Role

RoleOf = Callable[[n.Name], Role | None]

WEIGHT_OF = {Role.W_Q: Role.Q, Role.W_K: Role.K, Role.W_V: Role.V, Role.W_O: Role.OUTPUT}
BIAS_OF = {Role.B_Q: Role.Q, Role.B_K: Role.K, Role.B_V: Role.V, Role.B_O: Role.OUTPUT}
TOKENS = frozenset({Role.X, Role.Y, Role.STATES})
ROWS = frozenset({Role.Q, Role.K, Role.V, Role.X})
SCORE_STAGES = frozenset({Role.SCORES, Role.SCALED, Role.MASKED})


def formula_role(expr: n.Expr, role_of: RoleOf) -> Role | None:
    """The role of what a formula gives, or None."""
    match expr:
        case n.Name():
            return role_of(expr)
        case n.Transpose(arg=a):
            return formula_role(a, role_of)
        case n.Softmax(arg=a):
            return Role.WEIGHTS if formula_role(a, role_of) in SCORE_STAGES else None
        case n.Normalise(arg=a):
            return Role.WEIGHTS if formula_role(a, role_of) in SCORE_STAGES else None
        case n.Concat(parts=parts, axis=axis):
            roles = {formula_role(part, role_of) for part in parts} if axis == 0 else set()
            return roles.pop() if len(roles) == 1 and roles <= ROWS else Role.CONCAT  # Q = [q_1; q_2; q_3]
        case n.Mask():
            return Role.MASKED
        case n.Quotient(numerator=a, denominator=b):
            return Role.SCALED if formula_role(a, role_of) is Role.SCORES and not _has_vectors(b, role_of) else None
        case n.Sum(terms=terms):
            return _sum_role([formula_role(term, role_of) for term in terms])
        case n.Product(left=a, right=b):
            return _product_role(a, b, role_of)
        case _:
            return None


def _has_vectors(scale: n.Expr, role_of: RoleOf) -> bool:
    """Whether a divisor depends on the queries or keys, as that of a cosine does."""
    return any(role_of(part) in (Role.Q, Role.K) for part in n.walk(scale) if isinstance(part, n.Name))


def _sum_role(roles: list[Role | None]) -> Role | None:
    if roles and set(roles) == {Role.OUTPUT}:
        return Role.OUTPUT  # α_1 v_1 + α_2 v_2
    if len(roles) == 2 and roles[1] is Role.MASK and roles[0] in SCORE_STAGES:
        return Role.MASKED
    if len(roles) == 2 and roles[1] in BIAS_OF and roles[0] is BIAS_OF[roles[1]]:
        return roles[0]
    return None


def adds_to_scores(expr: n.Expr, role_of: RoleOf) -> bool:
    """Q Kᵀ / √d_k + B: scores, and one matrix by its name."""
    if not isinstance(expr, n.Sum) or len(expr.terms) != 2 or not isinstance(expr.terms[1], n.Name):
        return False
    return formula_role(expr.terms[0], role_of) in SCORE_STAGES


def sums_scores(expr: n.Expr, role_of: RoleOf) -> bool:
    """(Q Kᵀ + Q Rᵀ) / √d_k: scores, and further products."""
    whole = expr.numerator if isinstance(expr, n.Quotient) else expr
    if not isinstance(whole, n.Sum) or not all(isinstance(term, n.Product) for term in whole.terms):
        return False
    if any(symbol.indices for symbol in n.names_in(whole)):
        return False  # q_1 k_1 + q_2 k_2 is one score
    return formula_role(whole.terms[0], role_of) is Role.SCORES


def before_mask(expr: n.Expr) -> n.Expr:
    """The scores in QKᵀ + M and in mask(QKᵀ)."""
    if isinstance(expr, n.Mask):
        return expr.arg
    return expr.terms[0] if isinstance(expr, n.Sum) and len(expr.terms) == 2 else expr


def _product_role(a: n.Expr, b: n.Expr, role_of: RoleOf) -> Role | None:
    left, right = formula_role(a, role_of), formula_role(b, role_of)
    for weight, source in ((right, left), (left, right)):
        if weight in WEIGHT_OF and (source in TOKENS or weight is Role.W_O):
            return WEIGHT_OF[weight]
    if {left, right} == {Role.Q, Role.K} and (_turned(a) != _turned(b) or _is_vector(a)):
        return Role.SCORES
    if {left, right} == {Role.WEIGHTS, Role.V}:
        return Role.OUTPUT
    scale, inner = scaled_by(n.Product(a, b))
    if scale is not None and inner is not None and formula_role(inner, role_of) is Role.SCORES:
        return Role.SCALED
    return None


def scaled_by(product: n.Expr) -> tuple[n.Expr | None, n.Expr | None]:
    """1/√d_k · Q Kᵀ: the leading scale and what it scales."""
    first, *rest = n.factors(product)
    return (first, reduce(n.Product, rest)) if rest and _is_scale(first) else (None, None)


def _turned(expr: n.Expr) -> bool:
    return isinstance(expr, n.Transpose)


def _is_vector(expr: n.Expr) -> bool:
    return isinstance(expr, n.Name) and expr.symbol.base.islower()


def _is_scale(expr: n.Expr) -> bool:
    return isinstance(expr, n.Quotient) and any(isinstance(part, n.Root) for part in n.walk(expr))


def divisors(expr: n.Expr, role_of: RoleOf) -> Iterator[n.Expr]:
    """What scores are divided by, wherever in a formula that happens."""
    if n.holds(expr, n.Call) or not n.holds(expr, n.Quotient):
        return  # E[qᵀk / s] is about another matter
    softened = tuple(softmax_arguments(expr))
    for part in n.walk(expr):
        if isinstance(part, n.Quotient) and (
            formula_role(part.numerator, role_of) is Role.SCORES
            or (isinstance(part.numerator, n.Name) and part in softened)  # softmax(s / τ), whatever else s may be
        ):
            below = part.denominator
            if n.is_literal(below) or any(isinstance(x, n.Root) for x in n.walk(below)) or _is_temperature(below):
                yield below
        elif isinstance(part, n.Product):
            scale, inner = scaled_by(part)
            if isinstance(scale, n.Quotient) and inner is not None and formula_role(inner, role_of) is Role.SCORES:
                yield scale.denominator


def _is_temperature(expr: n.Expr) -> bool:
    """τ, T or another letter that is no size."""
    return isinstance(expr, n.Name) and expr.symbol.base not in ("d", "D") and not expr.symbol.indices


def softmax_arguments(expr: n.Expr) -> Iterator[n.Expr]:
    """What softmax is taken of, anywhere in a formula."""
    for part in n.walk(expr) if n.holds(expr, n.Softmax) else ():
        if isinstance(part, n.Softmax):
            yield part.arg
