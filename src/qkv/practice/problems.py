"""Random problems of every kind, small enough for paper; tokens are rows or columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.fit import Shape
from qkv.interpret.trace import Trace
from qkv.program.model import Program, Step
from qkv.program.request import Options

R = Role
Rows = list[list[str]]
Matrices = dict[str, Any]  # rows, one row for a vector, or a list of matrices, one a head


@dataclass(frozen=True, slots=True)
class Numbers:
    """Where entries are drawn from: small whole numbers, decimals with one place, or fractions."""

    draw: Callable[[Random], str]

    def matrix(self, rng: Random, rows: int, columns: int) -> Rows:
        """A matrix of entries, none of its rows only zeros."""
        made = [[self.draw(rng) for _ in range(columns)] for _ in range(rows)]
        for row in made:
            if set(row) == {"0"}:
                row[rng.randrange(columns)] = "1"
        return made


@dataclass(frozen=True, slots=True)
class Sizes:
    """Tokens, other tokens, and the sizes of a token, a key and a value."""

    n: int
    m: int
    d: int
    k: int
    v: int


Maker = Callable[[Random, Numbers, Sizes], tuple[Matrices, Options]]
PLAIN = Options()


def _drawn(rng: Random, draw: Numbers, size: Sizes, shapes: str) -> Matrices:
    """Matrices by name, each with its shape in the letters of `Sizes` or in digits; one letter alone makes a vector."""
    given: Matrices = {}
    for name, _, shape in (entry.partition(":") for entry in shapes.split()):
        sides = [int(side) if side.isdigit() else getattr(size, side) for side in shape]
        given[name] = draw.matrix(rng, *sides) if len(sides) == 2 else draw.matrix(rng, 1, *sides)[0]
    return given


def _of(shapes: str, options: Options = PLAIN) -> Maker:
    return lambda rng, draw, size: (_drawn(rng, draw, size, shapes), options)


PROJECTIONS = "W_Q:dk W_K:dk W_V:dv"
_self = _of(f"X:nd {PROJECTIONS}")


def _masked(rng: Random, draw: Numbers, size: Sizes) -> tuple[Matrices, Options]:
    return _of(f"X:nd {PROJECTIONS}", Options(mask="causal"))(rng, draw, replace(size, n=max(size.n, 3)))


def _multi_head(rng: Random, draw: Numbers, size: Sizes) -> tuple[Matrices, Options]:
    heads = [_drawn(rng, draw, size, PROJECTIONS) for _ in range(2)]
    weights = {name: [head[name] for head in heads] for name in heads[0]}
    final = draw.matrix(rng, 2 * size.v, size.d)
    return {"X": draw.matrix(rng, 2, size.d), **weights, "W_O": final}, PLAIN


def _heads(rng: Random, draw: Numbers, size: Sizes) -> tuple[Matrices, Options]:
    """Several heads side by side, with no matrix after them; or, half of the time, heads that share keys and values."""
    heads = [_drawn(rng, draw, size, PROJECTIONS) for _ in range(rng.choice((2, 2, 3)))]
    shared = ("W_K", "W_V") if rng.random() < 0.5 else ()
    weights = {name: heads[0][name] if name in shared else [head[name] for head in heads] for name in heads[0]}
    return {"X": draw.matrix(rng, size.n, size.d), **weights}, PLAIN


def _biases(rng: Random, draw: Numbers, size: Sizes) -> tuple[Matrices, Options]:
    rows = _drawn(rng, draw, size, "b_Q:k b_K:k b_V:v")
    return {**_self(rng, draw, size)[0], **rows}, PLAIN


def turned(matrices: Matrices, options: Options) -> tuple[Matrices, Options]:
    """The same problem with tokens as columns: every matrix is transposed, vectors stay."""
    return {name: _transposed(value) for name, value in matrices.items()}, replace(options, columns=True)


def _transposed(value: Any) -> Any:
    if not isinstance(value[0], list):
        return value
    if isinstance(value[0][0], list):
        return [_transposed(head) for head in value]
    return [list(column) for column in zip(*value, strict=True)]


KINDS: dict[str, Maker] = {
    "self": _self,
    "masked": _masked,
    "cross": _of(f"X:nd Y:md {PROJECTIONS}"),
    "given": _of("Q:nk K:mk V:mv"),
    "unscaled": _of(f"X:nd {PROJECTIONS}", Options(scale=None)),
    "multi-head": _multi_head,
    "heads": _heads,
    "biases": _biases,
    "columns": lambda rng, draw, size: turned(*_self(rng, draw, size)),
    "source": _of("s:d h:3d"),
    "general": _of("s:d h:3k W_a:dk"),
    "additive": _of("s:d h:3k W_a:2d U_a:2k v_a:2"),
}


# ---------------------------------------------------------------- a softmax in three steps

EXPONENTIALS, SUMS = "exp", "sum"  # the names of the new steps, which no document shows


def unfolded(program: Program) -> Program:
    """The same program with every softmax over rows of several scores in three steps.

    >>> from qkv.program.kinds import plan
    >>> from qkv.program.request import request
    >>> program = plan(request({"Q": [["1"]], "K": [["1"], ["2"]], "V": [["3"], ["4"]]}, PLAIN))
    >>> [step.spelled for step in unfolded(program).steps]
    ['S', 'S_scaled', 'exp', 'sum', 'A', 'Output']
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
