"""Exact quotients of polynomials in symbols that are named as they turn up, exponentials included.

e^p of a polynomial p is the product of e^(c·m) over its terms, and each e^m is a symbol of its own. Cells that are
equal here are equal as functions. The converse holds too, since exponentials of linearly independent monomials are
algebraically independent; but roots and tanh are symbols without laws, so that a statement which needs a law of theirs
is not proven here, and must not be called false for it.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Self

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from qkv.errors import LimitError, ValueRefused
from qkv.theory.polynomial import raised, summed

MOST_SYMBOLS = 1024  # beyond this the polynomials become slow
EXP = "exp "  # marks the label of an exponential; what follows is its exponent


class OutOfRoom(LimitError):
    """The ring has no room for one more symbol; begin again with a larger one."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """numerator / denominator in lowest terms; a denominator of 0 stands for −∞, the score of a forbidden key."""

    top: fmpq_mpoly
    bottom: fmpq_mpoly

    def __add__(self, other: Ratio) -> Ratio:
        if self.bottom.is_one() and other.bottom.is_one():
            return Ratio(self.top + other.top, self.bottom)
        if self.is_minus_infinity or other.is_minus_infinity:
            return self if self.is_minus_infinity else other
        if self.bottom == other.bottom:
            return lowest(self.top + other.top, self.bottom)
        return lowest(self.top * other.bottom + other.top * self.bottom, self.bottom * other.bottom)

    def __mul__(self, other: Ratio) -> Ratio:
        if self.bottom.is_one() and other.bottom.is_one():
            return Ratio(self.top * other.top, self.bottom)
        if self.is_minus_infinity or other.is_minus_infinity:
            raise ValueRefused("−∞ cannot be multiplied by a symbol whose sign is open")
        return lowest(self.top * other.top, self.bottom * other.bottom)

    def __truediv__(self, other: Ratio) -> Ratio:
        if other.is_minus_infinity or not other.top:
            raise ValueRefused("division by zero")
        return self if self.is_minus_infinity else lowest(self.top * other.bottom, self.bottom * other.top)

    def __neg__(self) -> Ratio:
        return Ratio(-self.top, self.bottom)

    @property
    def is_minus_infinity(self) -> bool:
        """Whether this is −∞."""
        return not self.bottom


def lowest(top: fmpq_mpoly, bottom: fmpq_mpoly) -> Ratio:
    """The quotient in lowest terms, the denominator's first coefficient 1: equal quotients look equal."""
    if not top:
        return Ratio(top, bottom**0)
    if bottom.is_one():
        return Ratio(top, bottom)
    common = top.gcd(bottom)
    top, bottom = top / common, bottom / common
    lead = bottom.leading_coefficient()
    return Ratio(top / lead, bottom / lead)


@lru_cache(maxsize=4)
def _generated(room: int) -> tuple[Any, tuple[Any, ...], fmpq_mpoly]:
    context = fmpq_mpoly_ctx.get([f"g{i}" for i in range(room)], Ordering.lex)
    return context, context.gens(), context.constant(1)


@dataclass
class Ring:
    """Polynomials in symbols that are named as they turn up; `labels` says how each is written."""

    room: int = 64
    labels: list[str] = field(default_factory=list)
    _places: dict[Hashable, int] = field(default_factory=dict)
    context: Any = None
    _generators: tuple[Any, ...] = ()
    _one: Any = None

    def __post_init__(self) -> None:
        self.context, self._generators, self._one = _generated(self.room)

    def copy(self) -> Self:
        """A ring with the same symbols, to which others may be added."""
        return type(self)(self.room, list(self.labels), dict(self._places))

    def place(self, key: Hashable, label: str) -> int:
        """Where the exponents of a key's symbol stand; it is made when first asked for."""
        if key not in self._places:
            if len(self.labels) == self.room:
                raise OutOfRoom(f"more than {self.room} symbols are needed; take smaller sizes")
            self._places[key] = len(self.labels)
            self.labels.append(label)
        return self._places[key]

    def symbol(self, key: Hashable, label: str) -> Ratio:
        """The symbol of a key."""
        return Ratio(self._generators[self.place(key, label)], self._one)

    def constant(self, value: fmpq) -> Ratio:
        """A number."""
        return Ratio(self.context.constant(value), self._one)

    def minus_infinity(self) -> Ratio:
        """The score of a forbidden key."""
        return Ratio(self.context.constant(-1), self.context.constant(0))

    def exp(self, power: Ratio) -> Ratio:
        """e^power, as the product of its terms' exponentials."""
        if power.is_minus_infinity:
            return self.constant(0)
        top, bottom = power.top**0, power.top**0
        for exponents, coefficient in power.top.to_dict().items():
            unit = self.context.from_dict({exponents: fmpq(1, coefficient.q)})
            term = Ratio(unit, power.bottom)
            factor = self.symbol(key_of("exp", term), EXP + self.show(term)).top
            times = int(coefficient.p)
            top, bottom = (top * factor**times, bottom) if times > 0 else (top, bottom * factor**-times)
        return lowest(top, bottom)

    def opaque(self, function: str, argument: Ratio) -> Ratio:
        """A function that we know no law of, as a symbol for each argument."""
        label = f"{function}({self.show(argument)})"
        return self.symbol(key_of(function, argument), label)

    def show(self, ratio: Ratio) -> str:
        """A cell as a course would write it."""
        if ratio.is_minus_infinity:
            return "−∞"
        top = self._polynomial(ratio.top)
        if ratio.bottom.is_one():
            return top
        bottom = self._polynomial(ratio.bottom)
        brackets = [f"({text})" if " + " in text or " − " in text else text for text in (top, bottom)]
        return " / ".join(brackets)

    def _polynomial(self, polynomial: fmpq_mpoly) -> str:
        terms = polynomial.to_dict().items()
        return summed((self._factors(exponents), coefficient) for exponents, coefficient in terms)

    def _factors(self, exponents: tuple[int, ...]) -> list[str]:
        return _powers([(self.labels[place], power) for place, power in enumerate(exponents) if power])


def _powers(powers: list[tuple[str, int]]) -> list[str]:
    """x^2 y e^(a + b): plain symbols first, then all exponentials as one."""
    names = [label + raised(power) for label, power in powers if not label.startswith(EXP)]
    inside = [
        label.removeprefix(EXP) if power == 1 else f"{power} {label.removeprefix(EXP)}"
        for label, power in powers
        if label.startswith(EXP)
    ]
    return names + ([f"e^({' + '.join(inside)})"] if inside else [])


def key_of(function: str, argument: Ratio) -> Hashable:
    """What the symbol for a function of an argument is remembered by: FLINT writes equal polynomials alike."""
    return function, str(argument.top), str(argument.bottom)
