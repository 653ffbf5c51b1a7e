"""Hats and bars tell quantities apart only where a letter comes with and without them."""

from __future__ import annotations

from qkv.sheet.read import read_sheet
from qkv.understand.facts import facts_of


def subjects(text: str) -> list[str]:
    return [str(fact.symbol) for fact in facts_of(read_sheet(text))]


def test_an_accent_that_is_always_there_says_nothing() -> None:
    assert subjects("$\\hat Q = [1, 2]$, $\\bar{K} = [3, 4]$") == ["Q", "K"]


def test_a_hat_beside_the_bare_letter_is_another_quantity() -> None:
    assert subjects("$\\alpha_1 = 0.7$, $\\hat\\alpha_1 = 0.67$") == ["alpha_1", "alpha_hat,1"]
