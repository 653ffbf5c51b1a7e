"""Rotary positions that words ask for: queries and keys are turned before their scores, or the scores are left out.

Scores of vectors that were not turned are no answer to a question about RoPE.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import symbol_plain
from qkv.expr.tables import angles, quarter_turn
from qkv.library.around_said import HALVES, ROPE, ROPE_APPLIED, ROPE_BASE, ROPE_PLACE, ROTATED
from qkv.program.model import Answer, Given, Part, Program, Step
from qkv.reading.asked import questions_of
from qkv.reading.equation import Kind
from qkv.reading.page import Page

_AFTER = (Role.SCORES, Role.SCALED, Role.MASKED, Role.WEIGHTS, Role.HEAD, Role.OUTPUT)
_TURN = Symbol("J")
_NOTE = (
    "RoPE turns queries and keys by their positions: say these, 'the query at position 2', and what θ or the base is"
)


def with_rope(program: Program, page: Page, scope: int) -> Program:
    """The program with queries and keys turned by the positions that words give them, where a page speaks of RoPE."""
    words = page.words_of(scope).lower()
    scores = next((step for step in program.steps if step.role is Role.SCORES), None)
    asked = any(ROPE.search(q.text.lower()) or ROTATED.search(q.text.lower()) for q in questions_of(page, scope))
    if (
        not ROPE.search(words)
        or not (asked or ROPE_APPLIED.search(words))
        or scores is None
        or _states_waves(page, scope)
        or program.find(Role.K) is None
    ):
        return program
    turned = {role: _turned(program, role, words) for role in (Role.Q, Role.K)}
    if None in turned.values():
        kept = tuple(step for step in program.steps if step.role not in _AFTER)
        answers = tuple(replace(a, parts=(), says="", missing=_NOTE) for a in program.answers)
        return replace(program, steps=kept, answers=answers, notes=(*program.notes, _NOTE))
    made = [step for steps in turned.values() for step in steps or ()]
    names = {program.find(role): steps[-1].symbol for role, steps in turned.items() if steps}

    def anew(node: n.Expr) -> n.Expr:
        return n.Name(names.get(node.symbol, node.symbol)) if isinstance(node, n.Name) else node

    at = program.steps.index(scores)
    changed = replace(scores, expr=n.rewrite(scores.expr, anew))
    steps = (*program.steps[:at], *dict.fromkeys(made), changed, *program.steps[at + 1 :])
    answers = tuple(_answered(answer, made) for answer in program.answers)
    return replace(program, steps=steps, answers=answers)


def _answered(answer: Answer, made: list[Step]) -> Answer:
    """A question about a rotated query or key with it."""
    said = answer.text.lower()
    if not ROTATED.search(said) or answer.parts:
        return answer
    steps = [step for step in made if step.role is not Role.OTHER]
    named = [step for step, word in zip(steps, ("quer", "key"), strict=True) if word in said] or steps
    parts = tuple(Part(step.spelled, n.Name(step.symbol)) for step in named)
    return replace(answer, parts=parts, says="", missing="")


def _states_waves(page: Page, scope: int) -> bool:
    """Whether the page says itself how it turns: its formulas come first."""
    formulas = (item.expr for e in page.equations if e.scope == scope for item in e.of(Kind.FORMULA, Kind.WORKING))
    return any(isinstance(node, n.Call) and node.function in ("sin", "cos") for f in formulas for node in n.walk(f))


def _turned(program: Program, role: Role, words: str) -> tuple[Step, ...] | None:
    """The steps that turn queries or keys; None where their positions or their angles are not known."""
    symbol = program.find(role)
    given = next((item for item in program.givens if item.symbol == symbol), None)
    if given is None or not isinstance(given.expr, n.Matrix) or given.expr.shape[1] % 2:
        return None
    rows, width = given.expr.shape
    first = _place(program, role, words) if rows == 1 else 0
    table = _angles(program, rows, width, first, words) if first is not None else None
    return tuple(_steps(given, role, width, table, words)) if table is not None else None


def _place(program: Program, role: Role, words: str) -> int | None:
    """The position of the one query or key, as words or m and n give it."""
    for found in ROPE_PLACE.finditer(words):
        if (found["who"][0] == "q") == (role is Role.Q):
            return int(found["place"])
    letter = "m" if role is Role.Q else "n"
    given = next((item.expr for item in program.givens if symbol_plain(item.symbol) == letter), None)
    return int(given.value) if isinstance(given, n.Number) and given.value.denominator == 1 else None


def _angles(program: Program, rows: int, width: int, first: int, words: str) -> n.Matrix | None:
    """The angle of every position and column: by one θ for a single pair, else by the base."""
    theta = next((g.expr for g in program.givens if symbol_plain(g.symbol) in ("theta", "theta_0", "theta_1")), None)
    if isinstance(theta, n.Number):
        cells = (n.number(place * theta.value) for place in range(first, first + rows))
        return n.Matrix(tuple((cell,) * width for cell in cells)) if width == 2 else None
    base = ROPE_BASE.search(words)
    return angles(rows, width, n.number(int(base[1]) if base else 10000), first, bool(HALVES.search(words)))


def _steps(given: Given, role: Role, width: int, table: n.Matrix, words: str) -> Iterator[Step]:
    """x cos Θ + (x J) sin Θ, with J and Θ before it."""
    name, angle = n.Name(given.symbol), Symbol("Theta", (role.value,))
    turn = quarter_turn(width, bool(HALVES.search(words)))
    yield Step(_TURN, turn, Role.OTHER, "J", says="turns each pair (a, b) into (−b, a)")
    yield Step(angle, table, Role.OTHER, symbol_plain(angle), says="the angle of each position and pair")
    cosine, sine = (n.Call(wave, (n.Name(angle),)) for wave in ("cos", "sin"))
    expr = n.Sum((n.Call("hadamard", (name, cosine)), n.Call("hadamard", (n.Product(name, n.Name(_TURN)), sine))))
    symbol = given.symbol._replace(labels=(*given.symbol.labels, "rot"))
    yield Step(symbol, expr, Role.BLOCK, symbol_plain(symbol), says="turned by its position")
