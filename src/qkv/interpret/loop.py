"""The one loop: a program, step by step, under any interpretation.

An interpretation is an Algebra: what the operations of the expression language mean for one kind of value. Adding one
touches no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, Protocol, TypeVar

from qkv.errors import NameUnknownError, QkvError, ShapeError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.functions import BY_KEY, Function, Kind
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
    def transpose(self, a: T) -> T: ...
    def softmax(self, a: T, axis: int | None) -> T: ...  # None: along a vector, otherwise along rows; see fit.along
    def normalise(self, a: T, axis: int | None) -> T: ...
    def concat(self, parts: list[T], axis: int) -> T: ...
    def mask(self, a: T, pattern: T | None, truth: bool) -> T: ...
    def entry(self, a: T, node: n.Entry) -> T: ...
    def apply(self, function: Function, args: list[T]) -> T: ...  # a row of the table of functions


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
    """The value of one expression. Half of all nodes are names, so these are looked up here."""
    if type(node) is not n.Name:
        made: T = _MEANING[type(node)](node, env, algebra)
        return made
    if node.symbol not in env:
        raise NameUnknownError(f"nothing here defines {node.spelled or node.symbol}", node.at)
    return env[node.symbol]


def evaluated(node: n.Expr, env: Mapping[Symbol, T], algebra: Algebra[T]) -> T | None:
    """The same, None where it has no value: a name that nothing defines, shapes that do not fit."""
    try:
        return evaluate(node, env, algebra)
    except QkvError:
        return None


def _product(node: n.Product, env: Mapping[Symbol, T], algebra: Algebra[T]) -> T:
    a, b = evaluate(node.left, env, algebra), evaluate(node.right, env, algebra)
    try:
        return algebra.multiply(a, b)
    except Misfit as misfit:
        raise misfit.named(plain(node.left), plain(node.right)) from None


def _quotient(node: n.Quotient, env: Mapping[Symbol, T], algebra: Algebra[T]) -> T:
    a, b = evaluate(node.numerator, env, algebra), evaluate(node.denominator, env, algebra)
    try:
        return algebra.divide(a, b)
    except Misfit as misfit:
        raise misfit.named(plain(node.numerator), plain(node.denominator)) from None


def _matrix(node: n.Matrix, env: Mapping[Symbol, T], algebra: Algebra[T]) -> T:
    if node.rows and node.rows[0] and n.is_plain(node) and not node.is_ragged:
        return algebra.table(node)
    return algebra.stack([[evaluate(cell, env, algebra) for cell in row] for row in node.rows])


def _sum(node: n.Sum, env: Mapping[Symbol, T], algebra: Algebra[T]) -> T:
    total = evaluate(node.terms[0], env, algebra)
    for i, term in enumerate(node.terms[1:], 1):
        added = evaluate(term, env, algebra)
        try:
            total = algebra.add(total, added)
        except Misfit as misfit:
            if not (_is_number(term) or all(map(_is_number, node.terms[:i]))):
                raise misfit.named(plain(n.Sum(node.terms[:i])), plain(term)) from None
            total = algebra.apply(BY_KEY["plus"], [total, added])
    return total


def _is_number(term: n.Expr) -> bool:
    """A number that is written out: elu(Q) + 1 adds it to every cell."""
    return isinstance(term.arg if isinstance(term, n.Negate) else term, n.Number)


def _concat(node: n.Concat, env: Mapping[Symbol, T], algebra: Algebra[T]) -> T:
    """What rows or columns of one matrix are picked from is worked out once."""
    wholes: dict[int, T] = {}
    made = []
    for part in node.parts:
        if not isinstance(part, n.Entry):
            made.append(evaluate(part, env, algebra))
            continue
        if id(part.arg) not in wholes:
            wholes[id(part.arg)] = evaluate(part.arg, env, algebra)
        made.append(algebra.entry(wholes[id(part.arg)], part))
    return algebra.concat(made, node.axis)


def _mask(node: n.Mask, env: Mapping[Symbol, T], algebra: Algebra[T]) -> T:
    scores = evaluate(node.arg, env, algebra)
    pattern = None if node.pattern is None else evaluate(node.pattern, env, algebra)
    try:
        return algebra.mask(scores, pattern, node.truth)
    except Misfit as misfit:
        raise misfit.named(plain(node.arg), plain(node.pattern or node.arg)) from None


def _call(node: n.Call, env: Mapping[Symbol, T], algebra: Algebra[T]) -> T:
    function = BY_KEY.get(node.function)
    if function is None:
        raise NameUnknownError(f"the function {node.function} is not one that qkv knows", node.at)
    if (len(node.args) != (2 if function.kind is Kind.PAIR else 1) and function.kind is not Kind.ALL) or not node.args:
        raise ValueRefused(f"{node.function} does not take {len(node.args)} arguments", node.at)
    return algebra.apply(function, [evaluate(arg, env, algebra) for arg in node.args])


# What each kind of node means: a table, since this is the most travelled way in the whole program.
_MEANING: Mapping[type, Callable[..., Any]] = {
    n.Number: lambda node, env, algebra: algebra.number(node),
    n.Infinite: lambda node, env, algebra: algebra.infinite(node.sign),
    n.Matrix: _matrix,
    n.Sum: _sum,
    n.Product: _product,
    n.Quotient: _quotient,
    n.Concat: _concat,
    n.Mask: _mask,
    n.Call: _call,
    n.Transpose: lambda node, env, algebra: algebra.transpose(evaluate(node.arg, env, algebra)),
    n.Entry: lambda node, env, algebra: algebra.entry(evaluate(node.arg, env, algebra), node),
    n.Softmax: lambda node, env, algebra: algebra.softmax(evaluate(node.arg, env, algebra), axis_of(node)),
    n.Normalise: lambda node, env, algebra: algebra.normalise(evaluate(node.arg, env, algebra), axis_of(node)),
    n.Negate: lambda node, env, algebra: algebra.negate(evaluate(node.arg, env, algebra)),
    n.Root: lambda node, env, algebra: algebra.root(evaluate(node.arg, env, algebra)),
    n.Absolute: lambda node, env, algebra: algebra.absolute(evaluate(node.arg, env, algebra)),
    n.Exp: lambda node, env, algebra: algebra.exp(evaluate(node.arg, env, algebra)),
    n.Power: lambda node, env, algebra: algebra.power(
        evaluate(node.base, env, algebra), evaluate(node.exponent, env, algebra)
    ),
    n.Series: lambda node, env, algebra: evaluate(unrolled(node), env, algebra),
}


def axis_of(node: n.Softmax | n.Normalise) -> int | None:
    """The axis that an algebra is told: None where a column of scores is one distribution (see fit.along)."""
    return node.axis if node.axis == 0 or node.by_rows else None


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
