"""Values with a unit behind them: 5.24 GFLOPs may stand for 5.24 thousands, millions … or for powers of 1024."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction

from qkv.check.cells import Grid, shape_of
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.interpret.certified import Value
from qkv.judging.fit import Meaning

MIXED = (Fraction(1000, 1024), Fraction(1024, 1000))  # 14 GiB / 0.5 MiB = 28.672 thousands
_BINARY = re.compile(r"[KMGT]iB")
UNIT = 2.0  # bits for which of the powers a unit stands for


def in_units(meaning: Meaning, worth: Value | None, grid: Grid, units: tuple[int, ...], text: str) -> Meaning:
    """A meaning in the unit that is printed behind a value: of what the unit may multiply with, what comes closest.

    Numbers in a working have units too, so that only the quotient of the two is known: 4 × 5.24 G = 20.97 G. `text` is
    that of the equation: where it has binary units, their quotients count too."""
    shown = grid[0][0].value
    if not units or worth is None or worth.shape != (1, 1) or shape_of(grid) != (1, 1) or not shown:
        return meaning
    try:
        size = abs(float(worth.cell)) / abs(float(shown))  # type: ignore[arg-type]
    except (QkvError, TypeError, ValueError, OverflowError):
        return meaning
    if not size or not math.isfinite(size):
        return meaning
    factors: tuple[int | Fraction, ...] = (1, *units, *(MIXED if _BINARY.search(text) else ()))
    factor = min(factors, key=lambda by: abs(math.log(size / by)))
    if factor == 1:
        return meaning
    return replace(meaning, expr=n.Quotient(meaning.expr, n.number(factor)), cost=meaning.cost + UNIT)
