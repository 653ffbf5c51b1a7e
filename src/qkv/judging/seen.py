"""Prints as what may be copied: whole, turned, by rows, columns and cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from flint import fmpq

from qkv.check.cells import Grid, fitted, shape_of
from qkv.check.compare import meets
from qkv.check.model import Verdict
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.cells import NEG_INF, Cell, bounds
from qkv.interpret.certified import Certified, Value, bounded
from qkv.interpret.loop import evaluate
from qkv.judging.fit import Fit
from qkv.reading.prints import Print

COPY = "¶copy"  # the base of a symbol that stands for a copied number
SURE = 9.0  # bits of a number that are no coincidence
DRIFT = 10  # rounding on the way changes a value by less than this part of it
MATRIX = 7.0  # bits of a matrix that are no coincidence


class Seen(NamedTuple):
    """A print, as something that may be copied."""

    expr: n.Expr
    grid: Grid
    printed: Print
    ways: tuple[n.Expr, ...] = ()  # the formulas and workings beside it
    in_units: bool = False  # its number counts thousands, millions …: 128 KB


class Copied(NamedTuple):
    """What a number or a matrix in a working is a copy of.

    own     what the author holds of it              mended  the same with false cells put right
    claims  the claims that it comes from            part    how to say what it is
    ways    the formulas and workings that the page has beside it
    """

    part: n.Expr
    true: Value | None
    own: Value
    mended: Value
    claims: frozenset[int]
    ways: tuple[n.Expr, ...] = ()

    @property
    def exact(self) -> Value:
        """What the author can hold of it at most: a copy of what is given is just that, and not all that rounds so."""
        return self.own if self.claims or self.true is None else self.true


def variants(seen: Seen, grid: Grid) -> Iterator[tuple[n.Expr, Print]]:
    """A print as it is, turned, and its rows and columns, as far as the shape fits."""
    shape, wanted = shape_of(seen.grid), shape_of(grid)
    if shape == wanted or (1 in shape and shape[::-1] == wanted):
        yield seen.expr, seen.printed
    if shape[::-1] == wanted and 1 not in shape:
        yield n.Transpose(seen.expr), cut(seen.printed, lambda v: Value(tuple(zip(*v.rows, strict=True))))
    if 1 in wanted and 1 not in shape:
        if max(wanted) == shape[1]:
            for i in range(shape[0]):
                yield n.Entry(seen.expr, row=i + 1), cut(seen.printed, partial(_row, i))
        if max(wanted) == shape[0]:
            for j in range(shape[1]):
                yield (
                    n.Entry(seen.expr, column=j + 1),
                    cut(seen.printed, partial(_column, j)),
                )


def _row(i: int, value: Value) -> Value:
    return Value((value.rows[i],))


def _column(j: int, value: Value) -> Value:
    return Value(tuple((row[j],) for row in value.rows))


def cut(printed: Print, part: Callable[[Value], Value]) -> Print:
    """A part of a print."""
    return printed._replace(held=part(printed.held), true=part(printed.true) if printed.true is not None else None,
        mended=part(printed.mended) if printed.mended is not None else None,
    )  # fmt: skip


def as_row(seen: Seen) -> Seen:
    """A vector as a row."""
    if shape_of(seen.grid)[1] != 1 or shape_of(seen.grid)[0] == 1:
        return seen
    grid = (tuple(row[0] for row in seen.grid),)
    return Seen(seen.expr, grid, cut(seen.printed, lambda v: Value((tuple(row[0] for row in v.rows),))))


def cell_of(seen: Seen, i: int, j: int) -> Copied:
    printed = seen.printed
    own = Value(((printed.held.rows[i][j],),))
    mended = Value(((printed.mended.rows[i][j],),)) if printed.mended is not None else own
    true = (
        Value(((printed.true.rows[i][j],),))
        if printed.true is not None and printed.true.shape == shape_of(seen.grid)
        else None
    )
    alone = shape_of(seen.grid) == (1, 1)
    part, *ways = (x if alone else n.Entry(x, row=i + 1, column=j + 1) for x in (seen.expr, *seen.ways))
    return Copied(part, true, own, mended, claims_of(seen), tuple(ways))


def reads_like(seen: Seen, i: int, j: int, number: object) -> Seen | None:
    """A print of which a cell reads like a number; the same as it was meant where that does: who writes 3.73 for 1.73
    may go on with 1.73."""
    if seen.grid[i][j].cell == number:
        return seen
    meant = seen.printed.meant
    if meant is None or meant.rows[i][j] != number:
        return None
    return seen._replace(printed=seen.printed._replace(held=meant))


def negated(copied: Copied) -> Copied:
    """A copied number with the other sign."""
    true, own, mended = (
        None if value is None or NEG_INF in value.rows[0] else Value(((-value.cell,),))  # type: ignore[operator]
        for value in (copied.true, copied.own, copied.mended)
    )
    part, *ways = map(n.Negate, (copied.part, *copied.ways))
    return Copied(part, true, own or copied.own, mended or copied.mended, copied.claims, tuple(ways))


def claims_of(seen: Seen) -> frozenset[int]:
    return frozenset() if seen.printed.claim is None else frozenset({seen.printed.claim})


def agreeing(grid: Grid, value: Value) -> int:
    """How many cells of a print a value gives."""
    made = fitted(value, shape_of(grid))
    pairs = zip(grid, made.rows, strict=True) if made is not None else ()
    return sum(meets(shown, cell) for row, cells in pairs for shown, cell in zip(row, cells, strict=True))


def are_near(value: Value, typed: Value) -> bool:
    """Whether numbers are a value but for what rounding on the way can do to it: their first digits agree."""
    cells = zip((c for row in value.rows for c in row), (c for row in typed.rows for c in row), strict=True)
    return all(a is b if NEG_INF in (a, b) else _is_within(abs(b) / DRIFT, a, b) for a, b in cells)


def _is_within(reach: fmpq, cell: Cell, number: fmpq) -> bool:
    low, high = bounds(cell)
    return bool(low - reach <= number <= high + reach)


def is_near(made: Fit, grid: Grid) -> bool:
    """Whether an operand is a miscopied one: most of its cells agree, and the others are plain numbers too."""
    cells = [
        (shown, v)
        for row, verdicts in zip(grid, made.verdicts, strict=True)
        for shown, v in zip(row, verdicts, strict=True)
    ]
    off = [shown for shown, verdict in cells if verdict is Verdict.WRONG]
    misses = [shown for shown in off if shown.cell is NEG_INF or shown.value is None]
    return not misses and len(cells) >= 4 and len(off) <= 1 + len(cells) // 8 and made.agreed >= MATRIX


def put_right(own: Value, right: Value, made: Fit) -> Value:
    """What was put in, with its false cells put right."""
    false = (Verdict.WRONG, Verdict.CARRIED)
    return Value(
        tuple(
            tuple(r if v in false else c for c, r, v in zip(cells, rights, verdicts, strict=True))
            for cells, rights, verdicts in zip(own.rows, right.rows, made.verdicts, strict=True)
        )
    )


def exactly(grid: Grid) -> Value:
    return Value(tuple(tuple(shown.cell for shown in row) for row in grid))


def worth(expr: n.Expr, env: dict[Symbol, Value], algebra: Certified) -> Value | None:
    try:
        return bounded(evaluate(expr, env, algebra))
    except (QkvError, ZeroDivisionError, OverflowError, ValueError):
        return None


def replaced_row(whole: Copied, row: Copied) -> Iterator[Copied]:
    """An array with one of its rows replaced by a vector."""
    for i, _ in enumerate(whole.own.rows):
        rows = (*whole.own.rows[:i], *row.own.rows, *whole.own.rows[i + 1 :])
        made = Value(rows)
        yield Copied(whole.part, made, made, made, whole.claims | row.claims)
