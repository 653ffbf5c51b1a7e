"""Random problems of every kind, small enough for paper; tokens are rows or columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.fit import Shape
from qkv.interpret.trace import Trace
from qkv.practice.blocks import AROUND
from qkv.practice.numbers import NUMBERS, Numbers, Sizes, sizes_of
from qkv.program.block import planned
from qkv.program.kinds import plan
from qkv.program.model import Program, Step
from qkv.program.request import Options, request
from qkv.program.spec import Key, Spec

R = Role
Matrices = dict[str, Any]  # rows, one row for a vector, or a list of matrices, one a head
Maker = Callable[[Random, Numbers, Sizes], tuple[Matrices, Options]]
PLAIN = Options()


def _projections(rng: Random, draw: Numbers, size: Sizes) -> Matrices:
    shapes = {"W_Q": (size.d, size.k), "W_K": (size.d, size.k), "W_V": (size.d, size.v)}
    return {name: draw.matrix(rng, *shape) for name, shape in shapes.items()}


def _self(rng: Random, draw: Numbers, size: Sizes) -> tuple[Matrices, Options]:
    return {"X": draw.matrix(rng, size.n, size.d), **_projections(rng, draw, size)}, PLAIN


def _masked(rng: Random, draw: Numbers, size: Sizes) -> tuple[Matrices, Options]:
    given = {"X": draw.matrix(rng, max(size.n, 3), size.d), **_projections(rng, draw, size)}
    return given, Options(mask="causal")


def _cross(rng: Random, draw: Numbers, size: Sizes) -> tuple[Matrices, Options]:
    tokens = {"X": draw.matrix(rng, size.n, size.d), "Y": draw.matrix(rng, size.m, size.d)}
    return {**tokens, **_projections(rng, draw, size)}, PLAIN


def _given(rng: Random, draw: Numbers, size: Sizes) -> tuple[Matrices, Options]:
    shapes = {"Q": (size.n, size.k), "K": (size.m, size.k), "V": (size.m, size.v)}
    return {name: draw.matrix(rng, *shape) for name, shape in shapes.items()}, PLAIN


def _unscaled(rng: Random, draw: Numbers, size: Sizes) -> tuple[Matrices, Options]:
    return {"X": draw.matrix(rng, size.n, size.d), **_projections(rng, draw, size)}, Options(scale=None)


def _multi_head(rng: Random, draw: Numbers, size: Sizes) -> tuple[Matrices, Options]:
    heads = [_projections(rng, draw, size) for _ in range(2)]
    weights = {name: [head[name] for head in heads] for name in heads[0]}
    final = draw.matrix(rng, 2 * size.v, size.d)
    return {"X": draw.matrix(rng, 2, size.d), **weights, "W_O": final}, PLAIN


def _heads(rng: Random, draw: Numbers, size: Sizes) -> tuple[Matrices, Options]:
    """Several heads side by side, with no matrix after them; or, half of the time, heads that share keys and values."""
    heads = [_projections(rng, draw, size) for _ in range(rng.choice((2, 2, 3)))]
    shared = ("W_K", "W_V") if rng.random() < 0.5 else ()
    weights = {name: heads[0][name] if name in shared else [head[name] for head in heads] for name in heads[0]}
    return {"X": draw.matrix(rng, size.n, size.d), **weights}, PLAIN


def _biases(rng: Random, draw: Numbers, size: Sizes) -> tuple[Matrices, Options]:
    biases = {"b_Q": size.k, "b_K": size.k, "b_V": size.v}
    rows = {name: draw.matrix(rng, 1, width)[0] for name, width in biases.items()}
    return {"X": draw.matrix(rng, size.n, size.d), **_projections(rng, draw, size), **rows}, PLAIN


def _columns(rng: Random, draw: Numbers, size: Sizes) -> tuple[Matrices, Options]:
    return turned(*_self(rng, draw, size))


def turned(matrices: Matrices, options: Options) -> tuple[Matrices, Options]:
    """The same problem with tokens as columns: every matrix is transposed, vectors stay."""
    return {name: _transposed(value) for name, value in matrices.items()}, replace(options, columns=True)


def _transposed(value: Any) -> Any:
    if not isinstance(value[0], list):
        return value
    if isinstance(value[0][0], list):
        return [_transposed(head) for head in value]
    return [list(column) for column in zip(*value, strict=True)]


def _source(rng: Random, draw: Numbers, size: Sizes) -> tuple[Matrices, Options]:
    return {"s": draw.matrix(rng, 1, size.d)[0], "h": draw.matrix(rng, 3, size.d)}, PLAIN


def _general(rng: Random, draw: Numbers, size: Sizes) -> tuple[Matrices, Options]:
    vectors = {"s": draw.matrix(rng, 1, size.d)[0], "h": draw.matrix(rng, 3, size.k)}
    return {**vectors, "W_a": draw.matrix(rng, size.d, size.k)}, PLAIN


def _additive(rng: Random, draw: Numbers, size: Sizes) -> tuple[Matrices, Options]:
    vectors = {"s": draw.matrix(rng, 1, size.d)[0], "h": draw.matrix(rng, 3, size.k)}
    weights = {"W_a": draw.matrix(rng, 2, size.d), "U_a": draw.matrix(rng, 2, size.k)}
    return {**vectors, **weights, "v_a": draw.matrix(rng, 1, 2)[0]}, PLAIN


KINDS: dict[str, Maker] = {
    "self": _self,
    "masked": _masked,
    "cross": _cross,
    "given": _given,
    "unscaled": _unscaled,
    "multi-head": _multi_head,
    "heads": _heads,
    "biases": _biases,
    "columns": _columns,
    "source": _source,
    "general": _general,
    "additive": _additive,
}

# How authors call what they work out; the first is ours.
NAMES: tuple[dict[Role, Symbol], ...] = (
    {R.OUTPUT: Symbol("Z")},
    {R.SCORES: Symbol("E"), R.OUTPUT: Symbol("O")},
    {R.SCORES: Symbol("S"), R.WEIGHTS: Symbol("P"), R.OUTPUT: Symbol("Output")},
    {R.SCORES: Symbol("scores"), R.WEIGHTS: Symbol("weights"), R.OUTPUT: Symbol("output")},
)
SOURCE_NAMES: tuple[dict[Role, Symbol], ...] = (
    {R.SCORES: Symbol("e"), R.WEIGHTS: Symbol("alpha"), R.CONTEXT: Symbol("c")},
    {R.SCORES: Symbol("e"), R.WEIGHTS: Symbol("a"), R.CONTEXT: Symbol("c")},
)


# Kinds that can be written with tokens as columns too.
TURNABLE = ("self", "masked", "cross", "given", "unscaled", "multi-head", "heads", "biases")


def problem(kind: str, rng: Random, columns: bool = False) -> Program:
    """A random problem of a kind, under names that somebody might give; with `columns`, its tokens are columns.

    >>> [step.spelled for step in problem("given", Random(1)).steps]
    ['S', 'S_scaled', 'A', 'Z']
    """
    if kind in AROUND:
        given, around = AROUND[kind](rng, rng.choice(NUMBERS), sizes_of(rng))
        return planned(given, PLAIN, around)
    matrices, options = KINDS[kind](rng, rng.choice(NUMBERS), sizes_of(rng))
    spec = request(*(turned(matrices, options) if columns else (matrices, options)))
    return plan(replace(spec, names=_names(spec, rng)))


def _names(spec: Spec, rng: Random) -> dict[Key, Symbol]:
    chosen = dict(rng.choice(SOURCE_NAMES if spec.has(R.SOURCE) else NAMES))
    if spec.heads != (None,):
        chosen.pop(R.OUTPUT, None)
    numbered = {(role, head): _numbered(symbol, head) for role, symbol in chosen.items() for head in spec.heads}
    return {**numbered, (R.OUTPUT, None): chosen.get(R.OUTPUT, Symbol("Output"))}


def _numbered(symbol: Symbol, head: int | None) -> Symbol:
    return symbol if head is None else symbol._replace(indices=(str(head),))


# ---------------------------------------------------------------- a softmax in three steps

EXPONENTIALS, SUMS = "exp", "sum"  # the names of the new steps, which no document shows


def unfolded(program: Program) -> Program:
    """The same program with every softmax over rows of several scores in three steps.

    >>> [step.spelled for step in unfolded(problem("given", Random(1))).steps]
    ['S', 'S_scaled', 'exp', 'sum', 'A', 'Z']
    """
    trace = Trace(program)
    steps = (made for step in program.steps for made in _unfolded(step, trace.value(step.symbol).shape))
    return replace(program, steps=tuple(steps))


def _unfolded(step: Step, shape: Shape) -> Iterator[Step]:
    if step.role is not R.WEIGHTS or not isinstance(step.expr, n.Softmax) or step.expr.axis != 1 or shape[1] == 1:
        yield step
        return
    exps, sums = (Symbol(name, step.symbol.labels, step.symbol.indices) for name in (EXPONENTIALS, SUMS))
    ones = n.Matrix(((n.number(1),),) * shape[1])
    yield replace(step, symbol=exps, expr=n.Exp(step.expr.arg), role=Role.OTHER, spelled=EXPONENTIALS)
    yield replace(step, symbol=sums, expr=n.Product(n.Name(exps), ones), role=Role.OTHER, spelled=SUMS)
    yield replace(step, expr=n.Quotient(n.Name(exps), n.Name(sums)))
