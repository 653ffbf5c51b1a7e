"""Damaged text is told from slips by what is done with the number afterwards."""

from __future__ import annotations

import pytest

import qkv
from qkv.check.misread import repairs
from qkv.check.model import Claim, Verdict

FRAME = """
Q = [[2, 3], [1, 4]], K = [[1, -2], [3, 5]], V = [[1, 0], [2, 1]]. Compute softmax(Q K^T / √d_k) V.

S = Q K^T = [[{}, 21], [-7, 23]]

S_scaled = S / √2 = [[{}, 14.849], [-4.950, 16.263]]
"""


def claims(shown: str, used: str) -> tuple[Claim, ...]:
    return qkv.check(FRAME.format(shown, used)).claims


def test_a_lost_minus_that_is_not_used() -> None:
    first, second = claims("4", "-2.828")
    assert (first.verdict, second.verdict) == (Verdict.MISREAD, Verdict.ROUNDED)
    assert first.repair == "-4 in cell (1,1)"
    assert [(cell.row, cell.column, cell.verdict) for cell in first.cells] == [(1, 1, Verdict.MISREAD)]


def test_a_lost_minus_that_is_used_is_a_slip() -> None:
    first, second = claims("4", "2.828")
    assert (first.verdict, second.verdict) == (Verdict.WRONG, Verdict.CARRIED)


def test_a_number_that_no_repair_gives_is_a_slip() -> None:
    first, second = claims("9", "-2.828")
    assert (first.verdict, second.verdict) == (Verdict.WRONG, Verdict.ROUNDED)


def test_a_digit_of_an_operand_is_proven_by_its_product() -> None:
    """[A] [V] = [..]: the copy shows 0.182, and both cells of the product were worked out with 0.982."""
    text = r"""
    A = [[0.018, 0.982], [0.500, 0.500]], V = [[1, 2], [5, 3]]

    Z = A V = [[0.018, 0.182], [0.500, 0.500]] × [[1, 2], [5, 3]] = [[4.928, 2.982], [3.000, 2.500]]
    """
    copy = next(claim for claim in qkv.check(text).claims if claim.verdict is Verdict.MISREAD)
    assert copy.repair == "0.982 in cell (1,2)"
    assert not [claim for claim in qkv.check(text).claims if claim.verdict is Verdict.WRONG]


@pytest.mark.parametrize(
    "read, meant", [("0.5", "-0.5"), ("7071", "7.071"), ("0.182", "0.982"), ("112.5", "12.5"), ("27.867", "7.867")]
)
def test_repairs(read: str, meant: str) -> None:
    assert meant in repairs(read)


def test_a_single_digit_tells_nothing() -> None:
    assert "5" not in repairs("0")
    assert not list(repairs("1/3"))
