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


def _whole(rng: Random) -> str:
    return str(rng.choice((-1, 0, 0, 1, 1, 1, 2, 2, 3)))


def _positive(rng: Random) -> str:
    return str(rng.choice((0, 1, 1, 2)))


def _decimal(rng: Random) -> str:
    tenths = rng.choice((-5, -3, -2, -1, 1, 2, 3, 4, 5, 6, 8, 9, 11, 12))
    return f"{'-' if tenths < 0 else ''}{abs(tenths) // 10}.{abs(tenths) % 10}"


def _halves(rng: Random) -> str:
    return rng.choice(("0", "1", "2", "-1", "1/2", "1/2", "3/2", "-1/2"))


def _thirds(rng: Random) -> str:
    return rng.choice(("0", "1", "2", "1/3", "2/3", "-1/3", "4/3"))


NUMBERS = (
    *(Numbers(draw) for draw in (_whole, _positive, _decimal) for _ in range(4)),
    Numbers(_halves),
    Numbers(_thirds),
)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Tokens, other tokens, and the sizes of a token, a key and a value."""

    n: int
    m: int
    d: int
    k: int
    v: int


def sizes_of(rng: Random) -> Sizes:
    """Sizes that one works with on paper."""
    return Sizes(
        rng.choice((2, 3, 3)),
        rng.choice((2, 3)),
        rng.choice((2, 3, 4)),
        rng.choice((2, 2, 3, 3, 4)),
        rng.choice((2, 3)),
    )
