"""What the subject of a fact is: its role, whether it is a quantity of its own, whether its formula says anything."""

from __future__ import annotations

from itertools import chain

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.sheet.model import Origin
from qkv.understand.facts import Fact
from qkv.understand.gathering import Gathering
from qkv.understand.places import Place, place_of
from qkv.understand.repair import similar
from qkv.understand.roles import DERIVED, MISREAD_Q, SCORE_ROLES

R = Role
QKV = (R.Q, R.K, R.V)


def subject_role(found: Gathering, fact: Fact, symbol: Symbol, place: Place, facts: tuple[Fact, ...]) -> Role | None:
    """The role of a subject whose formula says nothing about it."""
    role = misread_q(symbol, fact, found) or (place.roles[0] if place.roles else found.defined.get(symbol))
    several = len(set(found.sources.values())) > 1  # Q = X_1 W_Q, K = X_2 W_K
    fed = symbol in found.sources.values() and (several or not symbol.indices)
    if fed and fact.formula is None and fact.working is None:
        return R.X if found.sources.get(R.Q, symbol) == symbol else R.Y
    if role is R.SOURCE and R.SCORES in place.roles and symbol.indices and not may_attend(fact, place):
        return R.SCORES
    value = fact.shown if role is R.SOURCE else None
    if value is not None and R.SCORES in place.roles and has_infinity(value):
        return R.MASKED
    if role is R.SOURCE and R.SCORES in place.roles and not _has_states(facts):
        if fact.cue.role in SCORE_ROLES:
            return fact.cue.role  # 'the scores are s = (1, 2, 0)'
        exprs = [link.expr for other in facts if other.formula is not None for link in other.links]
        if any(_softens(expr, symbol) for expr in exprs if symbol in n.names_in(expr)):
            return R.SCORES
    if role is R.OUTPUT and R.Y in place.roles and not found.printed and fact.formula is None:
        return R.Y  # nothing is worked out yet, so this is no output
    return R.MASK if role is not R.MASKED and _is_additive_mask(fact) else role


def _is_additive_mask(fact: Fact) -> bool:
    """Nothing but 0 and −∞: a mask, whatever its letter."""
    value = fact.shown if fact.formula is None and fact.working is None else None
    if value is None or not has_infinity(value):
        return False
    numbers = [cell for row in value.rows for cell in row if not isinstance(cell, n.Infinite)]
    return all(isinstance(cell, n.Number) and cell.value == 0 for cell in numbers)


def may_attend(fact: Fact, place: Place) -> bool:
    """Whether s may be the state that attends: s_1 = 4 is no vector, nor is a column of a table headed s_i."""
    value = fact.shown
    if value is None or (place.generic and fact.statement.origin is Origin.TABLE):
        return value is None
    return value.shape != (1, 1)


def _softens(expr: n.Expr, symbol: Symbol) -> bool:
    """Whether an expression takes exp(s), or the softmax of s, or of s/τ."""
    if n.kinds_in(expr).isdisjoint((n.Exp, n.Softmax)):
        return False
    taken = (part.arg for part in n.walk(expr) if isinstance(part, (n.Exp, n.Softmax)))
    scores = (arg.numerator if isinstance(arg, n.Quotient) else arg for arg in taken)
    return any(isinstance(arg, n.Name) and arg.symbol == symbol for arg in scores)


def _has_states(facts: tuple[Fact, ...]) -> bool:
    """Whether there is anything that a source vector could be compared with, and no query that does so."""
    named = [name.symbol for fact in facts for name in fact.subjects]
    named += [symbol for fact in facts if fact.formula is not None for symbol in n.names_in(fact.formula)]
    roles = {role for symbol in named for role in place_of(symbol).roles[:1]}
    return R.STATES in roles or (R.Q not in roles and not roles.isdisjoint((R.K, R.X)))


def scores_otherwise(fact: Fact) -> bool:
    """s_i = q·k_i / (|q| |k_i|): a formula for every score that is no plain dot product, and no mere f(q, k)."""
    place = place_of(fact.symbol) if fact.symbol is not None else None
    if fact.formula is None or place is None or not SCORE_ROLES.intersection(place.roles):
        return False
    parts = list(n.walk(fact.formula))
    operands = {role for part in parts if isinstance(part, n.Name) for role in place_of(part.symbol).roles[:1]}
    compares = bool(operands & {R.Q, R.K, R.SOURCE, R.STATES})
    return place.generic and compares and not any(isinstance(part, n.Call) for part in parts)


