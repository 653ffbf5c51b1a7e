"""Answers in words: which token gets most, where the largest entry stands, where two methods differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import plain
from qkv.interpret.cells import Cell, bounds
from qkv.interpret.certified import Value
from qkv.interpret.rounding import round_digits
from qkv.judging.walk import Judgement
from qkv.program.model import Given, Part, Step
from qkv.reading.choose import END
from qkv.reading.page import Spot
from qkv.reading.system import System
from qkv.reading.values import Values
from qkv.solving.known import known_values
from qkv.solving.wanted import Wanted


class Completion(Protocol):
    """A problem whose program is being written."""

    system: System
    values: Values
    scope: int
    givens: dict[Symbol, Given]
    steps: dict[Symbol, Step]
    judged: tuple[Judgement, ...]

    def in_program(self, expr: n.Expr, where: Spot) -> n.Expr | None: ...

    def add_step(
        self, name: str | None, expr: n.Expr, spot: Spot, role: Role, head: int | None, line: int | None
    ) -> None: ...


def in_words(problem: Completion, asked: Wanted, parts: Sequence[Part]) -> str:
    """What words answer, beside numbers or instead of them."""
    if asked.extreme:
        return _which(problem, asked)
    if asked.function in ("max", "min"):
        return "; ".join(filter(None, (_where(problem, part.expr) for part in parts)))
    return _compared(problem, asked, parts)


def _where(problem: Completion, expr: n.Expr) -> str:
    """Where the largest or smallest entry of a quantity stands."""
    whole = expr.args[0] if isinstance(expr, n.Call) else expr
    known = known_values((*problem.givens.values(), *problem.steps.values()))
    value = known.get(whole.symbol) if isinstance(whole, n.Name) else None
    if value is None or not isinstance(expr, n.Call):
        return ""
    sign = 1 if expr.function == "max" else -1
    cells = {(i, j): bounds(cell) for i, row in enumerate(value.rows, 1) for j, cell in enumerate(row, 1)}
    low, high = max(cells.values(), key=lambda ends: sign * ends[0])
    spots = [f"row {i}, column {j}" for (i, j), ends in cells.items() if ends[0] <= high and low <= ends[1]]
    return f"the {'largest' if sign > 0 else 'smallest'} entry of {plain(whole)} stands in {' and in '.join(spots)}"


def _which(problem: Completion, asked: Wanted) -> str:
    """Which token gets the most of a query's attention: by its word, with its weight."""
    spot = Spot(problem.scope, END)
    heads = problem.system.heads_in(problem.scope) or (None,)
    said = []
    for head in heads:
        weights = problem.values.role(Role.WEIGHTS, head, spot)
        if weights is None:
            continue
        down = "keys" in problem.system.conventions(problem.scope)
        rows = tuple(zip(*weights.rows, strict=True)) if down else weights.rows
        lines = [i for row in asked.rows if (i := problem.system.position(row, problem.scope)) is not None]
        lines = lines if len(rows) > 1 else [1]
        for i in (i for i in lines or range(1, len(rows) + 1) if i <= len(rows)):
            said.append(_most(problem, rows[i - 1], i if len(rows) > 1 else 0, head, asked.extreme))
    return "; ".join(said)


def _most(problem: Completion, row: Sequence[Cell], query: int, head: str | None, extreme: str) -> str:
    sign = 1 if extreme == "most" else -1
    best = max(row, key=lambda cell: sign * bounds(cell)[0])
    low, high = bounds(best)
    ties = [j for j, cell in enumerate(row, 1) if bounds(cell)[0] <= high and low <= bounds(cell)[1]]
    weight = round_digits(best, 3) or "?"
    words = [token_called(problem, j) for j in ties]
    to = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
    who = f"{token_called(problem, query)} attends" if query else "the query attends"
    where = f" in head {head}" if head is not None else ""
    return f"{who} {extreme} to {to}{where} ({weight}{' each' if len(ties) > 1 else ''})"


def token_called(problem: Completion, i: int) -> str:
    """The word of a token, or its number."""
    page = problem.system.page
    words = page.tokens.get(problem.scope) or next(iter(page.tokens.values()), ())
    return f"“{words[i - 1]}”" if i <= len(words) else f"token {i - (1 if problem.system.choices.zero_based else 0)}"


def _compared(problem: Completion, asked: Wanted, parts: Sequence[Part]) -> str:
    """Where the weights of two methods differ most, for a question that compares them."""
    if not asked.compares:
        return ""
    known = known_values((*problem.givens.values(), *problem.steps.values()))
    weights = [s for s in problem.steps.values() if s.role is Role.WEIGHTS and s.symbol in known]
    usual = {step.head: step for step in weights if not is_beside(step)}
    pairs = [(usual[step.head], step) for step in weights if is_beside(step) and step.head in usual]
    return "; ".join(_largest_change(a, b, known[a.symbol], known[b.symbol]) for a, b in pairs)


def is_beside(step: Step) -> bool:
    """Whether a step belongs to another method than that of the page: 'A (without scaling)'."""
    return step.spelled.endswith(")") and " (" in step.spelled


def _largest_change(usual: Step, other: Step, before: Value, after: Value) -> str:
    cells = [(i, j) for i, row in enumerate(before.rows) for j, _ in enumerate(row)]
    i, j = max(
        cells,
        key=lambda at: abs(float(bounds(after.rows[at[0]][at[1]])[0]) - float(bounds(before.rows[at[0]][at[1]])[0])),
    )
    a, b = (round_digits(value.rows[i][j], 3) for value in (before, after))
    return f"the largest change is in cell ({i + 1},{j + 1}): {a} in {usual.spelled}, {b} in {other.spelled}"
