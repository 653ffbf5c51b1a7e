"""The two examples that the README shows: what is solved and what is found."""

from __future__ import annotations

from pathlib import Path

import qkv
from qkv.api import check_sheet, read_source, solve_sheet

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def sheet(name: str) -> object:
    return read_source((EXAMPLES / name).read_text(encoding="utf-8"), name)


def test_two_heads_are_read_and_solved_as_given() -> None:
    solved = solve_sheet(sheet("two-heads.md"))
    given = qkv.work(
        X=[[1, 0, 2, 1], [0, 1, 1, 3]],
        W_Q=[[[1, 0], [0, 1], [1, 1], [0, "0.5"]], [[0, 1], [1, 0], [0, 1], [1, 0]]],
        W_K=[[[0, 1], [1, 0], ["0.5", 0], [1, 0]], [[1, 0], [0, 1], [0, "0.5"], ["0.5", 0]]],
        W_V=[[[2, 0], [0, 2], [1, 0], [0, 1]], [[0, 1], [1, 0], [0, 3], [1, 0]]],
        W_O=[[1, 0, 0, 1], [0, 1, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1]],
    )
    for name in ("Q_1", "K_2", "S_1", "A_1", "A_2", "Z_1", "Z_2", "Concat", "Output"):
        assert solved[name].digits(12) == given[name].digits(12)
    assert solved.unread == ()


def test_the_slip_is_found_where_it_is_and_nothing_else_is_blamed() -> None:
    report = check_sheet(sheet("slip.md"))
    verdicts = {claim.name: claim.verdict.value for claim in report.claims}
    assert verdicts == {"Q": "right", "K": "right", "V": "right", "S": "wrong", "A": "carried", "Z": "carried"}
    (slip,) = [claim for claim in report.claims if claim.verdict.value == "wrong"]
    assert [(cell.row, cell.column, cell.shown, cell.expected) for cell in slip.cells] == [(2, 3, "3", "4")]
