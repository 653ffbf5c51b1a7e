"""What a problem does not give itself, it takes from the problem before."""

from __future__ import annotations

from qkv.expr.names import Role
from qkv.program.spec import default_symbol
from qkv.records import replace
from qkv.understand.gathering import FACTORS, Gathering
from qkv.understand.places import place_of
from qkv.understand.roles import DERIVED

R = Role
SOURCE_FAMILY = frozenset({R.SOURCE, R.STATES, R.W_A, R.U_A, R.V_A, R.CONTEXT})
TOKEN_FAMILY = frozenset({R.X, R.Y, R.W_Q, R.W_K, R.W_V, R.W_O, R.Q, R.K, R.V})


def _inherit_memory(found: Gathering, earlier: Gathering) -> None:
    """Queries from a new sequence, nothing said of keys and values: they come from the sequence before."""
    before = earlier.givens.get((R.X, None))
    local = {R.X, R.W_K, R.W_V, R.K, R.V} & ({role for role, _ in found.givens} - {role for role, _ in found.inherited})
    spoken = {R.K, R.V} & (set(found.sources) | {role for role, _ in found.claimed})
    if (
        before is not None
        and local == {R.X}
        and R.Q in found.sources
        and not spoken
        and (R.Y, None) not in found.givens
    ):
        symbol = before.symbol if before.symbol != found.givens[R.X, None].symbol else default_symbol(R.Y)
        found.givens[R.Y, None] = replace(before, symbol=symbol, role=R.Y)
        found.inherited.add((R.Y, None))


def _set_memory_apart(found: Gathering, earlier: Gathering) -> None:
    """Keys and values from a new sequence, nothing said of queries: they come from the sequence before."""
    new, before = found.givens.get((R.X, None)), earlier.givens.get((R.X, None))
    if new is None or before is None or new.symbol == before.symbol or R.Q in found.sources:
        return
    feeds = found.sources.get(R.K) == new.symbol == found.sources.get(R.V)
    if feeds and (R.Q, None) not in found.claimed and (R.Y, None) not in found.givens:
        found.givens[R.Y, None] = replace(found.givens.pop((R.X, None)), role=R.Y)


def _bare(found: Gathering) -> set[Role]:
    return {role for role, _ in found.claimed}


def _other_family(role: Role, local: set[Role]) -> bool:
    """A problem about Q, K and V takes nothing from one about a source vector, nor the other way round."""
    if role in SOURCE_FAMILY:
        return bool(local & TOKEN_FAMILY)
    return role in TOKEN_FAMILY and bool(local & SOURCE_FAMILY)


def _is_of_one_head(found: Gathering, earlier: Gathering) -> bool:
    """Q, K and V after a problem that cut them into Q_1, Q_2, …: back to all of them, with no word on heads."""
    cut = any(head is not None and role in FACTORS for role, head in earlier.givens)
    if not cut or not {(R.X, None), (R.W_Q, None)} <= earlier.givens.keys():
        return False
    places = [place for symbol in found.spoken if (place := place_of(symbol)).roles]
    spoken = {place.roles[0] for place in places if place.head is None and place.row is None and not place.generic}
    return R.Q in spoken and not any(place.head for place in places) and not any(head for _, head in found.names)


def inherit(found: Gathering, earlier: Gathering) -> None:
    """What this problem does not give itself, it takes from the problem before."""
    _set_memory_apart(found, earlier)
    local = {role for role, _ in found.givens}
    heads = {head for _, head in found.givens if head is not None}
    whole = _is_of_one_head(found, earlier)
    for (role, head), given in earlier.givens.items():
        if (
            role in local | _bare(found)
            or (whole and (head is not None or role is R.W_O))
            or (role is R.MASK and not local.isdisjoint((R.X, R.Y)))  # it hides tokens of another sequence
            or (role in DERIVED and R.X in local)
            or (role in TOKEN_FAMILY and local.issuperset(FACTORS))  # Q, K and V are given: nothing leads to them
            or _other_family(role, local | _bare(found))
            or given.symbol in found.defined  # the letter stands for something else here: M = S / √d_k
        ):
            continue
        if (head is None or not heads or head in heads) and (role, head) not in found.givens:
            found.givens[role, head] = given
            found.inherited.add((role, head))
    for key, matrix in earlier.printed.items():
        found.printed.setdefault(key, matrix)
    _inherit_memory(found, earlier)
    for key, token in earlier.tokens.items():
        found.tokens.setdefault(key, token)
    for symbol, other in earlier.others.items():
        found.others.setdefault(symbol, other)
    for role, size in earlier.sizes.items():
        if role not in local and not whole:
            found.sizes.setdefault(role, size)
    if not found.divisors and not found.unscaled:
        found.divisors, found.unscaled = list(earlier.divisors), earlier.unscaled
        found.said_scaled = found.said_scaled or earlier.said_scaled
        found.looks_unscaled = earlier.looks_unscaled
