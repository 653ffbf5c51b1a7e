"""From keyword arguments to a Spec: lists, numbers as text, fractions and arrays in; what makes no sense is refused."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from qkv.errors import NameUnknownError, ShapeError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.expr.show import symbol_plain
from qkv.expr.tables import band, distances
from qkv.interpret.fit import say
from qkv.library.heads import FEATURES
from qkv.program.entries import Nested, as_number, as_rows, depth, is_ones, is_truth, listed
from qkv.program.kinds import can_make
from qkv.program.model import Given
from qkv.program.sizes import CACHES, tokens_in
from qkv.program.spec import GROUPED, Rope, Scale, Score, Spec, default_symbol
from qkv.regex import regex

ARGUMENTS: dict[str, Role] = {
    role.value: role
    for role in (
        *(Role.X, Role.Y, Role.Q, Role.K, Role.V, Role.W_Q, Role.W_K, Role.W_V, Role.W_O, Role.B_Q, Role.B_K, Role.B_V),
        *(Role.B_O, Role.K_CACHE, Role.V_CACHE, Role.BIAS),
    )
} | {"s": Role.SOURCE, "h": Role.STATES, "W_a": Role.W_A, "U_a": Role.U_A, "v_a": Role.V_A}
PER_HEAD = frozenset(
    {Role.W_Q, Role.W_K, Role.W_V, Role.B_Q, Role.B_K, Role.B_V, Role.Q, Role.K, Role.V, Role.MASK}
    | {Role.K_CACHE, Role.V_CACHE, Role.BIAS}
)
BIASES = frozenset({Role.B_Q, Role.B_K, Role.B_V, Role.B_O})
ONE_VECTOR = frozenset({Role.SOURCE, Role.V_A}) | BIASES

SIZES = {"d_k": Role.D_K, "d_model": Role.D_MODEL}
USUAL = "usual"  # √d_k for queries and keys; nothing for one source vector
ONES_SEE = "the mask holds 0 and 1: 1 is read as 'may be seen'"
_SCALE = regex(r"\s*(?P<root>sqrt|√)?\s*\(?\s*(?P<what>d_k|d_model|[-+]?[\d./]+(?:e[+-]?\d+)?)\s*\)?\s*")


@dataclass(frozen=True, slots=True)
class Options:
    """What is meant, apart from the matrices."""

    scale: object = USUAL
    mask: object = None
    heads: int | None = None
    normalise: str | None = "softmax"
    columns: bool | str = False
    title: str = ""
    kv_heads: int | None = None
    rope: bool | str = False
    base: object = 10000
    first_position: int = 0
    alibi: bool = False
    window: object = None
    score: str | None = None
    linear: str | None = None


def request(matrices: Mapping[str, object], options: Options = Options()) -> Spec:
    """The spec of a problem that is given by name.

    >>> spec = request({"Q": [[1, 2]], "K": [[2, "0.5"], [1, 1]], "V": [[1], [2]]})
    >>> [given.spelled for given in spec.givens.values()], spec.scale.value
    (['Q', 'K', 'V'], '√d_k')
    """
    named = {_role(name): (name, listed(value)) for name, value in matrices.items() if value is not None}
    masked = options.mask is not None and not isinstance(options.mask, str)
    mask = listed(options.mask)
    if masked:
        named[Role.MASK] = ("mask", mask)
    count = _head_count(named, options.heads, options.kv_heads)
    turned = _columns(options.columns)
    givens = {
        (role, head): _given(name, role, head, value, bool(options.columns))
        for role, (name, whole) in named.items()
        for head, value in _parts(role, whole, count)
    }
    spec = Spec(
        givens,
        {key: _matrix(given).shape for key, given in givens.items()},
        causal=_causal(options.mask),
        mask_truth=masked and is_truth(mask),
        plain_sum=_plain_sum(options),
        columns=bool(options.columns),
        turned=turned,
        split=options.heads if count is None else None,
        groups=_groups(count or options.heads, options.kv_heads),
        rope=_rope(options),
        score=_score(named, options),
        linear=_linear(options),
        shared=options.normalise is not None,
        title=options.title,
        notes=(ONES_SEE,) if masked and is_ones(mask) else (),
    )
    _complete(spec)
    spec = _biased(spec) if options.alibi else spec
    return _scaled(spec if options.window is None else _windowed(spec, options), options.scale)


def _role(name: str) -> Role:
    if name in ARGUMENTS:
        return ARGUMENTS[name]
    raise no_such(name, ARGUMENTS)


def no_such(name: str, known: Collection[str]) -> NameUnknownError:
    """What to say of a matrix that nothing here has a use for."""
    folded = [other for other in known if other.lower() == name.lower()]
    close = folded or difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]}?" if close else "the names are " + ", ".join(known)
    return NameUnknownError(f"{name} is no matrix that attention knows; {hint}")


def _head_count(named: Mapping[Role, tuple[str, object]], heads: int | None, shared: int | None) -> int | None:
    """How many heads the lists of matrices give; None where there are no such lists."""
    for name, count in (("heads", heads), ("kv_heads", shared)):
        if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
            raise ValueRefused(f"{name} is {count!r}, but there must be a whole number of them, 1 or more")
    stacks = {name: _length(value) for role, (name, value) in named.items() if depth(name, value) == 3}
    for name in stacks:
        role = Role.MASK if name == "mask" else ARGUMENTS[name]
        if role not in PER_HEAD:
            raise ShapeError(f"{name} is a list of matrices, but all heads share one {name}")
    if shared is not None:  # lists of keys and values are as long as there are groups
        grouped = {name: length for name, length in stacks.items() if ARGUMENTS.get(name) in GROUPED}
        for name, length in grouped.items():
            if length != shared:
                raise ShapeError(f"kv_heads is {shared}, but {name} is a list of {length} matrices")
        stacks = {name: length for name, length in stacks.items() if name not in grouped}
    counts = {**stacks, **({"heads": heads} if heads is not None and stacks else {})}
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{name} says {count}" for name, count in counts.items())
        raise ShapeError(f"the number of heads is not clear: {told}")
    return next(iter(stacks.values()), None)


def _groups(heads: int | None, shared: int | None) -> dict[int, int]:
    """Whose keys and values each head uses: of four heads and two groups, heads 1 and 2 use the first."""
    if shared is None:
        return {}
    if heads is None or heads % shared:
        raise ValueRefused(f"heads is {heads} and kv_heads is {shared}, but each group must serve as many heads")
    return {head: (head - 1) * shared // heads + 1 for head in range(1, heads + 1)}


ROPES = ("interleaved", "halves")


def _rope(options: Options) -> Rope | None:
    if options.rope is False or options.rope is None:
        return None
    pairs = ROPES[0] if options.rope is True else options.rope
    if pairs not in ROPES:
        raise ValueRefused(f"rope is {options.rope!r}, but it must be True, 'interleaved' or 'halves'")
    if options.columns:
        raise ValueRefused("rotary positions are worked out with tokens as rows: leave out columns")
    return Rope(pairs, as_number("base", options.base), options.first_position)


def _biased(spec: Spec) -> Spec:
    """The spec with the bias of ALiBi: slopes 2^(-8/h), 2^(-16/h) … for h heads."""
    heads = len(spec.heads)
    if 8 % heads or spec.has(Role.BIAS) or spec.columns:
        why = (
            f"its slopes are fractions for 1, 2, 4 or 8 heads, not for {heads}"
            if 8 % heads
            else "leave out bias and columns"
        )
        raise ValueRefused(f"alibi cannot be worked out here: {why}")
    queries, keys = (tokens_in(spec, role) for role in (Role.Q, Role.K))
    givens = dict(spec.givens)
    for i, head in enumerate(spec.heads, 1):
        symbol = default_symbol(Role.BIAS, head)
        table = distances(queries, keys, Fraction(1, 2 ** (8 * i // heads)))
        givens[Role.BIAS, head] = Given(symbol, table, Role.BIAS, symbol_plain(symbol), head, implied=True)
    return replace(spec, givens=givens)


def _length(value: object) -> int:
    return len(value)  # type: ignore[arg-type]


def _parts(role: Role, whole: object, count: int | None) -> Iterator[tuple[int | None, object]]:
    """One given for each head, or one for all."""
    levels = depth(role, whole)
    biases = role in BIASES and role in PER_HEAD and levels == 2 and count is not None and _length(whole) == count
    if levels == 3 or biases:
        yield from enumerate(whole, 1)  # type: ignore[arg-type]
    else:
        yield None, whole


def _given(name: str, role: Role, head: int | None, value: object, columns: bool) -> Given:
    spelled = name if head is None else f"{name} of head {head}"
    rows = as_rows(spelled, value, mask=role is Role.MASK)
    if role in ONE_VECTOR:
        rows = _one_vector(spelled, rows, upright=columns or role not in BIASES)
    elif depth(name, value) == 1 and columns:
        rows = tuple((cell,) for cell in rows[0])
    symbol = default_symbol(role, head)
    return Given(symbol, n.Matrix(rows), role, symbol_plain(symbol), head)


def _one_vector(name: str, rows: Nested, upright: bool) -> Nested:
    if len(rows) > 1 and len(rows[0]) > 1:
        raise ShapeError(f"{name} is {say((len(rows), len(rows[0])))}, but it must be one vector")
    cells = [cell for row in rows for cell in row]
    return tuple((cell,) for cell in cells) if upright else (tuple(cells),)


def _matrix(given: Given) -> n.Matrix:
    assert isinstance(given.expr, n.Matrix)
    return given.expr


def _columns(columns: bool | str) -> bool:
    """Whether weights are transposed: tokens as columns come as W x or as Wᵀ x."""
    if isinstance(columns, bool) or columns == "W x":
        return False
    if columns in ("W^T x", "Wᵀ x"):
        return True
    raise ValueRefused(f"columns is {columns!r}, but it must be False, True, 'W x' or 'W^T x'")


def _causal(mask: object) -> bool:
    if isinstance(mask, str) and mask != "causal":
        raise ValueRefused(f"mask is {mask!r}, but it must be None, 'causal' or a matrix")
    return isinstance(mask, str)


def _windowed(spec: Spec, options: Options) -> Spec:
    """The spec with a mask that lets each query see some keys before and after its own."""
    if spec.has(Role.MASK) or spec.has(Role.SOURCE) or spec.columns:
        raise ValueRefused(
            "a window is a mask of its own, with tokens as rows: leave out mask (but 'causal') and columns"
        )
    whole = listed(options.window)
    sizes = [s for s in (whole if isinstance(whole, list) else [whole, whole]) if isinstance(s, int) and s >= 0]
    if len(sizes) != 2 or isinstance(whole, bool):
        raise ValueRefused(f"window is {options.window!r}, but it must be a number of keys, or two: before and after")
    table = band(tokens_in(spec, Role.Q), tokens_in(spec, Role.K), sizes[0], 0 if spec.causal else sizes[1])
    symbol = default_symbol(Role.MASK)
    given = Given(symbol, table, Role.MASK, symbol_plain(symbol), implied=True)
    return replace(spec, givens={**spec.givens, (Role.MASK, None): given}, causal=False)


def _linear(options: Options) -> str | None:
    if options.linear is None:
        return None
    if options.linear not in FEATURES:
        raise ValueRefused(f"linear is {options.linear!r}, but φ must be one of {', '.join(map(repr, FEATURES))}")
    refused = [name for name in ("mask", "window", "alibi", "columns", "score") if getattr(options, name)]
    if refused or options.scale != USUAL:
        raise ValueRefused(f"linear attention makes no scores: leave out {(refused or ['scale'])[0]}")
    return options.linear


def _plain_sum(options: Options) -> bool:
    if options.normalise is None and options.linear is not None:
        return False
    if options.normalise not in ("softmax", "sum"):
        raise ValueRefused(f"normalise is {options.normalise!r}, but it must be 'softmax' or 'sum'")
    return options.normalise == "sum"


def _score(roles: Mapping[Role, object], options: Options) -> Score:
    if options.score not in (None, "cosine"):
        raise ValueRefused(f"score is {options.score!r}, but it must be None or 'cosine'")
    if options.score and (options.columns or {Role.SOURCE, Role.W_A} & roles.keys()):
        raise ValueRefused("cosines are worked out for queries and keys as rows: leave out columns, s and W_a")
    if options.score:
        return Score.COSINE
    if Role.U_A in roles or Role.V_A in roles:
        for role in (Role.W_A, Role.U_A, Role.V_A):
            if role not in roles:
                raise ValueRefused(f"{role} is missing: additive scores are v_aᵀ tanh(W_a s + U_a h)")
        return Score.ADDITIVE
    return Score.GENERAL if Role.W_A in roles else Score.DOT


NEEDED: tuple[tuple[Role, str], ...] = (
    (Role.Q, "queries are missing: give Q, or W_Q with X"),
    (Role.K, "keys are missing: give K, or W_K with X (or with Y, the second sequence)"),
)


def _complete(spec: Spec) -> None:
    cached = [
        role for role, cache in CACHES.items() if spec.has(role, spec.heads[0]) and spec.has(cache, spec.heads[0])
    ]
    for name in (symbol_plain(default_symbol(role)) for role in cached):
        raise ValueRefused(f"{name} is given, and {name}_cache too: write the rows of the cache above those of {name}")
    if spec.has(Role.SOURCE) or spec.has(Role.STATES):
        for role, name in ((Role.SOURCE, "s, the vector that attends"), (Role.STATES, "h, the vectors attended to")):
            if not spec.has(role):
                raise ValueRefused(f"{name}, is missing")
        if spec.causal or spec.has(Role.MASK):
            raise ValueRefused("one source vector has no mask: leave out the states that it must not see")
        return
    if not spec.givens:
        raise ValueRefused("nothing is given: give Q, K and V, or X with W_Q, W_K and W_V, or s and h")
    for role, sentence in NEEDED:
        if not can_make(spec, role):
            raise ValueRefused(sentence)


def _scaled(spec: Spec, scale: object) -> Spec:
    if scale is None or (scale == USUAL and (spec.has(Role.SOURCE) or spec.score is Score.COSINE)):
        return replace(spec, scale=Scale.NONE)
    if scale == USUAL:
        return spec
    if not isinstance(scale, str):
        return replace(spec, scale=Scale.GIVEN, divisor=_nonzero(as_number("scale", scale)))
    if (hit := _SCALE.fullmatch(scale)) is None:
        raise ValueRefused(f"scale is {scale!r}, but it must be None, a number, 'sqrt(d_k)', 'd_k' or 'sqrt(d_model)'")
    role = SIZES.get(hit["what"])
    if role is None:
        size: n.Expr = _nonzero(as_number("scale", hit["what"]))
    else:
        spec, size = _with_size(spec, role), n.Name(default_symbol(role))
    return replace(spec, scale=Scale.GIVEN, divisor=n.Root(size) if hit["root"] else size)


def _with_size(spec: Spec, role: Role) -> Spec:
    """The spec with d_model, or with the d_k of a source vector, as a given; other d_k follow from the keys."""
    if role is Role.D_K and not spec.has(Role.SOURCE):
        return spec
    tokens, axis = (Role.SOURCE, 0) if role is Role.D_K else (Role.X, 0 if spec.columns else 1)
    shape = spec.shape(tokens)
    if shape is None:
        raise ValueRefused("d_model is the length of a token, but X is not given")
    symbol = default_symbol(role)
    given = Given(symbol, n.number(shape[axis]), role, symbol_plain(symbol), implied=True)
    return replace(spec, givens={**spec.givens, (role, None): given})


def _nonzero(scale: n.Number) -> n.Number:
    if scale.value == 0:
        raise ValueRefused("a scale of zero cannot divide the scores: use scale=None to leave them as they are")
    return scale
