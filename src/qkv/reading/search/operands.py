"""Values to build with: those of the pool, their rows, columns and cells; and what was built."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, TypeAlias

from flint import fmpq

from qkv.expr import nodes as n
from qkv.interpret.cells import NEG_INF, Cell
from qkv.interpret.certified import Value
from qkv.reading.bits import LITTLE
from qkv.reading.search.tables import INFINITY, Shape, Table, turn
from qkv.reading.search.target import Target, agrees


def transposed(expr: n.Expr) -> n.Expr:
    """The transpose of an expression, put at its operands where these are transposes themselves: (xᵀ Wᵀ)ᵀ is W x."""
    match expr:
        case n.Transpose(arg):
            return arg
        case n.Number() | n.Root(n.Number()):
            return expr
        case n.Entry(_, int(), int()):
            return expr
        case n.Product(left, right) if _is_turned(left) or _is_turned(right):
            return n.Product(transposed(right), transposed(left))
        case n.Concat(parts, axis):
            return n.Concat(tuple(map(transposed, parts)), 1 - axis)
        case n.Sum(terms) if any(map(_is_turned, terms)):
            return n.Sum(tuple(map(transposed, terms)))
        case n.Quotient(top, n.Number() | n.Root(n.Number()) as bottom) if _is_turned(top):
            return n.Quotient(transposed(top), bottom)
        case n.Softmax(arg, 1) if _is_turned(arg):
            return n.Softmax(transposed(arg), 0)
    return n.Transpose(expr)


def _is_turned(expr: n.Expr) -> bool:
    """Whether the transpose of an expression is simpler than the expression."""
    match expr:
        case n.Transpose():
            return True
        case n.Softmax(arg):
            return _is_turned(arg)
        case n.Quotient(arg, n.Number() | n.Root()):
            return _is_turned(arg)
        case n.Product(left, right):
            return _is_turned(left) or _is_turned(right)
    return False


def block_expr(expr: n.Expr, shape: Shape, at: tuple[int, int], size: Shape) -> n.Expr:
    """A block of a value of this shape, as an expression: a cell, a row, columns, or columns of the transpose."""
    (i, j), (r, c), (height, width) = at, size, shape
    if (r, c) == shape:
        return expr
    if isinstance(expr, n.Transpose):
        return transposed(block_expr(expr.arg, (width, height), (j, i), (c, r)))
    if (r, c) == (1, 1):
        return n.Entry(expr, row=i + 1, column=j + 1)
    row = i + 1 if r == 1 < height else None
    if c < width:
        expr = n.Entry(expr, row=row, column=j + 1) if c == 1 else n.Entry(expr, row=row, columns=(j + 1, j + c))
    elif row is not None:
        expr = n.Entry(expr, row=row)
    if 1 < r < height:
        expr = n.Transpose(n.Entry(transposed(expr), columns=(i + 1, i + r)))
    return expr


class Known(NamedTuple):
    """An earlier value: what stands for it, and its cells as floats with their errors; −∞ has no error."""

    expr: n.Expr
    centre: Table
    radius: Table


def known(expr: n.Expr, value: Value) -> Known | None:
    """A certified value as floats; None where a cell is too large for a float, or not finite."""
    cells = [[_float(cell) for cell in row] for row in value.rows]
    centre = tuple(tuple(middle for middle, _ in row) for row in cells)
    radius = tuple(tuple(error for _, error in row) for row in cells)
    is_held = all(x < INFINITY for x in chain(*centre, *radius))  # false of NaN too
    return Known(expr, centre, radius) if is_held else None


def _float(cell: Cell) -> tuple[float, float]:
    """The middle of a cell and how far it reaches, NaN where floats cannot hold it."""
    if cell is NEG_INF:
        return -INFINITY, 0.0
    try:
        if type(cell) is fmpq:
            return int(cell.p) / int(cell.q), 0.0
        middle, reach = float(cell.mid()), float(cell.rad())
    except OverflowError:
        return math.nan, math.nan
    return (middle, reach) if math.isfinite(middle) else (math.nan, math.nan)


def gain(target: Target, made: Operand) -> float:
    """The bits that a candidate explains: what each cell tells, less the precision that the candidate's error loses.
    A −∞ explains little, whatever is printed for it."""
    return sum(
        min(bits, LITTLE) if x == -INFINITY else max(0.0, bits - math.log2((unit + error) / unit))
        for told, units, row, errors in zip(target.bits, target.units, made.centre, made.radius, strict=True)
        for bits, unit, x, error in zip(told, units, row, errors, strict=True)
    )


class Operand(NamedTuple):
    """A value to build with, or one that was built. `columns` is its transpose, `size` its largest absolute value,
    `reach` its largest error. `place` tells which line of its pool value it is, None for the whole."""

    expr: n.Expr
    centre: Table
    radius: Table
    uses: tuple[int, ...]
    columns: Table
    size: float
    reach: float
    place: tuple[str, int] | None = None
    extra: float = 0.0  # bits that it costs beyond the logarithm of the candidates tried

    @property
    def shape(self) -> Shape:
        return len(self.centre), len(self.columns)

    @property
    def is_finite(self) -> bool:
        return self.size < INFINITY


class Trial(NamedTuple):
    """Some candidates that were tried, and the one that was left, if any."""

    tries: int
    made: Operand | None = None


Trials: TypeAlias = Iterator[Trial]
Operands: TypeAlias = Sequence[Operand]


def operand_of(
    expr: n.Expr, centre: Table, radius: Table, uses: tuple[int, ...], place: tuple[str, int] | None = None
) -> Operand:
    size, reach = max(map(abs, chain(*centre))), max(chain(*radius))
    return Operand(expr, centre, radius, uses, turn(centre), size, reach, place)


def row_of(a: Operand, i: int) -> Operand:
    """One row, with the expression of the whole."""
    return operand_of(a.expr, a.centre[i : i + 1], a.radius[i : i + 1], a.uses)


def transpose_of(a: Operand) -> Operand:
    """The transpose."""
    return Operand(transposed(a.expr), a.columns, turn(a.radius), a.uses, a.centre, a.size, a.reach, a.place, a.extra)


class Scene(NamedTuple):
    """What a grid is searched with.

    `wholes` are the pool's values, vectors as rows, and `turns` the transposes of its matrices. `lines` are all their
    rows and columns. `views` are the parts of them in the shape of the grid: matrices, or lines, or cells.
    """

    wholes: tuple[Operand, ...]
    matrices: tuple[Operand, ...]
    turns: tuple[Operand, ...]
    lines: tuple[Operand, ...]
    views: tuple[Operand, ...]
    thirds: Mapping[Shape, list[Operand]]  # matrices and their transposes by shape
    sizes: tuple[int, ...]


def scene_of(
    target: Target,
    wholes: tuple[Operand, ...],
    matrices: tuple[Operand, ...],
    turns: tuple[Operand, ...],
    sizes: tuple[int, ...],
) -> Scene:
    lines = tuple(line for a in wholes for line in _lines(a)) if target.kind < 2 else ()
    if target.kind == 0:
        views = tuple(cell for a in wholes for cell in _cells(a))
    else:
        views = tuple(a for a in (wholes if target.kind == 2 else lines) if a.shape == target.shape)
    return Scene(wholes, matrices, turns, lines, views, by_shape((*matrices, *turns)), sizes)


def whole_of(index: int, value: Known) -> Operand:
    if len(value.centre[0]) == 1 < len(value.centre):
        return operand_of(n.Transpose(value.expr), turn(value.centre), turn(value.radius), (index,))
    return operand_of(value.expr, value.centre, value.radius, (index,))


def _lines(a: Operand) -> Iterator[Operand]:
    """A vector itself; the rows and the columns of a matrix, as rows."""
    rows, columns = a.shape
    if rows == 1:
        if columns > 1:
            yield a
        return
    for i in range(rows):
        yield operand_of(n.Entry(a.expr, row=i + 1), (a.centre[i],), (a.radius[i],), a.uses, ("row", i))
    for j, errors in enumerate(turn(a.radius)):
        column = n.Transpose(n.Entry(a.expr, column=j + 1))
        yield operand_of(column, (a.columns[j],), (errors,), a.uses, ("column", j))


def _cells(a: Operand) -> Iterator[Operand]:
    if a.shape == (1, 1):
        yield a
        return
    for i, (row, errors) in enumerate(zip(a.centre, a.radius, strict=True)):
        for j, (x, e) in enumerate(zip(row, errors, strict=True)):
            yield operand_of(
                block_expr(a.expr, a.shape, (i, j), (1, 1)), ((x,),), ((e,),), a.uses, ("cell", i * 1000 + j)
            )


def by_shape(operands: Iterable[Operand]) -> Mapping[Shape, list[Operand]]:
    """Finite operands by their shapes."""
    shapes: dict[Shape, list[Operand]] = defaultdict(list)
    for a in operands:
        if a.is_finite:
            shapes[a.shape].append(a)
    return shapes


def uncounted(trials: Trials) -> Trials:
    """Trials that were counted before."""
    return (Trial(0, made) for _, made in trials if made is not None)


def parts_of(target: Target, sources: Operands) -> Trials:
    for a in sources:
        if a.shape == target.shape:
            yield _block(target, a, (0, 0))
    for a in sources:
        if a.shape != target.shape:
            yield from _blocks(target, a)


def _blocks(target: Target, a: Operand) -> Trials:
    """A contiguous block of a value, at any place."""
    (height, width), (r, c) = a.shape, target.shape
    for i in range(height - r + 1):
        for j in range(width - c + 1):
            yield _block(target, a, (i, j))


def _block(target: Target, a: Operand, at: tuple[int, int]) -> Trial:
    """One block of a value."""
    (i, j), (r, c), (p, q) = at, target.shape, target.probe
    if not abs(a.centre[i + p][j + q] - target.centre[p][q]) <= target.half[p][q] + a.radius[i + p][j + q]:
        return Trial(1)
    centre = tuple(row[j : j + c] for row in a.centre[i : i + r])
    radius = tuple(row[j : j + c] for row in a.radius[i : i + r])
    return held(target, 1, block_expr(a.expr, a.shape, at, (r, c)), centre, radius, a.uses)


def held(target: Target, count: int, expr: n.Expr, centre: Table, radius: Table, uses: tuple[int, ...]) -> Trial:
    """A whole candidate against the grid."""
    if not agrees(target, centre, radius):
        return Trial(count)
    return Trial(count, operand_of(expr, centre, radius, uses))


def tried(target: Target, made: Operand, count: int) -> Trial:
    """A value that was built, against the grid."""
    return Trial(count, made if agrees(target, made.centre, made.radius) else None)
