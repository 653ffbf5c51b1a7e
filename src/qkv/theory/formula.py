"""Formulas that people write about sizes, means and variances, as exact quotients of polynomials.

    2 N'^2 D       n_q n_k (d_k - 1)       \\Omega(4N'D^2 + 2N'^2D)       D_k(\\sigma^4 + 2\\mu^2\\sigma^2)

Names are understood by what they usually stand for: N, N', n, T and L are the number of tokens, D and d_model the
width of a token, D_k and d_k the width of a key. A name that is none of these leaves the formula open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from operator import itemgetter
from typing import Any, NamedTuple

from flint import fmpq

from qkv.errors import ReadError
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.counts import Size
from qkv.reader.grammar import parse_formula
from qkv.theory.polynomial import CONTEXT, NAMES, PLAIN, PRINTED
from qkv.theory.ring import Ratio, Ring, key_of, lowest

ORDERS = frozenset({"O", "Omega", "Theta", "o", "omega", "theta", "Ω", "Θ", "𝒪"})  # wrappers of growth
MOST = 64  # the largest power that is worked out

# (base, first label) → what it stands for; the base alone where no label is given.
MEANING: dict[tuple[str, str], str] = {
    **{(letter, ""): "n" for letter in ("N", "n", "T", "L", "l", "M", "m")},
    **{(letter, "q"): "n_q" for letter in ("N", "n", "T", "L", "l")},
    **{(letter, "k"): "n_k" for letter in ("N", "n", "T", "L", "l")},
    **{(letter, "v"): "n_k" for letter in ("N", "n")},
    **{(letter, label): "n" for letter in ("N", "n", "L", "T") for label in ("seq", "tokens", "x")},
    **{(letter, label): "d" for letter in ("D", "d") for label in ("", "model", "m", "emb", "x", "in", "e")},
    **{(letter, label): "d_k" for letter in ("D", "d") for label in ("k", "q", "h", "head", "key")},
    **{(letter, "v"): "d_v" for letter in ("D", "d")},
    **{(letter, label): "h" for letter in ("N", "n") for label in ("h", "heads", "head")},
    **{(letter, label): "d_ff" for letter in ("D", "d") for label in ("ff", "ffn", "inner", "hidden", "mlp")},
    ("h", ""): "h",
    ("H", ""): "h",
    ("mu", ""): "mu",
    ("μ", ""): "mu",
    ("sigma", ""): "sigma",
    ("σ", ""): "sigma",
    ("s", ""): "s",
}


class Unclear(ReadError):
    """A formula that says something else than a polynomial in known sizes."""


class Formula(NamedTuple):
    """A formula: its value, whether it stands in O(…), and the sizes that occur in it."""

    value: Ratio
    order: bool
    names: frozenset[str]


def meaning(symbol: Symbol) -> str | None:
    """The size that a symbol usually stands for.

    >>> meaning(Symbol("N", primes=1)), meaning(Symbol("D", ("K",))), meaning(Symbol("W"))
    ('n', 'd_k', None)
    """
    if symbol.indices or len(symbol.labels) > 1:
        return None
    label = symbol.labels[0].lower() if symbol.labels else ""
    return MEANING.get((symbol.base, label))


class FormulaRing(Ring):
    """A ring in which √x is a symbol whose square is x."""

    squares: dict[int, Ratio]

    def __post_init__(self) -> None:
        super().__post_init__()
        self.squares = {}

    def root(self, value: Ratio) -> Ratio:
        """√value."""
        made = self.opaque("√", value)
        self.squares[self.place(key_of("√", value), "")] = value
        return made

    def settled(self, value: Ratio) -> Ratio:
        """The value with every square of a root worked out, so that equal formulas look equal."""
        if not self.squares or not any(map(self._holds_square, (value.top, value.bottom))):
            return value
        return self._settled(value.top) / self._settled(value.bottom)

    def _holds_square(self, polynomial: Any) -> bool:
        return any(polynomial.derivative(place).derivative(place) for place in self.squares)

    def _settled(self, polynomial: Any) -> Ratio:
        total = self.constant(fmpq(0))
        for exponents, coefficient in polynomial.to_dict().items():
            rest = [int(times) for times in exponents]
            term = self.constant(coefficient)
            for place, square in self.squares.items():
                term = term * power(square, Fraction(rest[place] // 2))
                rest[place] %= 2
            total = total + term * Ratio(self.context.from_dict({tuple(rest): fmpq(1)}), self.context.constant(1))
        return total


_SIZES = FormulaRing(24, [PLAIN.get(name, name) for name in PRINTED], {name: k for k, name in enumerate(PRINTED)})


def ring() -> FormulaRing:
    """A ring that knows the sizes, in the order in which they are printed."""
    return _SIZES.copy()


def written(text: str) -> n.Expr:
    """A formula as typed or in LaTeX.

    >>> from qkv.expr.show import plain
    >>> plain(written("2N'^2 D"))
    "2 N'^2 D"
    """
    expr = parse_formula(text)
    if expr is None:
        raise Unclear(f"{text!r} is not one formula")
    return expr


def formula(expr: n.Expr, rings: FormulaRing, given: Mapping[str, Fraction] | None = None) -> Formula:
    """The value of a formula; sizes in `given` are replaced by numbers.

    >>> r = ring()
    >>> r.show(formula(written("n_q n_k (d_k - 1)"), r).value)
    'n_q n_k d_k − n_q n_k'
    """
    order = isinstance(expr, n.Call) and expr.function in ORDERS and len(expr.args) == 1
    inner = multiplied(expr.args[0] if order and isinstance(expr, n.Call) else expr)
    names = frozenset(meaning(symbol) or "?" for symbol in n.names_in(inner))
    return Formula(rings.settled(evaluated(inner, rings, given or {})), order, names)


def multiplied(expr: n.Expr) -> n.Expr:
    """A formula in which n(a + b) is n times the bracket: a size is no function."""

    def change(node: n.Expr) -> n.Expr:
        if isinstance(node, n.Call) and len(node.args) == 1 and meaning(symbol := Symbol(node.function)) is not None:
            return n.Product(n.Name(symbol), node.args[0])
        return node

    return n.rewrite(expr, change)


def evaluated(
    node: n.Expr, rings: FormulaRing, given: Mapping[str, Fraction], own: Callable[[n.Expr], Ratio] | None = None
) -> Ratio:
    """A formula as a quotient of polynomials; raises Unclear where it is something else. `own` works out its parts, if
    they may hold more than sizes."""

    def value(part: n.Expr) -> Ratio:
        return evaluated(part, rings, given) if own is None else own(part)

    match node:
        case n.Number(value=number):
            return rings.constant(fmpq(number.numerator, number.denominator))
        case n.Name(symbol=symbol):
            return named(symbol, rings, given)
        case n.Sum(terms=terms):
            total = value(terms[0])
            for term in terms[1:]:
                total = total + value(term)
            return total
        case n.Negate(arg=a):
            return -value(a)
        case n.Product(left=a, right=b):
            return value(a) * value(b)
        case n.Quotient(numerator=a, denominator=b):
            below = value(b)
            if not below.top:
                raise Unclear("a formula that divides by zero")
            return value(a) / below
        case n.Power(base=a, exponent=n.Number(value=times)):
            return power(value(a), times)
        case n.Root(arg=a):
            return rings.root(value(a))
        case n.Series(low=low, high=high, body=body) if low is not None and high is not None:
            return counted(low, high, rings, given) * value(body)
        case n.Matrix(rows=((cell,),)):  # brackets around a formula
            return value(cell)
        case _:
            raise Unclear(f"{type(node).__name__} is no part of a formula in sizes")


def named(symbol: Symbol, rings: FormulaRing, given: Mapping[str, Fraction]) -> Ratio:
    """The symbol's own generator, or its number."""
    name = meaning(symbol)
    if name is None:
        raise Unclear(f"{symbol} is not a size that is known here")
    if name in given:
        return rings.constant(fmpq(given[name].numerator, given[name].denominator))
    return rings.symbol(name, name)


