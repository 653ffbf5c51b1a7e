"""Facts to a Spec: which quantities are given, under which names the rest is worked out, and how scores are scaled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import symbol_plain
from qkv.interpret.loop import evaluate
from qkv.interpret.shapes import Shapes
from qkv.program.kinds import Key, Scale, Score, Spec, default_symbol
from qkv.program.model import Given
from qkv.sheet.model import Origin, Repair
from qkv.understand.facts import TOKEN_BASES, Fact, Form, Place, form, place_of, plain_value
from qkv.understand.formulas import divisors, formula_role, softmax_arguments
from qkv.understand.repair import cell_value, mend_factor, similar
from qkv.understand.roles import (
    CAUSAL,
    DERIVED,
    MISREAD_Q,
    PER_COLUMN,
    PLAIN_SUM,
    PRIMARY,
    ROOT_SCALE,
    SCORE_ROLES,
    TOKENS_ARE_COLUMNS,
    UNSCALED,
    given_cue,
)

R = Role
FACTORS = {R.Q: (R.X, R.W_Q), R.K: (R.X, R.W_K), R.V: (R.X, R.W_V)}


@dataclass
class Gathering:
    """What has been found so far; filled while walking the facts of one problem, then read once."""

    givens: dict[Key, Given] = field(default_factory=dict)
    tokens: dict[tuple[Role, int], Given] = field(default_factory=dict)  # x_1, h_2 …
    others: dict[Symbol, Given] = field(default_factory=dict)  # values of names that play no known role
    claimed: dict[Key, Given] = field(default_factory=dict)  # derived roles printed without a formula
    claimed_tokens: dict[tuple[Role, int], Given] = field(default_factory=dict)  # q_1 = [..] printed without a formula
    names: dict[Key, Symbol] = field(default_factory=dict)
    sizes: dict[Role, n.Number] = field(default_factory=dict)
    divisors: list[n.Expr] = field(default_factory=list)
    said_scaled: bool = False  # by words, not by a formula
    unscaled: bool = False
    looks_unscaled: bool = False  # nothing is said, and the printed numbers are those without a scale
    causal: bool = False
    maybe_causal: bool = False  # said in the paragraphs before the problem
    plain_sum: bool = False
    mask_truth: bool = False
    columns: bool = False
    keys_first: bool = False
    said_columns: bool = False
    printed: dict[Key, n.Matrix] = field(default_factory=dict)  # what was printed for derived roles, right or wrong
    cells: dict[tuple[Role, int, int], n.Expr] = field(default_factory=dict)  # a_{3,1} ≈ 0.002
    inherited: set[Key] = field(default_factory=set)
    defined: dict[Symbol, Role] = field(default_factory=dict)  # roles that formulas give to names
    sources: dict[Role, Symbol] = field(default_factory=dict)  # where Q, K and V come from, as formulas say
    added: set[Symbol] = field(default_factory=set)  # matrices that formulas add to scores
    inputs: set[Symbol] = field(default_factory=set)  # what X is made of: X = E + P
    only_row: int | None = None  # q_2 alone: the one query that is spoken of
    repairs: list[Repair] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    speaks: bool = True  # whether the problem gives or works out anything of its own


def gather(
    facts: tuple[Fact, ...], title: str = "", earlier: Gathering | None = None, said: Sequence[n.Expr] = ()
) -> Gathering:
    """Walk the facts of one problem, and the formulas that its sentences mention (`said`). Code fences come last: they
    only fill what the text leaves open."""
    found = Gathering(causal=bool(CAUSAL.search(title)), said_scaled=bool(ROOT_SCALE.search(title)))
    numeric = {fact.statement.part for fact in facts if fact.value is not None and _is_matrix(fact)}
    for fact in facts:
        _note_definition(found, fact)
        if fact.statement.part in numeric:
            _note_words(found, fact)
    for fact in (*(f for f in facts if not _is_code(f)), *(f for f in facts if _is_code(f))):
        if not fact.statement.struck:
            _note_fact(found, fact, facts)
    for formula in said:
        _note_formula(found, formula, role_of_name(found, None))
    for fact in facts:
        _note_nameless(found, fact)
    _settle_inputs(found, facts)
    _settle(found, earlier)
    return found


def _note_definition(found: Gathering, fact: Fact) -> None:
    """S = Q K^T / √d_k makes S the scaled scores, whatever the letter suggests."""
    if fact.formula is None or fact.statement.struck or not fact.subjects:
        return
    role = formula_role(fact.formula, role_of_name(found, fact.head))  # type: ignore[arg-type]
    if place_of(fact.subjects[0].symbol).roles[:1] == (R.X,) and isinstance(fact.formula, n.Sum):
        found.inputs.update(n.names_in(fact.formula))
    source = token_factor(fact.formula)
    if source is not None:
        found.sources.setdefault(source[0], source[1])
        role = source[0]
    if role is not None:
        found.defined.setdefault(fact.subjects[0].symbol, role)


def _is_matrix(fact: Fact) -> bool:
    value = plain_value(fact.value.expr) if fact.value else None
    return value is not None and max(value.shape) > 1


def _note_nameless(found: Gathering, fact: Fact) -> None:
    """'annotations (one encoder state per column)' and then a bare matrix: a given without a name."""
    if fact.subjects or fact.statement.struck or len(fact.links) != 1:
        return
    value = plain_value(fact.links[0].expr)
    role = given_cue(fact.statement.before)
    if value is None or min(value.shape) < 2 or value.is_ragged or role is None or (role, None) in found.givens:
        return
    if PER_COLUMN.search(fact.statement.before):
        value = n.Matrix(tuple(zip(*value.rows, strict=True)), at=value.at)
    symbol = default_symbol(role)
    found.givens[role, None] = Given(symbol, value, role, symbol_plain(symbol), None, fact.statement.at.line)


def token_factor(formula: n.Expr) -> tuple[Role, Symbol] | None:
    """Q = Y W^Q: the queries come from Y, whatever Y is called."""
    inner = formula.terms[0] if isinstance(formula, n.Sum) else formula
    if not isinstance(inner, n.Product):
        return None
    for weight, token in ((inner.right, inner.left), (inner.left, inner.right)):
        weight = weight.arg if isinstance(weight, n.Transpose) else weight
        if isinstance(weight, n.Name) and isinstance(token, n.Name):
            role = next((q for q, (_, w) in FACTORS.items() if place_of(weight.symbol).roles[:1] == (w,)), None)
            if role is not None and token.symbol.base not in TOKEN_BASES:
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
    role_of = role_of_name(found, fact.head)
    for link in fact.links:
        if form(link.expr) is Form.FORMULA:
            _note_formula(found, link.expr, role_of)
    if fact.links and isinstance(fact.links[0].expr, n.Root) and len(fact.links) > 1:
        found.divisors.append(n.Root(n.Name(default_symbol(R.D_K))))  # √d_k = √2 ≈ 1.414
    formula_says = formula_role(fact.formula, role_of) if fact.formula is not None else None  # type: ignore[arg-type]
    for name in fact.subjects:
        if name.symbol == Symbol("I"):
            continue
        place = place_of(name.symbol, fact.head)
        role = formula_says or misread_q(name.symbol, fact, found) or (place.roles[0] if place.roles else None)
        fed = name.symbol in found.sources.values() and not name.symbol.indices
        if fed and fact.formula is None and fact.working is None:
            role = R.X if found.sources.get(R.Q, name.symbol) == name.symbol else R.Y
        elif role is R.OUTPUT and R.Y in place.roles and not found.printed and fact.formula is None:
            role = R.Y  # nothing is worked out yet, so this is no output
        _note_subject(found, fact, name, place, role, facts)
        if (role in FACTORS and fact.working is not None and fact.formula is None) or formula_says in FACTORS:
            _note_factors(found, fact, role or R.Q, place, facts)


def misread_q(symbol: Symbol, fact: Fact, found: Gathering) -> Role | None:
    """Ω, ∅ or O where only a Q fits: worked out as a product of two matrices. An O beside a Q is an output."""
    working = fact.working
    if symbol.base == "O" and any(role is R.Q and name.base == "Q" for (role, _), name in found.names.items()):
        return None
    is_product = working is not None and isinstance(working.expr, n.Product)
    return R.Q if symbol.base in MISREAD_Q and is_product and symbol.base != "alpha" else None


def _before_mask(expr: n.Expr) -> n.Expr:
    """The scores in QKᵀ + M and in mask(QKᵀ)."""
    if isinstance(expr, n.Mask):
        return expr.arg
    return expr.terms[0] if isinstance(expr, n.Sum) and len(expr.terms) == 2 else expr


def _note_formula(found: Gathering, expr: n.Expr, role_of: object) -> None:
    for part in n.walk(expr):
        if isinstance(part, n.Sum) and len(part.terms) == 2 and isinstance(part.terms[1], n.Name):
            stage = formula_role(part.terms[0], role_of)  # type: ignore[arg-type]
            if stage is not None and stage in SCORE_ROLES:
                found.added.add(part.terms[1].symbol)  # Q K^T / √d_k + B: a mask or a bias, whatever its letter
    found.divisors.extend(divisors(expr, role_of))  # type: ignore[arg-type]
    for arg in softmax_arguments(expr):
        scores = _before_mask(arg)
        inner = formula_role(scores, role_of)  # type: ignore[arg-type]
        if inner is R.SCORES and (not isinstance(scores, n.Name) or scores.symbol in found.defined):
            found.unscaled = True
    for part in n.walk(expr):
        if isinstance(part, n.Normalise):
            found.plain_sum = True
        if isinstance(part, n.Product) and isinstance(part.left, n.Name) and isinstance(part.right, n.Name):
            weight, token = place_of(part.left.symbol), place_of(part.right.symbol)
            if weight.roles[:1] and weight.roles[0] in (R.W_Q, R.W_K, R.W_V) and token.roles[:1] == (R.X,):
                found.columns = found.columns or not part.right.symbol.indices
        if isinstance(part, n.Product) and isinstance(part.left, n.Transpose) and isinstance(part.right, n.Name):
            turned = part.left.arg
            if isinstance(turned, n.Name) and role_of(turned) is R.K and role_of(part.right) is R.Q:  # type: ignore[operator]
                found.keys_first = not turned.symbol.base.islower()


def _note_words(found: Gathering, fact: Fact) -> None:
    words = f"{fact.statement.before} {fact.statement.after}"
    if CAUSAL.search(words):
        found.causal = True
    if UNSCALED.search(words):
        found.unscaled = True
    if TOKENS_ARE_COLUMNS.search(words):
        found.said_columns = True
    if ROOT_SCALE.search(words):
        found.said_scaled = True
    if PLAIN_SUM.search(words):
        found.plain_sum = True


def _has_formula(symbol: Symbol, facts: tuple[Fact, ...]) -> bool:
    return any(f.formula is not None and f.symbol == symbol for f in facts)


def _note_subject(
    found: Gathering, fact: Fact, name: n.Name, place: Place, role: Role | None, facts: tuple[Fact, ...]
) -> None:
    value = plain_value(fact.value.expr) if fact.value else _identity(fact)
    bare = fact.formula is None and fact.working is None and not fact.pending
    if (
        bare
        and value is not None
        and (name.symbol in found.inputs or _is_variant(found, name.symbol, place, role, value))
    ):
        found.others.setdefault(name.symbol, _given(name, value, R.OTHER, None, fact))
        return
    if role in (R.Q, R.K, R.V) and place.row is None and name.symbol.base in TOKEN_BASES and not place.generic:
        place = replace(place, row=1)  # one query and one key, as vectors
    if role in (R.D_K, R.D_V, R.D_MODEL, R.HEADS):
        _note_size(found, role, value, fact)
    elif role is R.SOURCE and _has_formula(name.symbol, facts):
        return
    elif role is R.SOURCE and place.row is None and bare and value is not None and max(value.shape) > 1:
        _note_primary(found, name, value, role, None, fact)
    elif place.generic and (value is None or name.symbol.base in TOKEN_BASES):
        if bare and value is not None and not _has_formula(name.symbol, facts):
            _note_plain(found, fact, name, value)
    elif role in DERIVED and place.row is None:
        head = _head(place, fact)
        if value is not None and role in SCORE_ROLES and _has_infinity(value):
            role = R.MASKED
            _note_pattern(found, value, head)
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
        found.others.setdefault(name.symbol, _given(name, value, role or R.OTHER, place.head, fact))


def _is_variant(found: Gathering, symbol: Symbol, place: Place, role: Role | None, value: n.Matrix) -> bool:
    """A_2 or A' beside A, with other numbers and no such head: a quantity of its own, not another print of A."""
    if role not in DERIVED or place.row is not None:
        return False
    heads = {head for _, head in found.givens if head is not None}
    for (other, head), known in found.names.items():
        if other is role and known.base == symbol.base and known != symbol and place.head not in heads:
            before = found.printed.get((other, head))
            if before is not None and before.shape == value.shape and not similar(before, value):
                return True
    return False


