"""Entries and sizes that practice sheets are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

Rows = list[list[str]]


@dataclass(frozen=True, slots=True)
class Numbers:
    """Where entries are drawn from: small whole numbers, decimals with one place, or fractions."""

    draw: Callable[[Random], str]

    def matrix(self, rng: Random, rows: int, columns: int) -> Rows:
        """A matrix of entries, none of its rows only zeros."""
        made = [[self.draw(rng) for _ in range(columns)] for _ in range(rows)]
        for row in made:
            if set(row) == {"0"}:
                row[rng.randrange(columns)] = "1"
        return made


@dataclass(frozen=True, slots=True)
class Sizes:
    """Tokens, other tokens, and the sizes of a token, a key and a value."""

    n: int
    m: int
    d: int
    k: int
    v: int
