"""Gradients that a page asks for without a formula: dV, dA, dS, dQ and dK from dZ, and one step of gradient descent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import symbol_plain
from qkv.library.around_said import BACKWARD, UPDATE
from qkv.program.model import Answer, Part, Program, Step

_START = re.compile(r"(?P<before>d|∂L/∂|dL/d|grad_?)(?:Z|O|Out|out|Output|output|Y|H|attn)")
_RATES = frozenset({"eta", "lr", "alpha", "learning_rate", "gamma", "rate"})


def with_gradients(program: Program, words: str) -> Program:
    """The program with the gradients that its questions name, where the gradient of what attention gives is given."""
    words = words.lower()
    if program.columns:
        return program
    if BACKWARD.search(words):
        program = _with(program, tuple(_through_attention(program)))
    return _with(program, tuple(_descent(program))) if UPDATE.search(words) else program


def _with(program: Program, made: tuple[Step, ...]) -> Program:
    """The program with further steps, and its questions with those that they name."""
    fresh = tuple(step for step in made if program.item(step.symbol) is None)
    if not fresh:
        return program
    answers = tuple(_answered(answer, fresh) for answer in program.answers)
    return replace(program, steps=(*program.steps, *fresh), answers=answers)


def _answered(answer: Answer, steps: tuple[Step, ...]) -> Answer:
    """A question with the gradients that it names."""
    asked = [step for step in steps if re.search(rf"(?<![\w∂]){re.escape(step.spelled)}(?!\w)", answer.text)]
    asked = asked or [step for step in steps if UPDATE.search(answer.text.lower()) and step.role is Role.OTHER]
    known = {part.name for part in answer.parts}
    parts = tuple(Part(step.spelled, n.Name(step.symbol)) for step in asked if step.spelled not in known)
    return replace(answer, parts=(*answer.parts, *parts), says="", missing="") if parts else answer


def _through_attention(program: Program) -> Iterator[Step]:
    """From dZ back through Z = A V, the softmax and S = Q Kᵀ / √d_k, as far as the page has what it takes."""
    start = next((given for given in program.givens if _START.fullmatch(symbol_plain(given.symbol))), None)
    begins = _START.fullmatch(symbol_plain(start.symbol)) if start is not None else None
    weights, values = program.find(Role.WEIGHTS), program.find(Role.V)
    if start is None or begins is None or weights is None or values is None:
        return
    before, a, g = begins["before"], n.Name(weights), n.Name(start.symbol)

    def step(of: str, expr: n.Expr, says: str) -> Step:
        symbol = Symbol(f"{before}{of}")
        return Step(symbol, expr, Role.BLOCK, symbol_plain(symbol), says=says)

    letter = symbol_plain(weights)
    yield step("V", n.Product(n.Transpose(a), g), "the weights, turned, times what comes back")
    back = step(letter, n.Product(g, n.Transpose(n.Name(values))), "what comes back times the values, turned")
    yield back
    shares = n.Call("rowsum", (n.Call("hadamard", (a, n.Name(back.symbol))),))
    through = n.Call("hadamard", (a, n.Sum((n.Name(back.symbol), n.Negate(shares)))))
    scores = step("S", through, "through the softmax, row by row")
    yield scores
    queries, keys, size = program.find(Role.Q), program.find(Role.K), program.find(Role.D_K)
    scaled = size is not None and "unscaled" not in program.kind and program.find(Role.SCALED) is not None
    for of, other, turned in (("Q", keys, False), ("K", queries, True)):
        if other is not None:
            left = n.Transpose(n.Name(scores.symbol)) if turned else n.Name(scores.symbol)
            made: n.Expr = n.Product(left, n.Name(other))
            made = n.Quotient(made, n.Root(n.Name(size))) if scaled and size is not None else made
            yield step(of, made, "through the scores")


def _descent(program: Program) -> Iterator[Step]:
    """W − η dW for everything that is given with a gradient and a learning rate."""
    rate = next((given for given in program.givens if symbol_plain(given.symbol) in _RATES), None)
    for given in program.givens if rate is not None else ():
        name = symbol_plain(given.symbol)
        slopes = {f"d{name}", f"∂L/∂{name}", f"dL/d{name}", f"grad_{name}"}
        slope = next((item for item in program.items if symbol_plain(item.symbol) in slopes), None)
        if slope is not None and rate is not None:
            change = n.Product(n.Name(rate.symbol), n.Name(slope.symbol))
            symbol = given.symbol._replace(labels=(*given.symbol.labels, "new"))
            expr = n.Sum((n.Name(given.symbol), n.Negate(change)))
            yield Step(symbol, expr, Role.OTHER, symbol_plain(symbol), says="one step of gradient descent")
