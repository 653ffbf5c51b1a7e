"""What a printed grid tells, in bits: digits tell much, zeros, ones and repeated cells tell little."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from flint import fmpq

from qkv.check.compare import Shown
from qkv.interpret.cells import NEG_INF
from qkv.regex import regex

DIGIT: Final = math.log2(10)
LITTLE: Final = 1.0  # a zero, a one, a −∞, a cell that was printed before
_NUMBERS: Final = regex(r"\d+(?:[.,]\d+)?")


def cell_bits(shown: Shown) -> float:
    """The bits that one printed cell tells: log2(10) a significant digit; 0, 1, −1 and −∞ tell one bit.

    >>> from qkv.check.compare import shown_number
    >>> from qkv.expr import nodes as n
    >>> round(cell_bits(shown_number(n.number("0.0468"))), 2), cell_bits(shown_number(n.number("1.00")))
    (9.97, 1.0)
    """
    if shown.cell is NEG_INF or (shown.value is not None and abs(shown.value) in (0, 1)):
        return LITTLE
    return max(LITTLE, DIGIT * _significant(shown.text, shown.value, shown.half))


def grid_bits(grid: Sequence[Sequence[Shown]]) -> tuple[tuple[float, ...], ...]:
    """The bits of each cell of a grid; a text that occurred before in the grid tells at most one bit."""
    seen: set[str] = set()
    return tuple(tuple(_first(cell, seen) for cell in row) for row in grid)


def _first(shown: Shown, seen: set[str]) -> float:
    """The bits of a cell after the cells that were seen; adds it to them."""
    bits = cell_bits(shown)
    if shown.text in seen:
        return min(bits, LITTLE)
    seen.add(shown.text)
    return bits


def _significant(text: str, value: fmpq | None, half: fmpq) -> int:
    """Significant digits: those written without leading zeros, but none below the last place that is meant (10300 after
    ≈ has three). A fraction has those of its numerator and its denominator."""
    written = [number.replace(".", "").replace(",", "") for number in _NUMBERS.findall(_mantissa(text))]
    count = sum(len(digits.lstrip("0")) for digits in written)
    if value is None or not half:
        return count
    size, unit = abs(value), 2 * half
    meant = 0
    while meant < count and unit <= size:
        meant, unit = meant + 1, unit * 10
    return meant


def _mantissa(text: str) -> str:
    """A number as written, without its power of ten."""
    return text.lower().partition("e")[0]
