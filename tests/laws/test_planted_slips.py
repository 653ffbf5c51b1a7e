"""A planted slip is found at its cell, what follows is carried, nothing else is touched, and mistakes have names."""

from __future__ import annotations

from collections import Counter

import qkv
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
