"""What a sentence about costs speaks of, which steps and which sort of operation; and what is true of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import product

from qkv.expr.names import Role
from qkv.interpret.counts import Operations, Size
from qkv.theory.cost import Cost, cost
from qkv.theory.polynomial import SYMBOL, ZERO, polynomial, substitute
from qkv.theory.sizes import Convention, all_together

# Sorts of operations by the words for them; the word comes right after the formula, or before it.
SORTS: tuple[tuple[str, str], ...] = (
    ("multiplications", r"mult\w*iplica\w*|multiplikation\w*|moltiplicazion\w*|умножен\w*|乘法|掛け算|곱셈|\bmults?\b"),
    ("additions", r"addition\w*|additionen|adici\w+|adiç\w+|addizion\w*|sumas|somas|сложен\w*|加法|足し算|덧셈"),
    ("divisions", r"division\w*|divisões|divisiones|divisioni|делен\w*|除法|割り算|나눗셈"),
    ("exponentials", r"exponential\w*|exponentiation\w*|экспонент\w*|指数"),
    ("operations", r"operation\w*|complexit\w*|flops?|komplexität|complejidad|complexidade|сложност\w*|复杂度|計算量"),
    ("times", r"times\b|mal\b|fois|veces|vezes|раз\b|次"),
)
SORT_AFTER = [(sort, re.compile(rf"\s*(?:scalar|floating[- ]point|total|more|further)?\s*(?:{words})", re.IGNORECASE))
              for sort, words in SORTS]  # fmt: skip
SORT_BEFORE = [(sort, re.compile(words, re.IGNORECASE)) for sort, words in SORTS if sort != "times"]

# Steps of attention by the words and the mathematics for them, W_O before the rest of the products.
STEPS: tuple[tuple[str, str], ...] = (
    ("total", r"\btotal\b|overall|altogether|in all\b|insgesamt|gesamt|au total|en total|\bMSA\b|entire|whole layer"),
    ("output", r"W\s*[\^_]\s*\{?\\?[a-z]*\{?O|output projection|W<sub>[oO]"),
    ("projections", r"linear (transformation|projection|map)|Q\s*,\s*K\s*,?\s*(and|&)?\s*V\b|projection|W[\^_]\{?Q"),
    ("softmax", r"soft-?max"),
    ("scale", r"divid\w+ by|dividing|\\sqrt|√|scal(e|ing)"),
    ("scores", r"Q\}?\s*(\\times|\\cdot|·|\*)?\s*(\\mathbf\{)?K\}?\s*\^|QK|scores?\b|dot products?"),
    ("values", r"\bA\s*V\b|\)\s*(\\times|\\cdot|·)?\s*V\b|weighted sum|times V|by V\b|final matrix"),
)
STEP_WORDS = [(step, re.compile(words, re.IGNORECASE)) for step, words in STEPS]
MANY_HEADS = re.compile(r"\bMSA\b|\bMHA\b|multi-?\s?head", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Speaks:
    """Steps and sort of operation that a sentence speaks of."""

    steps: tuple[str, ...]
    sort: str
    many_heads: bool


def steps_said(sentence: str) -> tuple[str, ...]:
    """The steps that a sentence mentions."""
    found = [step for step, words in STEP_WORDS if words.search(sentence)]
    if "total" in found:
        return ("total",)
    if "output" in found:
        found = [step for step in found if step not in ("values", "projections")]
    if "softmax" in found and "scale" in found and re.search(r"soft-?max", sentence, re.IGNORECASE):
        found.remove("scale")
    return tuple(found)


def sort_said(after: str, before: str) -> str | None:
    """The sort of operation: the word right after the formula, otherwise the last one before it."""
    for sort, words in SORT_AFTER:
        if words.match(after):
            return sort
    places = [(found.end(), sort) for sort, words in SORT_BEFORE for found in words.finditer(before)]
    return max(places)[1] if places else None


def spoken_of(sentence: str, after: str, before: str, surrounding: str = "") -> Speaks | None:
    """What is claimed to be counted; None where the sentence does not say."""
    sort, steps = sort_said(after, before), steps_said(sentence)
    if sort is None or not steps:
        return None
    if sort == "times":
        sort = "divisions" if steps == ("scale",) else "operations"
    return Speaks(steps, sort, bool(MANY_HEADS.search(sentence + surrounding)))


@cache
def _costs() -> dict[str, tuple[Cost, Cost]]:
    return {
        kind: (cost(kind), cost(kind, convention=Convention.FLOPS))
        for kind in ("attention", "self", "cross", "multi-head", "multi-head-cross")
    }


ROLES: dict[str, tuple[Role, ...]] = {
    "projections": (Role.Q, Role.K, Role.V),
    "scores": (Role.SCORES,),
    "scale": (Role.SCALED,),
    "softmax": (Role.WEIGHTS,),
    "values": (Role.HEAD, Role.OUTPUT),
    "output": (Role.OUTPUT,),
}


def _operations(counted: Cost, step: str) -> Operations | None:
    if step == "total":
        return counted.total
    wanted = [
        s.counts for s in counted.steps if s.role in ROLES[step] and s.projection == (step in ("projections", "output"))
    ]
    return sum(wanted, Operations()) if wanted else None


def _amounts(operations: Operations, sort: str) -> list[Size]:
    if sort == "operations":  # conventions differ: multiplications alone, with additions, or everything
        both = polynomial(operations.multiplications) + polynomial(operations.additions)
        return [polynomial(operations.multiplications), both, all_together(operations)]
    return [polynomial(getattr(operations, sort))]


def truths(spoken: Speaks) -> list[Size]:
    """Every polynomial that a right claim about these steps could be: for each kind and convention, and for several
    steps each alone and all together."""
    found: list[Size] = []
    for kind, pair in _costs().items():
        if spoken.many_heads and not kind.startswith("multi-head") and spoken.steps == ("total",):
            continue
        for counted in pair:
            parts = [_operations(counted, step) for step in spoken.steps]
            amounts = [_amounts(part, spoken.sort) for part in parts if part is not None]
            if amounts and len(amounts) == len(parts):
                found += [amount for alone in amounts for amount in alone]
                found += [sum(together, ZERO) for together in product(*amounts)]
                found += _without_projections(counted, spoken)
    return found


def _without_projections(counted: Cost, spoken: Speaks) -> list[Size]:
    """'The complexity of attention' may leave the projections out."""
    if spoken.steps != ("total",) or spoken.many_heads:
        return []
    return _amounts(counted.attention, spoken.sort)


def aligned(size: Size, names: frozenset[str]) -> list[Size]:
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
    return forms


@cache
def right_counts(spoken: Speaks, names: frozenset[str]) -> tuple[Size, ...]:
    """All that a right claim in these letters could be."""
    return tuple(form for size in truths(spoken) for form in aligned(size, names))


def usual(spoken: Speaks) -> Size:
    """The one polynomial that a course would give."""
    kinds = ("multi-head",) if spoken.many_heads or set(spoken.steps) & {"output"} else ("attention", "self")
    sort = "multiplications" if spoken.sort == "operations" else spoken.sort
    for kind in kinds:
        parts = [_operations(_costs()[kind][0], step) for step in spoken.steps]
        if all(part is not None for part in parts):
            return sum((polynomial(getattr(part, sort)) for part in parts), ZERO)
    return ZERO
