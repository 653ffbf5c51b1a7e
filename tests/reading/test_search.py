"""The search for short expressions: it finds every kind that it knows, certified, and nothing in random numbers."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

import pytest
from flint import arb, fmpq

from qkv.check.compare import Shown, meets, shown_cell, shown_number
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.cells import NEG_INF
from qkv.interpret.certified import Certified, Value
from qkv.interpret.loop import evaluate
from qkv.reading.search import Found, Known, known, search

Rows = Sequence[Sequence[float]]
SIZES = (2, 3)


def _random(rng: random.Random, rows: int, columns: int, low: float = -2, high: float = 2) -> Value:
    return Value(
        tuple(
            tuple(fmpq(rng.randint(int(low * 1000), int(high * 1000)), 1000) for _ in range(columns))
            for _ in range(rows)
        )
    )


def _name(i: int) -> n.Name:
    return n.Name(Symbol(f"P{i}"))


def _pool(values: Sequence[Value]) -> list[Known]:
    made = [known(_name(i), value) for i, value in enumerate(values)]
    assert all(made)
    return [value for value in made if value is not None]


def _shown(text: str) -> Shown:
    return shown_cell("-inf", NEG_INF) if text == "-inf" else shown_number(n.number(text))


def _grid(rows: Rows, digits: int = 4) -> list[list[Shown]]:
    return [[_shown("-inf" if x == -math.inf else f"{x:.{digits}f}") for x in row] for row in rows]


def _printed(value: Value, digits: int = 4) -> list[list[Shown]]:
    return _grid([[-math.inf if x is NEG_INF else float(arb(x)) for x in row] for row in value.rows], digits)


def _work(expr: n.Expr, values: Sequence[Value]) -> Value:
    return evaluate(expr, {Symbol(f"P{i}"): value for i, value in enumerate(values)}, Certified())


def _certify(found: Found | None, grid: list[list[Shown]], values: Sequence[Value]) -> Found:
    """What was found, evaluated in certified arithmetic, has the printed shape and the printed digits."""
    assert found is not None
    value = _work(found.expr, values)
    assert value.shape == (len(grid), len(grid[0]))
    assert all(
        meets(shown, cell)
        for line, row in zip(grid, value.rows, strict=True)
        for shown, cell in zip(line, row, strict=True)
    )
    return found


A, B, C, POSITIVE, ROW, COLUMN, SCALAR, WIDE, SQUARE, BIAS, MASK = map(_name, range(11))


def _values(seed: int) -> list[Value]:
    """The pool: A 3×3, B 3×4, C 3×4, positive 3×4, a row of 4, a column of 3, a number, 4×6, 3×3, a row of 3, a padding mask."""
    rng = random.Random(seed)
    mask = Value(tuple(tuple(NEG_INF if j == 1 else fmpq(0) for j in range(3)) for i in range(3)))
    return [
        _random(rng, 3, 3), _random(rng, 3, 4), _random(rng, 3, 4), _random(rng, 3, 4, 0.1, 0.9), _random(rng, 1, 4),
        _random(rng, 3, 1), _random(rng, 1, 1, 1.5, 3), _random(rng, 4, 6), _random(rng, 3, 3), _random(rng, 1, 3), mask,
    ]  # fmt: skip


def _over_root(x: n.Expr, d: int = 2) -> n.Expr:
    return n.Quotient(x, n.Root(n.number(d)))


def _call(key: str, *args: n.Expr) -> n.Expr:
    return n.Call(key, args)


def _layer_norm(x: n.Expr) -> n.Expr:
    return n.Quotient(n.Sum((x, n.Negate(_call("mean", x)))), _call("std", x))


T, P = n.Transpose, n.Product
SCORES = P(B, T(C))
KINDS: dict[str, n.Expr] = {
    # depth 0
    "itself": B,
    "transpose": T(B),
    "row": n.Entry(B, row=2),
    "column": n.Entry(B, column=3),
    "part of a row": n.Entry(WIDE, row=2, columns=(3, 5)),
    "block of columns": n.Entry(WIDE, columns=(4, 6)),
    "block of rows": T(n.Entry(T(WIDE), columns=(2, 3))),
    "block": n.Entry(T(n.Entry(T(WIDE), columns=(2, 3))), columns=(2, 4)),
    "vector turned": T(ROW),
    # depth 1, one value
    "over √d": _over_root(B, 3),
    "over d": n.Quotient(B, n.number(3)),
    "softmax": n.Softmax(B),
    "softmax down": n.Softmax(B, 0),
    "softmax scaled": n.Softmax(_over_root(B)),
    "softmax down scaled": n.Softmax(_over_root(B), 0),
    "softmax of a row": n.Softmax(n.Entry(B, row=2)),
    "softmax of a column": n.Softmax(COLUMN, 0),
    "causal": n.Mask(A),
    "causal scaled": n.Mask(_over_root(A)),
    "causal softmax": n.Softmax(n.Mask(A)),
    "causal softmax scaled": n.Softmax(n.Mask(_over_root(A))),
    "exp": n.Exp(B),
    "exp of a row": n.Exp(n.Entry(B, row=1)),
    "share": n.Normalise(POSITIVE),
    "share down": n.Normalise(POSITIVE, 0),
    "row sums": _call("rowsum", B),
    "column sums": _call("rowsum", T(B)),
    "row means": _call("mean", B),
    "variances": _call("var", B),
    "deviations": _call("std", B),
    "norms": _call("norm", B),
    "norms of columns": _call("norm", T(B)),
    "entropies": _call("entropy", POSITIVE),
    "layer norm": _layer_norm(B),
    "layer norm down": T(_layer_norm(T(B))),
    "layer norm of a row": _layer_norm(ROW),
    "RMS norm": n.Quotient(B, n.Root(_call("mean", n.Power(B, n.number(2))))),
    "unit rows": n.Quotient(B, _call("norm", B)),
    "tanh": n.Call("tanh", (B,)),
    "relu": _call("relu", B),
    "sigmoid": _call("sigmoid", B),
    "gelu": _call("gelu", B),
    "gelu by tanh": _call("gelutanh", B),
    "square": n.Power(B, n.number(2)),
    "root": n.Root(POSITIVE),
    "minus": n.Negate(B),
    "one minus a row": n.Sum((n.number(1), n.Negate(ROW))),
    "log": _call("ln", POSITIVE),
    # depth 1, two values
    "A B": P(A, B),
    "A Bᵀ": SCORES,
    "Aᵀ B": P(T(B), C),
    "row of A B": P(n.Entry(A, row=2), B),
    "row of A Bᵀ": P(n.Entry(B, row=2), T(C)),
    "A v": P(A, COLUMN),
    "A + B": n.Sum((B, C)),
    "A − B": n.Sum((B, n.Negate(C))),
    "A ∘ B": _call("hadamard", B, C),
    "A / B": n.Quotient(C, POSITIVE),
    "A plus a row": n.Sum((B, ROW)),
    "A plus a column": n.Sum((B, COLUMN)),
    "A over its rows' numbers": n.Quotient(B, COLUMN),
    "A over its columns' numbers": T(n.Quotient(T(B), T(ROW))),
    "A over a number": n.Quotient(B, SCALAR),
    "number times A": P(SCALAR, B),
    "number times a row": P(SCALAR, ROW),
    "rows weighted": _call("hadamard", COLUMN, B),
    "columns weighted": _call("hadamard", B, ROW),
    "rows added": n.Sum((n.Entry(B, row=3), ROW)),
    "beside": n.Concat((B, C)),
    "over": n.Concat((B, C), 0),
    "three beside": n.Concat((B, A, C)),
    "rows stacked": n.Concat((ROW, B), 0),
    "vectors joined": n.Concat((ROW, BIAS)),
    "outer": P(COLUMN, ROW),
    "masked by a matrix": n.Sum((A, MASK)),
    # depth 2
    "A Bᵀ / √d": _over_root(SCORES, 3),
    "softmax(A Bᵀ)": n.Softmax(SCORES),
    "softmax(A Bᵀ/√d)": n.Softmax(_over_root(SCORES)),
    "softmax(A B/√d)": n.Softmax(_over_root(P(A, SQUARE))),
    "softmax(Aᵀ B/√d) down": n.Softmax(_over_root(P(T(B), C)), 0),
    "causal softmax(A Bᵀ/√d)": n.Softmax(n.Mask(_over_root(SCORES))),
    "softmax of one row of A Bᵀ/√d": n.Softmax(_over_root(P(n.Entry(B, row=1), T(C)))),
    "softmax(A + mask)": n.Softmax(n.Sum((A, MASK))),
    "layer norm(A + B)": _layer_norm(n.Sum((B, C))),
    "layer norm(row + row)": _layer_norm(n.Sum((n.Entry(B, row=2), n.Entry(C, row=2)))),
    "relu(A B)": _call("relu", P(A, B)),
    "tanh(A B)": n.Call("tanh", (P(A, B),)),
    "A B + row": n.Sum((P(A, B), ROW)),
    "A B + C": n.Sum((P(A, B), C)),
    "relu(A B + row)": _call("relu", n.Sum((P(A, B), ROW))),
    "row of A B + row": n.Sum((P(n.Entry(A, row=1), B), ROW)),
    "(A B) C": P(P(A, B), WIDE),
    "(A B) Cᵀ": P(P(A, B), T(POSITIVE)),
    "row (A B) C": P(P(BIAS, B), WIDE),
    "softmax(A Bᵀ/√d) C": P(n.Softmax(_over_root(SCORES)), POSITIVE),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_found(kind: str) -> None:
    values = _values(sum(map(ord, kind)))
    truth = _work(KINDS[kind], values)
    grid = _printed(truth)
    found = _certify(search(grid, _pool(values), SIZES), grid, values)
    assert _work(found.expr, values).shape == truth.shape
    names = {part.symbol.base for part in n.walk(KINDS[kind]) if isinstance(part, n.Name)}
    assert {f"P{i}" for i in found.uses} == names
    assert found.bits >= 4


@pytest.mark.parametrize("kind", KINDS)
def test_orientation_of_vectors_is_free(kind: str) -> None:
    values = _values(7)
    truth = _work(KINDS[kind], values)
    if 1 in truth.shape:
        grid = _printed(Certified().transpose(truth))
        _certify(search(grid, _pool(values), SIZES), grid, values)


@pytest.mark.parametrize("kind", ["A B", "A Bᵀ / √d", "softmax(A Bᵀ/√d)", "softmax", "layer norm", "A + B", "A v"])
def test_rounded_operands_are_enough(kind: str) -> None:
    """The pool holds what is printed to three places, and the grid was worked out before anything was rounded."""
    exact = _values(11)
    truth = _work(KINDS[kind], exact)
    rng = random.Random(3)
    rounded = [
        Value(tuple(tuple(x if x is NEG_INF else _ball(x, rng) for x in row) for row in value.rows)) for value in exact
    ]
    grid = _printed(truth, 3)
    found = search(grid, _pool(rounded), SIZES)
    sharp = search(grid, _pool(exact), SIZES)
    assert found is not None
    assert sharp is not None
    assert found.expr == sharp.expr
    assert found.bits < sharp.bits


def _ball(x: fmpq, rng: random.Random) -> arb:
    """A ball of half a unit of the third place that contains x."""
    return arb(float(int(x.p) / int(x.q)) + rng.uniform(-0.0004, 0.0004), 0.0005)


NUMBERS: dict[str, Callable[[list[Value]], n.Expr]] = {
    "cell": lambda v: n.Entry(_name(0), row=2, column=1),
    "number": lambda v: _name(1),
    "dot product": lambda v: P(n.Entry(_name(0), row=1), T(n.Entry(_name(0), row=2))),
    "dot product scaled": lambda v: _over_root(P(n.Entry(_name(0), row=1), T(n.Entry(_name(0), row=2)))),
    "total": lambda v: _call("sum", _name(0)),
    "mean of all": lambda v: n.Quotient(_call("sum", _name(0)), n.number(4)),
    "norm of a row": lambda v: _call("norm", n.Entry(_name(0), row=1)),
    "exp of a cell": lambda v: n.Exp(n.Entry(_name(0), row=1, column=1)),
    "product of numbers": lambda v: P(_name(1), n.Entry(_name(0), row=1, column=1)),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_of_many_digits_are_found(kind: str) -> None:
    rng = random.Random(5)
    values = [_random(rng, 2, 2), _random(rng, 1, 1)]
    grid = _printed(_work(NUMBERS[kind](values), values), 7)
    _certify(search(grid, _pool(values), SIZES), grid, values)


def test_a_number_of_few_digits_tells_too_little() -> None:
    values = [_random(random.Random(i), 4, 4) for i in range(10)]
    assert search([[_shown("0.12")]], _pool(values), SIZES) is None


def test_nothing_is_found_in_random_grids() -> None:
    rng = random.Random(0)
    for _ in range(500):
        values = [_random(rng, rng.randint(2, 4), rng.randint(2, 4)) for _ in range(10)]
        rows, columns = rng.randint(2, 4), rng.randint(2, 4)
        grid = [[_shown(f"{rng.uniform(-2, 2):.3g}") for _ in range(columns)] for _ in range(rows)]
        found = search(grid, _pool(values), SIZES)
        assert found is None, found


@pytest.mark.parametrize("rows", [[["1", "0"], ["0", "1"]], [["0", "0"], ["0", "0"]], [["1"]], [["-inf", "-inf"]]])
def test_what_tells_little_is_not_explained(rows: list[list[str]]) -> None:
    grid = [[_shown(text) for text in row] for row in rows]
    same = Value(tuple(tuple(shown.cell for shown in row) for row in grid))
    assert search(grid, _pool([same]), SIZES) is None


def test_the_first_depth_wins_and_the_limit_holds() -> None:
    values = _values(1)
    values.append(_work(SCORES, values))
    grid = _printed(values[-1])
    found = _certify(search(grid, _pool(values), SIZES), grid, values)
    assert found.expr == _name(len(values) - 1)
    assert search(grid, _pool(values[:-1]), SIZES, limit=5) is None


def test_a_number_that_code_writes_for_minus_infinity() -> None:
    values = _values(2)
    grid = _printed(_work(n.Mask(A), values))
    grid = [[_shown("-1000000000") if shown.cell is NEG_INF else shown for shown in row] for row in grid]
    _certify(search(grid, _pool(values), SIZES), grid, values)


def test_values_that_no_float_holds_are_left_out() -> None:
    assert known(A, Value(((fmpq(10) ** 400,),))) is None
    assert known(A, Value(((arb("nan"),),))) is None
    made = known(A, Value(((NEG_INF, fmpq(1, 3), arb(2, 0.5)),)))
    assert made is not None
    assert made.centre == ((-math.inf, 1 / 3, 2.0),)
    assert made.radius[0][:2] == (0.0, 0.0)
    assert 0.5 <= made.radius[0][2] < 0.500001


def test_ragged_and_empty_grids_have_no_explanation() -> None:
    pool = _pool(_values(0))
    assert search([], pool, SIZES) is None
    assert search([[_shown("1.25")], [_shown("1.5"), _shown("2.5")]], pool, SIZES) is None


def test_very_negative_numbers_keep_their_digits() -> None:
    value = Value(((fmpq(-123456, 100), fmpq(-234567, 100)),))
    assert search([[_shown("-1234.56"), _shown("-2345.67")]], _pool([value]), SIZES) is not None
    assert search([[_shown("-1234.66"), _shown("-2345.67")]], _pool([value]), SIZES) is None


def test_odd_values_do_no_harm() -> None:
    """Zeros, −∞ and numbers at the ends of what floats hold, in any place."""
    rng = random.Random(9)
    cells = [fmpq(0), fmpq(1), NEG_INF, fmpq(10) ** 200, -(fmpq(10) ** 200), fmpq(-1000), arb(1, 1), fmpq(1, 10**200)]
    texts = ["0", "-inf", "0.25", "-1e9", "123.4", "1e200", "0.731", "0.269"]
    for _ in range(300):
        shapes = [(rng.randint(1, 3), rng.randint(1, 3)) for _ in range(8)]
        values = [Value(tuple(tuple(rng.choice(cells) for _ in range(c)) for _ in range(r))) for r, c in shapes]
        rows, columns = rng.randint(1, 3), rng.randint(1, 3)
        search([[_shown(rng.choice(texts)) for _ in range(columns)] for _ in range(rows)], _pool(values), SIZES)
