"""How large things are by what a Spec gives: the size of a key, the number of tokens, how many heads something has."""

from __future__ import annotations

from qkv.errors import ValueRefused
from qkv.expr.names import Role, Symbol
from qkv.program.spec import Spec, default_symbol

CACHES = {Role.K: Role.K_CACHE, Role.V: Role.V_CACHE}


def size_symbol(spec: Spec, head: int | None) -> Symbol:
    """d_k; with the head's number where heads differ in it."""
    differ = len(spec.heads) > 1 and len({key_size(spec, h) for h in spec.heads}) > 1
    return default_symbol(Role.D_K, head if differ else None)


def key_size(spec: Spec, head: int | None = None) -> int:
    """d_k: how many numbers a query of this head has."""
    axis = 0 if spec.columns else 1
    given = [s for role in (Role.K, Role.Q) if (s := spec.shape(role, head)) is not None]
    for shape in given:
        # Where a single query is a row and a single key a column, they are vectors of one length.
        turned = 1 in shape and any(shape[axis] != other[axis] for other in given)
        return (max(shape) if turned else shape[axis]) // cuts(
            spec, Role.K if shape is spec.shape(Role.K, head) else Role.Q
        )
    for role in (Role.W_K, Role.W_Q):
        if (weights := spec.shape(role, head)) is not None:
            return weights[1 - axis if spec.turned else axis] // cuts(spec, role)
    raise ValueRefused("d_k cannot be told: neither keys nor key weights are given")


def cuts(spec: Spec, role: Role) -> int:
    """Into how many heads a quantity is cut; grouped queries share keys and values."""
    return len(heads_of(spec, role)) if spec.split else 1


def heads_of(spec: Spec, role: Role) -> list[int | None]:
    """The heads that have a role of their own; of a group, its first."""
    return list({spec.own(role, head): head for head in reversed(spec.heads)}.values())[::-1]


def source_of(spec: Spec, role: Role) -> Role:
    """The sequence that queries, keys or values are made from."""
    return Role.Y if role is not Role.Q and spec.has(Role.Y) else Role.X


def tokens_in(spec: Spec, role: Role) -> int:
    """How many tokens ask (Q), or are asked (K, with those of a cache)."""
    head = spec.heads[0]
    shape = spec.shape(role, head) or spec.shape(source_of(spec, role), head)
    cached = spec.shape(CACHES[role], head) if role in CACHES else None
    return sum(found[1 if spec.columns else 0] for found in (shape, cached) if found is not None)
