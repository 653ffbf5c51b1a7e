"""The same problem with tokens as columns has the same verdicts."""

from __future__ import annotations

from laws.shares import require


def test_tokens_may_be_columns() -> None:
    require("transposition")
