"""Depth 1: a function of one value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain

from qkv.expr import nodes as n
from qkv.reading.search.functions import (
    EACH,
    NORMS,
    WHITTLES,
    Along,
    ByAxis,
    Each,
    Whittle,
    apply_each,
    possible_along,
    possible_each,
    roots_of,
    scaled_by,
    scales_of,
    softmax_of,
    stretch,
    value_at,
    whole_sizes,
)
from qkv.reading.search.operands import Operand, Scene, Trial, Trials, held, transposed
from qkv.reading.search.tables import INFINITY, Line, Row, Table, turn
from qkv.reading.search.target import Target


def functions_of_one(target: Target, scene: Scene) -> Trials:
    softmaxes = [softmax_of(*scale) for scale in scales_of(scene.sizes)]
    each = possible_each(target, [*roots_of(scene.sizes), *whole_sizes(scene.sizes), *EACH])
    if target.kind:
        possible = possible_along(target, softmaxes)
        for a in scene.views:
            yield from along_axes(target, a, possible)
            yield from causal_softmax(target, a, scene.sizes)
    for a in scene.views:
        yield from each_of(target, a, each)
    if target.kind:
        possible = possible_along(target, NORMS)
        for a in scene.views:
            yield from along_axes(target, a, possible)
    yield from _whittled(target, scene)


def each_of(target: Target, a: Operand, functions: Sequence[Each]) -> Trials:
    """Functions taken cell by cell, of a value that has the shape of the grid."""
    i, j = target.probe
    x, e, m, h = a.centre[i][j], a.radius[i][j], target.centre[i][j], target.half[i][j]
    for function in functions:
        if (a.is_finite or function.takes_infinity) and _may_be(function, x, e, m, h):
            yield held(target, 1, function.expr(a.expr, a.shape), *apply_each(function, a), a.uses)
        else:
            yield Trial(1)


def _may_be(function: Each, x: float, error: float, printed: float, half: float) -> bool:
    """Whether a function at x may be the printed number."""
    gap = abs(value_at(function.value, x) - printed)
    if function.slope < INFINITY:
        return gap <= half + function.slope * error
    return gap <= half + stretch(function.value, x, error)


def along_axes(target: Target, a: Operand, functions: ByAxis) -> Trials:
    """Functions of the rows, and of the columns, of a value that has the shape of the grid."""
    i, j = target.probe
    for function in functions.rows:
        if a.is_finite or function.takes_infinity:
            if _line_agrees(function, a.centre[i], a.radius[i], target.centre[i], target.half[i]):
                yield held(target, 1, function.expr(a.expr), *apply_along(function, a.centre, a.radius), a.uses)
            else:
                yield Trial(1)
    for function in functions.columns:
        if a.is_finite or function.takes_infinity:
            errors, printed, halves = (tuple([row[j] for row in x]) for x in (a.radius, target.centre, target.half))
            if _line_agrees(function, a.columns[j], errors, printed, halves):
                centre, radius = apply_along(function, a.columns, turn(a.radius))
                yield held(target, 1, _down(function, a.expr), turn(centre), turn(radius), a.uses)
            else:
                yield Trial(1)


def _down(function: Along, expr: n.Expr) -> n.Expr:
    """A function of the columns of a value."""
    made = function.expr(expr)
    return n.Softmax(made.arg, 0) if isinstance(made, n.Softmax) else n.Transpose(function.expr(transposed(expr)))


def _line(function: Along, row: Row, errors: Row) -> Line:
    """A function of one line; NaN where it has no value."""
    try:
        return function.value(row, errors)
    except (ValueError, OverflowError, ZeroDivisionError):
        return (math.nan,) * len(row), errors


def _line_agrees(function: Along, row: Row, errors: Row, printed: Row, halves: Row) -> bool:
    made, blur = _line(function, row, errors)
    return all(m == -INFINITY or abs(x - m) <= h + e for x, e, m, h in zip(made, blur, printed, halves, strict=True))


def apply_along(function: Along, centre: Table, radius: Table) -> tuple[Table, Table]:
    lines = [_line(function, row, errors) for row, errors in zip(centre, radius, strict=True)]
    return tuple(row for row, _ in lines), tuple(errors for _, errors in lines)


def _masked(a: Operand, factor: float = 1.0) -> Table:
    """Scores divided by a number, −∞ above the diagonal."""
    return tuple(
        tuple(x / factor if j <= i else -INFINITY for j, x in enumerate(row)) for i, row in enumerate(a.centre)
    )


def causal_softmax(target: Target, a: Operand, sizes: tuple[int, ...]) -> Trials:
    """Scores with −∞ above the diagonal, and the softmax of these; scaled or not."""
    if target.is_masked or target.is_causal:
        for factor, divisor in scales_of(sizes):
            yield _causal_at(target, a, factor, divisor)


def _causal_at(target: Target, a: Operand, factor: float, divisor: n.Expr | None) -> Trial:
    expr: n.Expr = n.Mask(a.expr if divisor is None else n.Quotient(a.expr, divisor))
    centre, radius = _masked(a, factor), tuple(scaled_by(row, factor) for row in a.radius)
    if target.is_causal:
        expr = n.Softmax(expr, 1)
        centre, radius = apply_along(softmax_of(1.0, None), centre, radius)
    return held(target, 1, expr, centre, radius, a.uses)


def _whittled(target: Target, scene: Scene) -> Trials:
    """One number for each row or for each column, for one line, or for all cells."""
    if target.kind == 0:
        yield from chain.from_iterable(_whittle(target, a) for a in scene.lines)
        yield from chain.from_iterable(_totals(target, a) for a in scene.matrices)
    if target.kind == 1:
        for a, turned in zip(scene.matrices, scene.turns, strict=True):
            for rows in (a, turned):
                if rows.shape[0] == target.shape[1]:
                    yield from _whittle(target, rows)


def _whittle(target: Target, a: Operand) -> Trials:
    """One number for each row of a value."""
    if not a.is_finite:
        return
    j = target.probe[1]
    m, h = target.centre[0][j], target.half[0][j]
    for function in WHITTLES:
        x, e = _number(function, a.centre[j], a.radius[j])
        if not abs(x - m) <= h + e:
            yield Trial(1)
            continue
        made = [_number(function, row, errors) for row, errors in zip(a.centre, a.radius, strict=True)]
        expr: n.Expr = n.Call(function.key, (a.expr,))
        centre, radius = (tuple(x for x, _ in made),), (tuple(e for _, e in made),)
        yield held(target, 1, expr if a.shape[0] == 1 else n.Transpose(expr), centre, radius, a.uses)


def _number(function: Whittle, row: Row, errors: Row) -> tuple[float, float]:
    try:
        return function.value(row, errors)
    except (ValueError, OverflowError):
        return math.nan, 0.0


def _totals(target: Target, a: Operand) -> Trials:
    """The sum, the mean and the largest of all cells."""
    if not a.is_finite:
        return
    cells, errors = tuple(chain(*a.centre)), tuple(chain(*a.radius))
    total = n.Call("sum", (a.expr,))
    for expr, x, e in (
        (total, sum(cells), sum(errors)),
        (n.Quotient(total, n.number(len(cells))), sum(cells) / len(cells), sum(errors) / len(cells)),
        (n.Call("max", (a.expr,)), max(cells), max(errors)),
    ):
        yield held(target, 1, expr, ((x,),), ((e,),), a.uses)
