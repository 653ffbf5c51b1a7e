"""Facts to what a problem gives: which quantities, under which names the rest is worked out, how scores are scaled."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import symbol_plain
from qkv.program.model import Given
from qkv.program.spec import default_symbol
from qkv.records import replace
from qkv.sheet.model import Origin, Relation, Repair
from qkv.understand.facts import Fact
from qkv.understand.formulas import adds_to_scores, before_mask, divisors, formula_role, softmax_arguments, sums_scores
from qkv.understand.gathering import FACTORS, Gathering
from qkv.understand.nameless import note_nameless
from qkv.understand.places import TOKEN_BASES, Place, place_of
from qkv.understand.repair import mend_factor
from qkv.understand.roles import (
    CAUSAL,
    CAUSAL_SURELY,
    DERIVED,
    MISREAD_Q,
    PADDING_MASK,
    PLAIN_SUM,
    PRIMARY,
    ROOT_SCALE,
    SCORE_ROLES,
    TOKENS_ARE_COLUMNS,
    UNSCALED,
)
from qkv.understand.settle import settle, settle_inputs
from qkv.understand.spoken import note_sentences
from qkv.understand.subjects import (
    compares_tokens,
    has_infinity,
    is_variant,
    looks_back,
    names_rows,
    scores_otherwise,
    subject_role,
    told_stage,
)
from qkv.understand.values import Form, constant, plain_value

R = Role
IDENTITY, HEADS = Symbol("I"), Symbol("h")
ANOTHER = Symbol("y")  # one token of another sequence; y_1, y_2, … may be outputs


def gather(
    facts: tuple[Fact, ...],
    title: str = "",
    earlier: Gathering | None = None,
    said: Sequence[n.Expr] = (),
    words: str = "",
) -> Gathering:
    """Walk the facts of one problem, the formulas that its sentences mention (`said`) and their words. Code fences come
    last: they only fill what the text leaves open."""
    found = Gathering(causal=bool(CAUSAL.search(title)), said_scaled=bool(ROOT_SCALE.search(title)))
    exprs = [link.expr for fact in facts for link in fact.links if not isinstance(link.expr, n.Number)]
    found.spoken = frozenset([symbol for expr in exprs for symbol in n.names_in(expr)])
    found.padding = bool(PADDING_MASK.search(words)) and not CAUSAL_SURELY.search(words)
    told = [fact for fact in facts if fact.formula is not None]
    found.projects = _projecting(found.spoken) and any(_projecting(n.names_in(f.formula)) for f in told if f.formula)
    for fact in told:
        _note_definition(found, fact)
    numeric = {fact.statement.part for fact in facts if fact.shown is not None and max(fact.shown.shape) > 1}
    for fact in facts:
        if fact.statement.part in numeric and (fact.statement.before or fact.statement.after):
            _note_words(found, fact)
    for fact in sorted(facts, key=_is_code) if Origin.CODE in [f.statement.origin for f in facts] else facts:
        if not fact.statement.struck:
            _note_fact(found, fact, facts)
    for formula in said:
        _note_formula(found, formula, role_of_name(found, None), defines=True)
    for fact in facts:
        if not fact.subjects:
            note_nameless(found, fact)
    note_sentences(found, facts, words)
    if any(map(looks_back, told)):
        _set_sources_apart(found)
    if any(map(compares_tokens, told)):
        found.unprojected = True
        found.unscaled = found.unscaled or not found.divisors
    settle_inputs(found, facts)
    settle(found, earlier)
    return found


def _set_sources_apart(found: Gathering) -> None:
    """The states that attend are vectors each of its own: which of them attends when, only formulas tell."""
    for key in [key for key in found.tokens if key[0] is R.SOURCE]:
        given = found.tokens.pop(key)
        found.others.setdefault(given.symbol, replace(given, role=R.OTHER))


def _note_definition(found: Gathering, fact: Fact) -> None:
    """S = Q K^T / √d_k makes S the scaled scores, whatever the letter suggests."""
    if fact.formula is None or fact.statement.struck or not fact.subjects:
        return
    role = _worked_out(found, fact.formula, role_of_name(found, fact.head))
    if place_of(fact.subjects[0].symbol).roles[:1] == (R.X,) and isinstance(fact.formula, n.Sum):
        found.inputs.update(n.names_in(fact.formula))
    source = token_factor(fact.formula)
    if source is not None:
        found.sources.setdefault(source[0], source[1])
        role = source[0]
    if role is not None:
        found.defined.setdefault(fact.subjects[0].symbol, role)


def _worked_out(found: Gathering, formula: n.Expr, role_of: object) -> Role | None:
    """What a formula works out; A V is not the output yet where an output matrix follows."""
    role = formula_role(formula, role_of)  # type: ignore[arg-type]
    if role is None and adds_to_scores(formula, role_of):  # type: ignore[arg-type]
        return R.MASKED  # Q Kᵀ / √d_k + B, whatever its letter
    if role is None and sums_scores(formula, role_of):  # type: ignore[arg-type]
        return R.SCALED if isinstance(formula, n.Quotient) else R.SCORES
    return R.HEAD if role is R.OUTPUT and found.projects and not _projecting(n.names_in(formula)) else role


def _projecting(names: Collection[Symbol]) -> bool:
    """Whether one of these is an output matrix."""
    return (R.W_O,) in [place_of(symbol).roles[:1] for symbol in names]


def token_factor(formula: n.Expr) -> tuple[Role, Symbol] | None:
    """Q = Y W^Q: the queries come from Y, whatever Y is called."""
    inner = formula.terms[0] if isinstance(formula, n.Sum) else formula
    if not isinstance(inner, n.Product):
        return None
    for weight, token in ((inner.right, inner.left), (inner.left, inner.right)):
        weight = weight.arg if isinstance(weight, n.Transpose) else weight
        if isinstance(weight, n.Name) and isinstance(token, n.Name):
            role = next((q for q, (_, w) in FACTORS.items() if place_of(weight.symbol).roles[:1] == (w,)), None)
            if role is not None and (token.symbol.base not in TOKEN_BASES or token.symbol == ANOTHER):
                return role, token.symbol
    return None


def _is_code(fact: Fact) -> bool:
    return fact.statement.origin is Origin.CODE


def role_of_name(found: Gathering, head: int | None) -> object:
    """A function from names to roles, as the problem uses them."""

    def role(name: n.Name) -> Role | None:
        if name.symbol in found.defined:
            return found.defined[name.symbol]
        roles = place_of(name.symbol, head).roles or ((R.Q,) if name.symbol.base in MISREAD_Q else ())
        return roles[0] if roles else None

    return role


def _note_fact(found: Gathering, fact: Fact, facts: tuple[Fact, ...]) -> None:
    role_of = role_of_name(found, fact.head) if fact.formula is not None else None
    for link, kind in zip(fact.links, fact.forms, strict=True):
        if kind is Form.FORMULA:
            _note_formula(found, link.expr, role_of, defines=fact.value is None and fact.working is None)
    if fact.links and isinstance(fact.links[0].expr, n.Root) and len(fact.links) > 1:
        found.divisors.append(n.Root(n.Name(default_symbol(R.D_K))))  # √d_k = √2 ≈ 1.414
        roots = (link.expr.arg for link in fact.links[1:] if isinstance(link.expr, n.Root))
        found.resized.setdefault(R.D_K, []).extend(arg for arg in roots if isinstance(arg, n.Number))
    formula_says = _worked_out(found, fact.formula, role_of) if fact.formula is not None else None
    if formula_says is None and fact.formula is not None and scores_otherwise(fact):
        found.own_scores = True
    if not fact.subjects and formula_says in DERIVED and fact.value is not None:
        _note_printed(found, fact, formula_says)
    for name in fact.subjects:
        if name.symbol == IDENTITY:
            continue
        place = place_of(name.symbol, fact.head)
        role = formula_says or subject_role(found, fact, name.symbol, place, facts)
        _note_subject(found, fact, name, place, role, facts)
        if (role in FACTORS and fact.working is not None and fact.formula is None) or formula_says in FACTORS:
            _note_factors(found, fact, role or R.Q, place, facts)


def _note_printed(found: Gathering, fact: Fact, role: Role) -> None:
    """Q Kᵀ = [..]: a quantity that is printed without a name."""
    value = fact.shown
    if value is not None and min(value.shape) > 1 and not has_infinity(value):
        found.printed.setdefault((role, fact.head), value)


def _note_formula(found: Gathering, expr: n.Expr, role_of: object, *, defines: bool) -> None:
    kinds = n.kinds_in(expr)
    for part in n.walk(expr) if n.Sum in kinds else ():
        if isinstance(part, n.Sum) and len(part.terms) == 2 and adds_to_scores(part, role_of):  # type: ignore[arg-type]
            found.added.update(n.names_in(part.terms[1]))  # Q K^T / √d_k + B: a mask or a bias, whatever its letter
    for divisor in divisors(expr, role_of) if n.Quotient in kinds else ():  # type: ignore[arg-type]
        found.divisors.append(divisor)
        if defines and n.is_literal(divisor):
            found.defining.append(divisor)
    for arg in softmax_arguments(expr) if n.Softmax in kinds else ():
        scores = before_mask(arg)
        inner = formula_role(scores, role_of)  # type: ignore[arg-type]
        if inner is R.SCORES and (not isinstance(scores, n.Name) or scores.symbol in found.defined):
            found.unscaled = True
    if n.Normalise in kinds:
        found.plain_sum = True
    for part in n.walk(expr) if n.Product in kinds else ():
        if not isinstance(part, n.Product) or not isinstance(part.right, n.Name):
            continue
        if isinstance(part.left, n.Name):
            weight, token = place_of(part.left.symbol), place_of(part.right.symbol)
            if weight.roles[:1] and weight.roles[0] in (R.W_Q, R.W_K, R.W_V) and token.roles[:1] == (R.X,):
                found.columns = found.columns or not part.right.symbol.indices
        elif isinstance(part.left, n.Transpose):
            turned = part.left.arg
            if isinstance(turned, n.Name) and role_of(turned) is R.K and role_of(part.right) is R.Q:  # type: ignore[operator]
                found.keys_first = not turned.symbol.base.islower()


def _note_words(found: Gathering, fact: Fact) -> None:
    words = f"{fact.statement.before} {fact.statement.after}"
    if CAUSAL.search(words) and not found.padding:
        found.causal = True
    if UNSCALED.search(words):
        found.unscaled = True
    if TOKENS_ARE_COLUMNS.search(words):
        found.said_columns = True
    if ROOT_SCALE.search(words):
        found.said_scaled = True
        found.unscaled = found.unscaled and bool(UNSCALED.search(words))  # 'unscaled scores', and then they are scaled
    if PLAIN_SUM.search(words):
        found.plain_sum = True


def _has_formula(symbol: Symbol, facts: tuple[Fact, ...]) -> bool:
    return symbol in [fact.symbol for fact in facts if fact.formula is not None]


def _note_subject(
    found: Gathering, fact: Fact, name: n.Name, place: Place, role: Role | None, facts: tuple[Fact, ...]
) -> None:
    value = fact.shown if fact.value else _identity(fact) or _constant(fact)
    literal = fact.working is None or (value is not None and not fact.value)
    bare = (fact.formula is None or names_rows(fact.formula, role)) and literal and not fact.pending
    role = (told_stage(found, fact, name, place) if fact.cue.role in (R.SCALED, R.MASKED) else None) or role
    if (
        bare
        and value is not None
        and (name.symbol in found.inputs or is_variant(found, name.symbol, place, role, value, fact.head))
    ):
        found.others.setdefault(name.symbol, _given(name, value, R.OTHER, None, fact))
        return
    vector = value is None or min(value.shape) == 1
    if role in FACTORS and place.row is None and name.symbol.base in TOKEN_BASES and not place.generic and vector:
        place = replace(place, row=1)  # one query and one key, as vectors
    if role in (R.D_K, R.D_V, R.D_MODEL, R.HEADS):
        _note_size(found, role, value, fact)
    elif (role is R.SOURCE or (role is R.STATES and (role, 1) in found.tokens)) and _has_formula(name.symbol, facts):
        return  # a state that is worked out, such as tanh(W_c [c; s])
    elif role is R.SOURCE and place.row is None and bare and value is not None and max(value.shape) > 1:
        _note_primary(found, name, value, role, None, fact)
    elif place.generic and (value is None or name.symbol.base in TOKEN_BASES):
        if bare and value is not None and not _has_formula(name.symbol, facts):
            _note_plain(found, fact, name, value)
    elif role in DERIVED and place.row is None:
        head = _head(place, fact)
        if value is not None and role in SCORE_ROLES and has_infinity(value):
            role = R.MASKED
            _note_pattern(found, value, head)
        if name.symbol.base.lower() != "softmax":  # 'softmax = [..]' names no quantity
            found.names.setdefault((role, head), name.symbol)
        if value is not None:
            found.printed.setdefault((role, head), value)
        if bare and value is not None:
            found.claimed.setdefault((role, head), _given(name, value, role, head, fact))
    elif role in DERIVED and value is not None and place.column is not None and value.shape == (1, 1):
        found.cells.setdefault((role, place.row or 1, place.column), value.rows[0][0])
    elif role in DERIVED and bare and value is not None and place.column is None:
        found.claimed_tokens.setdefault((role, place.row or 1), _given(name, value, role, place.head, fact))
    elif value is None or not bare:
        return
    elif place.generic or (role in PRIMARY and value.shape == (1, 1)):
        _note_plain(found, fact, name, value)
    elif role in PRIMARY and place.row is not None and min(value.shape) == 1:
        found.tokens.setdefault((role, place.row), _given(name, value, role, None, fact))
    elif role in PRIMARY:
        _note_primary(found, name, value, role, _head(place, fact), fact)
    else:
        held = found.others.setdefault(name.symbol, _given(name, value, role or R.OTHER, place.head, fact))
        if value.shape == (1, 1) and held.expr != value:
            found.again.setdefault(name.symbol, []).append(value.rows[0][0])


def _note_pattern(found: Gathering, value: n.Matrix, head: int | None) -> None:
    """Printed scores with −∞ in them show the mask: causal, or a pattern of their own."""
    causal = all(
        isinstance(cell, n.Infinite) == (j > i) for i, row in enumerate(value.rows) for j, cell in enumerate(row)
    )
    if causal or found.causal:
        found.causal = True
        found.hides_future = found.hides_future or causal
        return
    rows = tuple(tuple(n.number(int(not isinstance(cell, n.Infinite))) for cell in row) for row in value.rows)
    symbol = default_symbol(R.MASK, head)
    given = Given(
        symbol, n.Matrix(rows), R.MASK, symbol_plain(symbol), head, value.at.line if value.at else None, implied=True
    )
    found.givens.setdefault((R.MASK, head), given)
    found.mask_truth = True


def _note_plain(found: Gathering, fact: Fact, name: n.Name, value: n.Matrix) -> None:
    """h = 2 counts heads; h_t is a vector of its own, not one of many."""
    if name.symbol == HEADS and value.shape == (1, 1):
        _note_size(found, R.HEADS, value, fact)
    else:
        found.others.setdefault(name.symbol, _given(name, value, R.OTHER, None, fact))


def _head(place: Place, fact: Fact) -> int | None:
    return (fact.head or 1) if place.generic else place.head


def _note_primary(found: Gathering, name: n.Name, value: n.Matrix, role: Role, head: int | None, fact: Fact) -> None:
    if role in (R.X, R.Y, R.SOURCE, R.STATES, R.W_O, R.B_O):
        head = None
    given = _given(name, value, role, head, fact)
    held = found.givens.get((role, head))
    if held is None:
        found.givens[role, head] = given
    elif held.symbol != name.symbol:  # a second sequence, such as X_enc beside X_dec
        found.others.setdefault(name.symbol, given)


def _identity(fact: Fact) -> n.Matrix | None:
    """W_Q = I: a marker of size 0 that settles once the size is known."""
    last = fact.links[-1].expr if len(fact.links) > 1 else None
    return n.Matrix(()) if isinstance(last, n.Name) and last.symbol.base == "I" else None


def _constant(fact: Fact) -> n.Matrix | None:
    """Q = [√2, 0]: given, though nobody printed it in decimals."""
    working = fact.working
    return constant(working.expr) if working is not None and working is fact.links[-1] else None


def _given(name: n.Name, value: n.Matrix, role: Role, head: int | None, fact: Fact) -> Given:
    line = fact.value.at.line if fact.value else fact.statement.at.line
    rounded = fact.value is not None and fact.value.relation is Relation.APPROX
    return Given(name.symbol, value, role, symbol_plain(name.symbol), head, line, rounded=rounded)


def _note_size(found: Gathering, role: Role, value: n.Matrix | None, fact: Fact) -> None:
    if value is not None and value.shape == (1, 1) and isinstance(value.rows[0][0], n.Number):
        number = value.rows[0][0]
        size = found.sizes.setdefault(role, number) if number.value.denominator == 1 and number.value > 0 else number
        if size.value != number.value:
            found.resized.setdefault(role, []).append(number)


def _note_factors(found: Gathering, fact: Fact, role: Role, place: Place, facts: tuple[Fact, ...]) -> None:
    """[..] × [..] under 'Q =': the left factor is X, the right one W_Q."""
    working = fact.working
    if working is None or not isinstance(working.expr, n.Product) or role not in FACTORS or place.row is not None:
        return
    left, right = plain_value(working.expr.left), plain_value(working.expr.right)
    if left is None or right is None or left.is_ragged:
        return
    head = _head(place, fact)
    x_role, w_role = FACTORS[role]
    if (x_role, None) not in found.givens and not any(r is x_role for r, _ in found.tokens):
        symbol = default_symbol(x_role)
        found.givens[x_role, None] = Given(symbol, left, x_role, symbol_plain(symbol), None, working.at.line)
    if (w_role, head) in found.givens or ((w_role, None) in found.givens and head is None):
        return
    printed = printed_value(fact, facts)
    mended = mend_factor(left, right, printed)
    if mended.repair:
        found.repairs.append(Repair(working.at.line, "", mended.repair, mended.reason))
        found.notes.append(f"line {working.at.line}: {mended.reason}")
    elif mended.reason:
        found.notes.append(f"line {working.at.line}: {mended.reason}")
    if mended.matrix is not None:
        symbol = default_symbol(w_role, head)
        found.givens[w_role, head] = Given(symbol, mended.matrix, w_role, symbol_plain(symbol), head, working.at.line)


def printed_value(fact: Fact, facts: Iterable[Fact]) -> n.Matrix | None:
    """What a fact's subject is said to be, here or in the next chain about it."""
    if fact.value is not None:
        return fact.shown
    later = (
        f
        for f in facts
        if f.statement.at >= fact.statement.at and f.symbol == fact.symbol and f.value and not f.pending
    )
    follower = next(later, None)
    return follower.shown if follower else None
