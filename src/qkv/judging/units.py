"""Values with a unit behind them: 5.24 GFLOPs may stand for 5.24 thousands, millions … or for powers of 1024."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from flint import fmpq

from qkv.check.cells import Grid, shape_of
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.interpret.cells import NEG_INF
from qkv.interpret.certified import Value, same
from qkv.judging.fit import How, Meaning
from qkv.regex import regex

MIXED = (Fraction(1000, 1024), Fraction(1024, 1000))  # 14 GiB / 0.5 MiB = 28.672 thousands
_BINARY = regex(r"[KMGT]iB")
_BYTES = regex(r"\d\s*[KMGT]i?B\b")
_POWERS = frozenset(fmpq(1000**i * 1024**j) for i in range(5) for j in range(5))
_AMOUNT = r"\d\s?(?:[KMGT](?:i?B)?|(?<=\d)B)\b"
_CALCULATED = regex(rf"{_AMOUNT}[^=≈]*[×·*/÷]|[×·*/÷]\s*[\d.,]*{_AMOUNT}")
_STEPS = 8  # 10^24 is as far as products of two amounts go
ELSEWHERE = 10.0  # bits more where a rule of thumb elsewhere speaks: an amount may be of another model
UNIT = 2.0  # bits for which of the powers a unit stands for


def has_amounts(text: str) -> bool:
    """Whether amounts are calculated with: 14 GiB / 0.5 MiB, 6 × 65.3B × 1.4T."""
    return _CALCULATED.search(text) is not None


_CONVERTED = regex(r"[=≈]\s*[\d.,]+\s*(?P<unit>[^\W\d_]{3,})\s*[=≈]\s*(?P<value>[\d.,]*\d)\s*(?P<other>[^\W\d_]{3,})")


def is_converted(text: str, value: str) -> bool:
    """Whether a value is the one before it in another unit: 0.357 nats = 0.515 bits.

    >>> is_converted("H = 0.357 nats = 0.515 bits", "0.515"), is_converted("n = 3 tokens = 3 tokens", "3")
    (True, False)
    """
    pairs = ((m["unit"], m["other"]) for m in _CONVERTED.finditer(text) if m["value"] == value)
    return any(one.lower().rstrip("s") != other.lower().rstrip("s") for one, other in pairs)


def in_units(
    meaning: Meaning, worths: Iterable[Value | None], grid: Grid, units: tuple[int, ...], text: str
) -> Meaning:
    """A meaning in the unit that is printed behind a value: of what the unit may multiply with, what comes closest.
    `worths` is what it comes to in its author's numbers and in truth.

    Numbers in a working have units too, so that only the quotient of the two is known: 4 × 5.24 G = 20.97 G. `text` is
    that of the equation: where it has binary units, their quotients count too."""
    shown = grid[0][0].value
    amounts = has_amounts(text)
    if not (units or amounts) or shape_of(grid) != (1, 1) or not shown:
        return meaning
    sizes = [size for worth in worths if worth is not None and (size := _size(worth, float(shown)))]  # type: ignore[arg-type]
    if not sizes:
        return meaning
    factors: tuple[int | Fraction, ...] = (1, *units, *(MIXED if _BINARY.search(text) else ()))
    factors += tuple(Fraction(unit, width) for unit in units for width in _widths(meaning.expr, text))
    factors += tuple(Fraction(1, base**k) for base in (1000, 1024) for k in range(1, _STEPS + 1)) if amounts else ()
    factor = min(factors, key=lambda by: min(abs(math.log(size / by)) for size in sizes))
    doubt = ELSEWHERE if meaning.how is How.DEFINED else 0.0
    if factor == 1:
        return meaning._replace(cost=meaning.cost + doubt)
    counted = (
        n.Quotient(meaning.expr, n.number(factor))
        if factor > 1
        else n.Product(meaning.expr, n.number(Fraction(1) / factor))
    )
    return meaning._replace(expr=counted, cost=meaning.cost + UNIT + doubt, unit=factor)


def _size(worth: Value, shown: float) -> float:
    """How many times what is shown a value is; 0 where it is no number."""
    try:
        size = abs(float(worth.cell)) / abs(shown) if worth.shape == (1, 1) else 0.0  # type: ignore[arg-type]
    except (QkvError, TypeError, ValueError, OverflowError):
        return 0.0
    return size if math.isfinite(size) else 0.0


def _widths(expr: n.Expr, text: str) -> tuple[int, ...]:
    """The bytes that each number may have where sizes alone are multiplied and bytes are shown: B·H·N² = 1 GiB."""
    counted = _BYTES.search(text) and not any(isinstance(factor, n.Number) for factor in n.factors(expr))
    return (2, 4) if counted and n.names_in(expr) else ()


def is_in_units(whole: Value, value: Value) -> bool:
    """Whether a quantity is a value but for the unit that this is in: 536870912 bytes are 512 MB."""
    if same(whole, value):
        return True
    if (
        whole.shape != (1, 1)
        or not (whole.exact and value.exact)
        or not value.cell
        or NEG_INF in (whole.cell, value.cell)
    ):
        return False
    return whole.cell / value.cell in _POWERS
