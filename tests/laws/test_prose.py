"""Deleting or translating the prose changes nothing where formulas are stated."""

from __future__ import annotations

from laws.shares import require


def test_without_prose_nothing_changes() -> None:
    require("prose")
