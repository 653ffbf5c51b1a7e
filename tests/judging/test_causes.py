"""Each known mistake, made once on a page: it is named, and named alone, where the numbers can tell."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from judging.judged import claims
from laws.around import AROUND
from laws.drawn import problem
from qkv.check.mistakes.program import ProgramScene
from qkv.check.mistakes.rewrites import NO_CONVENTION, RARE, STRUCTURAL, TABLE, places_in, variants
from qkv.check.mistakes.scene import levels
from qkv.check.mistakes.slips import DOTS, TEXTS
from qkv.check.model import Cause, Claim, Verdict
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.expr.show import plain
from qkv.interpret.trace import Trace
from qkv.practice.hand import texts
from qkv.practice.problems import KINDS

WITHIN = frozenset(  # no drawn problem has the formula in which it is made: see test_block_mistakes.py
    {
        "turned the other way",
        "pairs the other way",
        "groups tiled",
        "cache in the wrong order",
        "layer norm down the columns",
        "mean not subtracted",
        "layer norm for RMS norm",
        "norm before for after",
        "added before the projection",
        "softmax's derivative without its sum",
        "transpose left out",
        "gate for value",
    }
)
UNSHAPED = ("heads stacked", "averaged heads", "added heads", "W_O left out")  # give another shape; see below
PLACES = 4
ENOUGH = 6  # pages with one mistake


def made(kind: str, key: str, seed: int) -> tuple[Trace, Symbol, list[list[str]]] | None:
    """A random problem with one mistake made in it, printed to four places; None where it does not show."""
    trace = Trace(problem(kind, Random(seed)))
    scene = ProgramScene(trace)
    mistake = next(row for row in TABLE if row.key == key)
    printed = {step.symbol for step in trace.program.steps}
    for step in trace.program.steps:
        bases = [base for level in levels(scene, n.Name(step.symbol), printed) for base in level]
        for expr, _ in (variant for base in bases for variant in variants(mistake, places_in(base), scene)):
            try:
                value = trace.evaluate(expr)
                shown = texts(value, PLACES)
            except QkvError:
                continue
            if value.shape == trace.value(step.symbol).shape and shown != texts(trace.value(step.symbol), PLACES):
                return trace, step.symbol, [list(row) for row in shown]
    return None


def page(trace: Trace, target: Symbol, shown: list[list[str]]) -> str:
    """A page with the givens, every step before the target with its formula, and the target as it is shown."""
    givens = trace.program.givens
    lines = [f"{plain(n.Name(given.symbol))} = {_written(texts(trace.value(given.symbol), 12))}" for given in givens]
    for step in trace.program.steps:
        rows = shown if step.symbol == target else texts(trace.value(step.symbol), PLACES)
        lines.append(f"{plain(n.Name(step.symbol))} = {plain(step.expr)} = {_written(rows)}")
        if step.symbol == target:
            break
    return "\n\n".join(lines) + "\n"


def _written(rows: object) -> str:
    return "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]"  # type: ignore[attr-defined]


def cause_of(trace: Trace, target: Symbol, shown: list[list[str]]) -> Cause | None:
    """The cause that is told of the target; None where nothing is wrong with it or nothing explains it."""
    last = claims(page(trace, target, shown))[-1]
    return last.cause if last.verdict is Verdict.WRONG else None


@pytest.mark.parametrize("key", [row.key for row in TABLE if row.key not in (*UNSHAPED, *WITHIN)])
def test_a_mistake_of_the_table_is_named(key: str) -> None:
    """Over every kind of problem: where a mistake shows plainly, the cause is that mistake, alone or beside another; a
    rare one unless a common one gives the same numbers."""
    named: list[bool] = []
    for seed, kind in product(range(8), (*KINDS, *AROUND)):
        found = made(kind, key, seed) if len(named) < ENOUGH else None
        cause = cause_of(*found) if found is not None else None
        keys = set(cause.mistake.split(" or ")) if cause is not None else set()
        if keys and (key not in RARE or keys & (RARE | {key}) or not keys <= STRUCTURAL):
            named.append(key in keys)
    assert named, f"no problem shows the mistake {key!r}"
    assert sum(named) >= 0.9 * len(named)


HEADS = """
X = [[1, 2], [0, 1], [2, 1]]
W_1^Q = [[1, 0], [0, 1]], W_1^K = [[1, 1], [0, 1]], W_1^V = [[1, 0], [2, 1]]
W_2^Q = [[0, 2], [1, 1]], W_2^K = [[1, 0], [2, 1]], W_2^V = [[3, 1], [-1, 1]]

