"""A block around attention: what is given by name, and the rows of library/block.py that follow from it.

Attention itself is planned as everywhere (kinds.py); it reads the tokens that the rows before it make.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

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
from qkv.program.model import Given, Program, Step
from qkv.program.request import ARGUMENTS, Options, no_such, request
from qkv.program.spec import default_symbol

X, X_P, PE, OUTPUT = (Symbol("X"), Symbol("X", ("P",)), Symbol("PE"), default_symbol(Role.OUTPUT))
TOKENS, TARGETS, N_1 = Symbol("T", ("x",)), Symbol("T", ("y",)), Symbol("N", (), ("1",))
NUMBERS = {"epsilon": "eps", "tau": "temperature"}  # names of rows that are one number, and the arguments for them
VECTORS = frozenset({"b", "gamma", "beta"})
GATED, UNGATED = ("swiglu", "geglu"), ("relu", "gelu", "gelu_tanh", "silu")
NORMS = ("pre", "post", "pre rms", "post rms")


@dataclass(frozen=True, slots=True)
class Around:
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


def planned(matrices: Mapping[str, object], options: Options, around: Around) -> Program:
    """The program of attention and of what is asked for around it."""
    matrices = {name: value for name, value in matrices.items() if value is not None}
    if around == Around() and matrices.keys() <= ARGUMENTS.keys():
        return plan(request(matrices, options))
    _known_names(matrices)
    if options.columns:
        raise ValueRefused("what stands around attention is worked out with tokens as rows: leave out columns")
    conventions = _conventions(matrices, around)
    own = {name: value for name, value in matrices.items() if name == "X" or name not in ARGUMENTS}
    program = Program("", tuple(_givens(own, around)), tuple(_positions(own, around)), title=options.title)
    program = _chained(program, block.before(), conventions)
    if matrices.keys() - own.keys():
        program = _attending(program, {k: v for k, v in matrices.items() if k not in own}, options)
    program = _chained(program, block.after(), conventions)
    if not program.steps:
        raise ValueRefused("nothing follows from what is given: " + ", ".join(g.spelled for g in program.givens))
    _check(program)
    return replace(program, kind=_kind(program.kind, around))


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
    before = _chained(replace(attention, givens=(*attention.givens, *givens), steps=()), block.before(), conventions)
    reading = tuple(replace(step, expr=n.replaced(step.expr, n.Name(X), n.Name(N_1))) for step in attention.steps)
    return _chained(replace(before, steps=(*before.steps, *reading)), block.after(), conventions)


def _known_names(matrices: Iterable[str]) -> None:
    every = dict.fromkeys((*ARGUMENTS, *(name for name in block.names() if name not in NUMBERS)))
    for name in matrices:
        if name not in every:
            raise no_such(name, every)


def _conventions(matrices: Mapping[str, object], around: Around) -> frozenset[str]:
    """Where norms stand and of which kind they are, and the activation."""
    if around.norm is not None and around.norm not in NORMS:
        raise ValueRefused(f"norm is {around.norm!r}, but it must be None, {', '.join(map(repr, NORMS))}")
    gated = "W_3" in matrices
    activation = around.activation or ("swiglu" if gated else "relu")
    if activation not in (GATED if gated else UNGATED):
        allowed = ", ".join(map(repr, GATED if gated else UNGATED))
        raise ValueRefused(
            f"activation is {activation!r}, but {'with' if gated else 'without'} W_3 it must be one of {allowed}"
        )
    words = {activation, *(around.norm or "bare").split()}
    words |= {word for word in ("tied", "predict") if getattr(around, word)}
    return frozenset(
        words | ({"layer"} if "rms" not in words else set()) | ({"final"} if "gamma_3" in matrices else set())
    )


# — what is given —


def _givens(own: Mapping[str, object], around: Around) -> Iterator[Given]:
    names = block.names()
    for name, value in own.items():
        yield _given(names[name], n.Matrix(_rows_of(name, value)))
    for name, argument in NUMBERS.items():
        if (value := getattr(around, argument)) is not None:
            yield _given(names[name], _positive(argument, value))
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


# — steps —


def _chained(program: Program, rows: Iterable[block.Row], conventions: frozenset[str]) -> Program:
    """The program with the rows that follow from it."""
    known = {item.symbol for item in program.items}
    made = (
        Step(r.symbol, r.expr, Role.BLOCK, symbol_plain(r.symbol), says=r.says)
        for r in block.counted(rows, known, conventions)
    )
    return replace(program, steps=(*program.steps, *made))


def _attending(program: Program, matrices: Mapping[str, object], options: Options) -> Program:
    """The program with the steps of attention, which reads the last tokens that the program has."""
    sizes = shapes(program, strict=True)
    read = next((s for s in (N_1, X_P, X) if s in sizes), None)
    tokens = {} if read is None else {"X": [[0] * sizes[read][1]] * sizes[read][0]}
    spec = request({**tokens, **matrices}, options)
    if read is not None:
        holder = replace(spec.givens[Role.X, None], symbol=read)
        spec = replace(spec, givens={**spec.givens, (Role.X, None): holder})
    made = plan(spec)
    known = {item.symbol for item in program.items}
    givens = tuple(given for given in made.givens if given.symbol not in known)
    steps = (*program.steps, *made.steps)
    if made.find(Role.OUTPUT) is None and (heads := made.find(Role.CONCAT)) is not None:
        steps += (
            Step(OUTPUT, n.Name(heads), Role.OUTPUT, symbol_plain(OUTPUT), says="without W_O the heads are the output"),
        )
    return replace(made, givens=(*program.givens, *givens), steps=steps)


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
        if step.symbol.base in ("N", "L") and sizes[step.symbol][1] == 1:
            raise ValueRefused(f"{step.spelled} has one number a row: there is nothing to compare it with")


def _kind(attention: str, around: Around) -> str:
    norm = {"pre": "pre-norm block", "post": "post-norm block"}.get((around.norm or "").split(" ")[0], "")
    return f"{attention} in a {norm}" if attention and norm else attention or norm or "equations"
