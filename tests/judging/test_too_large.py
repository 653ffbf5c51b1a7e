"""A value too large to be compared makes its claim unread; the rest of the page is judged and solved as ever."""

from __future__ import annotations

import pytest

import qkv

HUGE = [r"\exp(10^{20})", r"e^{e^{e^{10}}}", r"\exp(1e30)", r"2^{100000000}", r"9^{9^{9^{9}}}", r"3^{1000000.5}"]


@pytest.mark.parametrize("value", HUGE)
def test_one_claim_is_unread_and_not_the_file(value: str) -> None:
    report = qkv.check(f"$2 \\cdot 3 = 7$\n\n${value} = 5$\n\n$2 \\cdot 4 = 8$\n")
    assert [claim.verdict.value for claim in report.claims] == ["wrong", "unread", "right"]


@pytest.mark.parametrize("value", HUGE)
def test_the_rest_is_solved(value: str) -> None:
    solved = qkv.solve(f"$a = 2 \\cdot 3$\n\n$b = {value}$\n\n$c = a \\cdot 4$\n")
    assert "24" in str(solved)


def test_large_values_that_can_be_compared_are() -> None:
    assert qkv.check("$e^{1000} = 1.97e434$").summary == {"rounded": 1}