def power(base: Ratio, times: Fraction) -> Ratio:
    """A whole power."""
    whole = times.numerator
    if times.denominator != 1 or abs(whole) > MOST:
        raise Unclear(f"the power {times} is not worked out")
    if whole < 0 and not base.top:
        raise Unclear("a formula that divides by zero")
    top, bottom = (base.top, base.bottom) if whole >= 0 else (base.bottom, base.top)
    return lowest(top ** abs(whole), bottom ** abs(whole))


def counted(low: n.Expr, high: n.Expr, rings: FormulaRing, given: Mapping[str, Fraction]) -> Ratio:
    """How many terms a Σ from low to high has."""
    first, last = evaluated(low, rings, given), evaluated(high, rings, given)
    return last + -first + rings.constant(fmpq(1))


_IN_ORDER = itemgetter(*map(PRINTED.index, NAMES))  # the ring knows the sizes first, in the order of PRINTED


def to_size(value: Ratio) -> Size:
    """The value as a polynomial in sizes (see polynomial.py); raises Unclear where it is none."""
    if not value.bottom.is_constant():
        raise Unclear("a count that is a fraction")
    scale = 1 / value.bottom.leading_coefficient()
    terms = {}
    for exponents, coefficient in value.top.to_dict().items():
        if any(exponents[len(PRINTED) :]):
            raise Unclear("a count with a root in it")
        terms[_IN_ORDER(exponents)] = coefficient * scale
    return CONTEXT.from_dict(terms)
