"""Depth 1: two values together."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import chain, combinations, permutations
from operator import add, mul, sub, truediv
from typing import Final, NamedTuple

from qkv.expr import nodes as n
from qkv.reading.search.operands import (
    Operand,
    Operands,
    Scene,
    Trial,
    Trials,
    by_shape,
    operand_of,
    transpose_of,
    transposed,
    tried,
)
from qkv.reading.search.tables import INFINITY, Row, Table, is_same, turn
from qkv.reading.search.target import Target


def pairs(target: Target, scene: Scene) -> Trials:
    yield from _products(target, scene)
    yield from _cell_by_cell(target, scene)
    if target.kind == 2:
        yield from _outer(target, scene)
    if target.kind:
        yield from _joined(target, scene)


def _factors(target: Target, scene: Scene) -> list[tuple[Operands, Operands]]:
    """Left and right factors of products: A B, A Bᵀ and Aᵀ B; a line times a matrix; two lines."""
    if target.kind == 2:
        return [(scene.matrices, scene.matrices), (scene.matrices, scene.turns), (scene.turns, scene.matrices)]
    if target.kind == 1:
        return [(scene.lines, scene.matrices), (scene.lines, scene.turns)]
    return [(scene.lines, [transpose_of(a) for a in scene.lines])]


def factor_pairs(target: Target, scene: Scene) -> Iterator[tuple[Operand, list[Operand]]]:
    """Each left factor with all right factors that give the shape of the grid."""
    r, c = target.shape
    for lefts, rights in _factors(target, scene):
        shapes = by_shape(rights)
        for a in lefts:
            if len(a.centre) == r and a.is_finite and (fitting := shapes.get((len(a.columns), c))):
                yield a, fitting


def blur_of(a: Operand, b: Operand) -> float:
    """What a cell of a product may be off at most, from the largest errors of its factors."""
    if not a.reach and not b.reach:
        return 0.0
    return len(a.columns) * (a.size * b.reach + a.reach * b.size + a.reach * b.reach)


def line_errors(a: Operand, b: Operand, i: int) -> Row:
    """What the cells of one row of a product may be off."""
    if not a.reach and not b.reach:
        return (0.0,) * len(b.columns)
    columns = zip(b.columns, turn(b.radius), strict=True)
    return tuple([error_of(a.centre[i], a.radius[i], column, errors) for column, errors in columns])


def error_of(row: Row, errors: Row, column: Row, others: Row) -> float:
    """What the product of a row and a column may be off."""
    return sum([abs(x) * f + e * (abs(y) + f) for x, e, y, f in zip(row, errors, column, others, strict=True)])


def error_at(a: Operand, b: Operand, i: int, j: int) -> float:
    """What one cell of a product may be off."""
    if not a.reach and not b.reach:
        return 0.0
    return error_of(a.centre[i], a.radius[i], b.columns[j], tuple([row[j] for row in b.radius]))


def _products(target: Target, scene: Scene) -> Trials:
    i, j = target.probe
    m, h = target.centre[i][j], target.half[i][j]
    for a, fitting in factor_pairs(target, scene):
        row = a.centre[i]
        yield Trial(len(fitting))
        for b in fitting:
            off = abs(sum(map(mul, row, b.columns[j])) - m)
            near = off <= h + blur_of(a, b) and off <= h + (error := error_at(a, b, i, j)) and target.tells_of(error)
            if near:
                yield Trial(0, product_in(target, a, b))


def product_in(target: Target, a: Operand, b: Operand) -> Operand | None:
    """A B, worked out row by row as long as it agrees with the grid; the row of the probe comes first."""
    first = target.probe[0]
    rows: dict[int, tuple[Row, Row]] = {}
    for i in (first, *(k for k in range(len(a.centre)) if k != first)):
        row, errors = tuple([sum(map(mul, a.centre[i], column)) for column in b.columns]), line_errors(a, b, i)
        if not all(map(is_same, row, errors, target.centre[i], target.half[i])):
            return None
        rows[i] = row, errors
    centre, radius = zip(*(rows[i] for i in range(len(rows))), strict=True)
    return operand_of(n.Product(a.expr, b.expr), centre, radius, a.uses + b.uses)


def _multiplied(a: Operand, b: Operand) -> tuple[Table, Table]:
    centre = tuple([tuple([sum(map(mul, row, column)) for column in b.columns]) for row in a.centre])
    if not a.reach and not b.reach:
        return centre, ((0.0,) * len(b.columns),) * len(a.centre)
    blurs = turn(b.radius)
    radius = tuple(
        tuple(
            sum(abs(x) * f + e * (abs(y) + f) for x, e, y, f in zip(row, errors, column, blur, strict=True))
            for column, blur in zip(b.columns, blurs, strict=True)
        )
        for row, errors in zip(a.centre, a.radius, strict=True)
    )
    return centre, radius


def product_of(a: Operand, b: Operand) -> Operand:
    return operand_of(n.Product(a.expr, b.expr), *_multiplied(a, b), a.uses + b.uses)


class Spread(NamedTuple):
    """A value repeated until it is as large as the grid; its expression is that of the value."""

    how: str  # what it was: "same", "row", "column" or "number"
    filled: Operand


def spreads_of(target: Target, scene: Scene) -> list[Spread]:
    """Numbers, and beside a matrix vectors, repeated to fill the shape of the grid."""
    r, c = target.shape
    made = []
    for a in scene.wholes:
        if not a.is_finite:
            continue
        if a.shape == (1, 1):
            made.append(Spread("number", _filled(a, a.centre[0] * c, a.radius[0] * c, r)))
        elif target.kind == 2 and a.shape == (1, c):
            made.append(Spread("row", _filled(a, a.centre[0], a.radius[0], r)))
        if target.kind == 2 and a.shape == (1, r):
            column = _filled(a, a.centre[0], a.radius[0], c)
            made.append(Spread("column", transpose_of(column)))
    return made


def _filled(a: Operand, row: Row, errors: Row, times: int) -> Operand:
    return operand_of(a.expr, (row,) * times, (errors,) * times, a.uses)


class _Two(NamedTuple):
    """An operation on two values cell by cell: its number, the error of that, and how the second may be spread."""

    value: Callable[[float, float], float]
    error: Callable[[float, float, float, float], float]  # of x ± e and y ± f
    expr: Callable[[n.Expr, n.Expr, str], n.Expr]
    spreads: frozenset[str]
    commutes: bool


def _times_expr(a: n.Expr, b: n.Expr, how: str) -> n.Expr:
    return n.Product(b, a) if how == "number" else n.Call("hadamard", (a, b))


def _over_expr(a: n.Expr, b: n.Expr, how: str) -> n.Expr:
    if how == "row":
        return n.Transpose(n.Quotient(transposed(a), transposed(b)))
    return n.Quotient(a, b)


def _over_error(x: float, e: float, y: float, f: float) -> float:
    return (e + abs(x / y) * f) / (abs(y) - f) if abs(y) > f else INFINITY


VECTORS: Final = frozenset({"same", "row", "column"})
PLUS: Final = _Two(add, lambda x, e, y, f: e + f, lambda a, b, how: n.Sum((a, b)), VECTORS, True)
ANY: Final = VECTORS | {"number"}
MINUS: Final = _Two(sub, lambda x, e, y, f: e + f, lambda a, b, how: n.Sum((a, n.Negate(b))), ANY, False)
TIMES: Final = _Two(mul, lambda x, e, y, f: abs(x) * f + e * (abs(y) + f), _times_expr, ANY, True)
OVER: Final = _Two(truediv, _over_error, _over_expr, ANY, False)
TWO: Final = (PLUS, MINUS, TIMES, OVER)


def companions(target: Target, scene: Scene, both: bool) -> Iterator[tuple[Operand, Operand]]:
    """Values of the grid's shape to be combined cell by cell: whole values with any other, and lines or cells of
    different values at the same place; in `both` orders, or in one."""
    orders = permutations if both else combinations
    if target.kind == 2:
        yield from orders(scene.views, 2)
        return
    groups: dict[tuple[str, int] | None, list[Operand]] = defaultdict(list)
    for a in scene.views:
        groups[a.place].append(a)
    wholes = groups.pop(None, [])
    yield from orders(wholes, 2)
    for group in groups.values():
        yield from orders(group, 2)
        for whole in wholes:
            for a in group:
                yield a, whole
                if both:
                    yield whole, a


def _cell_by_cell(target: Target, scene: Scene) -> Trials:
    i, j = target.probe
    m, h = target.centre[i][j], target.half[i][j]
    for two in TWO:
        value, error = two.value, two.error
        for a, b in companions(target, scene, both=not two.commutes):
            x, y = a.centre[i][j], b.centre[i][j]
            if value is truediv and not y:
                continue
            if not abs(value(x, y) - m) <= h + error(x, a.radius[i][j], y, b.radius[i][j]):
                yield Trial(1)
            else:
                yield _combined(target, two, a, Spread("same", b))
    for spread in spreads_of(target, scene):
        for two in TWO:
            if spread.how in two.spreads:
                for a in scene.views:
                    if a.uses != spread.filled.uses:
                        yield _combined(target, two, a, spread)


def _combined(target: Target, two: _Two, a: Operand, spread: Spread) -> Trial:
    made = combined(two, a, spread)
    return Trial(1) if made is None else tried(target, made, 1)


def combined(two: _Two, a: Operand, spread: Spread) -> Operand | None:
    """Two values combined cell by cell; None where a cell has no value."""
    b = spread.filled
    try:
        centre = tuple(tuple(map(two.value, x, y)) for x, y in zip(a.centre, b.centre, strict=True))
        lines = zip(a.centre, a.radius, b.centre, b.radius, strict=True)
        radius = tuple(tuple(map(two.error, x, e, y, f)) for x, e, y, f in lines)
    except (ZeroDivisionError, OverflowError):
        return None
    errors = tuple(tuple(0.0 if math.isnan(e) else e for e in row) for row in radius)  # beside −∞
    return operand_of(two.expr(a.expr, b.expr, spread.how), centre, errors, a.uses + b.uses)


def _outer(target: Target, scene: Scene) -> Trials:
    """A column times a row."""
    r, c = target.shape
    vectors = by_shape(scene.wholes)
    for u in vectors.get((1, r), ()):
        for v in vectors.get((1, c), ()):
            made = product_of(transpose_of(u), v)
            yield tried(target, made, 1)


def _joined(target: Target, scene: Scene) -> Trials:
    """Values beside each other; for a matrix also vectors as its columns, and values over each other."""
    if target.kind == 1:
        yield from _beside(target.centre, target.half, scene.wholes)
        return
    upright = [transpose_of(a) for a in scene.wholes if a.shape[0] == 1]
    yield from _beside(target.centre, target.half, [*scene.matrices, *upright])
    for count, made in _beside(turn(target.centre), turn(target.half), [*scene.turns, *upright]):
        yield Trial(count, made and transpose_of(made))


def _beside(centre: Table, half: Table, sources: Operands) -> Trials:
    """Values beside each other that fill a grid: each is the first that agrees with what the grid has after the last.
    The choice of each costs bits."""
    height, width = len(centre), len(centre[0])
    parts: list[Operand] = []
    done, extra = 0, 0.0
    while done < width:
        fitting = [a for a in sources if len(a.centre) == height and len(a.columns) <= width - done]
        yield Trial(len(fitting))
        part = next((a for a in fitting if _stands_at(a, centre, half, done)), None)
        if part is None:
            return
        parts.append(part)
        done, extra = done + len(part.columns), extra + math.log2(len(fitting) + 1)
    if len(parts) > 1:
        yield Trial(0, _concatenated(parts, extra))


def _stands_at(a: Operand, centre: Table, half: Table, start: int) -> bool:
    """Whether a value agrees with the columns of a grid from `start` on."""
    for row, errors, printed, halves in zip(a.centre, a.radius, centre, half, strict=True):
        for j, (x, e) in enumerate(zip(row, errors, strict=True), start):
            if not is_same(x, e, printed[j], halves[j]):
                return False
    return True


def _concatenated(parts: Operands, extra: float) -> Operand:
    centre = tuple(tuple(chain(*rows)) for rows in zip(*(a.centre for a in parts), strict=True))
    radius = tuple(tuple(chain(*rows)) for rows in zip(*(a.radius for a in parts), strict=True))
    uses = tuple(chain(*(a.uses for a in parts)))
    made = operand_of(n.Concat(tuple(a.expr for a in parts), 1), centre, radius, uses)
    return made._replace(extra=extra)