def _has_infinity(value: n.Matrix) -> bool:
    return any(isinstance(cell, n.Infinite) for row in value.rows for cell in row)


def _note_pattern(found: Gathering, value: n.Matrix, head: int | None) -> None:
    """Printed scores with −∞ in them show the mask: causal, or a pattern of their own."""
    causal = all(
        isinstance(cell, n.Infinite) == (j > i) for i, row in enumerate(value.rows) for j, cell in enumerate(row)
    )
    if causal or found.causal:
        found.causal = True
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
    if name.symbol == Symbol("h") and value.shape == (1, 1):
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


def _given(name: n.Name, value: n.Matrix, role: Role, head: int | None, fact: Fact) -> Given:
    line = fact.value.at.line if fact.value else fact.statement.at.line
    return Given(name.symbol, value, role, symbol_plain(name.symbol), head, line)


def _note_size(found: Gathering, role: Role, value: n.Matrix | None, fact: Fact) -> None:
    if value is not None and value.shape == (1, 1) and isinstance(value.rows[0][0], n.Number):
        number = value.rows[0][0]
        if number.value.denominator == 1 and number.value > 0:
            found.sizes.setdefault(role, number)


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
        return plain_value(fact.value.expr)
    later = (
        f
        for f in facts
        if f.statement.at >= fact.statement.at and f.symbol == fact.symbol and f.value and not f.pending
    )
    follower = next(later, None)
    return plain_value(follower.value.expr) if follower and follower.value else None


