"""Functions of one value, as floats with first-order errors: of each cell, along a line, of all of a line."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from operator import mul
from typing import Final, NamedTuple

from qkv.expr import nodes as n
from qkv.expr.functions import BY_KEY
from qkv.reading.search.operands import Operand
from qkv.reading.search.tables import INFINITY, Line, Row, Shape, Table, adds_to, are_shares, are_weights, turn
from qkv.reading.search.target import Target


class Each(NamedTuple):
    """A function taken cell by cell; `slope` bounds how much it stretches errors, infinite if nothing does."""

    value: Callable[[float], float]
    slope: float
    expr: Callable[[n.Expr, Shape], n.Expr]
    low: float = -INFINITY  # its least and its greatest value
    high: float = INFINITY
    takes_infinity: bool = False


class Along(NamedTuple):
    """A function of each line (a row, or a column) that gives a line."""

    value: Callable[[Row, Row], Line]
    expr: Callable[[n.Expr], n.Expr]  # of rows
    law: Callable[[Row, Row], bool]  # what every line that it gives obeys, printed with these errors
    takes_infinity: bool = False


class Whittle(NamedTuple):
    """A function of each line that gives a number: the key of its Call, the number and its error."""

    key: str
    value: Callable[[Row, Row], tuple[float, float]]


def _call(key: str) -> Callable[[n.Expr, Shape], n.Expr]:
    return lambda x, shape: n.Call(key, (x,))


def _ones(shape: Shape) -> n.Expr:
    """Ones that a matrix of this shape can be added to."""
    return n.number(1) if 1 in shape else n.matrix([[1] * shape[1]] * shape[0])


def _row(key: str, slope: float, low: float = -INFINITY, high: float = INFINITY) -> Each:
    """A row of the table of functions."""
    return Each(BY_KEY[key].floats, slope, _call(key), low, high)


def _scale(factor: float, divisor: n.Expr) -> Each:
    return Each(lambda x: x / factor, 1.0, lambda x, shape: n.Quotient(x, divisor), takes_infinity=True)


ACTIVATIONS: Final = (
    _row("relu", 1.0, 0),
    _row("tanh", 1.0, -1, 1),
    _row("sigmoid", 0.25, 0, 1),
    _row("gelu", 1.13, -0.2),
    _row("gelutanh", 1.13, -0.2),
)
EACH: Final = (
    Each(math.exp, INFINITY, lambda x, shape: n.Exp(x), 0, takes_infinity=True),
    *ACTIVATIONS,
    Each(lambda x: x * x, INFINITY, lambda x, shape: n.Power(x, n.number(2)), 0),
    Each(math.sqrt, INFINITY, lambda x, shape: n.Root(x), 0),
    Each(lambda x: -x, 1.0, lambda x, shape: n.Negate(x)),
    Each(lambda x: 1 - x, 1.0, lambda x, shape: n.Sum((_ones(shape), n.Negate(x)))),
    _row("ln", INFINITY),
)


def roots_of(sizes: tuple[int, ...]) -> list[Each]:
    """x / √d"""
    return [_scale(math.sqrt(d), n.Root(n.number(d))) for d in sizes]


def whole_sizes(sizes: tuple[int, ...]) -> list[Each]:
    """x / d"""
    return [_scale(d, n.number(d)) for d in sizes]


def value_at(function: Callable[[float], float], x: float) -> float:
    """A function at a point, NaN where it has no value."""
    try:
        return function(x)
    except (ValueError, OverflowError):
        return math.nan


def stretch(function: Callable[[float], float], x: float, error: float) -> float:
    """How far a function strays from its value at x within an error, exactly so where it is monotone."""
    if not error:
        return 0.0
    middle = value_at(function, x)
    return max(abs(value_at(function, x - error) - middle), abs(value_at(function, x + error) - middle))


def apply_each(function: Each, a: Operand) -> tuple[Table, Table]:
    value = function.value
    centre = tuple(tuple(value_at(value, x) for x in row) for row in a.centre)
    radius = tuple(
        tuple(stretch(value, x, e) for x, e in zip(row, errors, strict=True))
        for row, errors in zip(a.centre, a.radius, strict=True)
    )
    return centre, radius


def weights_of(scores: Row, factor: float = 1.0) -> Row:
    top = max(scores)
    powers = [math.exp((x - top) / factor) for x in scores]
    total = sum(powers)
    return tuple([x / total for x in powers])


def _softmax(row: Row, errors: Row) -> Line:
    weights = weights_of(row)
    blur = sum(map(mul, weights, errors))
    return weights, tuple(w * (blur + e * (1 - 2 * w)) for w, e in zip(weights, errors, strict=True))


def _share(row: Row, errors: Row) -> Line:
    total, blur = sum(row), sum(errors)
    shares = tuple(x / total for x in row)
    return shares, tuple((e + abs(y) * blur) / abs(total) for y, e in zip(shares, errors, strict=True))


def _over_norm(row: Row, errors: Row, norm: float) -> Line:
    """A row divided by a norm that grows with it."""
    made = tuple(x / norm for x in row)
    blur = sum(abs(x) * e for x, e in zip(row, errors, strict=True)) / sum(x * x for x in row)
    return made, tuple(e / norm + abs(y) * blur for y, e in zip(made, errors, strict=True))


def _rms_norm(row: Row, errors: Row) -> Line:
    return _over_norm(row, errors, math.hypot(*row) / math.sqrt(len(row)))


def _layer_norm(row: Row, errors: Row) -> Line:
    middle, blur = sum(row) / len(row), sum(errors) / len(row)
    return _rms_norm(tuple(x - middle for x in row), tuple(e + blur for e in errors))


def normed(x: n.Expr) -> n.Expr:
    """Each row less its mean, over its standard deviation."""
    return n.Quotient(n.Sum((x, n.Negate(n.Call("mean", (x,))))), n.Call("std", (x,)))


def _squares_add_to(total: float, row: Row, halves: Row) -> bool:
    """Whether the squares of the cells of a printed line may add up to a number."""
    return adds_to(total, tuple(x * x for x in row), tuple(map(lambda x, e: (2 * abs(x) + e) * e, row, halves)))


def _is_rms_normed(row: Row, halves: Row) -> bool:
    return _squares_add_to(len(row), row, halves)


LAYER_NORM: Final = Along(
    _layer_norm, normed, lambda row, halves: adds_to(0, row, halves) and _is_rms_normed(row, halves)
)
RMS_NORM: Final = Along(
    _rms_norm, lambda x: n.Quotient(x, n.Root(n.Call("mean", (n.Power(x, n.number(2)),)))), _is_rms_normed
)
NORMS: Final = (
    Along(_share, lambda x: n.Normalise(x, 1), are_shares),
    LAYER_NORM,
    RMS_NORM,
    Along(
        lambda row, errors: _over_norm(row, errors, math.hypot(*row)),
        lambda x: n.Quotient(x, n.Call("norm", (x,))),
        lambda row, halves: _squares_add_to(1, row, halves),
    ),
)


def possible_each(target: Target, functions: Iterable[Each]) -> list[Each]:
    """Those functions whose values reach every printed cell."""
    cells = [
        (x, h) for row, halves in zip(target.centre, target.half, strict=True) for x, h in zip(row, halves, strict=True)
    ]
    least, greatest = min(x + h for x, h in cells), max(x - h for x, h in cells)
    return [function for function in functions if function.low <= least and greatest <= function.high]


class ByAxis(NamedTuple):
    """Functions that may have given the printed rows, and those that may have given its columns."""

    rows: list[Along]
    columns: list[Along]


def possible_along(target: Target, functions: Iterable[Along]) -> ByAxis:
    """Those functions whose laws the printed grid obeys."""
    rows = [f for f in functions if all(map(f.law, target.centre, target.half))]
    if target.kind < 2:
        return ByAxis(rows, [])
    turned = turn(target.centre), turn(target.half)
    return ByAxis(rows, [f for f in functions if all(map(f.law, *turned))])


def scaled_by(row: Row, factor: float) -> Row:
    return tuple(x / factor for x in row)


def softmax_of(factor: float, divisor: n.Expr | None) -> Along:
    """Softmax of scores divided by a number."""
    return Along(
        lambda row, errors: _softmax(scaled_by(row, factor), scaled_by(errors, factor)),
        lambda x: n.Softmax(x if divisor is None else n.Quotient(x, divisor), 1),
        are_weights,
        takes_infinity=True,
    )


def scales_of(sizes: tuple[int, ...]) -> list[tuple[float, n.Expr | None]]:
    """What scores are divided by before a softmax: nothing, or √d."""
    return [(1.0, None), *((math.sqrt(d), n.Root(n.number(d))) for d in sizes)]


def _mean(row: Row, errors: Row) -> tuple[float, float]:
    return sum(row) / len(row), sum(errors) / len(row)


def _variance(row: Row, errors: Row) -> tuple[float, float]:
    middle = sum(row) / len(row)
    error = 2 * sum(abs(x - middle) * e for x, e in zip(row, errors, strict=True)) / len(row) + max(errors) ** 2
    return sum((x - middle) ** 2 for x in row) / len(row), error


def _deviation(row: Row, errors: Row) -> tuple[float, float]:
    return math.sqrt(_variance(row, errors)[0]), max(errors)


def _entropy(row: Row, errors: Row) -> tuple[float, float]:
    """Entropy, whose slope at a weight x is −log x − 1; weights of exactly 0 add nothing."""
    value = -sum(x * math.log(x) for x in row if x)
    return value, sum(abs(math.log(x) + 1) * e for x, e in zip(row, errors, strict=True) if x)


WHITTLES: Final = (
    Whittle("rowsum", lambda row, errors: (sum(row), sum(errors))),
    Whittle("mean", _mean),
    Whittle("var", _variance),
    Whittle("std", _deviation),
    Whittle("norm", lambda row, errors: (math.hypot(*row), max(errors) * math.sqrt(len(row)))),
    Whittle("rowmax", lambda row, errors: (max(row), max(errors))),
    Whittle("entropy", _entropy),
)
