"""Givens in another order change nothing."""

from __future__ import annotations

from laws.shares import require


def test_another_order_changes_nothing() -> None:
    require("order")
