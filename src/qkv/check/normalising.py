"""Weights that follow from exponentials as they are printed, or from one, or their sum, that was shown wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from qkv.check.author import Author
from qkv.check.cells import fitted
from qkv.check.compare import loosened
from qkv.check.model import BAD, Claim, Verdict
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


def note_exponential(walk: Walk, number: n.Number, claim: Claim) -> None:
    """Remember an exponential: those of a row are divided by their sum, as they are printed."""
    if walk.spent:
        walk.exponentials.clear()
        walk.spent = False
    walk.exponentials.append((number, (claim.id,) if claim.verdict in BAD else ()))


def by_exponentials(walk: Walk, target: Target, shape: tuple[int, int]) -> Iterator[Source]:
    """The weights that the exponentials printed just before them give."""
    numbers = tuple(number for number, _ in walk.exponentials)
    part = target.expr.arg if isinstance(target.expr, n.Transpose) else target.expr
    whole = part.arg if isinstance(part, n.Entry) else part
    item = walk.problem.program.item(whole.symbol) if isinstance(whole, n.Name) else None
    if len(numbers) < 2 or item is None or item.role is not Role.WEIGHTS:
        return
    rows, columns = walk.problem.trace.value(item.symbol).shape
    column = part.column if isinstance(part, n.Entry) else None
    made = walk.author.own(n.Normalise(n.Matrix((numbers,)), by_rows=True)) if columns == len(numbers) else None
    if made is None or (rows > 1 and part is whole):
        return
    turned = fitted(made if column is None else Value(((made.rows[0][column - 1],),)), shape)
    if turned is not None:
        yield Source(turned, tuple(claim for _, blamed in walk.exponentials for claim in blamed))
