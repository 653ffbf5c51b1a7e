"""Equations about E and Var, judged: both sides as exact polynomials in D_k, μ, σ and s.

q and k are vectors of D_k independent components with mean μ and standard deviation σ. An expression in their
components is a polynomial in q_i and k_i; a sum over i is so many independent copies of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from flint import fmpq

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.theory.formula import FormulaRing, Unclear, evaluated, meaning, multiplied, named, ring
from qkv.theory.ring import Ratio, lowest

EXPECTATION = frozenset({"E", "𝔼", "Exp", "mean"})
VARIANCE = frozenset({"Var", "var", "Variance", "V", "𝕍"})
MOMENTS = EXPECTATION | VARIANCE
VECTORS = ("q", "k")
ANY = "X"
CONSTANTS = ("a", "b", "c")
STANDARD = {"mu": Fraction(0), "sigma": Fraction(1)}


@dataclass(frozen=True, slots=True)
class Copies:
    """A sum of `count` independent copies of a random term, plus a constant."""

    count: Ratio
    term: Ratio


Value = Ratio | Copies
# What each E and Var of a document comes to, with μ = 0 and σ = 1 or without: a derivation has the same ones all over.
Known = dict[tuple[bool, n.Expr], Ratio]


class Chance(NamedTuple):
    """A random component x: what E puts in place of x and of x²."""

    x: Any
    instead: Any  # E[x] − x
    instead_of_square: Any  # (E[x²] − x²) / 2


class Moments(NamedTuple):
    """Evaluates expressions about q and k; `given` replaces μ and σ by numbers."""

    ring: FormulaRing
    given: Mapping[str, Fraction]
    components: Mapping[str, Ratio]
    chances: Mapping[int, Chance]  # by their places in the ring
    known: Known

    def anew(self, known: Known) -> Moments:
        """The same, to which symbols may be added; what is `known` is in the symbols that all have."""
        return Moments(self.ring.copy(), self.given, self.components, self.chances, known)

    def value(self, node: n.Expr) -> Value:
        """A number, a polynomial in the components, or a sum of independent copies."""
        match node:
            case n.Name(symbol=symbol):
                return self._named(symbol)
            case n.Call(function=function, args=(inside,)) if function in MOMENTS:
                return self._moment(node, function, inside)
            case n.Product(left=n.Transpose(arg=a) | (n.Name() as a), right=b) if _is_vector(a) and _is_vector(b):
                return Copies(self._size(), self._component(a) * self._component(b))
            case n.Series(low=low, high=high, body=body) if low is not None and high is not None:
                one = self.ring.constant(fmpq(1))
                return self._series(self._plain(high) + -self._plain(low) + one, self.value(body))
            case n.Product(left=a, right=b):
                return self._scaled(self.value(a), self.value(b))
            case n.Quotient(numerator=a, denominator=b):
                return self._scaled(self.value(a), self.ring.constant(fmpq(1)) / self._plain(b))
            case n.Matrix(rows=((cell,),)):
                return self.value(cell)
            case _:
                return evaluated(node, self.ring, self.given, self._plain)

    def _moment(self, node: n.Call, function: str, inside: n.Expr) -> Ratio:
        """E or Var, worked out once for a document unless it holds symbols that only one chain has."""
        key = bool(self.given), node
        if key in self.known:
            return self.known[key]
        value = self.value(_unwrapped(inside))
        made = self.expectation(value) if function in EXPECTATION else self.variance(value)
        if len(self.ring.labels) == len(_usual(key[0]).ring.labels):
            self.known[key] = made
        return made

    def expectation(self, value: Value) -> Ratio:
        """E: each component's powers become its moments; components are independent."""
        if isinstance(value, Copies):
            return value.count * self.expectation(value.term)
        top = value.top
        for place, chance in self.chances.items():
            slope = top.derivative(place)
            if not slope:
                continue
            bend = slope.derivative(place)  # a + b x + c x² has the slope b + 2 c x and the bend 2 c
            if bend:
                if bend.derivative(place):
                    raise Unclear("mean and standard deviation do not say what higher moments are")
                top += bend * chance.instead_of_square
                slope -= bend * chance.x
            top += slope * chance.instead
        return lowest(top, value.bottom)

    def variance(self, value: Value) -> Ratio:
        """Var(x) = E[x²] − E[x]²; of independent copies it adds up."""
        if isinstance(value, Copies):
            return value.count * self.variance(value.term)
        mean = self.expectation(value)
        return self.expectation(value * value) + -(mean * mean)

    def _named(self, symbol: Symbol) -> Ratio:
        if symbol.base in VECTORS and len(symbol.indices) == 1 and not symbol.labels:
            return self.components[symbol.base]
        if symbol == Symbol(ANY):
            return self.components[ANY]
        if symbol.base in CONSTANTS and symbol == Symbol(symbol.base):
            return self.ring.symbol(symbol.base, symbol.base)
        return self._size() if meaning(symbol) in ("d", "n") else named(symbol, self.ring, self.given)

    def _component(self, node: n.Expr) -> Ratio:
        return self.components[node.symbol.base if isinstance(node, n.Name) else ""]

    def _size(self) -> Ratio:
        return named(Symbol("D", ("k",)), self.ring, self.given)

    def _series(self, count: Ratio, body: Value) -> Value:
        if isinstance(body, Copies):
            raise Unclear("a sum of sums")
        random = any(map(body.top.derivative, self.chances))
        return Copies(count, body) if random else count * body

    def _plain(self, node: n.Expr) -> Ratio:
        value = self.value(node)
        if isinstance(value, Copies):
            raise Unclear("a sum of independent copies inside of a formula")
        return value

    def _scaled(self, a: Value, b: Value) -> Value:
        if isinstance(a, Copies) and isinstance(b, Copies):
            raise Unclear("a product of two sums")
        if isinstance(a, Copies) and isinstance(b, Ratio):
            return Copies(a.count, a.term * b)
        if isinstance(a, Ratio) and isinstance(b, Copies):
            return Copies(b.count, a * b.term)
        assert isinstance(a, Ratio)
        assert isinstance(b, Ratio)
        return a * b