def misread_q(symbol: Symbol, fact: Fact, found: Gathering) -> Role | None:
    """Ω, ∅ or O where only a Q fits: worked out as a product of two matrices. An O beside a Q is an output."""
    working = fact.working
    if symbol.base == "O" and any(role is R.Q and name.base == "Q" for (role, _), name in found.names.items()):
        return None
    is_product = working is not None and isinstance(working.expr, n.Product)
    return R.Q if symbol.base in MISREAD_Q and is_product and symbol.base != "alpha" else None


def names_rows(formula: n.Expr, role: Role | None) -> bool:
    """Q = [q_1; q_2; q_3] = […] only says what the rows are called; and so does [q_1 q_2 q_3], without signs."""
    parts = formula.parts if isinstance(formula, n.Concat) else tuple(n.factors(formula))
    rows = [part.arg if isinstance(part, n.Transpose) else part for part in parts]
    named = [place_of(row.symbol) for row in rows if isinstance(row, n.Name)]
    counted = [place.row for place in named if place.roles[:1] == (role,) and place.column is None]
    return len(rows) > 1 and (counted == list(range(1, len(rows) + 1)) or counted == list(range(len(rows))))


def told_stage(found: Gathering, fact: Fact, name: n.Name, place: Place) -> Role | None:
    """'Divided by √2: S' = …' beside scores that were called S: what words say of another name of the same letter."""
    told = fact.cue.role
    if fact.formula is not None or told not in (R.SCALED, R.MASKED) or place.roles[:1] != (R.SCORES,):
        return None
    known = found.names.get((R.SCORES, (fact.head or 1) if place.generic else place.head))
    return told if told in place.roles and known is not None and known != name.symbol else None


def is_variant(
    found: Gathering, symbol: Symbol, place: Place, role: Role | None, value: n.Matrix, spoken: int | None
) -> bool:
    """A_2 or A' beside A, with other numbers and no such head (given, named or `spoken` of): a quantity of its own, not
    another print of A."""
    if role not in DERIVED or place.row is not None:
        return False
    if role in SCORE_ROLES and has_infinity(value):
        role = R.MASKED
    if symbol.primes and found.defined.get(symbol._replace(primes=0)) is role and symbol not in found.defined:
        return True  # S' where a formula says what S is
    heads = {head for _, head in found.givens} | {head for other, head in found.names if other in QKV}
    heads = (heads | {spoken}) - {None}
    for (other, head), known in found.names.items():
        rows = role in (*QKV, R.HEAD, R.OUTPUT) or len(value.rows) == 1 < value.shape[1]  # scores_1, scores_2: two rows
        counted = bool(known.indices and symbol.indices) and rows
        if other is role and known.base == symbol.base and known != symbol and place.head not in heads and not counted:
            before = found.printed.get((other, head))
            if before is None or before.shape != value.shape:
                continue
            if not similar(before, value) or _pattern(before) != _pattern(value):
                return True
    return False


def _pattern(value: n.Matrix) -> list[list[bool]]:
    """Where a matrix is masked."""
    return [[isinstance(cell, n.Infinite) for cell in row] for row in value.rows]


def has_infinity(value: n.Matrix) -> bool:
    """Whether a matrix is masked anywhere."""
    return n.Infinite in map(type, chain.from_iterable(value.rows))


def looks_back(fact: Fact) -> bool:
    """e_{2,1} = s_1ᵀ h_1: a step's scores come from the state of another step."""
    place = place_of(fact.symbol) if fact.symbol is not None else None
    if place is None or place.column is None or fact.formula is None:
        return False
    used = (place_of(symbol) for symbol in n.names_in(fact.formula))
    return any(other.roles[:1] == (R.SOURCE,) and other.row not in (None, place.row) for other in used)


def compares_tokens(fact: Fact) -> bool:
    """ω_{ij} = x_i · x_j, or score(x_i, x_j) = x_i · x_j: the tokens themselves are queries and keys."""
    formula = fact.links[-1].expr if len(fact.links) > 1 else None
    if not isinstance(formula, n.Product):
        return False
    names = [side.arg if isinstance(side, n.Transpose) else side for side in (formula.left, formula.right)]
    places = [place_of(name.symbol) for name in names if isinstance(name, n.Name)]
    tokens = [place for place in places if place.roles[:1] == (R.X,) and (place.generic or place.row is not None)]
    return len(tokens) == 2 and any(place.generic for place in tokens)
