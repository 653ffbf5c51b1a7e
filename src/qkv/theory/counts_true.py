"""What is true of the costs that a sentence speaks of, in every reading that is in use.

Courses differ in what they count (multiplications alone, additions with them, FLOPs), in whether the projections belong
to attention, and in the letters they use. A claim that is right in one reading is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import combinations

from qkv.expr.names import Role
from qkv.interpret.counts import Operations, Size
from qkv.theory.cost import Cost, cost
from qkv.theory.counts_said import Speaks
from qkv.theory.parameters import right_parameters
from qkv.theory.polynomial import SYMBOL, ZERO, Terms, of_terms, outgrown_by_none, polynomial, renamed, terms
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


@lru_cache(maxsize=64)
def right_counts(spoken: Speaks, names: frozenset[str], order: bool) -> frozenset[Terms]:
    """All that a right claim in these letters could be; `order` says that only growth is meant."""
    forms = set(map(terms, _truths(spoken, order)))
    for changed, kept in _changes(names, order):
        made = {renamed(form, changed) for form in forms}
        forms = forms | made if kept else made
    return frozenset(forms)


@lru_cache(maxsize=64)
def right_orders(spoken: Speaks, names: frozenset[str]) -> frozenset[frozenset[tuple[int, ...]]]:
    """All orders of growth that a right claim in these letters could state: the monomials that nothing outgrows."""
    return frozenset(outgrown_by_none(form) for form in right_counts(spoken, names, order=True) if form)


def _truths(spoken: Speaks, order: bool) -> list[Size]:
    if spoken.sort == "parameters":
        return list(right_parameters(spoken.steps))
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


def aligned(size: Size, names: frozenset[str]) -> list[Size]:
    """A true polynomial in the letters of a claim, in every way."""
    forms = [terms(size)]
    for changed, kept in _changes(names):
        made = [renamed(form, changed) for form in forms]
        forms = forms + made if kept else made
    return list(map(of_terms, forms))


Letters = Mapping[str, str | None]  # what stands for a size: another one, or nothing where it counts as 1


def _changes(names: frozenset[str], order: bool = False) -> Iterator[tuple[Letters, bool]]:
    """How true counts are written in the letters of a claim: changes of letters, to be made one after the other, and
    whether the count without the change is right too. A claim with one length or one width uses it for all."""
    if not names & {"n_q", "n_k"}:
        yield {"n_q": "n", "n_k": "n"}, False
    else:
        yield {"n": "n_q"}, True
    if not names & {"d_k", "d_v"}:
        yield {"d_k": "d", "d_v": "d"}, True
    elif "d_v" not in names:
        yield {"d_v": "d_k"}, True
    if "h" not in names:
        yield {"h": None}, True
    if order and not names & {"d", "d_k", "d_v"}:  # O(n²): the width counts as a constant
        yield {"d": None, "d_k": None, "d_v": None, "h": None}, True


@lru_cache(maxsize=64)
def usual(spoken: Speaks, names: frozenset[str]) -> Size:
    """The one polynomial that a course would give, in the letters of the claim where that can be."""
    forms = aligned(_usual(spoken), names)
    return next((form for form in forms if letters(form) <= names), forms[0])


def _usual(spoken: Speaks) -> Size:
    if spoken.sort == "parameters":
        return next(right_parameters(spoken.steps))
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
