"""Each known mistake, made once: it is named, and named alone, where the numbers can tell."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

import qkv
from qkv.check.author import Author
from qkv.check.cells import judge_grid, shown_grid
from qkv.check.explain import explain, explain_misfit
from qkv.check.mistakes.program import ProgramScene as Scene
from qkv.check.mistakes.rewrites import RARE, STRUCTURAL, TABLE, places_in, variants
from qkv.check.mistakes.scene import levels
from qkv.check.mistakes.slips import DOTS, TEXTS
from qkv.check.model import Cause, Verdict
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.trace import Trace
from qkv.practice.hand import texts
from qkv.practice.problems import KINDS, problem

UNSHAPED = ("heads stacked", "averaged heads", "added heads", "W_O left out")  # give another shape; see below


def made(kind: str, key: str, seed: int) -> tuple[Trace, n.Name, list[list[str]]] | None:
    """A random problem with one mistake made in it, printed to four places; None where it does not show."""
    trace = Trace(problem(kind, Random(seed)))
    scene = Scene(trace)
    mistake = next(row for row in TABLE if row.key == key)
    for step in trace.program.steps:
        bases = [
            b for level in levels(scene, n.Name(step.symbol), {s.symbol for s in trace.program.steps}) for b in level
        ]
        for expr, _ in (variant for base in bases for variant in variants(mistake, places_in(base), scene)):
            try:
                value = trace.evaluate(expr)
                shown = texts(value, 4)
            except QkvError:
                continue
            if value.shape == trace.value(step.symbol).shape and shown != texts(trace.value(step.symbol), 4):
                return trace, n.Name(step.symbol), [list(row) for row in shown]
    return None


def cause_of(trace: Trace, name: n.Name, shown: list[list[str]]) -> Cause | None:
    """What is said of a step that shows these numbers."""
    grid = shown_grid(n.matrix([[_cell(text) for text in row] for row in shown]), False)
    assert grid is not None
    author = Author(trace)
    judged = judge_grid(grid, lambda bits: trace.value(name.symbol, bits), [author[name.symbol]])
    if all(cell.verdict is not Verdict.WRONG for row in judged for cell in row):
        return None
    return explain(trace, [author], name, judged)


@pytest.mark.parametrize("key", [row.key for row in TABLE if row.key not in UNSHAPED])
def test_a_mistake_of_the_table_is_named(key: str) -> None:
    """Over every kind of problem: where a mistake shows plainly, the cause is that mistake, alone or beside another; a
    rare one unless a common one gives the same numbers."""
    causes = [cause_of(*found) for kind in KINDS for seed in range(8) if (found := made(kind, key, seed)) is not None]
    said = [set(cause.mistake.split(" or ")) for cause in causes if cause is not None]
    named = [key in keys for keys in said if key not in RARE or keys & (RARE | {key}) or not keys <= STRUCTURAL]
    assert named, f"no problem shows the mistake {key!r}"
    assert sum(named) >= 0.95 * len(named)


def two_heads(**more: object) -> Trace:
    heads = {"W_Q": [[[1, 0], [0, 1]], [[0, 2], [1, 1]]], "W_K": [[[1, 1], [0, 1]], [[1, 0], [2, 1]]]}
    return qkv.work(X=[[1, 2], [0, 1]], **heads, W_V=[[[1], [2]], [[3], [-1]]], **more).traces[0]


@pytest.mark.parametrize(
    "key, change",
    [
        ("added heads", lambda a, b: n.Sum((a, b))),
        ("averaged heads", lambda a, b: n.Quotient(n.Sum((a, b)), n.number(2))),
        ("heads stacked", lambda a, b: n.Concat((a, b), axis=0)),
    ],
)
def test_a_mistake_that_changes_the_shape_is_named(key: str, change: Callable[[n.Expr, n.Expr], n.Expr]) -> None:
    trace = two_heads()
    made = trace.evaluate(change(n.Name(Symbol("Z", (), ("1",))), n.Name(Symbol("Z", (), ("2",)))))
    grid = shown_grid(n.matrix(texts(made, 3)), False)
    assert grid is not None
    known, cause = explain_misfit(trace, [Author(trace)], n.Name(Symbol("Concat")), grid)
    assert known
    assert cause is not None
    assert cause.mistake == key


def test_an_output_matrix_that_was_left_out_is_named() -> None:
    trace = two_heads(W_O=[[1, 2], [0, 3]])
    shown = [list(row) for row in texts(trace.value(Symbol("Concat")), 3)]
    cause = cause_of(trace, n.Name(Symbol("Output")), shown)
    assert cause is not None
    assert cause.mistake == "W_O left out"


@pytest.mark.parametrize(
    "key, shown",
    [
        ("one product dropped", "11"),  # 2·1 + 3·3 + 1·2 = 13
        ("sign lost", "9"),
        ("index off", "4"),
        ("a digit doubled", "133"),
        ("digits transposed", "31"),
        ("decimal point shifted", "130"),
    ],
)
def test_a_slip_in_one_cell_is_named(key: str, shown: str) -> None:
    trace = qkv.work(Q=[[2, 3, 1], [0, 1, 1]], K=[[1, 3, 2], [1, 0, 2]], V=[[1], [2]], scale=None).traces[0]
    cause = cause_of(trace, n.Name(Symbol("S")), [[shown, "4"], ["5", "2"]])
    assert cause is not None
    assert key in cause.mistake.split(" or ")


def test_nothing_is_named_where_nothing_explains_it() -> None:
    trace = qkv.work(Q=[[2, 3, 1], [0, 1, 1]], K=[[1, 3, 2], [1, 0, 2]], V=[[1], [2]], scale=None).traces[0]
    assert cause_of(trace, n.Name(Symbol("S")), [["77", "58"], ["5", "29"]]) is None


def test_zero_for_a_whole_number_is_no_lost_digit() -> None:
    """Only '5.0' could lose a digit and leave nothing, and nobody writes that for a sum of whole numbers."""
    trace = qkv.work(Q=[[2, 3, 1], [0, 1, 1]], K=[[1, 3, 2], [1, 0, 2]], V=[[1], [2]], scale=None).traces[0]
    assert cause_of(trace, n.Name(Symbol("S")), [["13", "4"], ["0", "2"]]) is None


def test_digits_that_were_cut_off_are_told() -> None:
    """The weights are 0.3302 and 0.6698."""
    given = "Q = [[1, 2]], K = [[2, 0], [1, 1]]\n\nS = Q K^T / √2 = [[1.414, 2.121]]\n\n"
    cut = qkv.check(given + "A = softmax(S) = [[0.33, 0.66]]\n").claims[-1]
    assert cut.verdict == "misrounded"
    assert cut.cause is not None
    assert cut.cause.mistake == "cut off instead of rounded"
    up = qkv.check(given + "A = softmax(S) = [[0.34, 0.67]]\n").claims[-1]
    assert up.verdict == "misrounded"
    assert up.cause is None


def test_every_sentence_can_be_said() -> None:
    for row in TABLE:
        assert row.says.format("…")
        assert not row.says.endswith(".")
    for slip in (*DOTS, *TEXTS):
        assert not slip.says.endswith(".")


def test_keys_are_single() -> None:
    """Two causes are joined by ' or ', so no key may contain it."""
    keys = [row.key for row in TABLE]
    assert len(set(keys)) == len(keys)
    assert not any(" or " in key for key in (*keys, *(slip.key for slip in (*DOTS, *TEXTS))))


def _cell(text: str) -> n.Expr:
    return n.Infinite(-1) if text == "-inf" else n.number(text)
