"""KIND, LEVEL, SEED → an exercise with good numbers: small and whole, and as good.py wants them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from qkv.errors import QkvError, ValueRefused
from qkv.exercises.blocks import BLOCK, block
from qkv.exercises.good import questions_of
from qkv.exercises.heads import with_good_heads
from qkv.exercises.model import Exercise, Wanted, points_of
from qkv.interpret.trace import Trace
from qkv.practice.problems import KINDS as MADE
from qkv.practice.problems import Numbers, Sizes
from qkv.practice.words import LANGUAGES
from qkv.program.kinds import plan
from qkv.program.model import Program
from qkv.program.request import request

PLACES = 3
TRIES = 4000
ONE_QUERY = frozenset({"given", "cross", "source", "general", "additive"})  # where one token may ask others
OF_HEADS = frozenset({"multi-head", "heads"})


@dataclass(frozen=True, slots=True)
class Level:
    """How hard: sizes, and the numbers that are drawn. Sizes differ, so that √d_model is not taken for √d_k or d_k."""

    sizes: Sizes
    entries: tuple[int, ...]
    usual: str  # the kind that is drawn where none is asked for


LEVELS: dict[int, Level] = {
    1: Level(Sizes(1, 3, 2, 4, 2), (0, 0, 1, 1, 2), "given"),  # one query over three keys, and √4 = 2
    2: Level(Sizes(2, 3, 3, 2, 3), (0, 0, 1, 1, 2), "self"),
    3: Level(Sizes(3, 2, 3, 2, 2), (-1, 0, 0, 0, 1, 1, 2), "masked"),
    4: Level(Sizes(3, 3, 3, 2, 2), (-1, 0, 0, 0, 1, 1, 2), "multi-head"),
    5: Level(Sizes(3, 3, 5, 2, 2), (-1, 0, 0, 0, 0, 1, 1), BLOCK),
}
KINDS = (*MADE, BLOCK)


def exercise(kind: str | None = None, level: int = 1, seed: int = 0, language: str = "en") -> Exercise:
    """An exercise of a kind and level.

    >>> [question.step.spelled for question in exercise("given", 1, seed=3).questions]
    ['S', 'S_scaled', 'A', 'Output']
    """
    if level not in LEVELS:
        raise ValueRefused(f"there is no level {level}; there are {', '.join(map(str, LEVELS))}")
    if kind is not None and kind not in KINDS:
        raise ValueRefused(f"{kind!r} is no kind of exercise; there are {', '.join(KINDS)}")
    if not language or language not in LANGUAGES:
        raise ValueRefused(f"{language!r} is no language here; there are {', '.join(filter(None, LANGUAGES))}")
    chosen = LEVELS[level]
    kind = kind or chosen.usual
    rng = Random(f"{kind}/{level}/{seed}")  # not the language: the same numbers in every tongue
    for _ in range(TRIES):
        program = _drawn(kind, chosen, rng)
        wanted = (Wanted(str(number), step, points_of(step)) for number, step in enumerate(program.steps, 1))
        try:
            questions = questions_of(Trace(program), wanted, PLACES)
        except QkvError:
            continue  # numbers that are no good, or a rounding that cannot be decided
        return Exercise(kind, level, seed, language, PLACES, program, questions)
    raise ValueRefused(f"no good numbers were found for {kind} at level {level} with seed {seed}; take another seed")


def _drawn(kind: str, level: Level, rng: Random) -> Program:
    def entry(rng: Random) -> str:
        return str(rng.choice(level.entries))

    if kind == BLOCK:  # of one size at every level
        return block(rng)
    # Of three tokens, the weights of all heads are hardly ever good.
    two = kind == "heads" or (level.sizes.n == 1 and kind not in ONE_QUERY)
    matrices, options = MADE[kind](rng, Numbers(entry), replace(level.sizes, n=2) if two else level.sizes)
    if kind in OF_HEADS:
        matrices = with_good_heads(matrices, matrices["X"], rng, Numbers(entry))
    return plan(request(matrices, options))
