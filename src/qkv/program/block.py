"""A block around attention: what is given by name, and the rows of library/block.py that follow from it.

Attention itself is planned as everywhere (kinds.py); it reads the tokens that the rows before it make. What belongs to
a layer is put together in layers.py, as often as there are layers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from qkv.errors import ShapeError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import plain, symbol_plain
from qkv.expr.tables import one_hot, sinusoids
from qkv.interpret.fit import Misfit, Shape, say
from qkv.interpret.shapes import shapes
from qkv.library import block
from qkv.program.entries import as_number, as_rows, listed
from qkv.program.kinds import plan
from qkv.program.layers import N_1, Layer, X, chained, stacked
from qkv.program.model import Given, Program, Step
from qkv.program.request import ARGUMENTS, Options, no_such, request

PE, TOKENS, TARGETS = Symbol("PE"), Symbol("T", ("x",)), Symbol("T", ("y",))
NUMBERS = {"epsilon": "eps", "tau": "temperature"}  # names of rows that are one number, and the arguments for them
VECTORS = frozenset({"b", "gamma", "beta"})
GATED, UNGATED = ("swiglu", "geglu"), ("relu", "gelu", "gelu_tanh", "silu")
NORMS = ("pre", "post", "pre rms", "post rms")


class Around(NamedTuple):
    """What is meant around attention, apart from the matrices."""

    norm: str | None = None
    eps: object = None
    activation: str | None = None
    tokens: object = None
    positions: object = None
    base: object = 10000
    first_position: int = 0
    targets: object = None
    temperature: object = None
    tied: bool = False
    predict: bool = False
    top: int | None = None
    layers: object = None
    cross: Mapping[str, object] | None = None


def planned(matrices: Mapping[str, object], options: Options, around: Around) -> Program:
    """The program of attention and of what is asked for around it."""
    matrices = {name: value for name, value in matrices.items() if value is not None}
    if around == Around() and matrices.keys() <= ARGUMENTS.keys():
        return plan(request(matrices, options))
    if options.columns:
        raise ValueRefused("what stands around attention is worked out with tokens as rows: leave out columns")
    sets = list(_sets(matrices, around))
    part = 3 if any(own.get("cross") for own in sets) else 2
    once = {name: value for name, value in matrices.items() if name in _once(part)}
    conventions = _conventions(around, "W_3" in sets[0], f"gamma_{part + 1}" in once)
    numbers = tuple(_numbers(around))
    program = Program("", (*_givens(once, around), *numbers), tuple(_positions(once, around)), title=options.title)
    program = chained(program, block.embedding(), conventions)
    layers = [_layer({k: v for k, v in own.items() if k not in once}, numbers) for own in sets]
    names: dict[Symbol, Symbol] = {}
    if any(layer.around[len(numbers) :] or layer.attention for layer in layers) or around.norm:
        program, names = stacked(program, layers, options, conventions)
    program = chained(program, block.ends(part, _top(once, around)), conventions, names)
    if not program.steps:
        raise ValueRefused("nothing follows from what is given: " + ", ".join(g.spelled for g in program.givens))
    _check(program)
    return replace(program, kind=_kind(program.kind, around, len(layers)))


def with_block(attention: Program, names: Iterable[str]) -> Program:
    """A program of attention with a pre-norm block around it, its givens named and not filled in: what costs are of."""
    symbols = [block.names()[name] for name in names]
    givens = tuple(
        Given(
            symbol, n.Matrix(()), Role.BLOCK if symbol_plain(symbol) in NUMBERS else Role.LEARNED, symbol_plain(symbol)
        )
        for symbol in symbols
    )
    conventions = frozenset(
        {"pre", "layer", "relu", "tied"} | ({"final"} if Symbol("gamma", (), ("3",)) in symbols else set())
    )
    before = chained(replace(attention, givens=(*attention.givens, *givens), steps=()), block.before(), conventions)
    reading = tuple(replace(step, expr=n.replaced(step.expr, n.Name(X), n.Name(N_1))) for step in attention.steps)
    rows = (*block.attended(), *block.fed(2), *block.ends(2))
    return chained(replace(before, steps=(*before.steps, *reading)), rows, conventions)


# — layers —


def _sets(matrices: Mapping[str, object], around: Around) -> Iterator[dict[str, object]]:
    """The matrices of each layer: its own, and those that all layers share."""
    shared = {**matrices, "cross": around.cross}
    _known_names(shared)
    if around.layers is None or isinstance(around.layers, int):
        count = 1 if around.layers is None else around.layers
        if isinstance(count, bool) or count < 1:
            raise ValueRefused(f"layers is {count!r}, but there must be 1 or more")
        yield from [shared] * count
        return
    for number, own in enumerate(_listed_sets(around.layers), 1):
        _known_names(own)
        for name in own:
            if name in _once(3 if own.get("cross") or around.cross else 2):
                raise ValueRefused(f"layer {number} has {name}, but all layers share one {name}")
        yield {**shared, **own}


def _listed_sets(layers: object) -> list[Mapping[str, object]]:
    found = list(layers) if isinstance(layers, Iterable) and not isinstance(layers, (str, Mapping)) else []
    if not found or not all(isinstance(own, Mapping) for own in found):
        raise ValueRefused("layers is a number, or a list with a dict of matrices for each layer")
    return found


def _layer(own: Mapping[str, object], numbers: tuple[Given, ...]) -> Layer:
    cross: dict[str, object] = dict(own.get("cross") or {})  # type: ignore[call-overload]
    attention = {name: value for name, value in own.items() if name in ARGUMENTS and not (cross and name == "Y")}
    if cross and not attention:
        raise ValueRefused("cross-attention comes after self-attention: give W_Q, W_K and W_V too")
    if cross and "Y" not in own:
        raise ValueRefused("cross-attention reads Y, the second sequence, but Y is not given")
    rest = {name: value for name, value in own.items() if name not in ARGUMENTS and name != "cross"}
    given = (_given(block.names()[name], n.Matrix(_rows_of(name, value))) for name, value in rest.items())
    return Layer((*numbers, *given), attention, {**cross, "Y": own["Y"]} if cross else {})


def _once(part: int) -> frozenset[str]:
    """The names that belong to no layer: tokens, embedding, the last norm, logits and loss."""
    layer = (*block.before(), *block.attended(), *(block.crossed() if part == 3 else ()), *block.fed(part))
    own = {symbol for row in layer for symbol in (*n.names_in(row.expr), row.symbol)} - {X}
    ends = {symbol for row in (*block.embedding(), *block.ends(part)) for symbol in (*n.names_in(row.expr), row.symbol)}
    return frozenset(symbol_plain(symbol) for symbol in ends - own)


def _known_names(matrices: Mapping[str, object]) -> None:
    every = dict.fromkeys((*ARGUMENTS, *(name for name in block.names() if name not in NUMBERS)))
    for name in (name for name in matrices if name != "cross"):
        if name not in every:
            raise no_such(name, every)
    for name in matrices.get("cross") or ():  # type: ignore[attr-defined]
        if name not in ARGUMENTS or name in ("X", "Y"):
            raise no_such(name, [other for other in ARGUMENTS if other not in ("X", "Y")])


def _conventions(around: Around, gated: bool, final: bool) -> frozenset[str]:
    """Where norms stand and of which kind they are, and the activation."""
    if around.norm is not None and around.norm not in NORMS:
        raise ValueRefused(f"norm is {around.norm!r}, but it must be None, {', '.join(map(repr, NORMS))}")
    activation = around.activation or ("swiglu" if gated else "relu")
    if activation not in (GATED if gated else UNGATED):
        allowed = ", ".join(map(repr, GATED if gated else UNGATED))
        raise ValueRefused(
            f"activation is {activation!r}, but {'with' if gated else 'without'} W_3 it must be one of {allowed}"
        )
    words = {activation, *(around.norm or "bare").split()}
    words |= {word for word in ("tied", "predict", "top") if getattr(around, word)}
    return frozenset(words | ({"layer"} if "rms" not in words else set()) | ({"final"} if final else set()))


def _top(once: Mapping[str, object], around: Around) -> int:
    """How many of the likeliest words are asked for."""
    if around.top is None:
        return 1
    count = _words(once, around)
    if isinstance(around.top, bool) or not isinstance(around.top, int) or not 1 <= around.top <= count:
        raise ValueRefused(f"top is {around.top!r}, but there are {count} words: it goes from 1 to {count}")
    return around.top


# — what is given —


def _givens(own: Mapping[str, object], around: Around) -> Iterator[Given]:
    names = block.names()
    for name, value in own.items():
        yield _given(names[name], n.Matrix(_rows_of(name, value)))
    if around.tokens is not None:
        if "E" not in own:
            raise ValueRefused("tokens name rows of E, but E is not given")
        yield _given(TOKENS, one_hot(*_ids("tokens", around.tokens, _shape(own, "E")[0], "E has {} rows")))
    if around.targets is not None:
        yield _given(TARGETS, one_hot(*_ids("targets", around.targets, _words(own, around), "there are {} words")))
    if around.positions is not None and around.positions != "sinusoidal":
        if isinstance(around.positions, str):
            raise ValueRefused(f"positions is {around.positions!r}, but it must be None, 'sinusoidal' or a matrix")
        yield _given(PE, n.Matrix(as_rows("positions", listed(around.positions))))


def _numbers(around: Around) -> Iterator[Given]:
    for name, argument in NUMBERS.items():
        if (value := getattr(around, argument)) is not None:
            yield _given(block.names()[name], _positive(argument, value))


def _given(symbol: Symbol, expr: n.Expr) -> Given:
    is_input = symbol in (X, TOKENS, TARGETS) or isinstance(expr, n.Number)
    role = Role.X if symbol == X else Role.BLOCK if is_input else Role.LEARNED
    return Given(symbol, expr, role, symbol_plain(symbol))


def _rows_of(name: str, value: object) -> tuple[tuple[n.Expr, ...], ...]:
    rows = as_rows(name, listed(value))
    if name.partition("_")[0] not in VECTORS or len(rows) == 1:
        return rows
    if len(rows[0]) > 1:
        raise ShapeError(f"{name} is {say((len(rows), len(rows[0])))}, but it must be one vector")
    return (tuple(row[0] for row in rows),)


def _positive(name: str, value: object) -> n.Number:
    number = as_number(name, value)
    if number.value <= 0:
        raise ValueRefused(f"{name} is {number.text or number.value}, but it must be more than 0")
    return number


def _ids(name: str, value: object, count: int, among: str) -> tuple[list[int], int]:
    """Whole numbers from 0, as every table of words counts them."""
    whole = listed(value)
    ids: list[int] = []
    for i in whole if isinstance(whole, list) else [whole]:
        if isinstance(i, bool) or not isinstance(i, int) or not 0 <= i < count:
            raise ValueRefused(f"{name} holds {i!r}, but {among.format(count)}: ids go from 0 to {count - 1}")
        ids.append(i)
    return ids, count


def _words(own: Mapping[str, object], around: Around) -> int:
    """How many words there are: the columns of the logits, or of what makes them."""
    for name, axis in (("L", 1), ("P", 1), ("W_U", 1), *((("E", 0),) if around.tied else ())):
        if name in own:
            return _shape(own, name)[axis]
    raise ValueRefused("targets need words to choose from: give W_U, or L, or tied=True with E")


def _shape(own: Mapping[str, object], name: str) -> Shape:
    return n.Matrix(_rows_of(name, own[name])).shape


def _positions(own: Mapping[str, object], around: Around) -> Iterator[Step]:
    if around.positions != "sinusoidal":
        return
    if around.tokens is not None:
        count, width = len(_ids("tokens", around.tokens, _shape(own, "E")[0], "E has {} rows")[0]), _shape(own, "E")[1]
    elif "X" in own:
        count, width = _shape(own, "X")
    else:
        raise ValueRefused("positions are added to tokens: give X, or tokens with E")
    made = sinusoids(count, width, _positive("base", around.base), around.first_position)
    yield Step(PE, made, Role.BLOCK, "PE", says="sines and cosines of each position")


def _check(program: Program) -> None:
    """What the shapes of single steps let pass: a residual of another width, and norms of a single number."""
    sizes = shapes(program, strict=True)
    for step in program.steps:
        if step.symbol.base in ("R", "X") and isinstance(step.expr, n.Sum):
            left, right = (term.symbol for term in step.expr.terms if isinstance(term, n.Name))
            if sizes[left] != sizes[right]:
                misfit = Misfit(sizes[left], sizes[right], "they cannot be added")
                said = misfit.named(symbol_plain(left), symbol_plain(right))
                raise ShapeError(f"{step.spelled} = {plain(step.expr)}: {said.message}")
        if (step.symbol.base == "N" or step.symbol == Symbol("L")) and sizes[step.symbol][1] == 1:
            raise ValueRefused(f"{step.spelled} has one number a row: there is nothing to compare it with")


def _kind(attention: str, around: Around, layers: int) -> str:
    norm = {"pre": "pre-norm block", "post": "post-norm block"}.get((around.norm or "").split(" ")[0], "")
    kind = f"{attention} in a {norm}" if attention and norm else attention or norm or "equations"
    return f"{layers} layers of {kind}" if layers > 1 else kind
