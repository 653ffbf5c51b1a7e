"""Backwards: a program with a step for the gradient of every quantity that leads to one of its results.

Each kind of node has one rule: what the gradient g of its value makes of its parts. A quantity that is used several
times adds up what comes back from each use. Rules write expressions, so gradients are worked out, counted and printed
like every other step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

from qkv.errors import NameUnknownError, ShapeError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import plain, symbol_plain
from qkv.interpret.fit import Shape, say
from qkv.interpret.loop import evaluate
from qkv.interpret.shapes import Shapes
from qkv.interpret.trace import Trace
from qkv.program.entries import as_number, as_rows, listed
from qkv.program.model import Given, Program, Step
from qkv.program.spec import LEARNED

ETA = Symbol("eta")


def gradient_of(symbol: Symbol) -> Symbol:
    """The name of a gradient: dQ, dW_Q, dgamma_1."""
    return symbol._replace(base=f"d{symbol.base}")


def backwards(
    trace: Trace, of: str | None = None, gradient: object = None, rate: object = None, jacobian: bool = False
) -> Program:
    """The program of a trace with the gradients of one quantity by all that it is made of; with a `rate`, also one step
    of gradient descent for everything that is learned; with `jacobian`, that of each softmax, row by row."""
    step = _asked(trace.program, of)
    shape = trace.shapes[step.symbol]
    name = symbol_plain(gradient_of(step.symbol))
    seed = _ones(*shape) if gradient is None else n.Matrix(as_rows(name, _as_list(gradient)))
    if seed.shape != shape:
        raise ShapeError(f"{name} is {say(seed.shape)} and {step.spelled} is {say(shape)}, but they must be alike")
    start = Given(gradient_of(step.symbol), seed, Role.BLOCK, name)
    program = _with_gradients(trace, step.symbol, start, None if rate is None else as_number("rate", rate))
    return replace(program, steps=(*program.steps, *jacobians(trace))) if jacobian else program


def jacobians(trace: Trace) -> Iterator[Step]:
    """diag(a) − aᵀ a for each row a of what a softmax gives: how each of its numbers moves with each score."""
    for step in trace.program.steps:
        if not (isinstance(step.expr, n.Softmax) and step.expr.axis == 1):
            continue
        for row in range(1, trace.shapes[step.symbol][0] + 1):
            a = n.Entry(n.Name(step.symbol), row=row)
            expr = n.Sum((n.Call("diag", (a,)), n.Negate(n.Product(n.Transpose(a), a))))
            symbol = Symbol(
                "J", tuple(sorted((*step.symbol.labels, step.symbol.base))), (*step.symbol.indices, str(row))
            )
            says = f"the Jacobian of row {row} of {step.spelled}"
            yield Step(symbol, expr, Role.BLOCK, symbol_plain(symbol), step.head, says=says)


def _as_list(value: object) -> object:
    found = listed(value)
    return found if isinstance(found, list) else [[found]]


def _asked(program: Program, of: str | None) -> Step:
    """The quantity whose gradients are asked for: by name, else the loss, else the last step."""
    steps = {step.spelled: step for step in program.steps}
    if of is not None and of not in steps:
        raise NameUnknownError(f"{of} is not worked out here; there are {', '.join(steps)}")
    return steps[of] if of is not None else steps.get("loss") or program.steps[-1]


def _with_gradients(trace: Trace, of: Symbol, start: Given, rate: n.Number | None) -> Program:
    program = trace.program
    steps = list(_backwards(program, trace.shapes, of))
    givens = (*program.givens, start)
    if rate is not None:
        givens += (Given(ETA, rate, Role.BLOCK, symbol_plain(ETA)),)
        known = {step.symbol for step in steps}
        steps += [_descended(g) for g in program.givens if g.role in LEARNED and gradient_of(g.symbol) in known]
    return replace(program, kind=f"{program.kind}, backwards", givens=givens, steps=(*program.steps, *steps))


def _descended(given: Given) -> Step:
    after = given.symbol._replace(primes=given.symbol.primes + 1)
    change = n.Product(n.Name(ETA), n.Name(gradient_of(given.symbol)))
    expr = n.Sum((n.Name(given.symbol), n.Negate(change)))
    return Step(
        after, expr, given.role, symbol_plain(after), given.head, says=f"{given.spelled} after one step of descent"
    )


def _backwards(program: Program, shapes: Mapping[Symbol, Shape], of: Symbol) -> Iterator[Step]:
    found: dict[Symbol, list[Share]] = {of: []}
    for step in reversed(program.steps):
        if step.symbol not in found or not n.names_in(step.expr):
            continue  # nothing leads back to it, or it is made of sizes alone
        if step.symbol != of:
            yield _gradient(step, found[step.symbol], shapes[step.symbol])
        walk = Backward(shapes, found)
        walk.through(step.expr, n.Name(gradient_of(step.symbol)), n.Name(step.symbol))
    for given in program.givens:
        if given.symbol in found and isinstance(given.expr, n.Matrix) and given.role not in (Role.MASK, Role.BLOCK):
            yield _gradient(given, found[given.symbol], shapes[given.symbol])


Span = tuple[int, int]
Share = tuple[n.Expr, Span | None]  # what comes back from one use, of all columns or of some


def _gradient(item: Given | Step, shares: list[Share], shape: Shape) -> Step:
    symbol = gradient_of(item.symbol)
    return Step(
        symbol,
        _added(shares, shape[1]),
        Role.BLOCK,
        symbol_plain(symbol),
        item.head,
        says=f"the gradient of {item.spelled}",
    )


def _added(shares: list[Share], width: int) -> n.Expr:
    """All shares together; blocks of columns that cover everything are put side by side."""
    spans = sorted(span for _, span in shares if span is not None)
    edges = [(0, 0), *spans, (width + 1, width + 1)]
    if len(spans) == len(shares) and all(b[0] == a[1] + 1 for a, b in pairwise(edges)):
        blocks = sorted(((span, expr) for expr, span in shares if span is not None), key=lambda block: block[0])
        return n.Concat(tuple(expr for _, expr in blocks), 1)
    whole = [expr if span is None else n.Product(expr, _selecting(span, width)) for expr, span in shares]
    return whole[0] if len(whole) == 1 else n.Sum(tuple(whole))


def _selecting(span: Span, width: int) -> n.Matrix:
    """The matrix that puts a block of columns in its place among zeros."""
    return n.Matrix(
        tuple(tuple(n.number(int(j == i)) for j in range(1, width + 1)) for i in range(span[0], span[1] + 1))
    )


class Backward:
    """The way back through one expression; what comes to names is noted in `found`."""

    def __init__(self, shapes: Mapping[Symbol, Shape], found: dict[Symbol, list[Share]]) -> None:
        self.shapes, self.found = shapes, found

    def through(self, node: n.Expr, g: n.Expr, value: n.Expr, span: Span | None = None) -> None:
        """Send the gradient g of a node (of some of its columns) on to its parts; `value` is a short name for the node,
        or the node itself."""
        if isinstance(node, n.Name):
            self.found.setdefault(node.symbol, []).append((g, span))
        elif n.names_in(node):
            g = g if span is None else n.Product(g, _selecting(span, self.shape(node)[1]))
            rule = RULES.get(node.function if isinstance(node, n.Call) else type(node))
            if rule is None:
                raise ValueRefused(f"the gradient of {plain(node)} is not worked out")
            for part, made in rule(self, node, g, value):
                if n.names_in(part):
                    self._on(part, made)

    def _on(self, part: n.Expr, g: n.Expr) -> None:
        if isinstance(part, n.Entry) and part.columns is not None and part.row is None:
            first, last = part.columns
            self.through(part.arg, g, part.arg, (first, last or self.shape(part.arg)[1]))
        else:
            self.through(part, g, part)

    def shape(self, node: n.Expr) -> Shape:
        return evaluate(node, self.shapes, Shapes())

    def fitted(self, g: n.Expr, node: n.Expr, part: n.Expr) -> n.Expr:
        """A gradient of the shape of a node, added up over what its part was spread along."""
        (rows, columns), (high, wide) = self.shape(node), self.shape(part)
        if (rows, columns) == (high, wide):
            return g
        if (high, wide) == (1, 1):
            return n.Call("sum", (g,))
        return n.Product(_ones(1, rows), g) if high == 1 else n.Call("rowsum", (g,))


def _ones(rows: int, columns: int) -> n.Matrix:
    return n.Matrix(((n.number(1),) * columns,) * rows)


def turned(expr: n.Expr) -> n.Expr:
    """The transpose, with transposes taken inside of products: (Qᵀ dS)ᵀ is dSᵀ Q."""
    if isinstance(expr, n.Transpose):
        return expr.arg
    if isinstance(expr, n.Product):
        return n.Product(turned(expr.right), turned(expr.left))
    return n.Transpose(expr)


Parts = Iterator[tuple[n.Expr, n.Expr]]  # parts of a node, each with its gradient


def _sum(way: Backward, node: n.Sum, g: n.Expr, value: n.Expr) -> Parts:
    for term in node.terms:
        yield term, way.fitted(g, node, term)


def _product(way: Backward, node: n.Product, g: n.Expr, value: n.Expr) -> Parts:
    yield node.left, n.Product(g, turned(node.right))
    yield node.right, n.Product(turned(node.left), g)


def _quotient(way: Backward, node: n.Quotient, g: n.Expr, value: n.Expr) -> Parts:
    yield node.numerator, n.Quotient(g, node.denominator)
    if n.names_in(node.denominator):
        back = way.fitted(n.Call("hadamard", (g, value)), node, node.denominator)
        yield node.denominator, n.Negate(n.Quotient(back, node.denominator))


def _softmax(way: Backward, node: n.Softmax, g: n.Expr, value: n.Expr) -> Parts:
    if way.shape(node)[node.axis] == 1:
        return  # one weight is always 1
    down = node.axis == 0
    a, d = (turned(value), turned(g)) if down else (value, g)
    made = n.Call("hadamard", (a, n.Sum((d, n.Negate(n.Call("rowsum", (n.Call("hadamard", (a, d)),)))))))
    yield node.arg, turned(made) if down else made


def _concat(way: Backward, node: n.Concat, g: n.Expr, value: n.Expr) -> Parts:
    first = 1
    for part in node.parts:
        last = first + way.shape(part)[node.axis] - 1
        block = n.Entry(g if node.axis else turned(g), columns=(first, last))
        yield part, block if node.axis else turned(block)
        first = last + 1


def _mean(way: Backward, node: n.Call, g: n.Expr, value: n.Expr) -> Parts:
    rows, columns = way.shape(node.args[0])
    if columns == 1:  # a column counts as one row
        yield node.args[0], n.Quotient(n.Product(_ones(rows, 1), g), n.number(rows))
    else:
        yield node.args[0], n.Quotient(n.Product(g, _ones(1, columns)), n.number(columns))


def _rowsum(way: Backward, node: n.Call, g: n.Expr, value: n.Expr) -> Parts:
    rows, columns = way.shape(node.args[0])
    yield node.args[0], n.Product(_ones(rows, 1), g) if columns == 1 else n.Product(g, _ones(1, columns))


def _variance(way: Backward, node: n.Call, g: n.Expr, value: n.Expr) -> Parts:
    x = node.args[0]
    apart = n.Sum((x, n.Negate(n.Call("mean", (x,)))))
    yield x, n.Quotient(n.Call("hadamard", (g, apart)), n.Quotient(n.number(way.shape(x)[1]), n.number(2)))


def _norm(way: Backward, node: n.Call, g: n.Expr, value: n.Expr) -> Parts:
    yield node.args[0], n.Call("hadamard", (n.Quotient(g, value), node.args[0]))


def _hadamard(way: Backward, node: n.Call, g: n.Expr, value: n.Expr) -> Parts:
    a, b = node.args
    yield a, way.fitted(n.Call("hadamard", (g, b)), node, a)
    yield b, way.fitted(n.Call("hadamard", (g, a)), node, b)


def _cellwise(slope: Callable[[n.Expr, n.Expr], n.Expr]) -> Rule:
    """A function taken cell by cell: its slope by its argument and its value."""

    def rule(way: Backward, node: n.Expr, g: n.Expr, value: n.Expr) -> Parts:
        (arg,) = n.children(node)
        yield arg, n.Call("hadamard", (g, slope(arg, value)))

    return rule


def _over(divisor: Callable[[n.Expr, n.Expr], n.Expr]) -> Rule:
    """A function whose slope is one over something."""

    def rule(way: Backward, node: n.Expr, g: n.Expr, value: n.Expr) -> Parts:
        (arg,) = n.children(node)
        yield arg, n.Quotient(g, divisor(arg, value))

    return rule


def _slope(function: str) -> Rule:
    return _cellwise(lambda x, y: n.Call(function, (x,)))


Rule = Callable[[Backward, n.Expr, n.Expr, n.Expr], Parts]
RULES: Mapping[object, Callable[..., Parts]] = {
    n.Sum: _sum,
    n.Product: _product,
    n.Quotient: _quotient,
    n.Softmax: _softmax,
    n.Concat: _concat,
    n.Negate: lambda way, node, g, value: iter([(node.arg, n.Negate(g))]),
    n.Transpose: lambda way, node, g, value: iter([(node.arg, turned(g))]),
    n.Mask: lambda way, node, g, value: iter([(node.arg, g)]),  # a weight of 0 sends nothing back
    n.Entry: lambda way, node, g, value: iter([(node, g)]),
    n.Exp: _cellwise(lambda x, y: y),
    "tanh": _cellwise(lambda x, y: n.Sum((n.number(1), n.Negate(n.Call("hadamard", (y, y)))))),
    n.Root: _over(lambda x, y: n.Sum((y, y))),
    "ln": _over(lambda x, y: x),
    "mean": _mean,
    "rowsum": _rowsum,
    "var": _variance,
    "hadamard": _hadamard,
    "norm": _norm,
    **{name: _slope(f"d{name}") for name in ("relu", "gelu", "gelutanh", "silu", "elu")},
    "sin": _cellwise(lambda x, y: n.Call("cos", (x,))),
    "cos": _cellwise(lambda x, y: n.Negate(n.Call("sin", (x,)))),
}