def _is_vector(node: n.Expr) -> bool:
    return isinstance(node, n.Name) and node.symbol.base in VECTORS and not node.symbol.indices


def _unwrapped(node: n.Expr) -> n.Expr:
    """E[x] is read with its bracket as a list of one."""
    return node.rows[0][0] if isinstance(node, n.Matrix) and len(node.rows) == 1 and len(node.rows[0]) == 1 else node


def speaks_of_moments(node: n.Expr) -> bool:
    """Whether E or Var occurs in an expression."""
    if not n.holds(node, n.Call):
        return False
    return any(isinstance(part, n.Call) and part.function in MOMENTS for part in n.walk(node))


def is_assumption(links: Sequence[n.Expr]) -> bool:
    """E[q_i] = E[k_i] = 0, Var(q_i) = 1: of single components, nothing else can tell it."""
    return isinstance(links[-1], n.Number) and all(map(_of_component, links[:-1]))


def _of_component(link: n.Expr) -> bool:
    inside = _unwrapped(link.args[0]) if isinstance(link, n.Call) and len(link.args) == 1 else None
    return isinstance(inside, n.Name) and (inside.symbol.base in VECTORS or bool(inside.symbol.indices))


def chain_holds(links: Sequence[n.Expr], standard: bool, known: Known | None = None) -> tuple[bool | None, str, str]:
    r"""Whether all links of a chain of equations are equal, and, if they are not, the first two that differ.

    `standard` says that μ = 0 and σ = 1 may be used; a chain is right if it holds with or without. None means that it
    cannot be told; so it is where the scale s is yet to be chosen. `known` is shared by the chains of a document.

    >>> from qkv.theory.formula import written
    >>> chain_holds([written(r"\text{Var}(q_i k_i)"), written("1")], standard=True)[0]
    True
    """
    known = {} if known is None else known
    outcome = _equal(links, known, standard)
    if standard and not outcome.holds:  # what holds in general does so with numbers, too, but may be told by one only
        general = _equal(links, known)
        outcome = outcome if general.holds is False else general
    if outcome.holds is not False or outcome.sides is None:
        return outcome.holds, "", ""
    left, right = (_shown(outcome.rings, side) for side in outcome.sides)
    return False, left, right


class Outcome(NamedTuple):
    """Whether a chain holds (None: it cannot be told), and two sides of it, which differ if it does not."""

    holds: bool | None
    rings: FormulaRing
    sides: tuple[Value, Value] | None = None


@lru_cache(maxsize=2)
def _usual(standard: bool) -> Moments:
    """q and k with components of one mean and one standard deviation; X is any random number: nothing is known."""
    rings, given = ring(), STANDARD if standard else {}
    labels = {**{letter: f"{letter}_i" for letter in VECTORS}, ANY: ANY}
    components = {letter: rings.symbol(("component", letter), label) for letter, label in labels.items()}
    mu, sigma = (named(Symbol(name), rings, given) for name in ("mu", "sigma"))
    own = (mu, sigma * sigma + mu * mu)  # E[x], E[x²]
    free = (rings.symbol("E[X]", "E[X]"), rings.symbol("E[X²]", "E[X²]"))
    chances = {}
    for letter, component in components.items():
        x, (mean, square) = component.top, (moment.top for moment in (free if letter == ANY else own))  # all over 1
        chances[rings.place(("component", letter), "")] = Chance(x, mean - x, (square - x * x) / 2)
    return Moments(rings, given, components, chances, {})


def _equal(links: Sequence[n.Expr], moments: Known, standard: bool = False) -> Outcome:
    algebra = _usual(standard).anew(moments)
    rings = algebra.ring
    known: list[Value] = []
    for link in links:
        try:
            known.append(_settled(algebra.value(multiplied(link)), rings))
        except Unclear:
            continue
    if len(known) < 2:
        return Outcome(None, rings)
    first = known[0]
    for other in known[1:]:
        if other != first:
            open_scale = _has_scale(first, rings) != _has_scale(other, rings)
            return Outcome(None if open_scale or _puts_in_size(first, other) else False, rings, (first, other))
    return Outcome(True if len(known) == len(links) else None, rings, (first, first))


def _settled(value: Value, rings: FormulaRing) -> Value:
    if isinstance(value, Copies):
        return Copies(rings.settled(value.count), rings.settled(value.term))
    return rings.settled(value)


def _has_scale(value: Value, rings: FormulaRing) -> bool:
    """Whether the unknown scale s occurs: an equation for it is a condition, not a claim."""
    if isinstance(value, Copies):
        return _has_scale(value.term, rings)
    place = rings.place("s", "s")
    return bool(value.top.degrees()[place] > 0 or value.bottom.degrees()[place] > 0)


def _puts_in_size(first: Value, other: Value) -> bool:
    """Var(qᵀk) = 64 where it is d_k: the size may be 64 there; no example has a size of 1 or 0."""
    numbers = [side for side in (first, other) if isinstance(side, Ratio) and _is_number(side)]
    return len(numbers) == 1 and numbers[0].top not in (0, numbers[0].bottom)


def _is_number(value: Ratio) -> bool:
    return bool(value.top.is_constant() and value.bottom.is_constant())


def _shown(rings: FormulaRing, value: Value) -> str:
    if isinstance(value, Copies):
        return f"{rings.show(value.count)} copies of {rings.show(value.term)}"
    return rings.show(value)
