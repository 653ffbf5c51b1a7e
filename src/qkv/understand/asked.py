"""Steps that a sheet's questions ask for beside its own: a formula, another scale, a mask, the weight on the future."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from qkv.errors import Location
from qkv.expr import nodes as n
from qkv.expr.late import late
from qkv.expr.names import Role, Symbol
from qkv.expr.show import plain, symbol_plain
from qkv.expr.wording import Wording
from qkv.program.model import Program, Step
from qkv.sheet.grammar import parse_math
from qkv.sheet.model import Question, Sheet
from qkv.understand.gathering import Gathering
from qkv.understand.masks import said_mask
from qkv.understand.resolve import Resolver
from qkv.understand.roles import CAUSAL, FUTURE, HYPOTHETICAL, WITHOUT_SCALE
from qkv.understand.workable import fits, shapes_of, with_step

R = Role


def questions_of(found: Gathering, sheet: Sheet) -> tuple[Question, ...]:
    """The questions of one problem."""
    first, last = found.lines
    return tuple(question for question in sheet.questions if first <= question.line <= last)


def with_answers(program: Program, found: Gathering, sheet: Sheet) -> Program:
    """The program and what the questions of its problem ask for beside its own steps."""
    asked = questions_of(found, sheet)
    for change in (_without_scale, _with_other_scales, _with_mask) if asked else ():
        program = change(program, asked)
    program = _with_later_rules(program, found)
    # Where a mask comes in later, what it takes away is asked of the weights before it.
    program = _with_future(program, [question for question in sheet.questions if question.line >= found.lines[0]])
    return _with_formulas(program, asked, found)


def _asks(asked: Sequence[Question], pattern: Wording) -> bool:
    said = [question.text for question in asked]
    return pattern.may_occur("\n".join(said)) and any(map(pattern.search, said))


# — the same again, with other scores —


def _again(program: Program, label: str, scores: n.Expr, says: str) -> Program:
    """Weights of other scores, and the output with them, beside those that the sheet works out."""
    weights, output = program.find(R.WEIGHTS), program.find(R.OUTPUT)
    a, z = Symbol("A", (label,)), Symbol("Output", (label,))
    if weights is None or program.item(a) is not None:
        return program
    softmax = n.Softmax(scores, by_rows=True)
    program = with_step(program, Step(a, softmax, R.OTHER, symbol_plain(a), says=f"weights {says}"))
    item = program.item(output) if output is not None else None
    if item is None or weights not in n.names_in(item.expr):
        return program
    mixed = n.rewrite(item.expr, lambda part: n.Name(a) if part == n.Name(weights) else part)
    return with_step(program, Step(z, mixed, R.OTHER, symbol_plain(z), says=f"output {says}"))


def _without_scale(program: Program, asked: Sequence[Question]) -> Program:
    """'Without 1/√d_k, which weight …?': the weights as they would be unscaled, beside the scaled ones."""
    scores, scaled = program.find(R.SCORES), program.find(R.SCALED)
    if scores is None or scaled is None or not _asks(asked, WITHOUT_SCALE):
        return program
    return _again(program, "unscaled", n.Name(scores), "without the scale")


_OTHER_SCALE = late(
    r"(?:divid\w*|scal\w*|geteilt|teil\w*|divis\w*)\b[^.?]{0,20}?\b(?:by|durch|par|por)\s+\$?(?P<divisor>(?:\\?sqrt\s*[{(]?|√)?\s*\d+)"
    r"|d_?\{?k\}?\s*=\s*(?P<size>\d+)"
)


def _with_other_scales(program: Program, asked: Sequence[Question]) -> Program:
    """'What if the scores were divided by 4 instead?', 'if d_k = 4 were used'."""
    scores, scaled = program.find(R.SCORES), program.find(R.SCALED)
    for question in asked if scores is not None and scaled is not None else ():
        found = _OTHER_SCALE.search(question.text) if HYPOTHETICAL.search(question.text) else None
        if found is None or scores is None:
            continue
        size = n.number(int(re.sub(r"\D", "", found[0].split("=")[-1] if found["size"] else found["divisor"])))
        rooted = found["size"] is not None or not found["divisor"].strip().isdigit()
        divisor: n.Expr = n.Root(size) if rooted else size
        if size.value:
            says = f"with the scores divided by {plain(divisor)}"
            program = _again(program, f"by{plain(divisor)}", n.Quotient(n.Name(scores), divisor), says)
    return program


def _with_mask(program: Program, asked: Sequence[Question]) -> Program:
    """'Do it again with a causal mask': the masked weights and output, beside the open ones."""
    scores = program.find(R.SCALED) or program.find(R.SCORES)
    masked = program.find(R.MASKED) or program.find(R.MASK)
    if scores is None or masked is not None or not _asks(asked, CAUSAL):
        return program
    return _again(program, "causal", n.Mask(n.Name(scores)), "with a causal mask")


def _with_later_rules(program: Program, found: Gathering) -> Program:
    """'Now suppose that the last token is padding.'"""
    scores = program.find(R.SCALED) or program.find(R.SCORES)
    size = shapes_of(program).get(scores) if scores is not None else None
    mask = said_mask(found.later_rules, size, causal=False) if size is not None and found.later_rules else None
    if mask is None or scores is None or program.find(R.MASKED) is not None:
        return program
    masked = n.Mask(n.Name(scores), mask.given.expr, mask.truth)
    return _again(program, "second", masked, "with the mask that comes in later")


def _with_future(program: Program, asked: Sequence[Question]) -> Program:
    """'How much weight goes to the future?': for each token, the weight on the tokens after it."""
    weights = program.find(R.WEIGHTS)
    shape = shapes_of(program).get(weights) if weights is not None else None
    if weights is None or shape is None or shape[0] != shape[1] or not _asks(asked, FUTURE):
        return program
    size = shape[0]
    sums: list[n.Expr] = [
        n.Sum(tuple(n.Entry(n.Name(weights), i, j) for j in range(i + 1, size + 1))) for i in range(1, size)
    ]
    rows = tuple((total,) for total in (*sums, n.number(0)))
    symbol = Symbol("future")
    return with_step(program, Step(symbol, n.Matrix(rows), R.OTHER, "future", says="weight on later tokens"))


# — formulas —

_QUOTED = late(r"\$([^$]+)\$|`([^`]+)`|((?:softmax|concat)\s*\([^.?;]{1,80}\))", re.IGNORECASE)


def _with_formulas(program: Program, asked: Sequence[Question], found: Gathering) -> Program:
    """'Compute $A V_2$': a formula of known quantities that no step works out yet."""
    for question in asked:
        for formula in formulas_in(question):
            for expr in (formula, *_alternatives(formula, found)):
                program = _with_formula(program, expr)
    return program


@lru_cache(maxsize=64)  # a problem is planned more than once where its numbers have to decide
def formulas_in(question: Question) -> tuple[n.Expr, ...]:
    """The formulas that a question quotes without stating what they equal."""
    found = []
    for quoted in _QUOTED.finditer(question.text):
        source = next(group for group in quoted.groups() if group)
        chains = parse_math(source, Location(question.line)).chains
        if len(chains) == 1 and len(chains[0].links) == 1 and _tells(chains[0].links[0].expr):
            found.append(chains[0].links[0].expr)
    return tuple(found)


def _tells(expr: n.Expr) -> bool:
    """Whether something is to be worked out: softmax of numbers, a product of named matrices."""
    return not isinstance(expr, (n.Name, n.Number, n.Matrix, n.Transpose)) and any(
        isinstance(part, (n.Softmax, n.Product, n.Concat)) for part in n.walk(expr)
    )


def _alternatives(formula: n.Expr, found: Gathering) -> Iterator[n.Expr]:
    """τ = 0.5, then τ = 2: the formula with the later values of a number."""
    for symbol in n.names_in(formula):
        for value in found.again.get(symbol, ()):

            def change(part: n.Expr, symbol: Symbol = symbol, value: n.Expr = value) -> n.Expr:
                return value if isinstance(part, n.Name) and part.symbol == symbol else part

            yield n.rewrite(formula, change)


def _with_formula(program: Program, formula: n.Expr) -> Program:
    meant = Resolver(program).expr(formula)
    if meant is None or not fits(program, meant) or any(step.expr == meant for step in program.steps):
        return program
    if isinstance(meant, n.Product) and _is_output(program, meant):
        return program
    count = sum(step.symbol.base == "Answer" for step in program.steps)
    symbol = Symbol("Answer", (), (str(count + 1),))
    return with_step(program, Step(symbol, meant, R.OTHER, symbol_plain(symbol), says="what is asked for"))


def _is_output(program: Program, meant: n.Product) -> bool:
    """softmax(QKᵀ/√d_k) V, whose factors are steps already."""
    values = program.find(R.V)
    return meant.right == (n.Name(values) if values else None) and isinstance(meant.left, n.Softmax)
