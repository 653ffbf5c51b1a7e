"""Weights that follow from an exponential, or from the sum of exponentials, that was shown wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from qkv.check.author import Author
from qkv.check.compare import loosened
from qkv.check.model import Claim, Verdict
from qkv.check.targets import Target
from qkv.check.walk import Judgement, Source, Walk
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.interpret.cells import Cell, divide, multiply, normalise
from qkv.interpret.certified import Value

LATEST = 3  # wrong numbers that weights may still stand on


@dataclass(frozen=True, slots=True)
class WrongNumber:
    """A single number that was shown wrong, and by which factor."""

    claim: int
    factor: Cell
    exponential: bool  # else it may be a sum


def note_wrong_number(walk: Walk, claim: Claim, judged: Judgement, expr: n.Expr) -> None:
    """Remember a single number that is wrong: weights may have been made with it."""
    cell = judged[0][0]
    if claim.verdict is not Verdict.WRONG or len(judged) * len(judged[0]) > 1 or cell.own is None:
        return
    try:
        factor = divide(loosened(cell.shown), cell.own)
    except QkvError:
        return
    walk.wrong_numbers.append(WrongNumber(claim.id, factor, isinstance(expr, n.Exp)))


def by_wrong_numbers(walk: Walk, target: Target, author: Author) -> Iterator[Source]:
    """What the weights are if one of their exponentials, or the sum, is as it was shown."""
    item = walk.problem.program.item(target.subject) if walk.wrong_numbers and target.subject is not None else None
    if item is None or item.role is not Role.WEIGHTS:
        return
    entry = target.expr if isinstance(target.expr, n.Entry) else None
    whole = author.own(replace(entry, column=None) if entry is not None else target.expr)
    if whole is None:
        return
    column = entry.column if entry is not None else None
    for wrong in walk.wrong_numbers[-LATEST:]:
        for i, row in enumerate(whole.rows):
            for made in _rows(row, wrong):
                rows = (*whole.rows[:i], made, *whole.rows[i + 1 :])
                yield Source(Value(rows if column is None else ((made[column - 1],),)), (wrong.claim,))


def _rows(row: tuple[Cell, ...], wrong: WrongNumber) -> Iterator[tuple[Cell, ...]]:
    if not wrong.exponential:
        yield tuple(divide(cell, wrong.factor) for cell in row)
        return
    for j, cell in enumerate(row):
        yield normalise((*row[:j], multiply(cell, wrong.factor), *row[j + 1 :]))
