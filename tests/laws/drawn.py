"""Random problems of every kind, under names that somebody might give."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from laws.around import AROUND
from qkv.expr.names import Role, Symbol
from qkv.practice.problems import KINDS, PLAIN, Numbers, Sizes, turned
from qkv.program.block import planned
from qkv.program.kinds import plan
from qkv.program.model import Program
from qkv.program.request import request
from qkv.program.spec import Key, Spec

R = Role


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


def sizes_of(rng: Random) -> Sizes:
    """Sizes that one works with on paper."""
    return Sizes(
        rng.choice((2, 3, 3)),
        rng.choice((2, 3)),
        rng.choice((2, 3, 4)),
        rng.choice((2, 2, 3, 3, 4)),
        rng.choice((2, 3)),
    )


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
