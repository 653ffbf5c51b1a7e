"""Steps that a sheet's questions ask for beside its own: without the scale, with a mask, the weight on the future."""

from __future__ import annotations

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import symbol_plain
from qkv.expr.wording import Wording
from qkv.program.model import Program, Step
from qkv.sheet.model import Sheet
from qkv.understand.facts import Fact
from qkv.understand.roles import CAUSAL, FUTURE, WITHOUT_SCALE
from qkv.understand.workable import shapes_of, with_step

R = Role


def without_scale(program: Program, scope: tuple[Fact, ...], sheet: Sheet) -> Program:
    """'Without 1/√d_k, which weight …?': the weights as they would be unscaled, beside the scaled ones."""
    first, last = scope[0].statement.at.line, scope[-1].statement.end_line
    asked = any(WITHOUT_SCALE.search(q.text) for q in sheet.questions if first <= q.line <= last)
    scores, scaled = program.find(R.SCORES), program.find(R.SCALED)
    if not asked or scores is None or scaled is None:
        return program
    weights = Symbol("A", ("unscaled",))
    step = Step(weights, n.Softmax(n.Name(scores)), R.OTHER, symbol_plain(weights), says="weights without the scale")
    return with_step(program, step)


def _asked_later(pattern: Wording, scope: tuple[Fact, ...], sheet: Sheet) -> bool:
    """Whether a question of a problem, or after the last one, speaks of something."""
    first = scope[0].statement.at.line
    return any(pattern.search(q.text) for q in sheet.questions if first <= q.line)


def with_future(program: Program, scope: tuple[Fact, ...], sheet: Sheet) -> Program:
    """'How much weight goes to the future?': for each token, the weight on the tokens after it."""
    weights = program.find(R.WEIGHTS)
    shape = shapes_of(program).get(weights) if weights is not None else None
    if weights is None or shape is None or shape[0] != shape[1] or not _asked_later(FUTURE, scope, sheet):
        return program
    size = shape[0]
    sums: list[n.Expr] = [
        n.Sum(tuple(n.Entry(n.Name(weights), i, j) for j in range(i + 1, size + 1))) for i in range(1, size)
    ]
    rows = tuple((total,) for total in (*sums, n.number(0)))
    symbol = Symbol("future")
    return with_step(program, Step(symbol, n.Matrix(rows), R.OTHER, "future", says="weight on later tokens"))


def with_mask(program: Program, scope: tuple[Fact, ...], sheet: Sheet) -> Program:
    """'Do it again with a causal mask': the masked weights and output, beside the open ones."""
    first, last = scope[0].statement.at.line, scope[-1].statement.end_line
    later = (
        q for q in sheet.questions if first <= q.line and (q.line <= last or sheet.statements[-1].end_line <= last)
    )
    scores = program.find(R.SCALED) or program.find(R.SCORES)
    weights, output = program.find(R.WEIGHTS), program.find(R.OUTPUT)
    masked = program.find(R.MASKED) or program.find(R.MASK)
    if scores is None or weights is None or masked is not None or not any(CAUSAL.search(q.text) for q in later):
        return program
    a, z = Symbol("A", ("causal",)), Symbol("Output", ("causal",))
    step = Step(
        a, n.Softmax(n.Mask(n.Name(scores)), by_rows=True), R.OTHER, symbol_plain(a), says="weights with a causal mask"
    )
    program = with_step(program, step)
    item = program.item(output) if output is not None else None
    if item is None:
        return program
    mixed = n.rewrite(item.expr, lambda part: n.Name(a) if part == n.Name(weights) else part)
    return with_step(program, Step(z, mixed, R.OTHER, symbol_plain(z), says="output with a causal mask"))
