"""Random problems of every kind, small enough for paper."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from qkv.expr.names import Role, Symbol
from qkv.program.kinds import plan
from qkv.program.model import Program
from qkv.program.request import Options, request
from qkv.program.spec import Key, Spec
from qkv.records import dataclass, replace

R = Role
Rows = list[list[str]]


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


def _whole(rng: Random) -> str:
    return str(rng.choice((-1, 0, 0, 1, 1, 1, 2, 2, 3)))


def _positive(rng: Random) -> str:
    return str(rng.choice((0, 1, 1, 2)))


def _decimal(rng: Random) -> str:
    tenths = rng.choice((-5, -3, -2, -1, 1, 2, 3, 4, 5, 6, 8, 9, 11, 12))
    return f"{'-' if tenths < 0 else ''}{abs(tenths) // 10}.{abs(tenths) % 10}"


def _halves(rng: Random) -> str:
    return rng.choice(("0", "1", "2", "-1", "1/2", "1/2", "3/2", "-1/2"))


def _thirds(rng: Random) -> str:
    return rng.choice(("0", "1", "2", "1/3", "2/3", "-1/3", "4/3"))


NUMBERS = (
    *(Numbers(draw) for draw in (_whole, _positive, _decimal) for _ in range(4)),
    Numbers(_halves),
    Numbers(_thirds),
)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Tokens, other tokens, and the sizes of a token, a key and a value."""

    n: int
    m: int
    d: int
    k: int
    v: int


def _sizes(rng: Random) -> Sizes:
    return Sizes(
        rng.choice((2, 3, 3)),
        rng.choice((2, 3)),
        rng.choice((2, 3, 4)),
        rng.choice((2, 2, 3, 3, 4)),
        rng.choice((2, 3)),
    )


Maker = Callable[[Random, Numbers, Sizes], Spec]


def _projections(rng: Random, draw: Numbers, size: Sizes, across: bool = True) -> dict[str, object]:
    """W_Q, W_K and W_V; d × k where tokens are rows, k × d where they are columns."""
    shapes = {"W_Q": (size.d, size.k), "W_K": (size.d, size.k), "W_V": (size.d, size.v)}
    return {name: draw.matrix(rng, *(shape if across else shape[::-1])) for name, shape in shapes.items()}


def _self(rng: Random, draw: Numbers, size: Sizes) -> Spec:
    return request({"X": draw.matrix(rng, size.n, size.d), **_projections(rng, draw, size)})


def _masked(rng: Random, draw: Numbers, size: Sizes) -> Spec:
    given = {"X": draw.matrix(rng, max(size.n, 3), size.d), **_projections(rng, draw, size)}
    return request(given, Options(mask="causal"))


def _cross(rng: Random, draw: Numbers, size: Sizes) -> Spec:
    tokens = {"X": draw.matrix(rng, size.n, size.d), "Y": draw.matrix(rng, size.m, size.d)}
    return request({**tokens, **_projections(rng, draw, size)})


def _given(rng: Random, draw: Numbers, size: Sizes) -> Spec:
    shapes = {"Q": (size.n, size.k), "K": (size.m, size.k), "V": (size.m, size.v)}
    return request({name: draw.matrix(rng, *shape) for name, shape in shapes.items()})


def _unscaled(rng: Random, draw: Numbers, size: Sizes) -> Spec:
    return request({"X": draw.matrix(rng, size.n, size.d), **_projections(rng, draw, size)}, Options(scale=None))


def _multi_head(rng: Random, draw: Numbers, size: Sizes) -> Spec:
    heads = [_projections(rng, draw, size) for _ in range(2)]
    weights = {name: [head[name] for head in heads] for name in heads[0]}
    final = draw.matrix(rng, 2 * size.v, size.d)
    return request({"X": draw.matrix(rng, 2, size.d), **weights, "W_O": final})


def _heads(rng: Random, draw: Numbers, size: Sizes) -> Spec:
    """Several heads side by side, with no matrix after them; or, half of the time, heads that share keys and values."""
    heads = [_projections(rng, draw, size) for _ in range(rng.choice((2, 2, 3)))]
    shared = ("W_K", "W_V") if rng.random() < 0.5 else ()
    weights = {name: heads[0][name] if name in shared else [head[name] for head in heads] for name in heads[0]}
    return request({"X": draw.matrix(rng, size.n, size.d), **weights})


def _biases(rng: Random, draw: Numbers, size: Sizes) -> Spec:
    biases = {"b_Q": size.k, "b_K": size.k, "b_V": size.v}
    rows = {name: draw.matrix(rng, 1, width)[0] for name, width in biases.items()}
    return request({"X": draw.matrix(rng, size.n, size.d), **_projections(rng, draw, size), **rows})


def _columns(rng: Random, draw: Numbers, size: Sizes) -> Spec:
    given = {"X": draw.matrix(rng, size.d, size.n), **_projections(rng, draw, size, across=False)}
    return request(given, Options(columns=True))


def _source(rng: Random, draw: Numbers, size: Sizes) -> Spec:
    return request({"s": draw.matrix(rng, 1, size.d)[0], "h": draw.matrix(rng, 3, size.d)})


def _general(rng: Random, draw: Numbers, size: Sizes) -> Spec:
    vectors = {"s": draw.matrix(rng, 1, size.d)[0], "h": draw.matrix(rng, 3, size.k)}
    return request({**vectors, "W_a": draw.matrix(rng, size.d, size.k)})


def _additive(rng: Random, draw: Numbers, size: Sizes) -> Spec:
    vectors = {"s": draw.matrix(rng, 1, size.d)[0], "h": draw.matrix(rng, 3, size.k)}
    weights = {"W_a": draw.matrix(rng, 2, size.d), "U_a": draw.matrix(rng, 2, size.k)}
    return request({**vectors, **weights, "v_a": draw.matrix(rng, 1, 2)[0]})


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


def problem(kind: str, rng: Random) -> Program:
    """A random problem of a kind, under names that somebody might give.

    >>> [step.spelled for step in problem("given", Random(1)).steps]
    ['S', 'S_scaled', 'A', 'Z']
    """
    spec = KINDS[kind](rng, rng.choice(NUMBERS), _sizes(rng))
    return plan(replace(spec, names=_names(spec, rng)))


def _names(spec: Spec, rng: Random) -> dict[Key, Symbol]:
    chosen = dict(rng.choice(SOURCE_NAMES if spec.has(R.SOURCE) else NAMES))
    if spec.heads != (None,):
        chosen.pop(R.OUTPUT, None)
    numbered = {(role, head): _numbered(symbol, head) for role, symbol in chosen.items() for head in spec.heads}
    return {**numbered, (R.OUTPUT, None): chosen.get(R.OUTPUT, Symbol("Output"))}


def _numbered(symbol: Symbol, head: int | None) -> Symbol:
    return symbol if head is None else symbol._replace(indices=(str(head),))