{}
"""
ONE = """
X = [[1, 2], [0, 1], [2, 1]]
W_Q = [[1, 0], [0, 1]]
W_K = [[1, 1], [0, 1]]
W_V = [[1, 0], [2, 1]]

{}
"""


@pytest.mark.parametrize(
    "mistake, shown",
    [
        ("averaged heads", "[[2.681, 2.163], [2.943, 2.178], [2.610, 2.093]]"),
        ("added heads", "[[5.363, 4.325], [5.885, 4.355], [5.220, 4.186]]"),
        (
            "heads stacked",
            "[[4.308, 1.327], [4.229, 1.446], [4.170, 1.193], [1.055, 2.998], [1.656, 2.909], [1.050, 2.993]]",
        ),
    ],
)
def test_heads_that_were_not_put_side_by_side(mistake: str, shown: str) -> None:
    (claim,) = claims(HEADS.format(f"Concat(Z_1, Z_2) = {shown}"))
    assert claim.verdict is Verdict.WRONG
    assert claim.cause is not None
    assert claim.cause.mistake == mistake
    assert "should be 3×4" in (claim.reason or "")


def test_a_row_left_out_and_what_follows_from_it() -> None:
    first, second = claims(ONE.format("Q = X W_Q = [[1, 2], [0, 1]]\n\nS = Q K^T = [[7, 2, 8], [3, 1, 3]]"))
    assert (first.verdict, second.verdict) == (Verdict.WRONG, Verdict.CARRIED)
    assert first.cause is not None
    assert first.cause.says == "row 3 is missing"
    assert second.follows_from == (first.id,)


def test_a_part_is_no_mistake() -> None:
    """Without a formula nothing says that all rows are meant; and a row alone is a row."""
    for said in ("Q = [[1, 2], [0, 1]]", "Q = X W_Q = [1, 2]"):
        assert [claim for claim in claims(ONE.format(said)) if claim.verdict is Verdict.WRONG] == []


def test_a_column_too_few_may_be_one_too_many_in_a_damaged_matrix() -> None:
    assert [
        claim for claim in claims(ONE.format("Q = X W_Q = [[1], [0], [2]]")) if claim.verdict is Verdict.WRONG
    ] == []


def test_a_shape_that_nothing_explains_is_left_alone() -> None:
    (claim,) = claims(HEADS.format("Concat(Z_1, Z_2) = [[2.7, 2.2], [1.9, 2.1], [2.6, 2.0]]"))
    assert claim.verdict is Verdict.UNREAD


FRAME = "Q = [[2, 3, 1], [0, 1, 1]]\n\nK = [[1, 3, 2], [1, 0, 2]]\n\nS = Q K^T = {}\n"  # [[13, 4], [5, 2]]


def score(shown: str) -> Claim:
    return claims(FRAME.format(shown))[-1]


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
    claim = score(f"[[{shown}, 4], [5, 2]]")
    assert claim.cause is not None
    assert key in claim.cause.mistake.split(" or ")
    assert claim.cells[0].working == "2·1 + 3·3 + 1·2 = 13"


@pytest.mark.parametrize("shown", ["[[77, 58], [5, 29]]", "[[13, 4], [0, 2]]"])
def test_nothing_is_named_where_nothing_explains_it(shown: str) -> None:
    """Only '5.0' could lose a digit and leave nothing, and nobody writes that for a sum of whole numbers."""
    assert score(shown).verdict is Verdict.WRONG
    assert score(shown).cause is None


def test_digits_that_were_cut_off_are_told() -> None:
    """The weights are 0.3302 and 0.6698."""
    given = "Q = [[1, 2]], K = [[2, 0], [1, 1]]\n\nS = Q K^T / √2 = [[1.414, 2.121]]\n\n"
    cut = claims(given + "A = softmax(S) = [[0.33, 0.66]]\n")[-1]
    assert cut.verdict is Verdict.MISROUNDED
    assert cut.cause is not None
    assert cut.cause.mistake == "cut off instead of rounded"
    up = claims(given + "A = softmax(S) = [[0.34, 0.67]]\n")[-1]
    assert up.verdict is Verdict.MISROUNDED
    assert up.cause is None


def test_a_mistake_that_is_nobodys_convention_needs_no_formula() -> None:
    """A softmax down the columns, under the name of the weights alone; the output follows from it."""
    text = """
    Q = [[1, 0], [2, 1], [0, 3]], K = [[1, 2], [0, 1], [1, -1]], V = [[1, 4], [2, 0], [-1, 3]]

    Q K^T / √2 = [[0.707, 0.000, 0.707], [2.828, 0.707, 0.707], [4.243, 2.121, -2.121]]

    Apply the softmax:

    A = [[0.023, 0.088, 0.486], [0.191, 0.178, 0.486], [0.786, 0.734, 0.029]]

    Z = A V = [[-0.287, 1.550], [0.061, 2.222], [2.225, 3.231]]
    """
    _, weights, output = claims(text)
    assert weights.cause is not None
    assert weights.cause.mistake == "softmax down the columns"
    assert output.verdict is Verdict.CARRIED


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
    assert set(keys) >= NO_CONVENTION
    assert not any(" or " in key for key in (*keys, *(slip.key for slip in (*DOTS, *TEXTS))))


AFTER_A_SLIP_OF_THE_PEN = """X = [[0.9, 0.2], [0.6, 0.1], [0.6, -0.2]]
d = 3
Q = [[0.39, -0.51, 1.12], [0.12, -0.4, 0.92], [-0.24, -0.34, 0.68]]
K = [[0.97, 1.16, 0.65], [0.9, 1.1, 0.68], [0.78, 0.74, 0.5]]

