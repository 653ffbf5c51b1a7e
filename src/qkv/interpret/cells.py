"""Certified cells: rationals until a root or an exponential is taken, balls from there on, and −∞ for masks.

A ball is an interval that provably contains the true value. This is the one file that touches FLINT's global precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias

from flint import arb, ctx, fmpq

from qkv.errors import ValueRefused


class _MinusInfinity:
    """−∞: the score of a forbidden key. Its weight is exactly 0, and it swallows what is added to it."""

    def __repr__(self) -> str:
        return "−∞"

    def __add__(self, other: object) -> _MinusInfinity:
        return self

    __radd__ = __add__


NEG_INF: Final = _MinusInfinity()
Cell: TypeAlias = Any  # fmpq | arb | NEG_INF; FLINT comes without types

MASKED: Final = frozenset({_MinusInfinity})  # kinds of cells: of a row they are told faster than cell by cell
RATIONAL: Final = frozenset({fmpq})

START_BITS: Final = 96
MAX_BITS: Final = 1 << 15
_TINY_FRACTION: Final = fmpq(1, 1 << 2 * MAX_BITS)
_TINY: Final = arb(_TINY_FRACTION)
_HUGE: Final = arb(1 << 2 * MAX_BITS)
_MINUS_TINY, _MINUS_HUGE = -_TINY, -_HUGE
_NOTHING: Final = arb(0)


class precision:  # noqa: N801 (said like a function: with precision(96))
    """Compute balls with this many bits inside the block."""

    def __init__(self, bits: int) -> None:
        self._bits = bits

    def __enter__(self) -> None:
        self._before, ctx.prec = ctx.prec, self._bits

    def __exit__(self, *error: object) -> None:
        ctx.prec = self._before


def rational(value: int | Fraction) -> fmpq:
    """An exact cell."""
    return fmpq(*value.as_integer_ratio())


def fraction(cell: fmpq) -> Fraction:
    """The same number as a standard fraction."""
    return Fraction(int(cell.p), int(cell.q))


def interval(low: fmpq, high: fmpq) -> Cell:
    """A cell that contains everything from low to high."""
    return low if low == high else arb(low).union(arb(high))


def is_exact(cell: Cell) -> bool:
    """Whether a cell is one known number (or −∞)."""
    return not isinstance(cell, arb)


def bounds(cell: Cell) -> tuple[fmpq, fmpq]:
    """Exact rationals below and above a finite cell; near 0 they are as wide as a rational of a sensible length."""
    if type(cell) is fmpq:
        return cell, cell
    if cell is NEG_INF or not cell.is_finite():
        raise ValueRefused("an infinite value has no bounds")
    if cell < _TINY and cell > _MINUS_TINY:  # e^(-1e9), as masks of -1e9 give it, would be a fraction of gigabytes
        return (fmpq(0) if cell > 0 else -_TINY_FRACTION), _TINY_FRACTION
    if cell > _HUGE or cell < _MINUS_HUGE:
        raise ValueRefused("a value is too large to be compared")
    middle, radius = cell.mid().fmpq(), cell.rad().fmpq()
    return middle - radius, middle + radius


def held(cell: Cell) -> Cell:
    """A cell that can be compared and shown; one too large for that is refused where it arises."""
    if type(cell) is arb and not (cell.is_finite() and cell < _HUGE and cell > _MINUS_HUGE):
        raise ValueRefused("a value is too large to be compared")
    return cell


def same_cell(a: Cell, b: Cell) -> bool:
    """Whether two cells are one and the same number, or the same ball."""
    return a is b if NEG_INF in (a, b) else bounds(a) == bounds(b)


def multiply(a: Cell, b: Cell) -> Cell:
    """a · b; an exact 0 stays exact, so that a weight of 0 hides whatever stands beside it."""
    if a is NEG_INF or b is NEG_INF:
        return _infinite_product(a, b)
    if (type(a) is fmpq and not a) or (type(b) is fmpq and not b):
        return fmpq(0)
    return a * b


def _infinite_product(a: Cell, b: Cell) -> Cell:
    other = b if a is NEG_INF else a
    if isinstance(other, fmpq) and other > 0:
        return NEG_INF
    raise ValueRefused("−∞ can only be multiplied by a positive number")


def divide(a: Cell, b: Cell) -> Cell:
    """a / b, refusing 0."""
    if b is NEG_INF or (type(b) is fmpq and not b) or (type(b) is arb and b.contains(_NOTHING)):
        raise ValueRefused("division by zero")
    return multiply(a, 1 / b)


def negate(a: Cell) -> Cell:
    """−a"""
    if a is NEG_INF:
        raise ValueRefused("+∞ has no place in attention scores")
    return -a


def exponential(a: Cell) -> Cell:
    """e^a; exactly 0 for −∞ and 1 for 0."""
    if a is NEG_INF:
        return fmpq(0)
    if type(a) is fmpq and not a:
        return fmpq(1)
    return arb(a).exp()


def tanh(a: Cell) -> Cell:
    """tanh a"""
    if a is NEG_INF:
        return fmpq(-1)
    return a if isinstance(a, fmpq) and a == 0 else arb(a).tanh()


def ball(a: Cell) -> Cell:
    """A finite cell as a ball, whose methods are the functions of analysis."""
    return arb(a)


def sine(a: Cell) -> Cell:
    """sin a, exactly 0 for 0."""
    return a if is_zero(a) else arb(a).sin()


def cosine(a: Cell) -> Cell:
    """cos a, exactly 1 for 0."""
    return fmpq(1) if is_zero(a) else arb(a).cos()


def pi() -> Cell:
    """π"""
    return arb.pi()


def is_zero(a: Cell) -> bool:
    """Whether a cell is exactly 0."""
    return type(a) is fmpq and not a


def logarithm(a: Cell) -> Cell:
    """The natural logarithm, refusing what is not positive."""
    if type(a) is fmpq and a == 1:
        return fmpq(0)
    if not arb(a) > 0:
        raise ValueRefused("the logarithm of a number that is not positive")
    return arb(a).log()


def positive(a: Cell) -> Cell:
    """max(a, 0)"""
    return largest([a, fmpq(0)])


def is_positive(a: Cell) -> Cell:
    """1 for a positive number, 0 for one that is not; in between while that is open."""
    if a is NEG_INF or arb(a) <= 0:
        return fmpq(0)
    return fmpq(1) if arb(a) > 0 else interval(fmpq(0), fmpq(1))


def largest(row: Sequence[Cell]) -> Cell:
    """The largest cell; balls that overlap give a ball that contains the largest."""
    finite = [x for x in row if x is not NEG_INF]
    if not finite:
        return NEG_INF
    best = finite[0]
    for x in finite[1:]:
        if type(best) is fmpq and type(x) is fmpq:
            best = max(best, x)
        else:
            best = (
                arb(best).max(arb(x))
                if not (arb(best) >= arb(x) or arb(x) >= arb(best))
                else best
                if arb(best) >= arb(x)
                else x
            )
    return best


def place_of_largest(row: Sequence[Cell]) -> Cell:
    """Where the (first) largest cell stands, from 1; refuses a tie that no precision decides."""
    finite = [(i, x) for i, x in enumerate(row, 1) if x is not NEG_INF]
    for i, x in finite:
        if all(i == j or arb(x) > arb(y) or (i < j and type(x) is type(y) is fmpq and x == y) for j, y in finite):
            return fmpq(i)
    raise ValueRefused("two cells are equally large, or too close to tell")


def ranking(row: Sequence[Cell]) -> tuple[Cell, ...]:
    """The places of the cells from the largest to the smallest, from 1; of equal ones the first first."""
    left = list(range(len(row)))
    places = []
    while left:
        whole = [row[i] for i in left]
        finite = any(x is not NEG_INF for x in whole)
        places.append(left.pop(int(place_of_largest(whole).p) - 1 if finite else 0))
    return tuple(fmpq(i + 1) for i in places)


def elu(a: Cell) -> Cell:
    """a where it is positive, e^a − 1 elsewhere."""
    if a is NEG_INF or arb(a) <= 0:
        return exponential(a) - 1
    if arb(a) > 0:
        return a
    raise ValueRefused("a number too close to 0 to tell its sign")


def floor(a: Cell) -> Cell:
    """The largest whole number that is not larger."""
    low, high = bounds(a)
    if low.floor() != high.floor():
        raise ValueRefused("a number too close to a whole one to be rounded down")
    return fmpq(low.floor())


def root(a: Cell) -> Cell:
    """√a, exact for squares of rationals."""
    if a is NEG_INF or (isinstance(a, fmpq) and a < 0) or (isinstance(a, arb) and a < 0):
        raise ValueRefused("the square root of a negative number")
    if isinstance(a, fmpq):
        exact = _rational_root(a)
        return exact if exact is not None else arb(a).sqrt()
    return a.nonnegative_part().sqrt()


def _rational_root(a: fmpq) -> fmpq | None:
    p, q = a.p.isqrt(), a.q.isqrt()
    return fmpq(p, q) if p * p == a.p and q * q == a.q else None


def absolute(a: Cell) -> Cell:
    """|a|"""
    if a is NEG_INF:
        raise ValueRefused("+∞ has no place in attention scores")
    return abs(a)


def power(a: Cell, exponent: Cell) -> Cell:
    """a^n for integer n; a^(1/2) is a root; other exponents through balls."""
    if a is NEG_INF or exponent is NEG_INF:
        raise ValueRefused("a power of −∞")
    if isinstance(exponent, fmpq) and exponent.q == 1:
        return _integer_power(a, int(exponent.p))
    if isinstance(exponent, fmpq) and exponent == fmpq(1, 2):
        return root(a)
    if not arb(a) > 0:
        raise ValueRefused("a broken power of a number that is not positive")
    return held(arb(a) ** arb(exponent))


def _integer_power(a: Cell, n: int) -> Cell:
    if abs(n) > 10_000:
        raise ValueRefused(f"the power {n} is too large to work out")
    if n < 0:
        return divide(fmpq(1), _integer_power(a, -n))
    if type(a) is not arb or a != 0:  # a ball that holds no zero
        return a**n
    squared: Cell = fmpq(1) if n < 2 else _integer_power(a * a, n // 2)
    return squared * a if n % 2 else squared


def softmax(row: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """Weights e^x / Σ e^x of one row; a single score and equal rational scores give exact fractions, −∞ exactly 0."""
    open_cells = [x for x in row if x is not NEG_INF]
    if not open_cells:
        raise ValueRefused("every key is masked, so this row has no softmax")
    if len(open_cells) == 1 or _are_equal(open_cells):
        share = fmpq(1, len(open_cells))
        return tuple([fmpq(0) if x is NEG_INF else share for x in row])
    weights = _tight(open_cells) if len(open_cells) <= 16 else _fast(open_cells)
    if len(weights) == len(row):
        return tuple(weights)
    left = iter(weights)
    return tuple([fmpq(0) if x is NEG_INF else next(left) for x in row])


def _are_equal(scores: list[Cell]) -> bool:
    return RATIONAL.issuperset(map(type, scores)) and scores.count(scores[0]) == len(scores)


def _tight(scores: list[Cell]) -> list[Cell]:
    # 1 / (1 + Σ e^(x_j − x_i)): a ball minus itself would not be 0, so that wide scores would widen the weights.
    return [
        1 / sum([exponential(y - x) if i != j else fmpq(1) for j, y in enumerate(scores)], fmpq(0))
        for i, x in enumerate(scores)
    ]


def _fast(scores: list[Cell]) -> list[Cell]:
    exps = [arb(x).exp() for x in scores]
    total = sum(exps, fmpq(0))
    return [e / total for e in exps]


def normalise(row: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """Each entry over the plain sum of the row."""
    total = sum(row, fmpq(0))
    return tuple([divide(x, total) for x in row])