def _settle_added(found: Gathering) -> None:
    for symbol in (found.added - found.inputs) & found.others.keys():
        found.givens.setdefault((R.MASK, None), replace(found.others.pop(symbol), role=R.MASK))


def _settle_damaged(found: Gathering) -> None:
    """A named weight matrix that does not fit its printed product: mended where exactly one repair does."""
    for (role, head), printed in found.printed.items():
        x_role, w_role = FACTORS.get(role, (None, None))
        source = found.givens.get((x_role, None)) if x_role else None
        key = (w_role, head) if (w_role, head) in found.givens else (w_role, None)
        weight = found.givens.get(key) if w_role else None  # type: ignore[arg-type]
        if (
            source is None
            or weight is None
            or not isinstance(source.expr, n.Matrix)
            or not isinstance(weight.expr, n.Matrix)
        ):
            continue
        if source.expr.is_ragged or printed.is_ragged or source.expr.shape[1] != weight.expr.shape[0]:
            continue
        if weight.expr.is_ragged or weight.expr.shape[1] == printed.shape[1] + 1:
            _mend(found, key, weight, source.expr, printed)  # type: ignore[arg-type]


def _is_damaged(weight: n.Matrix, printed: n.Matrix) -> bool:
    return weight.is_ragged or weight.shape[1] == printed.shape[1] + 1


