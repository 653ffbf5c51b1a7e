"""A softmax in three steps, as people write it out: exponentials, their sums, and one divided by the other."""

from __future__ import annotations

from collections.abc import Iterator

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.fit import Shape
from qkv.interpret.trace import Trace
from qkv.program.model import Program, Step
from qkv.records import replace

EXPONENTIALS, SUMS = "exp", "sum"  # the names of the new steps, which no document shows


def unfolded(program: Program) -> Program:
    """The same program with every softmax over rows of several scores in three steps.

    >>> from random import Random
    >>> from qkv.practice.problems import problem
    >>> [step.spelled for step in unfolded(problem("given", Random(1))).steps]
    ['S', 'S_scaled', 'exp', 'sum', 'A', 'Z']
    """
    trace = Trace(program)
    steps = (made for step in program.steps for made in _unfolded(step, trace.value(step.symbol).shape))
    return replace(program, steps=tuple(steps))


def _unfolded(step: Step, shape: Shape) -> Iterator[Step]:
    if not isinstance(step.expr, n.Softmax) or step.expr.axis != 1 or shape[1] == 1:
        yield step
        return
    exps, sums = (Symbol(name, step.symbol.labels, step.symbol.indices) for name in (EXPONENTIALS, SUMS))
    ones = n.Matrix(((n.number(1),),) * shape[1])
    yield replace(step, symbol=exps, expr=n.Exp(step.expr.arg), role=Role.OTHER, spelled=EXPONENTIALS)
    yield replace(step, symbol=sums, expr=n.Product(n.Name(exps), ones), role=Role.OTHER, spelled=SUMS)
    yield replace(step, expr=n.Quotient(n.Name(exps), n.Name(sums)))
