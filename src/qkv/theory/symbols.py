"""Symbolic matrices: every cell an exact quotient of polynomials, exponentials included as free symbols.

e^p of a polynomial p is the product of e^(c·m) over its terms, and each e^m is a symbol of its own. Cells that are
equal here are equal as functions. The converse holds too, since exponentials of linearly independent monomials are
algebraically independent; but roots and tanh are symbols without laws, so that a statement which needs a law of theirs
is not proven here, and must not be called false for it.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx
from numpy.typing import NDArray

from qkv.errors import LimitError, MaskedRowError, ShapeError, ValueRefused
from qkv.expr import nodes as n
from qkv.interpret import fit
from qkv.interpret.fit import Way, product_way, quotient_shape, say, sum_shape

Cells = NDArray[Any]  # two-dimensional, of Ratio
MOST_SYMBOLS = 1024  # beyond this the polynomials become slow
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
EXP = "exp "  # marks the label of an exponential; what follows is its exponent


class OutOfRoom(LimitError):
    """The ring has no room for one more symbol; begin again with a larger one."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """numerator / denominator in lowest terms; a denominator of 0 stands for −∞, the score of a forbidden key."""

    top: fmpq_mpoly
    bottom: fmpq_mpoly

    def __add__(self, other: Ratio) -> Ratio:
        if self.is_minus_infinity or other.is_minus_infinity:
            return self if self.is_minus_infinity else other
        if self.bottom == other.bottom:
            return lowest(self.top + other.top, self.bottom)
        return lowest(self.top * other.bottom + other.top * self.bottom, self.bottom * other.bottom)

    def __mul__(self, other: Ratio) -> Ratio:
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
    common = top.gcd(bottom)
    top, bottom = top / common, bottom / common
    lead = bottom.leading_coefficient()
    return Ratio(top / lead, bottom / lead)


@dataclass
class Ring:
    """Polynomials in symbols that are named as they turn up; `labels` says how each is written."""

    room: int = 64
    labels: list[str] = field(default_factory=list)
    _places: dict[Hashable, int] = field(default_factory=dict)
    context: Any = None

    def __post_init__(self) -> None:
        self.context = fmpq_mpoly_ctx.get([f"g{i}" for i in range(self.room)], Ordering.lex)

    def symbol(self, key: Hashable, label: str) -> Ratio:
        """The symbol of a key, made when first asked for."""
        if key not in self._places:
            if len(self.labels) == self.room:
                raise OutOfRoom(f"more than {self.room} symbols are needed; take smaller sizes")
            self._places[key] = len(self.labels)
            self.labels.append(label)
        return Ratio(self.context.gens()[self._places[key]], self.context.constant(1))

    def constant(self, value: fmpq) -> Ratio:
        """A number."""
        return Ratio(self.context.constant(value), self.context.constant(1))

    def minus_infinity(self) -> Ratio:
        """The score of a forbidden key."""
        return Ratio(self.context.constant(-1), self.context.constant(0))

    def matrix(self, name: str, rows: int, columns: int) -> Cells:
        """A matrix of free symbols, written name_ij; a single row or column needs one index."""
        cells = np.empty((rows, columns), dtype=object)
        for i, j in np.ndindex(rows, columns):
            index = str(max(i, j) + 1) if 1 in (rows, columns) else _index(i + 1, j + 1)
            cells[i, j] = self.symbol((name, i, j), f"{name}_{index}")
        return cells

    def exp(self, power: Ratio) -> Ratio:
        """e^power, as the product of its terms' exponentials."""
        if power.is_minus_infinity:
            return self.constant(0)
        top, bottom = power.top**0, power.top**0
        for exponents, coefficient in power.top.to_dict().items():
            unit = self.context.from_dict({exponents: fmpq(1, coefficient.q)})
            label = self.show(Ratio(unit, power.bottom))
            factor = self.symbol(("exp", _key(unit), _key(power.bottom)), EXP + label).top
            times = int(coefficient.p)
            top, bottom = (top * factor**times, bottom) if times > 0 else (top, bottom * factor**-times)
        return lowest(top, bottom)

    def opaque(self, function: str, argument: Ratio) -> Ratio:
        """A function that we know no law of, as a symbol for each argument."""
        label = f"{function}({self.show(argument)})"
        return self.symbol((function, _key(argument.top), _key(argument.bottom)), label)

    def show(self, ratio: Ratio) -> str:
        """A cell as a course would write it."""
        if ratio.is_minus_infinity:
            return "−∞"
        top, bottom = self._polynomial(ratio.top), self._polynomial(ratio.bottom)
        if bottom == "1":
            return top
        brackets = [f"({text})" if " + " in text or " − " in text else text for text in (top, bottom)]
        return " / ".join(brackets)

    def _polynomial(self, polynomial: fmpq_mpoly) -> str:
        text = ""
        for exponents, coefficient in polynomial.to_dict().items():
            powers = [(label, power) for label, power in zip(self.labels, exponents, strict=False) if power]
            names = _powers(powers)
            size = abs(coefficient)
            body = " ".join(([] if size == 1 and names else [str(size)]) + names)
            sign = "−" if coefficient < 0 else "+"
            text += f" {sign} {body}" if text else ("−" if sign == "−" else "") + body
        return text or "0"


def _powers(powers: list[tuple[str, int]]) -> list[str]:
    """x^2 y e^(a + b): plain symbols first, then all exponentials as one."""
    names = [
        label if power == 1 else label + str(power).translate(SUPERSCRIPTS)
        for label, power in powers
        if not label.startswith(EXP)
    ]
    inside = [
        label.removeprefix(EXP) if power == 1 else f"{power} {label.removeprefix(EXP)}"
        for label, power in powers
        if label.startswith(EXP)
    ]
    return names + ([f"e^({' + '.join(inside)})"] if inside else [])


