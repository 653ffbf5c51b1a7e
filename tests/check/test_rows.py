"""A row picked before the rest is worked out is the row of the whole."""

from __future__ import annotations

from random import Random

import pytest

from qkv.check.mistakes.program import ProgramScene as Scene
from qkv.check.mistakes.rewrites import TABLE, places_in, variants
from qkv.check.mistakes.scene import levels
from qkv.check.rows import Sizes, row_of
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.interpret.trace import Trace
from qkv.practice import KINDS
from qkv.practice.problems import problem


def expressions(trace: Trace) -> list[n.Expr]:
    """Every step, written out as far as can be, and what known mistakes make of it."""
    scene = Scene(trace)
    made: list[n.Expr] = []
    for step in trace.program.steps:
        for bases in levels(scene, n.Name(step.symbol), ()):
            for base in bases:
                places = places_in(base)
                made += [base, *(expr for mistake in TABLE for expr, _ in variants(mistake, places, scene))]
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_is_the_row_of_the_whole(kind: str) -> None:
    trace = Trace(problem(kind, Random(f"rows {kind}")))
    sizes = Sizes(trace.values())
    compared = 0
    for expr in expressions(trace):
        try:
            whole = trace.evaluate(expr)
        except QkvError:
            continue
        assert sizes.of(expr) == whole.shape
        for i in range(1, whole.shape[0] + 1):
            row = trace.evaluate(row_of(expr, i, sizes.of))
            assert [str(cell) for cell in row.rows[0]] == [str(cell) for cell in whole.rows[i - 1]]
            compared += 1
    assert compared > 20
