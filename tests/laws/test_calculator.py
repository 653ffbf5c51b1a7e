"""Any chain of plain algebra is worked out and judged."""

from __future__ import annotations

from laws.shares import require


def test_plain_algebra_is_worked_and_judged() -> None:
    require("calculator")