def _index(i: int, j: int) -> str:
    return f"{i}{j}" if i < 10 and j < 10 else f"{i},{j}"


def _key(polynomial: fmpq_mpoly) -> Hashable:
    return tuple(sorted((m, (int(c.p), int(c.q))) for m, c in polynomial.to_dict().items()))


class Symbolic:
    """The algebra of symbolic matrices."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring

    def number(self, node: n.Number) -> Cells:
        return _one(self.ring.constant(fmpq(node.value.numerator, node.value.denominator)))

    def infinite(self, sign: int) -> Cells:
        if sign > 0:
            raise ValueRefused("+∞ has no place in attention scores")
        return _one(self.ring.minus_infinity())

    def stack(self, rows: list[list[Cells]]) -> Cells:
        return np.concatenate([np.concatenate(row, axis=1) for row in rows], axis=0)

    def add(self, a: Cells, b: Cells) -> Cells:
        sum_shape(_shape(a), _shape(b))
        turned = b.T if a.shape == b.shape[::-1] and a.shape != b.shape and 1 in a.shape else b
        return a + turned

    def negate(self, a: Cells) -> Cells:
        return -a

    def multiply(self, a: Cells, b: Cells) -> Cells:
        match product_way(_shape(a), _shape(b)):
            case Way.SCALE_RIGHT | Way.SCALE_LEFT:
                return a * b
            case Way.DOT if a.shape[0] == 1:
                return _product(a, b.T)
            case Way.DOT | Way.ROW:
                return _product(a.T, b)
            case Way.COLUMN:
                return _product(a, b.T)
            case _:
                return _product(a, b)

    def divide(self, a: Cells, b: Cells) -> Cells:
        quotient_shape(_shape(a), _shape(b))
        return a / b

    def power(self, a: Cells, b: Cells) -> Cells:
        if a.shape != (1, 1) or b.shape != (1, 1):
            raise ShapeError(f"a power needs numbers, not a {say(_shape(a))} matrix")
        exponent = b[0, 0]
        if not exponent.top.is_constant() or not exponent.bottom.is_one():
            raise ValueRefused("a symbol can only be raised to a whole power")
        times = exponent.top.coefficient(0) if exponent.top else fmpq(0)
        if times.q != 1 or not 0 <= times <= 64:
            raise ValueRefused("a symbol can only be raised to a whole power from 0 to 64")
        base = a[0, 0]
        return _one(lowest(base.top ** int(times), base.bottom ** int(times)))

    def root(self, a: Cells) -> Cells:
        return self._each(a, lambda x: self.ring.opaque("√", x))

    def absolute(self, a: Cells) -> Cells:
        return self._each(a, lambda x: self.ring.opaque("abs", x))

    def exp(self, a: Cells) -> Cells:
        return self._each(a, self.ring.exp)

    def tanh(self, a: Cells) -> Cells:
        return self._each(a, lambda x: self.ring.opaque("tanh", x))

    def transpose(self, a: Cells) -> Cells:
        return a.T

    def softmax(self, a: Cells, axis: int | None) -> Cells:
        along = fit.along(_shape(a), axis)
        if (np.vectorize(lambda x: x.is_minus_infinity, otypes=[bool])(a)).all(axis=along).any():
            raise MaskedRowError("a row is masked everywhere, so it has no softmax: let it see at least one key")
        return self.normalise(self.exp(a), axis)

    def normalise(self, a: Cells, axis: int | None) -> Cells:
        total: Cells = a.sum(axis=fit.along(_shape(a), axis), keepdims=True)
        return a / total

    def concat(self, parts: list[Cells], axis: int) -> Cells:
        if len({part.shape[1 - axis] for part in parts}) > 1:
            shapes = ", ".join(say(_shape(part)) for part in parts)
            raise ShapeError(f"matrices of shapes {shapes} cannot be put {'side by side' if axis else 'in a stack'}")
        return np.concatenate(parts, axis=axis)

    def mask(self, a: Cells, pattern: Cells | None, truth: bool) -> Cells:
        if pattern is not None and pattern.shape != a.shape:
            raise ShapeError(f"a {say(_shape(pattern))} mask does not fit {say(_shape(a))} scores")
        if pattern is not None and not truth:
            return self.add(a, pattern)
        masked = a.copy()
        offset = max(a.shape[1] - a.shape[0], 0)
        for i, j in np.ndindex(a.shape):
            seen = j <= i + offset if pattern is None else bool(pattern.item(i, j).top)
            if not seen:
                masked[i, j] = self.ring.minus_infinity()
        return masked

    def entry(self, a: Cells, node: n.Entry) -> Cells:
        rows, columns = a.shape
        if (node.row or 1) > rows or (node.column or 1) > columns or (node.columns or (1, 1))[1] > columns:
            raise ShapeError(f"a {say((rows, columns))} matrix has no such entry")
        first, last = node.columns or ((node.column, node.column) if node.column else (1, columns))
        picked = a if node.row is None else a[node.row - 1 : node.row]
        return picked[:, first - 1 : last]

    def _each(self, a: Cells, change: Any) -> Cells:
        changed: Cells = np.frompyfunc(change, 1, 1)(a)
        return changed


def _one(cell: Ratio) -> Cells:
    cells = np.empty((1, 1), dtype=object)
    cells[0, 0] = cell
    return cells


def _shape(a: Cells) -> tuple[int, int]:
    rows, columns = a.shape
    return rows, columns


def _product(a: Cells, b: Cells) -> Cells:
    product: Cells = np.matmul(a, b)
    return product
