"""The result of a comparison."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """Whether an implementation agrees with attention, and if not, where it departs and which mistake that is.

    `stage` is one of qkv.compare.formula.STAGES; `mistake` is the key of a known mistake that reproduces the numbers.
    Heads, rows and columns count from 0, as in code.
    """

    agrees: bool
    stage: str | None = None
    mistake: str | None = None
    head: int | None = None
    row: int | None = None
    column: int | None = None
    says: str = ""
    remedy: str = ""
    error: float = 0.0  # the largest difference of the output, relative to its largest value

    def __str__(self) -> str:
        return self.says
