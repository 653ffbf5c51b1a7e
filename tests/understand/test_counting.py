"""Tokens that a sheet counts from 0 are counted from 1."""

from __future__ import annotations

import pytest

from qkv.sheet.read import read_sheet
from qkv.understand.counting import counts_from_zero
from qkv.understand.facts import facts_of

SHEETS = {
    "x_0 = [1, 0], x_1 = [0, 1]": ["x_1", "x_2"],
    "x_1 = [1, 0], x_2 = [0, 1]": ["x_1", "x_2"],
    "$\\alpha_{00} = 0.7$, $\\alpha_{01} = 0.3$": ["alpha_1,1", "alpha_1,2"],
    "$e_{1,0} = 2$, $q_3 = [1, 2]$": ["e_2,1", "q_4"],
    "$h_0 = [0, 0]$, $h_1 = [1, 0]$, $h_2 = [0, 1]$": ["h_0", "h_1", "h_2"],
}


@pytest.mark.parametrize(("text", "expected"), SHEETS.items())
def test_subjects(text: str, expected: list[str]) -> None:
    assert [str(fact.symbol) for fact in facts_of(read_sheet(text))] == expected


def test_numbers_of_heads_stay() -> None:
    sheet = read_sheet("$Q_0 = [[1, 0]]$, $Q_1 = [[0, 1]]$")
    assert not counts_from_zero(sheet.statements)
