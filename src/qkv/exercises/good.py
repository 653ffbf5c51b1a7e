"""Good numbers: weights that differ visibly, nothing on a rounding tie, and mistakes that can be told apart.

Numbers that are good give the questions of an exercise; others are refused with the reason, and drawn again.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from flint import fmpq

from qkv.check.mistakes.program import ProgramScene
from qkv.check.mistakes.rewrites import TABLE, places_in, variants
from qkv.check.mistakes.scene import levels
from qkv.errors import QkvError
from qkv.exercises.heads import differ
from qkv.exercises.model import TOLD_APART, Question, Wanted, Wrong, answer_of
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import symbol_plain
from qkv.interpret.cells import NEG_INF, bounds
from qkv.interpret.certified import Value
from qkv.interpret.trace import Trace
from qkv.practice.hand import texts
from qkv.program.model import Given, Step

OF_SEVERAL_ROWS = frozenset({"softmax over the whole matrix", "A transposed"})  # of one row they are no mistakes


class NotGood(QkvError):
    """Numbers that are no good for an exercise, and the given or step that shows it."""

    def __init__(self, why: str, item: Given | Step) -> None:
        super().__init__(f"{symbol_plain(item.symbol)}: {why}")
        self.item = item


Alike = frozenset[tuple[str, str, str]]  # step, and two mistakes ('' for the right way) that give the same there


def questions_of(
    trace: Trace, wanted: Iterable[Wanted], places: int, alike: Alike = frozenset()
) -> tuple[Question, ...]:
    """The questions of a worked program; numbers that are not good are refused. `alike` lists mistakes that give the
    same result with any numbers (if d_model equals d_k, so do their roots): of those a question knows the first."""
    wanted = tuple(wanted)
    for step in trace.program.steps:
        if not is_calm(trace.value(step.symbol), step, trace.program.columns, places):
            raise NotGood("weights are too much alike, or vanish", step)
    printed = frozenset(each.step.symbol for each in wanted)
    return tuple(_question(trace, each, printed, places, alike) for each in wanted)


def _question(trace: Trace, wanted: Wanted, printed: Container[Symbol], places: int, alike: Alike) -> Question:
    step = wanted.step
    if _has_tie(trace.value(step.symbol), places):
        raise NotGood("a number is exactly half way between two roundings", step)
    results, found = _results(trace, step, printed, places)
    if not found <= alike:
        raise NotGood("two mistakes, or a mistake and the right way, give the same result", step)
    known = tuple({each.answer: each for each in reversed(results[1:])}.values())[::-1]
    return Question(
        wanted.label, step, wanted.points, results[0].answer, tuple(w for w in known if w.answer != results[0].answer)
    )


def alike_in(trace: Trace, wanted: Iterable[Wanted], places: int) -> Alike:
    """The mistakes that give the same in a worked program."""
    wanted = tuple(wanted)
    printed = frozenset(each.step.symbol for each in wanted)
    return frozenset().union(*(_results(trace, each.step, printed, places)[1] for each in wanted))


def _results(trace: Trace, step: Step, printed: Container[Symbol], places: int) -> tuple[list[Wrong], Alike]:
    """What the right way and each mistake give at a step, the right way first; and which of them give the same."""
    results = [Wrong("", "", answer_of(trace, step, places)), *mistakes_at(trace, step, printed, places)]
    same = (
        (step.spelled, a.mistake, b.mistake)
        for i, a in enumerate(results)
        for b in results[i + 1 :]
        if a.answer == b.answer
    )
    return results, frozenset(same)


def is_calm(value: Value, step: Step, columns: bool, places: int) -> bool:
    """Whether weights differ visibly within their rows and no two rows are the same; whatever is masked aside."""
    if step.role is not Role.WEIGHTS:
        return True
    rows = tuple(zip(*value.rows, strict=True)) if columns else value.rows
    lines = [[float(bounds(cell)[0]) for cell in row] for row in rows]
    shown = {tuple(round(weight, places) for weight in line) for line in lines}
    return len(shown) == len(lines) and all(map(differ, lines))


def _has_tie(value: Value, places: int) -> bool:
    """Whether some cell is exactly half way between two printed numbers; balls are proven not to be when printed."""
    cells = (cell for row in value.rows for cell in row if cell is not NEG_INF)
    return any(
        isinstance(cell, fmpq) and (2 * cell * 10**places).q == 1 and (cell * 10**places).q == 2 for cell in cells
    )


def mistakes_at(trace: Trace, step: Step, printed: Container[Symbol], places: int) -> Iterator[Wrong]:
    """The result at a step after each mistake of `TOLD_APART`. The mistake is made in the step itself, or in steps
    before it that no question asks for."""
    scene = ProgramScene(trace)
    bases = [base for level in levels(scene, n.Name(step.symbol), printed) for base in level]
    truth = trace.value(step.symbol)
    one_row = any(1 in trace.shapes[each.symbol] for each in trace.program.steps if each.role is Role.WEIGHTS)
    for mistake in TABLE:
        if mistake.key not in TOLD_APART or (mistake.key in OF_SEVERAL_ROWS and one_row):
            continue
        made = (pair for base in bases for pair in variants(mistake, places_in(base), scene))
        for expr, detail in made:
            value = scene.value(expr)
            if value is not None and value.shape == truth.shape:
                yield Wrong(mistake.key, mistake.says.format(detail), texts(value, places))
                break