Q K^T = [[0.515, 0.552, 0.487], [0.250, 0.294, 0.258], [-0.185, -1.052, -0.099]]

T = Q K^T / √d = [[0.364, 0.390, 0.344], [0.177, 0.208, 0.182], [-0.131, -0.090, -0.070]]
"""


def test_a_mistake_behind_a_slip_of_the_pen_is_named_and_not_excused() -> None:
    """The author goes on with the scores that were meant, and divides them by √2 in place of √3."""
    scores, scaled = claims(AFTER_A_SLIP_OF_THE_PEN)
    assert [(cell.row, cell.column) for cell in scores.cells] == [(3, 2)]
    assert scaled.verdict == "wrong"
    assert len([cell for cell in scaled.cells if cell.verdict == "wrong"]) == 9


CUT_BELOW_A_SLIP = """Q = [[6, 4], [2, 1], [2, 2]]
K = [[4, 3], [1, 1], [2, 1]]

S = Q K^T = [[36, 10, 16], [25, 7, 11], [13, 4, 6]]

T = S / √3 = [[20.7846, 5.7735, 9.2376], [14.4337, 4.0414, 6.3508], [7.5056, 2.3094, 3.4641]]

A = softmax(T) = [[1.0000, 0.0000, 0.0000], [0.9997, 0.0000, 0.0003], [0.9774, 0.0054, 0.0172]]
"""


def test_what_follows_from_digits_cut_off_below_a_slip_is_carried() -> None:
    found = claims(CUT_BELOW_A_SLIP)[-1]
    assert {(cell.row, cell.column): cell.verdict.value for cell in found.cells}[2, 1] == "carried"
