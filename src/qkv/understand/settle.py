"""After the facts are walked: tokens become matrices, problems inherit, what is derived is told from what is given."""

from __future__ import annotations

from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.expr.show import symbol_plain
from qkv.interpret.certified import Certified
from qkv.interpret.loop import evaluate
from qkv.program.model import Given
from qkv.program.spec import Key, default_symbol
from qkv.records import replace
from qkv.sheet.model import Repair
from qkv.understand.facts import Fact
from qkv.understand.gathering import FACTORS, Gathering
from qkv.understand.inherit import inherit
from qkv.understand.places import place_of
from qkv.understand.repair import mend_factor, product_of, similar
from qkv.understand.sequences import settle_sequences
from qkv.understand.specs import shape_of_given
from qkv.understand.values import plain_value

R = Role


def _settle_added(found: Gathering) -> None:
    for symbol in (found.added - found.inputs) & found.others.keys():
        if (R.MASK, None) not in found.givens:
            found.givens[R.MASK, None] = replace(found.others.pop(symbol), role=R.MASK)


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


def _mend(found: Gathering, key: Key, weight: Given, source: n.Matrix, printed: n.Matrix) -> None:
    damaged = weight.expr
    mended = mend_factor(source, damaged, printed) if isinstance(damaged, n.Matrix) else None
    if mended is not None and mended.repair and mended.matrix is not None:
        found.givens[key] = replace(weight, expr=mended.matrix)
        found.repairs.append(Repair(weight.line or 0, "", mended.repair, mended.reason))
        found.notes.append(f"line {weight.line}: {mended.reason}")


def settle(found: Gathering, earlier: Gathering | None) -> None:
    found.said_scaled = found.said_scaled or any(role is R.SCALED for role, _ in found.printed)
    _settle_damaged(found)
    _settle_sizes(found)
    _settle_added(found)
    own = (found.givens, found.tokens, found.others, found.claimed, found.claimed_tokens, found.names, found.cells)
    found.speaks = any(own)
    _settle_embeddings(found)
    if found.grouped:
        _settle_query_heads(found)
    _settle_tokens(found)
    _settle_unprojected(found)
    _settle_scalars(found)
    settle_sequences(found)
    _settle_states(found)
    if earlier is not None:
        inherit(found, earlier)
    _settle_derived(found, earlier)
    _settle_identities(found)
    copies = {key: given for key, given in found.givens.items() if isinstance(given.expr, n.Name)}
    found.givens = {key: given for key, given in found.givens.items() if key not in copies} | copies  # X before Q = X


def _settle_sizes(found: Gathering) -> None:
    """'If d_k = 64 …', and then an example with d_k = 2: of several sizes, the one that the keys have."""
    held = (found.claimed.get((R.K, None)), found.givens.get((R.K, None)), found.givens.get((R.W_K, None)))
    widths = {size for given in held if given is not None for size in plain_shape(given)}
    first = found.sizes.get(R.D_K)
    fitting = [number for number in found.resized.get(R.D_K, ()) if number.value in widths]
    if first is not None and first.value not in widths and fitting:
        found.sizes[R.D_K] = fitting[0]


def _settle_tokens(found: Gathering) -> None:
    """x_1, x_2, … become the rows of X (h_i of H; q_i, k_i, v_i of Q, K, V where nothing else gives them); the only s_t
    is the vector that attends."""
    attending = [key for key in found.tokens if key[0] is R.SOURCE]
    if len(attending) == 1 and (R.SOURCE, None) not in found.givens:
        found.givens[R.SOURCE, None] = found.tokens.pop(attending[0])
        found.only_row = found.only_row or attending[0][1]
    for role in dict.fromkeys(role for role, _ in found.tokens):
        if (role, None) not in found.givens:
            _stack(found, role, {i: g for (r, i), g in found.tokens.items() if r is role})
    if (R.Q, None) in found.claimed and min(plain_shape(found.claimed[R.Q, None])) == 1:
        found.only_row = found.only_row or 1
    for role in (role for role in (R.Q, R.K, R.V) if any(role is told for told, _ in found.claimed_tokens)):
        made = (FACTORS[role][0], None) in found.givens
        if not made and (role, None) not in found.claimed:
            rows = {i: g for (r, i), g in found.claimed_tokens.items() if r is role}
            found.tokens.update({(role, i): g for i, g in rows.items()})
            _stack(found, role, rows)


