"""The functions that a formula may call, one row each: how it is spelled, worked out, counted and printed.

    key         what `Call.function` holds
    spellings   in plain text, LaTeX (without the backslash) and NumPy, small letters
    kind        how it takes its argument, see Kind
    certified   on proven cells; `c` is qkv.interpret.cells, so that this table imports nothing
    floats      on Python floats
    cost        operations for each cell of the argument
    latex       how it is printed

Adding a function is adding a row. What can be said by an equation (layer norm, say) is a row of the library instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Kind(Enum):
    """How a function takes what it is applied to."""

    EACH = "cell by cell"
    ROW = "one number for each row; a column counts as one row"
    ALL = "one number for all cells of all arguments"
    PAIR = "two matrices cell by cell; a row, a column or a number is spread"
    ROWS = "as many numbers for each row; a column counts as one row"
    SQUARE = "a vector as the diagonal of a square matrix"


@dataclass(frozen=True, slots=True)
class Function:
    """One row of the table."""

    key: str
    spellings: tuple[str, ...]
    kind: Kind
    certified: Callable[..., Any]
    floats: Callable[..., Any]
    latex: str
    cost: Mapping[str, int] = field(default_factory=dict)


def _mean(row: Sequence[Any]) -> Any:
    return sum(row[1:], row[0]) / len(row)


def _variance(row: Sequence[Any]) -> Any:
    middle = _mean(row)
    return _mean([(x - middle) * (x - middle) for x in row])


def _squares(row: Sequence[Any]) -> Any:
    return sum([x * x for x in row[1:]], row[0] * row[0])


def _diagonal(row: Sequence[Any], zero: Any) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(x if i == j else zero for j in range(len(row))) for i, x in enumerate(row))


def _certified_gelu(c: Any, x: Any) -> Any:
    return x * (1 + c.ball(x / c.root(c.rational(2))).erf()) / 2


def _tanh_gelu(tanh: Callable[[Any], Any], x: Any, factor: Any) -> Any:
    return x * (1 + tanh(factor * (x + x * x * x * 44715 / 1000000))) / 2


def _certified_gelu_slope(c: Any, x: Any) -> Any:
    bell = c.exponential(c.negate(x * x / 2)) / c.root(2 * c.pi())
    return (1 + c.ball(x / c.root(c.rational(2))).erf()) / 2 + x * bell


def _tanh_gelu_slope(tanh: Callable[[Any], Any], x: Any, factor: Any) -> Any:
    t = tanh(factor * (x + x * x * x * 44715 / 1000000))
    return (1 + t) / 2 + x * (1 - t * t) * factor * (1 + x * x * 134145 / 1000000) / 2


def _silu_slope(sigmoid: Any, x: Any) -> Any:
    return sigmoid + x * sigmoid * (1 - sigmoid)


def _certified_leaky(c: Any, x: Any) -> Any:
    if c.is_zero(x) or c.is_positive(x) == 1:
        return x
    raise c.ValueRefused("LeakyReLU below 0 has a slope that nobody has said")


def _certified_entropy(c: Any, row: Sequence[Any]) -> Any:
    return -sum([x * c.logarithm(x) for x in row if not c.is_zero(x)], c.rational(0))


def _row(key: str, spellings: str, kind: Kind, certified: Any, floats: Any, latex: str = "", **cost: int) -> Function:
    return Function(key, tuple(spellings.split()), kind, certified, floats, latex or rf"\operatorname{{{key}}}", cost)


EACH, ROW, ALL, PAIR, ROWS, SQUARE = Kind

TABLE = (
    _row("sin", "sin", EACH, lambda c, x: c.sine(x), math.sin, r"\sin", tanhs=1),
    _row("cos", "cos", EACH, lambda c, x: c.cosine(x), math.cos, r"\cos", tanhs=1),
    _row("tan", "tan", EACH, lambda c, x: c.ball(x).tan(), math.tan, r"\tan", tanhs=1),
    _row("tanh", "tanh", EACH, lambda c, x: c.tanh(x), math.tanh, r"\tanh", tanhs=1),
    _row("sind", "sind", EACH, lambda c, x: c.sine(x * c.pi() / 180), lambda x: math.sin(math.radians(x)), tanhs=1),  # of degrees
    _row("cosd", "cosd", EACH, lambda c, x: c.cosine(x * c.pi() / 180), lambda x: math.cos(math.radians(x)), tanhs=1),
    _row("pi", "", EACH, lambda c, x: x * c.pi(), lambda x: x * math.pi, r"\pi", multiplications=1),  # so many times π
    _row("ln", "ln log logarithm", EACH, lambda c, x: c.logarithm(x), math.log, r"\ln", exponentials=1),
    _row("log2", "log2 lb", EACH, lambda c, x: c.logarithm(x) / c.logarithm(c.rational(2)), math.log2, r"\log_2", exponentials=1),
    _row("log10", "log10 lg", EACH, lambda c, x: c.logarithm(x) / c.logarithm(c.rational(10)), math.log10, r"\log_{10}", exponentials=1),
    _row("erf", "erf", EACH, lambda c, x: c.ball(x).erf(), math.erf, exponentials=1),
    _row("sigmoid", "sigmoid logistic expit", EACH, lambda c, x: 1 / (1 + c.exponential(c.negate(x))), lambda x: 1 / (1 + math.exp(-x)),
         exponentials=1, additions=1, divisions=1),
    _row("relu", "relu", EACH, lambda c, x: c.positive(x), lambda x: max(x, 0.0), "", comparisons=1),
    _row("leakyrelu", "leakyrelu leaky_relu", EACH, _certified_leaky, lambda x: x if x >= 0 else math.nan, r"\operatorname{LeakyReLU}", comparisons=1),
    _row("gelu", "gelu", EACH, _certified_gelu, lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2, "", exponentials=1, multiplications=3, additions=1),
    _row("gelutanh", "gelutanh gelu_tanh gelu_new", EACH,
         lambda c, x: _tanh_gelu(c.tanh, x, c.root(c.rational(2) / c.pi())), lambda x: _tanh_gelu(math.tanh, x, math.sqrt(2 / math.pi)),
         "", tanhs=1, multiplications=6, additions=2),
    _row("silu", "silu swish", EACH, lambda c, x: x / (1 + c.exponential(c.negate(x))), lambda x: x / (1 + math.exp(-x)), "",
         exponentials=1, additions=1, divisions=1),
    _row("drelu", "drelu", EACH, lambda c, x: c.is_positive(x), lambda x: float(x > 0), "", comparisons=1),
    _row("dgelu", "dgelu", EACH, _certified_gelu_slope, lambda x: (1 + math.erf(x / math.sqrt(2))) / 2 + x * math.exp(-x * x / 2) / math.sqrt(2 * math.pi),
         "", exponentials=2, multiplications=5, additions=2),
    _row("dgelutanh", "dgelutanh", EACH, lambda c, x: _tanh_gelu_slope(c.tanh, x, c.root(c.rational(2) / c.pi())),
         lambda x: _tanh_gelu_slope(math.tanh, x, math.sqrt(2 / math.pi)), "", tanhs=1, multiplications=10, additions=4),
    _row("dsilu", "dsilu", EACH, lambda c, x: _silu_slope(1 / (1 + c.exponential(c.negate(x))), x), lambda x: _silu_slope(1 / (1 + math.exp(-x)), x), "",
         exponentials=1, additions=3, divisions=1, multiplications=2),
    _row("delu", "delu", EACH, lambda c, x: c.exponential(c.negate(c.positive(c.negate(x)))), lambda x: math.exp(min(x, 0.0)), "",
         exponentials=1, comparisons=1),
    _row("softplus", "softplus", EACH, lambda c, x: c.logarithm(1 + c.exponential(x)), lambda x: math.log1p(math.exp(x)), "", exponentials=2, additions=1),
    _row("elu", "elu", EACH, lambda c, x: c.elu(x), lambda x: x if x > 0 else math.expm1(x), "", exponentials=1, additions=1),
    _row("floor", "floor", EACH, lambda c, x: c.floor(x), math.floor),
    _row("sum", "sum total", ALL, lambda c, row: sum(row[1:], row[0]), sum, r"\operatorname{sum}", additions=1),
    _row("rowsum", "rowsum rowsums row_sum", ROW, lambda c, row: sum(row[1:], row[0]), sum, "", additions=1),
    _row("mean", "mean avg average", ROW, lambda c, row: _mean(row), _mean, "", additions=1),
    _row("var", "var variance", ROW, lambda c, row: _variance(row), _variance, r"\operatorname{Var}", additions=2, multiplications=1),
    _row("samplevar", "samplevar", ROW, lambda c, row: _variance(row) * len(row) / (len(row) - 1), lambda row: _variance(row) * len(row) / (len(row) - 1)),
    _row("std", "std stdev stddev", ROW, lambda c, row: c.root(_variance(row)), lambda row: math.sqrt(_variance(row)), "", additions=2, multiplications=1),
    _row("norm", "norm", ROW, lambda c, row: c.root(_squares(row)), lambda row: math.sqrt(_squares(row)), "", multiplications=1, additions=1),
    _row("max", "max amax maximum", ALL, lambda c, row: c.largest(row), max, r"\max", comparisons=1),
    _row("min", "min amin minimum", ALL, lambda c, row: c.negate(c.largest([c.negate(x) for x in row])), min, r"\min", comparisons=1),
    _row("rowmax", "rowmax", ROW, lambda c, row: c.largest(row), max, "", comparisons=1),
    _row("argmax", "argmax", ROW, lambda c, row: c.place_of_largest(row), lambda row: row.index(max(row)) + 1, "", comparisons=1),
    _row("entropy", "entropy", ROW, _certified_entropy, lambda row: -sum(x * math.log(x) for x in row if x > 0), "H", exponentials=1, multiplications=1, additions=1),
    _row("ranking", "ranking", ROWS, lambda c, row: c.ranking(row), lambda row: sorted(range(1, len(row) + 1), key=lambda i: -row[i - 1]), "", comparisons=1),
    _row("descending", "descending", ROWS, lambda c, row: tuple(row[int(i.p) - 1] for i in c.ranking(row)), lambda row: sorted(row, reverse=True), "",
         comparisons=1),
    _row("diag", "diag", SQUARE, lambda c, row: _diagonal(row, c.rational(0)), lambda row: _diagonal(row, 0.0), ""),
    _row("larger", "", PAIR, lambda c, a, b: c.largest([a, b]), max, r"\max", comparisons=1),
    _row("plus", "", PAIR, lambda c, a, b: a + b, lambda a, b: a + b, "+", additions=1),
    _row("hadamard", "hadamard multiply", PAIR, lambda c, a, b: c.multiply(a, b), lambda a, b: a * b, r"\odot", multiplications=1),
)  # fmt: skip

BY_KEY: Mapping[str, Function] = {row.key: row for row in TABLE}
_BY_SPELLING = {spelling: row.key for row in TABLE for spelling in row.spellings}


def lookup(spelled: str) -> str | None:
    r"""The key of a function as a page spells it, None if it is none of ours.

    >>> lookup("np.sin"), lookup(r"\operatorname{ReLU}"), lookup("W")
    ('sin', 'relu', None)
    """
    word = spelled.lower().replace("\\operatorname", "").replace("\\mathrm", "").replace("\\text", "")
    word = word.strip("\\{}* ").rpartition(".")[2]
    return _BY_SPELLING.get(word) or _BY_SPELLING.get(word.replace("_", "").replace("-", ""))
