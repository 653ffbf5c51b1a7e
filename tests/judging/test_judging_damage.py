"""Damaged text is told from slips by how it looks: a point lost among decimals is damage, a typed digit is not."""

from __future__ import annotations

import pytest

from judging.judged import claims
from qkv.check.model import Claim, Verdict

FRAME = """
Q = [[2, 3], [1, 4]], K = [[1, -2], [3, 5]]

S = Q K^T = [[{}, 21], [-7, 23]]

P = S / √2 = [[{}, 14.849], [{}, 16.263]]
"""


def said(shown: str, used: str, third: str = "-4.950") -> tuple[Claim, ...]:
    return claims(FRAME.format(shown, used, third))


@pytest.mark.parametrize("lost", ["-4950"])
def test_a_point_lost_among_decimals_is_misread(lost: str) -> None:
    _, scaled = said("-4", "-2.828", lost)
    assert scaled.verdict is Verdict.MISREAD
    assert scaled.repair == "-4.950 in cell (2,1)"
    assert [(cell.row, cell.column, cell.verdict) for cell in scaled.cells] == [(2, 1, Verdict.MISREAD)]


def test_a_point_in_the_wrong_place_is_a_slip() -> None:
    _, scaled = said("-4", "-2.828", "-49.50")
    assert scaled.verdict is Verdict.WRONG
    assert scaled.cause is not None
    assert scaled.cause.mistake == "decimal point shifted"


def test_a_lost_minus_is_a_slip_whether_it_is_used_or_not() -> None:
    first, second = said("4", "2.828")
    assert (first.verdict, second.verdict) == (Verdict.WRONG, Verdict.CARRIED)
    first, second = said("4", "-2.828")
    assert (first.verdict, second.verdict) == (Verdict.WRONG, Verdict.ROUNDED)


def test_what_was_crossed_out_is_said_to_be() -> None:
    found = claims("Q = [[2, 3], [1, 4]], K = [[1, -2], [3, 5]]\n\n~~T = Q K = [[1, 2], [3, 4]]~~\n")
    assert [(claim.verdict, claim.reason) for claim in found] == [(Verdict.STRUCK, "crossed out by its author")]
