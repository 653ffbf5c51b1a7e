"""Every function of the table: certified cells contain what mpmath gives, floats agree, shapes and counts fit."""

from __future__ import annotations

import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from interpret.float_oracle import Floats
from qkv.errors import ShapeError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.functions import TABLE, Function, Kind, lookup
from qkv.expr.names import Symbol
from qkv.interpret.cells import NEG_INF, bounds
from qkv.interpret.certified import Certified
from qkv.interpret.counts import Counts
from qkv.interpret.loop import evaluate
from qkv.interpret.shapes import Shapes

mpmath.mp.dps = 40


def _variance(row: list) -> object:
    mean = sum(row) / len(row)
    return sum((x - mean) ** 2 for x in row) / len(row)


ORACLE = {
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "tanh": mpmath.tanh,
    "sind": lambda x: mpmath.sin(mpmath.radians(x)),
    "cosd": lambda x: mpmath.cos(mpmath.radians(x)),
    "pi": lambda x: x * mpmath.pi,
    "ln": mpmath.log,
    "log2": lambda x: mpmath.log(x, 2),
    "log10": mpmath.log10,
    "erf": mpmath.erf,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "relu": lambda x: max(x, mpmath.mpf(0)),
    "leakyrelu": lambda x: x,  # of what is positive: nobody says how steep it is below
    "gelu": lambda x: x * mpmath.ncdf(x),
    "gelutanh": lambda x: x / 2 * (1 + mpmath.tanh(mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf("0.044715") * x**3))),
    "silu": lambda x: x / (1 + mpmath.exp(-x)),
    "drelu": lambda x: mpmath.mpf(x > 0),
    "dgelu": lambda x: mpmath.ncdf(x) + x * mpmath.npdf(x),
    "dgelutanh": lambda x: mpmath.diff(ORACLE["gelutanh"], x),
    "dsilu": lambda x: mpmath.diff(ORACLE["silu"], x),
    "softplus": lambda x: mpmath.log(1 + mpmath.exp(x)),
    "elu": lambda x: x if x > 0 else mpmath.exp(x) - 1,
    "floor": mpmath.floor,
    "sum": mpmath.fsum,
    "rowsum": mpmath.fsum,
    "mean": lambda row: mpmath.fsum(row) / len(row),
    "var": _variance,
    "samplevar": lambda row: _variance(row) * len(row) / (len(row) - 1),
    "std": lambda row: mpmath.sqrt(_variance(row)),
    "norm": lambda row: mpmath.sqrt(mpmath.fsum(x * x for x in row)),
    "max": max,
    "min": min,
    "rowmax": max,
    "argmax": lambda row: row.index(max(row)) + 1,
    "entropy": lambda row: -mpmath.fsum(x * mpmath.log(x) for x in row),
    "larger": max,
    "hadamard": lambda a, b: a * b,
    "plus": lambda a, b: a + b,
    "delu": lambda x: mpmath.mpf(1) if x > 0 else mpmath.exp(x),
    "ranking": lambda row: sorted(range(1, len(row) + 1), key=lambda i: -row[i - 1]),
    "descending": lambda row: sorted(row, reverse=True),
    "diag": lambda row: [[x if i == j else mpmath.mpf(0) for j in range(len(row))] for i, x in enumerate(row)],
}


def _random_matrix(rows: int, columns: int, positive: bool) -> list[list[Fraction]]:
    return [[Fraction(random.randint(1 if positive else -300, 300), 97) for _ in range(columns)] for _ in range(rows)]


def _expected(function: Function, *args: list[list[Fraction]]) -> list[list[object]]:
    work = ORACLE[function.key]
    exact = [[[mpmath.mpf(x.numerator) / x.denominator for x in row] for row in arg] for arg in args]
    match function.kind:
        case Kind.EACH:
            return [[work(x) for x in row] for row in exact[0]]
        case Kind.ROW:
            return [[work(row)] for row in exact[0]]
        case Kind.ALL:
            return [[work([x for arg in exact for row in arg for x in row])]]
        case Kind.ROWS:
            return [work(row) for row in exact[0]]
        case Kind.SQUARE:
            return work(exact[0][0])
        case Kind.PAIR:
            return [[work(x, y) for x, y in zip(r, s, strict=True)] for r, s in zip(*exact, strict=True)]


