"""The one loop: a program, step by step, under any interpretation.

An interpretation is an Algebra: what the operations of the expression language mean for one kind of value. Adding one
touches no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, Protocol, TypeVar

from qkv.errors import NameUnknownError, QkvError, ShapeError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.names import Symbol, shared_symbol
from qkv.expr.show import plain
from qkv.interpret.fit import Misfit
from qkv.program.model import Given, Program, Step

T = TypeVar("T")


class Algebra(Protocol, Generic[T]):
    """The operations, for values of type T. Every value is a matrix; a number is 1×1."""

    def number(self, node: n.Number) -> T: ...
    def infinite(self, sign: int) -> T: ...
    def table(self, matrix: n.Matrix) -> T: ...  # rows of one length, every cell a number or an infinity
    def stack(self, rows: list[list[T]]) -> T: ...
    def add(self, a: T, b: T) -> T: ...
    def negate(self, a: T) -> T: ...
    def multiply(self, a: T, b: T) -> T: ...
    def divide(self, a: T, b: T) -> T: ...
    def power(self, a: T, b: T) -> T: ...
    def root(self, a: T) -> T: ...
    def absolute(self, a: T) -> T: ...
    def exp(self, a: T) -> T: ...
    def tanh(self, a: T) -> T: ...
    def transpose(self, a: T) -> T: ...
    def softmax(self, a: T, axis: int | None) -> T: ...  # None: along a vector, otherwise along rows; see fit.along
    def normalise(self, a: T, axis: int | None) -> T: ...
    def concat(self, parts: list[T], axis: int) -> T: ...
    def mask(self, a: T, pattern: T | None, truth: bool) -> T: ...
    def entry(self, a: T, node: n.Entry) -> T: ...


def run(program: Program, algebra: Algebra[T], known: Mapping[Symbol, T] | None = None) -> dict[Symbol, T]:
    """Every quantity of a program: its givens, then its steps in order."""
    return {item.symbol: value for item, value in worked(program, algebra, known)}


def worked(
    program: Program, algebra: Algebra[T], known: Mapping[Symbol, T] | None = None
) -> Iterator[tuple[Given | Step, T]]:
    """Each given and each step with its value, one after the other; givens that are `known` are taken as they are."""
    env: dict[Symbol, T] = dict(known or {})
    for given in program.givens:
        if given.symbol not in env:
            env[given.symbol] = evaluate(given.expr, env, algebra)
        yield given, env[given.symbol]
    for step in program.steps:
        try:
            env[step.symbol] = evaluate(step.expr, env, algebra)
        except QkvError as error:
            kind = ShapeError if isinstance(error, Misfit) else type(error)
            raise kind(f"{step.spelled} = {plain(step.expr)}: {error.message}") from error
        yield step, env[step.symbol]


def evaluate(node: n.Expr, env: Mapping[Symbol, T], algebra: Algebra[T]) -> T:
    """The value of one expression."""
    match node:  # what occurs most comes first
        case n.Name(symbol=symbol):
            if symbol not in env:
                raise NameUnknownError(f"nothing here defines {node.spelled or symbol}", node.at)
            return env[symbol]
        case n.Number():
            return algebra.number(node)
        case n.Product(left=left, right=right):
            return _fitted(algebra.multiply, evaluate(left, env, algebra), evaluate(right, env, algebra), left, right)
        case n.Transpose(arg=a):
            return algebra.transpose(evaluate(a, env, algebra))
        case n.Entry(arg=a):
            return algebra.entry(evaluate(a, env, algebra), node)
        case n.Quotient(numerator=a, denominator=b):
            return _fitted(algebra.divide, evaluate(a, env, algebra), evaluate(b, env, algebra), a, b)
        case n.Matrix(rows=rows):
            if rows and rows[0] and n.is_plain(node) and not node.is_ragged:
                return algebra.table(node)
            return algebra.stack([[evaluate(cell, env, algebra) for cell in row] for row in rows])
        case n.Sum(terms=terms):
            total = evaluate(terms[0], env, algebra)
            for i, term in enumerate(terms[1:], 1):
                added = evaluate(term, env, algebra)
                try:
                    total = algebra.add(total, added)
                except Misfit as misfit:
                    raise misfit.named(plain(n.Sum(terms[:i])), plain(term)) from None
            return total
        case n.Softmax(arg=a):
            return algebra.softmax(evaluate(a, env, algebra), axis_of(node))
        case n.Normalise(arg=a):
            return algebra.normalise(evaluate(a, env, algebra), axis_of(node))
        case n.Concat(parts=parts, axis=axis):
            return algebra.concat(_parts(parts, env, algebra), axis)
        case n.Mask(arg=a, pattern=pattern):
            return _masked(
                node, evaluate(a, env, algebra), None if pattern is None else evaluate(pattern, env, algebra), algebra
            )
        case n.Power(base=a, exponent=b):
            return algebra.power(evaluate(a, env, algebra), evaluate(b, env, algebra))
        case n.Infinite(sign=sign):
            return algebra.infinite(sign)
        case n.Series():
            return evaluate(unrolled(node), env, algebra)
        case n.Call(function=function):
            raise NameUnknownError(f"the function {function} is not one that qkv knows", node.at)
        case _:
            return _unary(node, evaluate(node.arg, env, algebra), algebra)


def _parts(parts: tuple[n.Expr, ...], env: Mapping[Symbol, T], algebra: Algebra[T]) -> list[T]:
    """The values of several parts; what rows or columns of one matrix are picked from is worked out once."""
    wholes: dict[int, T] = {}
    made = []
    for part in parts:
        if not isinstance(part, n.Entry):
            made.append(evaluate(part, env, algebra))
            continue
        if id(part.arg) not in wholes:
            wholes[id(part.arg)] = evaluate(part.arg, env, algebra)
        made.append(algebra.entry(wholes[id(part.arg)], part))
    return made


def axis_of(node: n.Softmax | n.Normalise) -> int | None:
    """The axis that an algebra is told: None where a column of scores is one distribution (see fit.along)."""
    return node.axis if node.axis == 0 or node.by_rows else None


def _fitted(work: Callable[[T, T], T], a: T, b: T, left: n.Expr, right: n.Expr) -> T:
    try:
        return work(a, b)
    except Misfit as misfit:
        raise misfit.named(plain(left), plain(right)) from None


def _masked(node: n.Mask, a: T, pattern: T | None, algebra: Algebra[T]) -> T:
    try:
        return algebra.mask(a, pattern, node.truth)
    except Misfit as misfit:
        raise misfit.named(plain(node.arg), plain(node.pattern or node.arg)) from None


def _unary(node: n.Negate | n.Root | n.Absolute | n.Exp | n.Tanh, a: T, algebra: Algebra[T]) -> T:
    match node:
        case n.Negate():
            return algebra.negate(a)
        case n.Root():
            return algebra.root(a)
        case n.Absolute():
            return algebra.absolute(a)
        case n.Exp():
            return algebra.exp(a)
        case _:
            return algebra.tanh(a)


MAX_TERMS = 10_000  # a Σ longer than this is refused rather than written out


def unrolled(series: n.Series) -> n.Sum:
    """Σ written out, the index replaced by each number in turn."""
    low, high = series.low, series.high
    if not (isinstance(low, n.Number) and isinstance(high, n.Number)):
        raise ValueRefused("a Σ whose bounds are not numbers cannot be worked out", series.at)
    first, last = int(low.value), int(high.value)
    if not 0 < last - first + 1 <= MAX_TERMS:
        raise ValueRefused(f"a Σ from {first} to {last} cannot be worked out", series.at)
    return n.Sum(tuple(_at_index(series.body, series.index, i) for i in range(first, last + 1)))


def _at_index(body: n.Expr, index: str, i: int) -> n.Expr:
    def change(part: n.Expr) -> n.Expr:
        if isinstance(part, n.Name) and index in part.symbol.indices:
            s = part.symbol
            indices = tuple(str(i) if x == index else x for x in s.indices)
            return n.Name(shared_symbol(s.base, s.labels, indices, s.primes), at=part.at)
        if isinstance(part, n.Name) and part.symbol == Symbol(index):
            return n.number(i)
        return part

    return n.rewrite(body, change)
