"""How a document was understood, in words: what was chosen, what a quantity is taken for, and how that is known."""

from __future__ import annotations

from qkv.library.roles import SAID, Place
from qkv.solving.understood import Problem, Quantity, Understood

# What was chosen for a problem of attention; what goes without saying has no row.
CONVENTIONS = {
    "rows": "tokens are rows",
    "columns": "tokens are columns",
    "keys": "scores have a row for each key",
    "queries": "scores have a row for each query",
    "scaled": "scores are divided by √d_k",
    "unscaled": "scores are not scaled",
    "causal": "no token sees those after it",
    "patterned": "a mask is given",
    "open": "nothing is masked",
}


def chosen(problem: Problem, found: Understood) -> str:
    """What was chosen where the page leaves it open; plain algebra leaves nothing open."""
    attends = any(q.place is not None and q.place.role in SAID for q in problem.quantities)
    said = [words for key, words in CONVENTIONS.items() if key in problem.conventions] if attends else []
    said += ["tokens count from 0"] if found.zero_based else []
    said += ["Q_1 is the query of token 1"] if found.capitals_index else []
    return "; ".join(said)


def role(place: Place | None) -> str:
    """A role in words: 'queries of head 2, token 1'."""
    if place is None:
        return ""
    head = "" if place.head is None else f" of head {place.head}"
    token = "" if place.row is None else f", token {place.row}"
    return (
        SAID.get(place.role, place.role.value) + head + token + ("" if place.column is None else f" to {place.column}")
    )


def known(quantity: Quantity) -> str:
    """The formula of a quantity and how it is known; of one that is given, how its role is."""
    if quantity.formula:
        return f"{quantity.formula} ({quantity.says})"
    if quantity.known == "unread":
        return "nothing says what this should equal: write its formula beside it, or --let"
    by = f", its role {quantity.role_by.value}" if quantity.place is not None and quantity.role_by.value else ""
    return quantity.says + (by if quantity.known == "given" else "")
