"""What was printed last on a page, as something to calculate with: single numbers as a row, a value made of copies."""

from __future__ import annotations

from itertools import takewhile

from qkv.check.cells import Grid, Loose, shape_of
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.judging.copies import Copies
from qkv.judging.fit import Fit, Meaning
from qkv.judging.seen import COPY, Copied, Seen, worth

RUN = 12  # prints that a sum may be taken of
Operand = tuple[n.Expr, dict[Symbol, Copied]]  # an expression over copies, and what each of its names copies


def singles(recent: list[Seen]) -> list[Seen]:
    """The single numbers that were printed last, in their order."""
    return list(takewhile(lambda seen: shape_of(seen.grid) == (1, 1), recent))[::-1]


def row_of(cells: list[Copied]) -> tuple[n.Matrix, dict[Symbol, Copied]]:
    """Copied numbers as a row."""
    symbols = [Symbol(COPY, (), (str(i),)) for i in range(len(cells))]
    return n.Matrix((tuple(map(n.Name, symbols)),)), dict(zip(symbols, cells, strict=True))


def whole_of(copies: Copies, seen: Seen) -> Operand:
    """All of a print."""
    name = n.Name(Symbol(COPY, (), ("0",)))
    return name, {name.symbol: copies.whole(seen)}


def put_in(copies: Copies, grid: Grid, meaning: Meaning, put: dict[Symbol, Copied]) -> Fit | None:
    """A printed value against an expression over copies, and over names of the page."""
    others = (symbol for symbol in n.names_in(meaning.expr) if symbol not in put)
    put = put | {symbol: copied for symbol in others if (copied := copies.named(symbol, meaning.spot)) is not None}
    own = worth(meaning.expr, {symbol: copied.own for symbol, copied in put.items()}, Loose())
    return copies.put(grid, meaning, meaning.expr, put, own)
