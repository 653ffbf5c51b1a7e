"""Kinds of attention, each a short list of steps in the expression language.

A Spec says what is given and what is meant; `plan` turns it into a Program. Tokens are rows (Q = X W_Q) unless
`columns` says that they are columns (Q = W_Q X, or W_Qᵀ X if `turned`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qkv.errors import ValueRefused
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import symbol_plain
from qkv.expr.tables import angles, quarter_turn
from qkv.library.heads import rows
from qkv.library.rows import counted, renamed
from qkv.program.model import Given, Program, Step
from qkv.program.sizes import CACHES, cuts, heads_of, key_size, size_symbol, source_of, tokens_in
from qkv.program.spec import LETTERS, Scale, Score, Spec, default_symbol


def plan(spec: Spec) -> Program:
    """The program of a spec."""
    if any(role is Role.SOURCE for role, _ in spec.givens) or (spec.has(Role.SCORES) and spec.has(Role.STATES)):
        return _program(spec, _source_kind(spec), _source_steps(spec))
    given = (Role.SCORES, Role.SCALED, Role.MASKED, Role.WEIGHTS, Role.HEAD)
    if not any(role in given for role, _ in spec.givens) and not can_make(spec, Role.Q):
        raise ValueRefused("there is nothing to attend with: give Q, K and V, or X with W_Q, W_K and W_V, or s and h")
    return _program(spec, _kind(spec), _all_heads(spec))


def _program(spec: Spec, kind: str, steps: Iterator[Step]) -> Program:
    made = tuple({step.symbol: step for step in steps}.values())  # what heads share is worked out once
    givens = tuple({given.symbol: given for given in spec.givens.values()}.values())
    known = {given.symbol for given in givens}
    used = dict.fromkeys(symbol for step in made for symbol in n.names_in(step.expr) if symbol not in known)
    givens += tuple(_implied_dk(spec, symbol) for symbol in used if (symbol.base, symbol.labels) == LETTERS[Role.D_K])
    return Program(kind, givens, made, spec.notes, spec.title, spec.line, spec.columns)


def _implied_dk(spec: Spec, symbol: Symbol) -> Given:
    head = int(symbol.indices[0]) if symbol.indices else None
    size = key_size(spec, spec.heads[0] if head is None else head)
    return Given(symbol, n.number(size), Role.D_K, symbol_plain(symbol), head, implied=True)


PROJECTIONS: tuple[tuple[Role, Role, Role], ...] = (
    (Role.Q, Role.W_Q, Role.B_Q),
    (Role.K, Role.W_K, Role.B_K),
    (Role.V, Role.W_V, Role.B_V),
)


def _tokens(spec: Spec, role: Role, head: int | None = None) -> n.Name:
    """What queries, keys or values are projected from."""
    if role is Role.V and spec.values_from is not None:
        return n.Name(spec.values_from)
    return spec.name(source_of(spec, role), head)


def can_make(spec: Spec, role: Role) -> bool:
    """Whether queries, keys or values are given or can be worked out."""
    weight = {made: weight for made, weight, _ in PROJECTIONS}[role]
    source = source_of(spec, role)
    return any(spec.has(role, h) or (spec.has(source, h) and spec.has(weight, h)) for h in (*spec.heads, None))


def _kind(spec: Spec) -> str:
    words = [] if spec.linear is None and spec.score is not Score.COSINE else ["linear" if spec.linear else "cosine"]
    if spec.heads != (None,):
        words.append("multi-head")
    if spec.causal or spec.has(Role.MASK):
        words.append("masked")
    if spec.has(Role.Y):
        words.append("cross-attention")
    elif spec.has(Role.X):
        words.append("self-attention")
    elif spec.linear or spec.score is Score.COSINE:
        words.append("attention")
    else:
        words.append("dot-product attention" if spec.scale is Scale.NONE else "scaled dot-product attention")
    return " ".join(words)


def _all_heads(spec: Spec) -> Iterator[Step]:
    if spec.split:
        yield from _split_projections(spec)
    for head in spec.heads:
        yield from _one_head(spec, head)
    if spec.heads != (None,):
        yield from _join(spec)
    elif spec.has(Role.W_O):
        yield _step(spec, Role.OUTPUT, None, _projected(spec, spec.name(Role.HEAD), Role.W_O, Role.B_O, None))


def _one_head(spec: Spec, head: int | None) -> Iterator[Step]:
    if spec.has(Role.HEAD, head):
        return
    if not spec.split:
        yield from _projections(spec, head)
    if not spec.has(Role.WEIGHTS, head):
        yield from _rotations(spec, head)
    if spec.linear is not None:
        yield from _by_rows(spec, head, "linear", spec.linear, "shared" if spec.shared else "")
        return
    if not spec.has(Role.WEIGHTS, head):
        yield from _weights(spec, head)
    if spec.has(Role.V, head) or can_make(spec, Role.V):
        weights, values = spec.name(Role.WEIGHTS, head), spec.name(Role.V, head)
        turned = weights if spec.keys_first else n.Transpose(weights)
        mixed = n.Product(values, turned) if spec.columns else n.Product(weights, values)
        yield _step(spec, _output_role(spec, head), head, mixed)


def _output_role(spec: Spec, head: int | None) -> Role:
    """What the mixed values are: the output of a head, or of all."""
    return Role.HEAD if head is not None or spec.has(Role.W_O) else Role.OUTPUT


def _projections(spec: Spec, head: int | None) -> Iterator[Step]:
    for role, weight, bias in PROJECTIONS:
        source = source_of(spec, role)
        if any(spec.own(role, h) == spec.own(role, head) for h in _heads_before(spec, head)):
            continue  # worked out for the first head of the group
        if spec.has(role, head) or not (spec.has(weight, head) and spec.has(source, head)):
            continue
        yield from _made(spec, role, weight, bias, head)


def _made(spec: Spec, role: Role, weight: Role, bias: Role, head: int | None) -> Iterator[Step]:
    """Queries, keys or values of the tokens; below a cache, where one is given."""
    made = _step(spec, role, head, _projected(spec, _tokens(spec, role, head), weight, bias, head))
    if role not in CACHES or not spec.has(CACHES[role], head):
        yield made
        return
    new = made.symbol._replace(labels=(*made.symbol.labels, "new"))
    yield replace(made, symbol=new, spelled=symbol_plain(new), role=Role.OTHER, says=f"{made.says} of the new tokens")
    parts = (spec.name(CACHES[role], head), n.Name(new))
    yield replace(made, expr=n.Concat(parts, 1 if spec.columns else 0), says=f"{made.says}, the cache first")


def _heads_before(spec: Spec, head: int | None) -> tuple[int | None, ...]:
    return spec.heads[: spec.heads.index(head)] if spec.groups else ()


def _projected(spec: Spec, source: n.Expr, weight: Role, bias: Role, head: int | None) -> n.Expr:
    matrix: n.Expr = spec.name(weight, head)
    if spec.turned:
        matrix = n.Transpose(matrix)
    product: n.Expr = n.Product(matrix, source) if spec.columns else n.Product(source, matrix)
    return n.Sum((product, spec.name(bias, head))) if spec.has(bias, head) else product


def _split_projections(spec: Spec) -> Iterator[Step]:
    for role, weight, bias in PROJECTIONS:
        if role is Role.V and not can_make(spec, role):
            continue
        if not spec.has(role):
            yield from _made(spec, role, weight, bias, None)
        width = _head_width(spec, role, weight)
        for i, head in enumerate(heads_of(spec, role), 1):
            symbol = spec.name(role, head).symbol
            block = _head_block(spec, spec.name(role), ((i - 1) * width + 1, i * width))
            says = "the head's own rows" if spec.columns else "the head's own columns"
            yield Step(symbol, block, role, symbol_plain(symbol), spec.own(role, head), says=says)


def _head_width(spec: Spec, role: Role, weight: Role) -> int:
    shape, axis = spec.shape(role), 0 if spec.columns else 1
    if shape is None:
        shape, axis = spec.shape(weight), 1 - axis if spec.turned else axis
    size = 0 if shape is None else shape[axis]
    count = cuts(spec, role)
    if not size or size % count:
        raise ValueRefused(f"{role} has {size} numbers a token and cannot be cut into {count} heads of one width")
    return size // count


def _head_block(spec: Spec, whole: n.Expr, span: tuple[int, int]) -> n.Expr:
    if spec.columns:
        return n.Transpose(n.Entry(n.Transpose(whole), columns=span))
    return n.Entry(whole, columns=span)


def _weights(spec: Spec, head: int | None) -> Iterator[Step]:
    role = next((stage for stage in (Role.MASKED, Role.SCALED) if spec.has(stage, head)), Role.SCORES)
    if spec.score is Score.COSINE and not spec.has(role, head):
        if key_size(spec, head) < 2:
            raise ValueRefused("the cosine of single numbers is 1 or −1: queries and keys must be longer")
        yield from _by_rows(spec, head, "cosine")
    elif not spec.has(role, head):
        yield _step(spec, role, head, _scores(spec, head))
    if spec.scale is not Scale.NONE and role is Role.SCORES:
        yield _step(spec, Role.SCALED, head, n.Quotient(spec.name(role, head), _divisor(spec, head)))
        role = Role.SCALED
    if spec.has(Role.BIAS, head) and role is not Role.MASKED:
        yield _step(spec, Role.BIASED, head, n.Sum((spec.name(role, head), spec.name(Role.BIAS, head))))
        role = Role.BIASED
    if role is Role.MASKED:
        pass
    elif spec.has(Role.MASK, head):
        pattern = spec.name(Role.MASK, head)
        masked: n.Expr = n.Mask(spec.name(role, head), pattern, spec.mask_truth)
        made = _step(spec, Role.MASKED, head, masked)
        yield made if spec.mask_truth else replace(made, says="scores with the mask added")
        role = Role.MASKED
    elif spec.causal:
        scores = spec.name(role, head)
        masked = n.Transpose(n.Mask(n.Transpose(scores))) if spec.keys_first else n.Mask(scores)
        yield _step(spec, Role.MASKED, head, masked)
        role = Role.MASKED
    yield _step(spec, Role.WEIGHTS, head, _normal(spec, spec.name(role, head)))


ROTATED, ANGLES, TURN = "rot", "Theta", Symbol("J")


def _rotated(spec: Spec, role: Role, head: int | None) -> n.Name:
    """Queries or keys as scores use them: turned by their positions, where positions are rotary."""
    symbol = spec.name(role, head).symbol
    return n.Name(symbol if spec.rope is None else symbol._replace(labels=(*symbol.labels, ROTATED)))


def _rotations(spec: Spec, head: int | None) -> Iterator[Step]:
    """Q cos Θ + (Q J) sin Θ: every pair of columns turned by the angle of its position."""
    rope = spec.rope
    if rope is None:
        return
    width, halves = key_size(spec, head), rope.pairs == "halves"
    if spec.has(Role.K_CACHE, head):
        raise ValueRefused("rotary positions are worked out without a cache: give all tokens")
    if width % 2:
        raise ValueRefused(f"rotary positions turn pairs of columns, but queries and keys have {width} numbers")
    if head in (None, spec.heads[0]):
        yield Step(TURN, quarter_turn(width, halves), Role.OTHER, "J", says="turns each pair (a, b) into (−b, a)")
    for role in (Role.Q, Role.K):
        if any(spec.own(role, h) == spec.own(role, head) for h in _heads_before(spec, head)):
            continue
        x, angle = spec.name(role, head), Symbol(ANGLES, (role.value,))
        if head in (None, spec.heads[0]):
            made = angles(tokens_in(spec, role), width, rope.base, rope.first, halves)
            yield Step(angle, made, Role.OTHER, symbol_plain(angle), says="the angle of each position and pair")
        cosine, sine = (n.Call(wave, (n.Name(angle),)) for wave in ("cos", "sin"))
        expr = n.Sum((n.Call("hadamard", (x, cosine)), n.Call("hadamard", (n.Product(x, n.Name(TURN)), sine))))
        symbol = _rotated(spec, role, head).symbol
        says = f"{SAYS[role]}, turned by their positions"
        yield Step(symbol, expr, Role.OTHER, symbol_plain(symbol), spec.own(role, head), says=says)


def _normal(spec: Spec, scores: n.Expr) -> n.Expr:
    axis = 0 if spec.keys_first else 1
    kind = n.Normalise if spec.plain_sum else n.Softmax
    return kind(scores, axis, by_rows=not spec.keys_first)


def _divisor(spec: Spec, head: int | None) -> n.Expr:
    if spec.divisor is None:
        return n.Root(n.Name(size_symbol(spec, head)))
    shared = n.Name(default_symbol(Role.D_K))
    return n.rewrite(spec.divisor, lambda part: n.Name(size_symbol(spec, head)) if part == shared else part)


def _scores(spec: Spec, head: int | None) -> n.Expr:
    q, k = _rotated(spec, Role.Q, head), _rotated(spec, Role.K, head)
    if spec.keys_first:
        return n.Product(n.Transpose(k), q)
    return n.Product(n.Transpose(q), k) if spec.columns else n.Product(q, n.Transpose(k))


def _by_rows(spec: Spec, head: int | None, *conventions: str) -> Iterator[Step]:
    """The rows of library/heads.py that count, in the names of a head."""
    ones = n.Matrix(((n.number(1),),) * tokens_in(spec, Role.K))
    role = _output_role(spec, head)
    named = {"Q": _rotated(spec, Role.Q, head), "K": _rotated(spec, Role.K, head), "V": spec.name(Role.V, head)}
    named |= {"S": spec.name(Role.SCORES, head), "Z": spec.name(role, head)}
    names = {Symbol(letter): name.symbol for letter, name in named.items()}
    known = {Symbol(letter) for letter in ("Q", "K", "V", "ones")}
    for row in counted(rows(), known, frozenset(conventions)):
        expr = n.replaced(renamed(row.expr, names), n.Name(Symbol("ones")), ones)
        first = n.names_in(expr)[0]  # what is made of keys alone belongs to their group of heads
        symbol = names.setdefault(row.symbol, row.symbol._replace(indices=first.indices))
        made = {"S": Role.SCORES, "Z": role}.get(str(row.symbol), Role.OTHER)
        yield Step(symbol, expr, made, symbol_plain(symbol), head, says=row.says)


def _join(spec: Spec) -> Iterator[Step]:
    parts = tuple(spec.name(Role.HEAD, head) for head in spec.heads)
    yield _step(spec, Role.CONCAT, None, n.Concat(parts, axis=0 if spec.columns else 1))
    if spec.has(Role.W_O):
        yield _step(spec, Role.OUTPUT, None, _projected(spec, spec.name(Role.CONCAT), Role.W_O, Role.B_O, None))


def _source_kind(spec: Spec) -> str:
    return f"{spec.score.value} attention of {'several source vectors' if _has_sources(spec) else 'one source vector'}"


def _has_sources(spec: Spec) -> bool:
    """Whether several vectors attend: then they are the rows of a matrix."""
    shape = spec.shape(Role.SOURCE)
    return shape is not None and min(shape) > 1


def _source_steps(spec: Spec) -> Iterator[Step]:
    """One vector s over the states h_1 … h_n, which are the rows of H (its columns if `columns`)."""
    states = spec.name(Role.STATES)
    rows: n.Expr = n.Transpose(states) if spec.columns else states
    source = spec.name(Role.SOURCE)
    if not spec.has(Role.SCORES):
        yield _step(spec, Role.SCORES, None, _source_scores(spec, rows, source))
    role = Role.SCORES
    if spec.scale is Scale.GIVEN and spec.divisor is not None:
        yield _step(spec, Role.SCALED, None, n.Quotient(spec.name(role), spec.divisor))
        role = Role.SCALED
    yield _step(spec, Role.WEIGHTS, None, _normal(spec, spec.name(role)))
    yield _step(spec, Role.CONTEXT, None, n.Product(spec.name(Role.WEIGHTS), rows))


def _source_scores(spec: Spec, rows: n.Expr, source: n.Expr) -> n.Expr:
    """Scores as one row; s is a column, and s_1, s_2, … are rows."""
    if spec.score is Score.ADDITIVE and _has_sources(spec):
        raise ValueRefused("additive scores are worked out for one source vector only")
    turned = source if _has_sources(spec) else n.Transpose(source)
    if spec.score is Score.GENERAL:
        return n.Product(n.Product(turned, spec.name(Role.W_A)), n.Transpose(rows))
    if spec.score is Score.ADDITIVE:
        state_part = n.Product(spec.name(Role.U_A), n.Transpose(rows))
        inner = n.Call("tanh", (n.Sum((state_part, n.Product(spec.name(Role.W_A), source))),))
        return n.Product(n.Transpose(spec.name(Role.V_A)), inner)
    return n.Product(turned, n.Transpose(rows))


SAYS: dict[Role, str] = {
    Role.Q: "queries",
    Role.K: "keys",
    Role.V: "values",
    Role.SCORES: "how well each query fits each key",
    Role.SCALED: "scores divided by the scale",
    Role.BIASED: "scores with the bias of positions",
    Role.MASKED: "forbidden keys set to −∞",
    Role.WEIGHTS: "attention weights",
    Role.HEAD: "the values, mixed by the weights",
    Role.CONCAT: "the heads side by side",
    Role.OUTPUT: "the output",
    Role.CONTEXT: "the context vector",
}


def _step(spec: Spec, role: Role, head: int | None, expr: n.Expr) -> Step:
    symbol = spec.name(role, head).symbol
    return Step(symbol, expr, role, symbol_plain(symbol), spec.own(role, head), says=SAYS.get(role, ""))


def with_notes(program: Program, *notes: str) -> Program:
    """The program with remarks added."""
    return replace(program, notes=(*program.notes, *notes))