def _mend(found: Gathering, key: Key, weight: Given, source: n.Matrix, printed: n.Matrix) -> None:
    damaged = weight.expr
    mended = mend_factor(source, damaged, printed) if isinstance(damaged, n.Matrix) else None
    if mended is not None and mended.repair and mended.matrix is not None:
        found.givens[key] = replace(weight, expr=mended.matrix)
        found.repairs.append(Repair(weight.line or 0, "", mended.repair, mended.reason))
        found.notes.append(f"line {weight.line}: {mended.reason}")


def _settle(found: Gathering, earlier: Gathering | None) -> None:
    found.said_scaled = found.said_scaled or any(role is R.SCALED for role, _ in found.printed)
    _settle_damaged(found)
    _settle_added(found)
    own = (found.givens, found.tokens, found.others, found.claimed, found.claimed_tokens, found.names, found.cells)
    found.speaks = any(own)
    _settle_tokens(found)
    _settle_states(found)
    if earlier is not None:
        _inherit(found, earlier)
    _settle_derived(found, earlier)
    _settle_identities(found)


def _settle_tokens(found: Gathering) -> None:
    """x_1, x_2, … become the rows of X (h_i of H; q_i, k_i, v_i of Q, K, V where nothing else gives them)."""
    for role in {role for role, _ in found.tokens}:
        if (role, None) not in found.givens:
            _stack(found, role, {i: g for (r, i), g in found.tokens.items() if r is role})
    if (R.Q, None) in found.claimed and min(plain_shape(found.claimed[R.Q, None])) == 1:
        found.only_row = found.only_row or 1
    for role in {role for role, _ in found.claimed_tokens} & {R.Q, R.K, R.V}:
        made = (FACTORS[role][0], None) in found.givens
        if not made and (role, None) not in found.claimed:
            rows = {i: g for (r, i), g in found.claimed_tokens.items() if r is role}
            found.tokens.update({(role, i): g for i, g in rows.items()})
            _stack(found, role, rows)


