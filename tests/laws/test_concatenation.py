"""Each of two documents after each other has the verdicts that it has alone."""

from __future__ import annotations

from laws.shares import require


def test_neighbours_change_nothing() -> None:
    require("concatenation")
