"""Sheets as people type them, beside the repository: what a person expects of each, line by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from qkv import api
from qkv.check.model import Claim, Verdict
from qkv.render.options import DEFAULT
from qkv.render.shown import shown_part

TRIAL = Path(__file__).resolve().parents[3] / "shared" / "sheets" / "trial"
pytestmark = pytest.mark.skipif(not TRIAL.exists(), reason="the sample sheets are not here")

V = Verdict
FALSE = {V.WRONG, V.CARRIED, V.MISREAD, V.MISROUNDED}
ALL_RIGHT = (
    "02-words-solution.txt", "11-block.md", "12-cross.md", "13-bahdanau.txt", "15-prose.md", "17-steps.md", "19-kvcache.md", "20-grad.md",
    "21-fewer.txt", "23-bias.md", "25-I.md", "26-mean.md",
)  # fmt: skip
READ_WHOLE = tuple(name for name in ALL_RIGHT if name not in ("15-prose.md", "23-bias.md"))


def claims(name: str, against: str | None = None) -> tuple[Claim, ...]:
    return api.read(TRIAL / name).check(against=api.read(TRIAL / against) if against else None).claims


def on_line(name: str, line: int) -> set[Verdict]:
    return {claim.verdict for claim in claims(name) if claim.line == line}


@pytest.mark.parametrize("name", ALL_RIGHT)
def test_nothing_right_is_accused(name: str) -> None:
    found = claims(name)
    assert found
    assert not [claim for claim in found if claim.verdict in FALSE]


@pytest.mark.parametrize("name", READ_WHOLE)
def test_every_line_is_judged(name: str) -> None:
    assert not [claim for claim in claims(name) if claim.verdict is V.UNREAD]


def test_sentences_that_end_in_a_number_are_judged() -> None:
    assert [claim.line for claim in claims("15-prose.md") if claim.verdict is V.UNREAD] == [14]  # a number of heads


def test_a_slip_in_a_dot_product_is_carried_only_where_it_is_used() -> None:
    assert on_line("02b-slip-dot.txt", 17) == {V.WRONG}
    (scaled,) = [claim for claim in claims("02b-slip-dot.txt") if claim.line == 20]
    assert [(cell.column, cell.verdict) for cell in scaled.cells] == [(1, V.CARRIED)]
    assert not on_line("02b-slip-dot.txt", 22) & FALSE


@pytest.mark.parametrize(("name", "line", "cell"), [("03b.md", 33, (2, 2)), ("04b.tex", 25, (2, 2))])
def test_a_typed_digit_is_wrong(name: str, line: int, cell: tuple[int, int]) -> None:
    (wrong,) = [claim for claim in claims(name) if claim.verdict in FALSE]
    assert (wrong.line, wrong.verdict) == (line, V.WRONG)
    assert [(c.row, c.column) for c in wrong.cells if c.verdict is V.WRONG] == [cell]


def test_chains_are_judged_against_the_masked_task() -> None:
    found = claims("09-masked-solution.txt", "09-masked.txt")
    assert not [claim for claim in found if claim.verdict in FALSE]
    assert sum(claim.verdict is V.UNREAD for claim in found) <= 1


def test_a_wrong_addend_is_found() -> None:
    (wrong,) = [claim for claim in claims("13b.txt") if claim.verdict in FALSE]
    assert (wrong.line, [cell.shown for cell in wrong.cells]) == (6, ["1.365"])


def test_a_missing_scale_is_found_where_the_task_asks_for_it() -> None:
    found = {claim.line: claim for claim in claims("14-noscale.md")}
    assert [found[line].verdict for line in (7, 9, 11)] == [V.RIGHT, V.WRONG, V.CARRIED]
    assert found[9].cause is not None
    assert "√d_k" in found[9].cause.says


def test_a_wrong_product_without_spaces_is_found() -> None:
    assert on_line("21b.txt", 2) == {V.WRONG}


def test_plain_algebra_is_judged() -> None:
    assert [(claim.line, claim.verdict) for claim in claims("24-noattn.md")] == [(1, V.WRONG), (2, V.WRONG)]


def answers(name: str) -> list[tuple[str, list[str], str]]:
    """Label, quantities and words of each answer."""
    solution = api.solve(TRIAL / name)
    found = [answer for trace in solution.traces for answer in trace.program.answers]
    return [(answer.label, [part.name for part in answer.parts], answer.says) for answer in found]


def test_all_four_parts_are_answered_under_their_labels() -> None:
    assert answers("01-words-assignment.txt") == [
        ("a)", ["Q", "K", "V"], ""),
        ("b)", ["S_scaled"], ""),
        ("c)", ["A"], "“love” attends most to “I” and “cats” (0.486 each)"),
        ("d)", ["Z[3] (“cats”)"], ""),
    ]


def test_the_masked_result_is_rounded_as_asked() -> None:
    (trace,) = api.solve(TRIAL / "09-masked.txt").traces
    asked = trace.program.answers[-1]
    assert [part.name for part in asked.parts] == ["A", "Z"]
    printed = [shown_part(trace, asked, part, DEFAULT).rows for part in asked.parts]
    assert printed[0][2] == ("0.503", "0.248", "0.248")
    assert printed[1] == (("1.000", "2.000"), ("2.000", "3.000"), ("2.490", "3.490"))
    assert not [step for step in trace.program.steps if "without" in step.spelled]