def _settle_query_heads(found: Gathering) -> None:
    """q_1, …, q_4 beside K^{(1)} and K^{(2)} are the queries of four heads, not of four tokens."""
    held = found.claimed | found.givens
    keys = {head for role, head in held if role is R.K and head is not None}
    queries = {i: given for (role, i), given in found.claimed_tokens.items() if role is R.Q}
    if 1 < len(keys) < len(queries) and len(queries) % len(keys) == 0 and (R.Q, None) not in held:
        for i, given in queries.items():
            found.claimed[R.Q, i] = replace(given, head=i)
            del found.claimed_tokens[R.Q, i]


def _settle_embeddings(found: Gathering) -> None:
    """e_1, e_2, … that are vectors beside W_Q are embeddings, not scores."""
    vectors = {i: g for (role, i), g in found.claimed_tokens.items() if role is R.SCORES and max(plain_shape(g)) > 1}
    projected = any(role is R.W_Q for role, _ in found.givens)
    tokens = found.givens.get((R.X, None))
    rows = tuple(row for i in sorted(vectors) if isinstance(m := vectors[i].expr, n.Matrix) for row in m.rows)
    same = tokens is not None and isinstance(tokens.expr, n.Matrix) and tokens.expr.rows == rows
    given = tokens is not None or any(role is R.X for role, _ in found.tokens)
    if len(vectors) > 1 and projected and (same or not given):
        found.tokens.update({(R.X, i): replace(given, role=R.X) for i, given in vectors.items()})


def _settle_unprojected(found: Gathering) -> None:
    """Tokens that are said to be queries, keys and values themselves, where nothing else gives any of these."""
    tokens = found.givens.get((R.X, None))
    held = {role for role, _ in (*found.givens, *found.claimed, *found.claimed_tokens)}
    if tokens is None or held & {R.W_Q, R.W_K, R.W_V, *FACTORS}:
        return
    if not found.unprojected and not _compares_tokens(found, tokens):
        return
    for role in FACTORS:
        symbol = default_symbol(role)
        source = n.Name(tokens.symbol)
        found.givens[role, None] = Given(symbol, source, role, symbol_plain(symbol), None, tokens.line, implied=True)


def _compares_tokens(found: Gathering, tokens: Given) -> bool:
    """Whether the scores that are printed with no word on how they came are the dot products of the tokens."""
    scores = found.claimed.get((R.SCORES, None))
    shown = scores.expr if scores is not None else None
    if not isinstance(shown, n.Matrix) or shown.is_ragged or min(shown.shape) < 2:
        return False
    rows = {given.symbol: given.expr for given in found.tokens.values()}
    stack = n.rewrite(tokens.expr, lambda part: rows.get(part.symbol, part) if isinstance(part, n.Name) else part)
    try:
        made = evaluate(n.Product(stack, n.Transpose(stack)), {}, Certified())
        return made == evaluate(shown, {}, Certified())
    except QkvError:
        return False


def _settle_scalars(found: Gathering) -> None:
    """e_1 = 0.5, e_2 = 1.0, …: the scores, or weights, of one query, where nothing else leads to them."""
    for role in (R.SCORES, R.WEIGHTS):
        cells = {i: g for (r, i), g in found.claimed_tokens.items() if r is role and plain_shape(g) == (1, 1)}
        if len(cells) < 2 or sorted(cells) != list(range(1, len(cells) + 1)) or _derivable(found, role, None):
            continue
        if (role, None) in found.claimed or (role is R.WEIGHTS and (R.SCORES, None) in found.givens):
            continue
        found.tokens.update({(role, i): given for i, given in cells.items()})
        symbol = default_symbol(role)
        row = n.Concat(tuple(n.Name(cells[i].symbol) for i in sorted(cells)), axis=1)
        found.givens[role, None] = Given(symbol, row, role, symbol_plain(symbol), None, cells[1].line, implied=True)


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
    attended = (R.SOURCE, None) in found.givens or (R.SCORES, None) in found.givens
    if (R.STATES, None) in found.givens and not attended and (R.X, None) not in found.givens:
        found.givens[R.X, None] = replace(found.givens.pop((R.STATES, None)), role=R.X)


# What is worked out, in order: an earlier stage may lead to a later one.
STAGES = (R.Q, R.K, R.V, R.SCORES, R.SCALED, R.MASKED, R.WEIGHTS, R.HEAD, R.CONCAT, R.OUTPUT, R.CONTEXT)


