"""Consistently renaming what a page defines or gives changes no verdict and no number."""

from __future__ import annotations

from laws.shares import require


def test_other_names_change_nothing() -> None:
    require("renaming")
