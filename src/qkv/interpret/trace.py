"""A program worked out in certified arithmetic, with precision raised until every digit asked for is decided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from qkv.errors import NameUnknownError
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.cells import MAX_BITS, START_BITS, Cell, bounds, precision
from qkv.interpret.certified import Certified, Value
from qkv.interpret.fit import Shape
from qkv.interpret.loop import evaluate, run
from qkv.interpret.rounding import round_digits, round_places
from qkv.program.model import Program

Table = tuple[tuple[str, ...], ...]
UNDECIDED = "0"  # a ball that still contains zero at the highest precision; see Trace.digits


@dataclass(frozen=True)
class Trace:
    """All values of a program. Values at a given precision are computed once and kept."""

    program: Program
    _runs: dict[int, dict[Symbol, Value]] = field(default_factory=dict, repr=False, compare=False)

    def __reduce__(self) -> tuple[type[Trace], tuple[Program]]:
        """Only the program is pickled: FLINT's numbers cannot be, and the program gives them again."""
        return Trace, (self.program,)

    def values(self, bits: int = START_BITS) -> dict[Symbol, Value]:
        """Every quantity, balls computed with this many bits."""
        known = self._runs.get(bits)
        if known is None:
            with precision(bits):
                known = self._runs[bits] = run(self.program, Certified())
        return known

    def value(self, symbol: Symbol, bits: int = START_BITS) -> Value:
        """One quantity."""
        value = (self._runs.get(bits) or self.values(bits)).get(symbol)
        if value is None:
            known = ", ".join(dict.fromkeys(item.spelled for item in self.program.items[::-1]))
            raise NameUnknownError(f"there is no {symbol} here; there are {known}")
        return value

    @cached_property
    def shapes(self) -> dict[Symbol, Shape]:
        """How large every quantity is."""
        return {symbol: value.shape for symbol, value in self.values().items()}

    def evaluate(self, expr: n.Expr, bits: int = START_BITS) -> Value:
        """The value of any expression in the names of the program."""
        values = self.values(bits)
        with precision(bits):
            return evaluate(expr, values, Certified())

    def decimals(self, symbol: Symbol, places: int) -> Table:
        """Rounded to decimal places, every digit proven."""
        return decided(lambda bits: self.value(symbol, bits), lambda cell: round_places(cell, places))

    def digits(self, symbol: Symbol, digits: int) -> Table:
        """Rounded to significant digits, every digit proven."""
        return decided(lambda bits: self.value(symbol, bits), lambda cell: round_digits(cell, digits))


def decided(at: Callable[[int], Value], show: Callable[[Cell], str | None]) -> Table:
    """Show a value, asking for more bits until every cell is decided."""
    bits = START_BITS
    while True:
        table = tuple(tuple(show(cell) for cell in row) for row in at(bits).rows)
        if all(text is not None for row in table for text in row):
            return table  # type: ignore[return-value]
        if bits >= MAX_BITS // 8:
            break
        bits *= 4
    return tuple(
        tuple(text if text is not None else _settled(cell, show) for text, cell in zip(row, cells, strict=True))
        for row, cells in zip(table, at(bits).rows, strict=True)
    )


def _settled(cell: Cell, show: Callable[[Cell], str | None]) -> str:
    """A cell that thousands of bits leave open: it sits on zero or on a tie, which no ball can prove. Such values come
    from exact cancellation (weights of 1/2 that went through a root, say), so they are taken to be what they look like:
    zero, or a half, which is rounded away from zero as everywhere."""
    low, high = bounds(cell)
    if low <= 0 <= high:
        return UNDECIDED
    return show(high if low > 0 else low) or UNDECIDED