def _settle_derived(found: Gathering, earlier: Gathering | None) -> None:
    """A derived quantity printed without formula is given where nothing in the problem leads to it, and where it
    restates what an earlier problem worked out ('K and V as before')."""
    for key, given in sorted(found.claimed.items(), key=lambda item: STAGES.index(item[0][0])):
        if not _derivable(found, *key) or _restated(found, key, given, earlier) or _of_other_tokens(found, key, given):
            role = R.HEAD if key[0] is R.OUTPUT else key[0]  # Z_1, Z_2: the outputs of heads
            found.givens.setdefault((role, key[1]), replace(given, role=role))


def _of_other_tokens(found: Gathering, key: Key, given: Given) -> bool:
    """Keys of four tokens beside an X of two: as wide as X W_K, yet not made of this X."""
    role, head = key
    if role not in FACTORS or (R.Y, None) in found.givens:
        return False
    x, w = (found.givens.get((r, head)) or found.givens.get((r, None)) for r in FACTORS[role])
    exprs = [item.expr for item in (x, w, given) if item is not None]
    if len(exprs) < 3 or not all(isinstance(expr, n.Matrix) for expr in exprs):
        return False
    tokens, weights, shown = (expr.shape for expr in exprs if isinstance(expr, n.Matrix))
    return tokens[1] == weights[0] and weights[1] == shown[1] and tokens[0] != shown[0] > 1


def _restated(found: Gathering, key: Key, given: Given, earlier: Gathering | None) -> bool:
    role, head = key
    if role not in FACTORS or earlier is None or not isinstance(given.expr, n.Matrix):
        return False
    factors = [k for r in FACTORS[role] for k in ((r, head), (r, None)) if k in found.givens]
    if not any(k in found.inherited for k in factors):
        return False
    before = earlier.printed.get(key)
    if not all(k in found.inherited for k in factors) and (before is None or not similar(before, given.expr)):
        return False
    product = _product(found, factors)
    return product is None or not similar(product, given.expr)


def _product(found: Gathering, keys: list[Key]) -> n.Matrix | None:
    """X W as plain fractions."""
    left, right = (plain_value(found.givens[key].expr) for key in (keys[0], keys[-1]))
    if left is None or right is None or left.shape[1] != right.shape[0] or left.is_ragged or right.is_ragged:
        return None
    return product_of(left, right)


def _derivable(found: Gathering, role: Role, head: int | None) -> bool:
    def has(wanted: Role) -> bool:
        return not {(wanted, head), (wanted, None)}.isdisjoint(found.givens) or (
            found.grouped and wanted in (R.K, R.V) and (wanted, 1) in found.givens
        )

    if role in FACTORS:
        return has(FACTORS[role][1]) and has(R.X)
    if role in (R.SCORES, R.SCALED, R.MASKED):
        scores = role is not R.SCORES and has(R.SCORES)
        return scores or has(R.SOURCE) or all(has(r) or _derivable(found, r, head) for r in (R.Q, R.K))
    if role is R.WEIGHTS:
        return any(has(r) for r in (R.SCORES, R.SCALED, R.MASKED)) or _derivable(found, R.SCORES, head)
    if role is R.HEAD or (role is R.OUTPUT and head is not None):
        values = has(R.V) or has(R.STATES) or _derivable(found, R.V, head)
        return values and (has(R.WEIGHTS) or _derivable(found, R.WEIGHTS, head))
    return True


def settle_inputs(found: Gathering, facts: tuple[Fact, ...]) -> None:
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
    """Q = K = V = X: nothing is projected; K = V = Q: keys and values are the queries that were given."""
    known = {given.symbol: given.expr for (role, _), given in found.claimed.items() if role in FACTORS}
    known |= {name.symbol: name for name in fact.subjects if place_of(name.symbol).roles[:1] == (R.X,)}
    source = next((known[name.symbol] for name in reversed(fact.subjects) if name.symbol in known), None)
    for symbol in (name.symbol for name in fact.subjects if name.symbol not in known):
        role = next(iter(place_of(symbol).roles), None)
        if role in FACTORS and source is not None:
            same = Given(symbol, source, role, symbol_plain(symbol), None, fact.statement.at.line, implied=True)
            found.givens.setdefault((role, None), same)


def _settle_identities(found: Gathering) -> None:
    source = found.givens.get((R.X, None))
    shape = given_shape(source) if source else None
    for key, given in list(found.givens.items()):
        if isinstance(given.expr, n.Matrix) and not given.expr.rows:
            if shape is None and source is not None:
                shape = shape_of_given(found, source)
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