@pytest.mark.parametrize("function", TABLE, ids=lambda row: row.key)
def test_certified_floats_shapes_and_counts_agree(function: Function) -> None:
    random.seed(function.key)
    positive = function.key in ("ln", "log2", "log10", "entropy", "leakyrelu")
    for _ in range(5):
        rows = 1 if function.kind is Kind.SQUARE else 2
        args = [_random_matrix(rows, 3, positive) for _ in range(2 if function.kind is Kind.PAIR else 1)]
        call = n.Call(function.key, tuple(n.matrix([[n.number(x) for x in row] for row in arg]) for arg in args))
        expected = _expected(function, *args)
        certified = evaluate(call, {}, Certified())
        assert certified.shape == evaluate(call, {}, Shapes()) == (len(expected), len(expected[0]))
        floats = evaluate(call, {}, Floats())
        counts = Counts()
        evaluate(call, {}, counts)
        assert counts.take() is not None
        for i, row in enumerate(expected):
            for j, true in enumerate(row):
                low, high = bounds(certified.rows[i][j])
                close = mpmath.mpf(10) ** -25
                assert (
                    mpmath.mpf(int(low.p)) / int(low.q) - close <= true <= mpmath.mpf(int(high.p)) / int(high.q) + close
                )
                assert np.isclose(floats[i, j], float(true), rtol=1e-12, atol=1e-12)


def test_a_slope_that_nobody_says_gives_no_value() -> None:
    with pytest.raises(ValueRefused, match="slope"):
        evaluate(n.Call("leakyrelu", (n.number(-1),)), {}, Certified())


def test_infinity_goes_where_it_has_a_meaning() -> None:
    row = n.Matrix(((n.number(2), n.Infinite(-1)),))
    assert evaluate(n.Call("max", (row,)), {}, Certified()).cell == 2
    assert evaluate(n.Call("relu", (row,)), {}, Certified()).rows[0][1] == 0
    assert NEG_INF in evaluate(row, {}, Certified()).rows[0]


def test_spellings_are_unique() -> None:
    spellings = [word for row in TABLE for word in row.spellings]
    assert len(spellings) == len(set(spellings))
    assert all(lookup(word) == row.key for row in TABLE for word in row.spellings)


def test_a_number_is_added_to_every_cell_but_a_name_is_not() -> None:
    two, one = n.matrix([[1, 2], [3, 4]]), n.number(1)
    assert evaluate(n.Sum((two, one)), {}, Certified()).rows == ((2, 3), (4, 5))
    assert evaluate(n.Sum((one, n.Negate(one), two)), {}, Certified()).rows == ((1, 2), (3, 4))
    with pytest.raises(ShapeError, match="c is 1×1, so they cannot be added"):
        evaluate(n.Sum((two, n.Name(Symbol("c")))), {Symbol("c"): (1, 1)}, Shapes())


def test_a_diagonal_is_made_of_a_vector() -> None:
    assert evaluate(n.Call("diag", (n.matrix([[1], [2]]),)), {}, Certified()).rows == ((1, 0), (0, 2))
    with pytest.raises(ShapeError, match="a diagonal is made of a vector, not of a 2×2 matrix"):
        evaluate(n.Call("diag", (n.matrix([[1, 2], [3, 4]]),)), {}, Certified())


def test_the_first_of_equal_numbers_ranks_first_and_what_is_masked_last() -> None:
    row = n.Matrix(((n.Infinite(-1), n.number(2), n.number(3), n.number(2)),))
    assert evaluate(n.Call("ranking", (row,)), {}, Certified()).rows == ((3, 2, 4, 1),)
