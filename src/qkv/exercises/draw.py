"""KIND, LEVEL, SEED → an exercise with good numbers.

Good numbers are small and whole where steps are exact; scores do not saturate and weights differ visibly; no number
sits on a rounding tie; and every mistake of `TOLD_APART` gives another result than the right one and than the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from flint import fmpq

from qkv.check.mistakes.program import ProgramScene
from qkv.check.mistakes.rewrites import TABLE, places_in, variants
from qkv.check.mistakes.scene import levels
from qkv.errors import QkvError, ValueRefused
from qkv.exercises.blocks import BLOCK, block
from qkv.exercises.heads import differ, with_good_heads
from qkv.exercises.model import TOLD_APART, Exercise, Question, Wrong, answer_of, points_of
from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.interpret.cells import NEG_INF, bounds
from qkv.interpret.certified import Value
from qkv.interpret.trace import Trace
from qkv.practice.hand import texts
from qkv.practice.numbers import Numbers, Sizes
from qkv.practice.problems import KINDS as MADE
from qkv.practice.words import LANGUAGES
from qkv.program.kinds import plan
from qkv.program.model import Program, Step
from qkv.program.request import request

PLACES = 3
TRIES = 4000
R = Role
ONE_QUERY = frozenset({"given", "cross", "source", "general", "additive"})  # where one token may ask others
OF_HEADS = frozenset({"multi-head", "heads"})
OF_SEVERAL_ROWS = frozenset({"softmax over the whole matrix", "A transposed"})  # of one row they are no mistakes


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
        try:
            questions = _questions(program)
        except QkvError:
            continue  # a rounding that cannot be decided
        if questions is not None:
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


def _questions(program: Program) -> tuple[Question, ...] | None:
    """The questions of a program whose numbers are good; None where they are not."""
    trace = Trace(program)
    if not all(_is_calm(trace, step) for step in program.steps):
        return None
    found = []
    for number, step in enumerate(program.steps, 1):
        answer = answer_of(trace, step, PLACES)
        wrong = tuple(mistakes_at(trace, step))
        if _has_tie(trace.value(step.symbol)) or len({answer, *(each.answer for each in wrong)}) <= len(wrong):
            return None
        found.append(Question(str(number), step, points_of(step), answer, wrong))
    return tuple(found)


def _is_calm(trace: Trace, step: Step) -> bool:
    """Whether weights differ visibly within their rows and no two rows are the same; whatever is masked aside."""
    if step.role is not R.WEIGHTS:
        return True
    value = trace.value(step.symbol)
    rows = tuple(zip(*value.rows, strict=True)) if trace.program.columns else value.rows
    lines = [[float(bounds(cell)[0]) for cell in row] for row in rows]
    shown = {tuple(round(weight, PLACES) for weight in line) for line in lines}
    return len(shown) == len(lines) and all(map(differ, lines))


def _has_tie(value: Value) -> bool:
    """Whether some cell is exactly half way between two printed numbers; balls are proven not to be when printed."""
    cells = (cell for row in value.rows for cell in row if cell is not NEG_INF)
    return any(
        isinstance(cell, fmpq) and (2 * cell * 10**PLACES).q == 1 and (cell * 10**PLACES).q == 2 for cell in cells
    )


def mistakes_at(trace: Trace, step: Step) -> Iterator[Wrong]:
    """What each mistake of `TOLD_APART` that can be made at a step gives there."""
    scene = ProgramScene(trace)
    printed = {each.symbol for each in trace.program.steps}
    bases = [base for level in levels(scene, n.Name(step.symbol), printed) for base in level]
    truth = trace.value(step.symbol)
    one_row = any(1 in trace.shapes[each.symbol] for each in trace.program.steps if each.role is R.WEIGHTS)
    for mistake in TABLE:
        if mistake.key not in TOLD_APART or (mistake.key in OF_SEVERAL_ROWS and one_row):
            continue
        made = (pair for base in bases for pair in variants(mistake, places_in(base), scene))
        for expr, detail in made:
            value = scene.value(expr)
            if value is not None and value.shape == truth.shape:
                yield Wrong(mistake.key, mistake.says.format(detail), texts(value, PLACES))
                break
