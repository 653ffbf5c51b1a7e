"""Line ends, brackets, lists, tables, dollars or none, Unicode or LaTeX change nothing."""

from __future__ import annotations

from laws.shares import require


def test_another_dress_changes_nothing() -> None:
    require("dress")
