"""Our own worked solution of every document is right, in every notation that we write."""

from __future__ import annotations

from laws.shares import require


def test_what_we_solve_is_right() -> None:
    require("solved is right")