def _stack(found: Gathering, role: Role, rows: dict[int, Given]) -> None:
    if role is R.Q and len(rows) == 1:
        found.only_row = next(iter(rows))
    elif sorted(rows) != list(range(1, len(rows) + 1)) and sorted(rows) != list(range(len(rows))):
        return
    ordered = [rows[i] for i in sorted(rows)]
    parts = tuple(_as_row(given) for given in ordered)
    symbol = default_symbol(role)
    expr = n.Concat(parts, axis=0)
    found.givens[role, None] = Given(symbol, expr, role, symbol_plain(symbol), None, ordered[0].line, implied=True)


def _as_row(given: Given) -> n.Expr:
    matrix = given.expr
    column = isinstance(matrix, n.Matrix) and matrix.shape[1] == 1 and matrix.shape[0] > 1
    return n.Transpose(n.Name(given.symbol)) if column else n.Name(given.symbol)


def _settle_states(found: Gathering) -> None:
    """States h without a source vector are the tokens themselves."""
    if (R.STATES, None) in found.givens and (R.SOURCE, None) not in found.givens and (R.X, None) not in found.givens:
        found.givens[R.X, None] = replace(found.givens.pop((R.STATES, None)), role=R.X)


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


SOURCE_FAMILY = frozenset({R.SOURCE, R.STATES, R.W_A, R.U_A, R.V_A, R.CONTEXT})
TOKEN_FAMILY = frozenset({R.X, R.Y, R.W_Q, R.W_K, R.W_V, R.W_O, R.Q, R.K, R.V})


def _bare(found: Gathering) -> set[Role]:
    return {role for role, _ in found.claimed}


def _other_family(role: Role, local: set[Role]) -> bool:
    """A problem about Q, K and V takes nothing from one about a source vector, nor the other way round."""
    if role in SOURCE_FAMILY:
        return bool(local & TOKEN_FAMILY)
    return role in TOKEN_FAMILY and bool(local & SOURCE_FAMILY)


