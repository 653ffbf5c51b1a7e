"""What is true of the costs that a sentence speaks of, in every reading that is in use.

Courses differ in what they count (multiplications alone, additions with them, FLOPs), in whether the projections belong
to attention, and in the letters they use. A claim that is right in one reading is right.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

from qkv.expr.names import Role
from qkv.interpret.counts import Operations, Size
from qkv.theory.cost import Cost, cost
from qkv.theory.counts_said import Speaks
from qkv.theory.polynomial import SYMBOL, ZERO, growth, polynomial, substitute
from qkv.theory.sizes import Convention, all_together

ROLES: dict[str, tuple[Role, ...]] = {
    "projections": (Role.Q, Role.K, Role.V),
    "scores": (Role.SCORES,),
    "scale": (Role.SCALED,),
    "softmax": (Role.WEIGHTS,),
    "values": (Role.HEAD, Role.OUTPUT),
    "output": (Role.OUTPUT,),
}
WEIGHED = frozenset({"projections", "output"})  # products with weights
FEW = 4  # up to so many steps every selection of them is tried


@cache
def _costs() -> dict[str, tuple[Cost, ...]]:
    kinds = ("attention", "self", "cross", "multi-head", "multi-head-cross")
    return {
        kind: tuple(cost(kind, convention=c, shared_width=w) for c in Convention for w in (True, False))
        if kind.startswith("multi-head")
        else tuple(cost(kind, convention=c) for c in Convention)
        for kind in kinds
    }


@cache
def right_counts(spoken: Speaks, names: frozenset[str], order: bool) -> tuple[Size, ...]:
    """All that a right claim in these letters could be; `order` says that only growth is meant."""
    truths = {str(size): size for size in _truths(spoken, order)}  # polynomials have no hash; most come up often
    forms = {str(form): form for size in truths.values() for form in aligned(size, names, order)}
    return tuple(forms.values())


@cache
def right_orders(spoken: Speaks, names: frozenset[str]) -> frozenset[frozenset[tuple[int, ...]]]:
    """The same where only growth is meant: the monomials that nothing outgrows."""
    return frozenset(growth(size) for size in right_counts(spoken, names, order=True) if size)


def _truths(spoken: Speaks, order: bool) -> list[Size]:
    found: list[Size] = []
    alone = spoken.steps == ("total",)
    for kind, costs in _costs().items():
        if alone and spoken.many_heads and not kind.startswith("multi-head"):
            continue
        for counted in costs:
            if "total" in spoken.steps:
                found += _amounts(counted.total, spoken.sort)
                # 'the complexity of attention' may leave the projections out
                found += [] if alone and spoken.many_heads and not order else _amounts(counted.attention, spoken.sort)
            found += _selections(counted, spoken)
    return found


def _selections(counted: Cost, spoken: Speaks) -> list[Size]:
    """The steps alone and together."""
    parts = [(step, _operations(counted, step)) for step in spoken.steps if step != "total"]
    amounts = {step: _amounts(part, spoken.sort) for step, part in parts if part is not None}
    if "projections" in amounts and (output := _operations(counted, "output")) is not None:
        amounts["output"] = _amounts(output, spoken.sort)  # W_O is a projection too
    sizes = range(1, len(amounts) + 1) if len(amounts) <= FEW else (1, len(amounts))
    return [
        sum(readings, ZERO)
        for size in sizes
        for chosen in combinations(amounts.values(), size)
        for readings in zip(*chosen, strict=True)
    ]


def _operations(counted: Cost, step: str) -> Operations | None:
    if step == "total":
        return counted.total
    wanted = [s.counts for s in counted.steps if s.role in ROLES[step] and s.projection == (step in WEIGHED)]
    return sum(wanted, Operations()) if wanted else None


def _amounts(operations: Operations, sort: str) -> list[Size]:
    """The readings of a sort, always as many, so that readings of several steps can be added one by one."""
    multiplications, additions, divisions, exponentials = (
        polynomial(getattr(operations, name)) for name in ("multiplications", "additions", "divisions", "exponentials")
    )
    match sort:
        case "operations":
            return [multiplications, multiplications + additions, all_together(operations)]
        case "multiplications":  # a division by √d_k is often a multiplication by its inverse
            return [multiplications, multiplications + divisions]
        case "additions":  # the largest score may be subtracted first
            return [additions, additions + exponentials]
        case _:
            return [polynomial(getattr(operations, sort))]


def aligned(size: Size, names: frozenset[str], order: bool = False) -> list[Size]:
    """A true polynomial in the letters of a claim: one length where the claim has one, one width where it has one."""
    n, n_q, d = SYMBOL["n"], SYMBOL["n_q"], SYMBOL["d"]
    forms = [size]
    if not names & {"n_q", "n_k"}:
        forms = [substitute(form, {"n_q": n, "n_k": n}) for form in forms]
    else:
        forms += [substitute(form, {"n": n_q}) for form in forms]
    if not names & {"d_k", "d_v"}:
        forms += [substitute(form, {"d_k": d, "d_v": d}) for form in forms]
    elif "d_v" not in names:
        forms += [substitute(form, {"d_v": SYMBOL["d_k"]}) for form in forms]
    if "h" not in names:
        forms += [substitute(form, {"h": 1}) for form in forms]
    if order and not names & {"d", "d_k", "d_v"}:  # O(n²): the width counts as a constant
        forms += [substitute(form, {"d": 1, "d_k": 1, "d_v": 1, "h": 1}) for form in forms]
    return forms


@cache
def usual(spoken: Speaks, names: frozenset[str]) -> Size:
    """The one polynomial that a course would give, in the letters of the claim where that can be."""
    forms = aligned(_usual(spoken), names)
    return next((form for form in forms if letters(form) <= names), forms[0])


def _usual(spoken: Speaks) -> Size:
    kinds = ("multi-head",) if spoken.many_heads or "output" in spoken.steps else ("attention", "self")
    sort = "multiplications" if spoken.sort == "operations" else spoken.sort
    steps = ("total",) if "total" in spoken.steps else spoken.steps
    for kind in kinds:
        parts = [_operations(_costs()[kind][0], step) for step in steps]
        if all(part is not None for part in parts):
            return sum((polynomial(getattr(part, sort)) for part in parts), ZERO)
    return ZERO


def letters(size: Size) -> frozenset[str]:
    """The sizes that occur in a polynomial."""
    degrees = zip(SYMBOL, size.degrees(), strict=True)
    return frozenset(name for name, degree in degrees if degree > 0)
