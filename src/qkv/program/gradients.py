"""Backwards: a program with a step for the gradient of every quantity that leads to one of its results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from qkv.errors import NameUnknownError, ShapeError
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import symbol_plain
from qkv.interpret.backward import Backward, Share, added, ones
from qkv.interpret.fit import Shape, say
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
    seed = ones(*shape) if gradient is None else n.Matrix(as_rows(name, _as_list(gradient)))
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
        rows, columns = trace.shapes[step.symbol]
        if columns == 1 < rows and not step.expr.by_rows:  # a column of scores is one distribution
            p = n.Name(step.symbol)
            expr = n.Sum((n.Call("diag", (p,)), n.Negate(n.Product(p, n.Transpose(p)))))
            symbol = Symbol("J", tuple(sorted((*step.symbol.labels, step.symbol.base))), step.symbol.indices)
            says = f"the Jacobian of {step.spelled}"
            yield Step(symbol, expr, Role.BLOCK, symbol_plain(symbol), step.head, says=says)
            continue
        for row in range(1, rows + 1):
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


def _gradient(item: Given | Step, shares: list[Share], shape: Shape) -> Step:
    symbol = gradient_of(item.symbol)
    return Step(
        symbol,
        added(shares, shape[1]),
        Role.BLOCK,
        symbol_plain(symbol),
        item.head,
        says=f"the gradient of {item.spelled}",
    )
