"""A planted slip is found at its cell, what follows is carried, nothing else is touched, and mistakes have names."""

from __future__ import annotations

from collections import Counter

import pytest

import qkv
from laws.authors import sheet
from laws.graded import graded
from laws.shares import CASES, require
from laws.trials import planted

NAMED = 0.98  # of the mistakes that show: 290 of 294 over 480 sheets (where three give the same numbers, none is named)


def test_planted_slips_are_found() -> None:
    require("planted")


def test_mistakes_are_called_by_their_name() -> None:
    named: Counter[str] = Counter()
    for number in range(CASES):
        _, practice = planted(number)
        named += graded(practice, qkv.check(practice.text)).named
    table = {how: count for how, count in named.items() if how.startswith("table")}
    assert table["table named"] >= NAMED * sum(table.values()), table


SHEETS = {
    "a name with an index is a row of the matrix above": ("cross", 16679, "semicolons", 0),
    "the last result under the letter of tokens is none": ("multi-head", 16679, "code", 0),
    "the formula that is asked for says how tokens lie": ("columns", 16675, "bmatrix", 0),
    "what mixes values says how tokens lie": ("general", 16669, "tables", 2),
    "another matrix, put right after a slip of the pen": ("columns", 16666, "labelled", 2),
    "a word for what is done, before a name": ("heads", 16667, "labelled", 3),
    "what was printed falsely does not become true": ("cross", 16667, "pmatrix-inline", 1),
    "cells that a known mistake makes beside others": ("masked", 16668, "bmatrix-tall", 2),
    "entries of three digits": ("self", 16677, "semicolons", 3),
    "weights by their caption": ("columns", 16674, "numpy", 3),
    "tokens in the place of what is made of them": ("cross", 16671, "comma", 2),
    "tokens in the place of the values of a head": ("multi-head", 16671, "numpy", 1),
    "a letter of scores for the weights, where others are stated to be scores": ("given", 16671, "lists", 2),
    "the output by its caption under a letter of weights": ("cross", 16673, "bmatrix", 2),
    "a false matrix put in": ("unscaled", 16672, "unicode", 3),
    "every digit of a false matrix put in": ("self", 16671, "lists", 3),
    "infinities under a letter of scaled scores": ("masked", 17063, "mixed", 0),
    "what is true to all digits beside rounded numbers put in": ("heads", 17065, "tex", 0),
    "a column left out of the product of matrices put in": ("heads", 16680, "code", 3),
}


@pytest.mark.parametrize("call", SHEETS.values(), ids=SHEETS)
def test_a_sheet_is_judged_as_its_key_says(call: tuple[str, int, str, int]) -> None:
    practice = sheet(*call)
    assert graded(practice, qkv.check(practice.text)).faults == ()