def _inherit(found: Gathering, earlier: Gathering) -> None:
    """What this problem does not give itself, it takes from the problem before."""
    local = {role for role, _ in found.givens}
    heads = {head for _, head in found.givens if head is not None}
    for (role, head), given in earlier.givens.items():
        if (
            role in local | _bare(found)
            or (role in DERIVED and R.X in local)
            or _other_family(role, local | _bare(found))
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
        if role not in local:
            found.sizes.setdefault(role, size)
    if not found.divisors and not found.unscaled:
        found.divisors, found.unscaled = list(earlier.divisors), earlier.unscaled
        found.said_scaled = found.said_scaled or earlier.said_scaled
        found.looks_unscaled = earlier.looks_unscaled


def _settle_derived(found: Gathering, earlier: Gathering | None) -> None:
    """A derived quantity printed without formula is given where nothing in the problem leads to it, and where it
    restates what an earlier problem worked out ('K and V as before')."""
    for key, given in found.claimed.items():
        if not _derivable(found, *key) or _restated(found, key, given, earlier):
            found.givens.setdefault(key, given)


def _restated(found: Gathering, key: Key, given: Given, earlier: Gathering | None) -> bool:
    role, head = key
    if role not in FACTORS or earlier is None or not isinstance(given.expr, n.Matrix):
        return False
    factors = [k for r in FACTORS[role] for k in ((r, head), (r, None)) if k in found.givens]
    if not any(k in found.inherited for k in factors):
        return False
    product = _product(found, factors)
    if product is not None and similar(product, given.expr):
        return False
    before = earlier.printed.get(key)
    return (before is not None and similar(before, given.expr)) or all(k in found.inherited for k in factors)


def _product(found: Gathering, keys: list[Key]) -> n.Matrix | None:
    """X W as plain fractions."""
    left, right = (plain_value(found.givens[key].expr) for key in (keys[0], keys[-1]))
    if left is None or right is None or left.shape[1] != right.shape[0] or left.is_ragged or right.is_ragged:
        return None
    columns = list(zip(*right.rows, strict=True))
    return n.Matrix(
        tuple(
            tuple(
                n.Number(sum((cell_value(x) * cell_value(y) for x, y in zip(row, column, strict=True)), Fraction(0)))
                for column in columns
            )
            for row in left.rows
        )
    )


def _derivable(found: Gathering, role: Role, head: int | None) -> bool:
    def has(wanted: Role) -> bool:
        return (wanted, head) in found.givens or (wanted, None) in found.givens

    if role in FACTORS:
        return has(FACTORS[role][1]) and has(R.X)
    if role in (R.SCORES, R.SCALED, R.MASKED):
        scores = role is not R.SCORES and has(R.SCORES)
        return scores or has(R.SOURCE) or all(has(r) or _derivable(found, r, head) for r in (R.Q, R.K))
    if role is R.WEIGHTS:
        return has(R.SCORES) or _derivable(found, R.SCORES, head)
    return True


def _settle_inputs(found: Gathering, facts: tuple[Fact, ...]) -> None:
    """X = E + P: the tokens are worked out from what is given."""
    for fact in facts:
        if fact.formula is not None and fact.subjects and isinstance(fact.formula, n.Sum) and found.inputs:
            symbol = fact.subjects[0].symbol
            if place_of(symbol).roles[:1] == (R.X,) and set(n.names_in(fact.formula)) <= found.others.keys():
                line = fact.statement.at.line
                given = Given(symbol, fact.formula, R.X, symbol_plain(symbol), None, line, implied=True)
                found.givens.setdefault((R.X, None), given)
        if len(fact.subjects) > 1 and fact.value is None and fact.formula is None:
            _settle_equal(found, fact)


def _settle_equal(found: Gathering, fact: Fact) -> None:
    """Q = K = V = X: nothing is projected."""
    last = fact.subjects[-1]
    if place_of(last.symbol).roles[:1] != (R.X,):
        return
    for name in fact.subjects[:-1]:
        role = next(iter(place_of(name.symbol).roles), None)
        if role in FACTORS:
            given = Given(
                name.symbol, last, role, symbol_plain(name.symbol), None, fact.statement.at.line, implied=True
            )
            found.givens.setdefault((role, None), given)


def _settle_identities(found: Gathering) -> None:
    source = found.givens.get((R.X, None))
    shape = given_shape(source) if source else None
    for key, given in list(found.givens.items()):
        if isinstance(given.expr, n.Matrix) and not given.expr.rows:
            if shape is None and source is not None:
                shape = _shape(found, source)
            if shape is None:
                del found.givens[key]
                continue
            size = shape[1]
            rows = tuple(tuple(n.number(int(i == j)) for j in range(size)) for i in range(size))
            found.givens[key] = replace(given, expr=n.Matrix(rows))


def plain_shape(given: Given) -> tuple[int, int]:
    """The printed shape of a given."""
    return given.expr.shape if isinstance(given.expr, n.Matrix) else (0, 0)


def given_shape(given: Given) -> tuple[int, int] | None:
    """The printed shape of a given, or of a stack of given rows."""
    if isinstance(given.expr, n.Matrix):
        return given.expr.shape
    return None


def to_spec(found: Gathering, title: str, line: int) -> Spec:
    """The Spec of a gathering."""
    shapes = {key: shape for key, given in found.givens.items() if (shape := _shape(found, given))}
    scale, divisor, notes = _scale(found, shapes)
    used = {key: given for key, given in found.givens.items() if key[0] is not R.OTHER}
    return Spec(
        givens=used,
        shapes=shapes,
        scale=scale,
        divisor=divisor,
        causal=found.causal,
        plain_sum=found.plain_sum,
        mask_truth=found.mask_truth,
        score=_score(found),
        columns=_is_columns(found, shapes),
        keys_first=found.keys_first and _is_columns(found, shapes),
        names=_names(found),
        title=title,
        line=line,
        notes=(*found.notes, *notes),
    )


def _score(found: Gathering) -> Score:
    roles = {role for role, _ in found.givens}
    if {R.W_A, R.U_A, R.V_A} <= roles:
        return Score.ADDITIVE
    return Score.GENERAL if R.W_A in roles else Score.DOT


def _shape(found: Gathering, given: Given) -> tuple[int, int] | None:
    if isinstance(given.expr, n.Matrix):
        return given.expr.shape
    if isinstance(given.expr, n.Concat) and all(isinstance(x, (n.Name, n.Transpose)) for x in given.expr.parts):
        first = next((g for g in found.tokens.values() if g.role is given.role), None)
        if first and isinstance(first.expr, n.Matrix):
            return len(given.expr.parts), max(first.expr.shape)
    known = {g.symbol: g.expr.shape for g in (*found.others.values(), *found.tokens.values(), *found.givens.values())
             if isinstance(g.expr, n.Matrix)}  # fmt: skip
    try:
        return evaluate(given.expr, known, Shapes())
    except QkvError:
        return None


def _is_columns(found: Gathering, shapes: dict[Key, tuple[int, int]]) -> bool:
    """Tokens are columns if formulas or words say so and the shapes allow it, or if only that fits."""
    if not _columns_fit(shapes):
        return False
    x = shapes[R.X, None]
    rows_fit = all(shape[0] == x[1] for (role, _), shape in shapes.items() if role in (R.W_Q, R.W_K, R.W_V))
    return found.columns or found.said_columns or not rows_fit


def _columns_fit(shapes: dict[Key, tuple[int, int]]) -> bool:
    x = shapes.get((R.X, None))
    weights = [shape for (role, _), shape in shapes.items() if role in (R.W_Q, R.W_K, R.W_V)]
    return x is not None and bool(weights) and all(shape[1] == x[0] for shape in weights)


def _names(found: Gathering) -> dict[Key, Symbol]:
    """The sheet's own names for what is worked out, each symbol for one role only."""
    heads = {head for _, head in found.givens if head is not None}
    names: dict[Key, Symbol] = {}
    taken = {given.symbol for given in found.givens.values()}
    for (role, head), symbol in found.names.items():
        key = (R.HEAD, head) if role is R.OUTPUT and head is not None and heads else (role, head)
        if key not in names and symbol not in taken and key not in found.givens:
            names[key] = symbol
            taken.add(symbol)
    for role, spare in SPARE_BASES.items():
        for head in (*heads, None):
            if (role, head) not in names and default_symbol(role, head) in taken:
                names[role, head] = replace(default_symbol(role, head), base=spare)
    return names


# Letters to fall back on where a sheet uses the usual one for something else.
SPARE_BASES = {R.SCORES: "Scores", R.SCALED: "Scaled", R.MASKED: "Masked", R.WEIGHTS: "Weights", R.HEAD: "Head"}


def _scale(found: Gathering, shapes: dict[Key, tuple[int, int]]) -> tuple[Scale, n.Expr | None, tuple[str, ...]]:
    """The sheet's own formula wins; where it gives none, scores are divided by √d_k, and that is said."""
    if found.divisors:
        return _given_scale(found)
    if found.said_scaled and not found.unscaled and not found.looks_unscaled:
        return _given_scale(found)
    if found.unscaled or found.looks_unscaled or (R.SOURCE, None) in found.givens or (R.SCORES, None) in found.givens:
        return Scale.NONE, None, ()
    return Scale.ROOT_DK, None, ("The sheet does not say how scores are scaled; they are divided by √d_k.",)


def _given_scale(found: Gathering) -> tuple[Scale, n.Expr | None, tuple[str, ...]]:
    stated = found.sizes.get(R.D_K)
    for divisor in found.divisors:
        if not n.is_literal(divisor):
            named = [place_of(symbol).roles for symbol in n.names_in(divisor)]
            if named and named[0][:1] == (R.D_MODEL,):
                return Scale.GIVEN, _root_of(found.sizes.get(R.D_MODEL)) or divisor, ()
            return Scale.ROOT_DK, _root_of(stated), ()
    return Scale.ROOT_DK, _root_of(stated), ()


def _root_of(size: n.Number | None) -> n.Expr | None:
    return n.Root(n.number(int(size.value))) if size is not None else None


def stated_names(found: Gathering) -> Iterator[Given]:
    """Everything printed that is no part of the plan, such as W^{UK}."""
    yield from found.tokens.values()
    yield from found.others.values()
