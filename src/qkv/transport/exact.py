"""Numbers without error: rationals, and sums of square roots of integers, which Euclidean distances are.

Square roots of different squarefree integers are linearly independent over the rationals, so such a sum is zero only
when all its coefficients are: equality is decided by looking, and a sign by bracketing it with integer square roots.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from flint import fmpq, fmpz

from qkv.errors import ValueRefused
from qkv.regex import regex

# Up to 4 digits of exponent: 1e9999 is a number, 1e999999999 would be a way to fill the memory.
NUMBER = regex(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?(/\d+)?")


def rational(value: object) -> fmpq:
    """The rational that was written: `1/3`, `0.25`, `1e-3`; a float stands for its shortest decimal.

    >>> rational("1/3"), rational(0.1)
    (1/3, 1/10)
    """
    if isinstance(value, fmpq):
        return value
    text = str(value).strip().replace("−", "-")
    if not NUMBER.fullmatch(text):
        raise ValueRefused(f"{text or 'an empty entry'!r} is not a number; write 3, 0.25 or 1/3.")
    number, _, denominator = text.partition("/")
    if denominator and not int(denominator):
        raise ValueRefused(f"{text!r} divides by zero.")
    fraction = Fraction(number) / int(denominator or 1)
    return fmpq(fraction.numerator, fraction.denominator)


@dataclass(frozen=True, slots=True)
class Surd:
    """A sum of rational multiples of square roots: squarefree radicand → coefficient, none of them zero."""

    terms: dict[int, fmpq] = field(default_factory=dict)

    def __add__(self, other: Surd) -> Surd:
        return self._plus(other.terms.items(), 1)

    def __sub__(self, other: Surd) -> Surd:
        return self._plus(other.terms.items(), -1)

    def _plus(self, terms: Iterable[tuple[int, fmpq]], direction: int) -> Surd:
        sums = dict(self.terms)
        for radicand, coefficient in terms:
            total = sums.pop(radicand, fmpq(0)) + direction * coefficient
            if total != 0:
                sums[radicand] = total
        return Surd(sums)

    def __mul__(self, factor: fmpq) -> Surd:
        return Surd({r: c * factor for r, c in self.terms.items()} if factor != 0 else {})

    def __str__(self) -> str:
        text = " + ".join(_term(radicand, coefficient) for radicand, coefficient in sorted(self.terms.items()))
        return text.replace("+ -", "− ") or "0"


Exact: TypeAlias = fmpq | Surd


def _term(radicand: int, coefficient: fmpq) -> str:
    if radicand == 1:
        return str(coefficient)
    return {1: "", -1: "-"}.get(coefficient, f"{coefficient}·") + f"√{radicand}"


def root(value: fmpq) -> Surd:
    """The square root of a rational that is not negative.

    >>> str(root(fmpq(8, 9)))
    '2/3·√2'
    """
    if value == 0:
        return Surd()
    outside, radicand = 1, 1
    for prime, power in fmpz(value.p * value.q).factor():  # √(p/q) = √(p q) / q
        outside *= int(prime) ** (power // 2)
        radicand *= int(prime) ** (power % 2)
    return Surd({radicand: fmpq(outside, value.q)})


def _bracket(value: Surd, bits: int) -> tuple[int, int, int]:
    """Integers (low, high, denominator) with low ≤ value·denominator·2^bits ≤ high."""
    denominator = math.lcm(*(int(c.q) for c in value.terms.values()))
    low = high = 0
    for radicand, coefficient in value.terms.items():
        factor = int(coefficient.p) * (denominator // int(coefficient.q))
        below = math.isqrt(radicand << (2 * bits))
        above = below if below * below == radicand << (2 * bits) else below + 1
        low += factor * (below if factor > 0 else above)
        high += factor * (above if factor > 0 else below)
    return low, high, denominator


def sign(value: Exact) -> int:
    """−1, 0 or 1, proven.

    >>> sign(root(fmpq(2)) + root(fmpq(3)) - root(fmpq(10)))
    -1
    """
    if not isinstance(value, Surd):
        return int(value > 0) - int(value < 0)
    bits = 64
    while value.terms:  # not zero, so that a fine enough bracket leaves zero out
        low, high, _ = _bracket(value, bits)
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
        bits *= 2
    return 0


def to_fraction(value: Exact, bits: int = 64) -> Fraction:
    """The value, or for roots a fraction within 2^-bits of it relatively."""
    if not isinstance(value, Surd):
        return Fraction(int(value.p), int(value.q))
    if not value.terms:
        return Fraction(0)
    fine = bits
    while True:
        low, high, denominator = _bracket(value, fine)
        if (high - low) << bits <= min(abs(low), abs(high)) and low * high > 0:
            return Fraction(low + high, (denominator << fine) * 2)
        fine *= 2


def to_float(value: Exact) -> float:
    """The nearest float but for the last place; infinite where it is too large for one."""
    fraction = to_fraction(value)
    try:
        return fraction.numerator / fraction.denominator
    except OverflowError:
        return math.inf if fraction > 0 else -math.inf


def decimals(value: Exact, digits: int = 6) -> str:
    """The value rounded to significant digits, trailing zeros kept.

    >>> decimals(root(fmpq(4, 15)), 8)
    '0.51639778'
    """
    fraction = to_fraction(value, bits=4 * digits + 64)
    if not fraction:
        return "0"
    size = abs(fraction)
    exponent = len(str(size.numerator)) - len(str(size.denominator)) - digits
    if size >= Fraction(10) ** (exponent + digits):
        exponent += 1
    mantissa = str(round(size / Fraction(10) ** exponent))
    if len(mantissa) > digits:  # 999.96 rounds up to one digit more
        mantissa, exponent = mantissa[:-1], exponent + 1
    return ("-" if fraction < 0 else "") + _placed(mantissa, exponent)


def _placed(mantissa: str, exponent: int) -> str:
    """mantissa · 10^exponent with its point where people put it."""
    point = len(mantissa) + exponent
    if not -5 < point <= 21:
        return f"{mantissa[0]}.{mantissa[1:]}e{point - 1:+d}".replace(".e", "e")
    if point <= 0:
        return "0." + "0" * -point + mantissa
    if exponent >= 0:
        return mantissa + "0" * exponent
    return mantissa[:point] + "." + mantissa[point:]
