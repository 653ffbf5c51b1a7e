"""A softmax written out in numbers: e^0.5 = 1.649, their sum, and 1.649/4.367 = 0.378.

Such equations name nothing. Which score an exponential is of, which row a sum, and which weight a quotient, is told by
the numbers that they are made of: those that the author holds at that place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from qkv.check.author import Author
from qkv.check.cells import Grid, shape_of
from qkv.check.conclude import conclude, stands_without
from qkv.check.loose import Loose
from qkv.check.memory import remember
from qkv.check.model import Claim
from qkv.check.powers import exponentials, row_sum
from qkv.check.targets import Target
from qkv.check.walk import Judgement, Source, Walk, judged_against
from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.expr.show import plain
from qkv.interpret.cells import NEG_INF, Cell, bounds
from qkv.interpret.certified import Value
from qkv.interpret.loop import evaluated
from qkv.program.model import Step
from qkv.records import replace
from qkv.sheet.model import Link
from qkv.understand.facts import Fact


def judge_exponentials(walk: Walk, fact: Fact, link: Link, grid: Grid, literal: n.Expr) -> bool:
    """Judge an equation between numbers as a part of a softmax; False where it is none."""
    value = _value(literal) if shape_of(grid) == (1, 1) else None
    meant = _meant(walk, fact, literal) if value is not None and value.shape == (1, 1) else None
    if value is None or meant is None:
        return False
    target, author = meant
    held = list(_held(walk, author, target))
    touched = not held or not stands_without(walk, held[0], 0, 0)
    sources = [Source(value, author.blamed(target.expr) if touched else (), literal), *held]
    judged = judged_against(walk, target.expr, grid, sources)
    if judged is None:
        return False
    claim = conclude(walk, fact, link, target, judged, sources)
    cause = None if isinstance(literal, n.Sum) else claim.cause  # it is held as a product, but nothing is multiplied
    walk.claims[claim.id - 1] = replace(claim, formula=plain(literal), cause=cause)  # as it is written
    return True


def _held(walk: Walk, author: Author, target: Target) -> Iterator[Source]:
    """What stands behind the digits that are put in; also where one is a slip of the pen, and the right one added."""
    for mind in (author, *(mind for mind in walk.minds if mind is not author)):
        value = mind.own(target.expr)
        if value is not None and value.shape == (1, 1):
            yield Source(value, mind.blamed(target.expr), target.expr)


def note_exponentials(walk: Walk, fact: Fact, literal: n.Expr, judged: Judgement, claim: Claim) -> None:
    """Remember what was judged under a name of its own, such as a total, as the part of a softmax that it is."""
    meant = _meant(walk, fact, literal) if isinstance(literal, n.Exp | n.Sum) and len(judged) == 1 else None
    if meant is not None and len(judged[0]) == 1:
        remember(walk, fact, meant[0], judged, claim)


def _meant(walk: Walk, fact: Fact, literal: n.Expr) -> tuple[Target, Author] | None:
    """The part of a softmax that numbers make: one that was not shown yet, else one that is shown again; and whose
    numbers they are."""
    read = READERS.get(type(literal))
    if read is None:
        return None
    for fresh, step in product((True, False), _softmaxes(walk, fact)):
        found = [
            (target, author)
            for author in walk.minds
            for target in read(author, step, literal)
            if not fresh or _is_fresh(author, target)
        ]
        if found:
            return min(found, key=lambda pair: _place(pair[0].expr))  # people go on from row to row
    return None


def _place(part: n.Expr) -> tuple[int, int]:
    """The row and the column of a part of a softmax."""
    match part:
        case n.Entry(row=row, column=column):
            return row or 0, column or 0
        case n.Exp(arg=inner):
            return _place(inner)
        case n.Product(left=n.Matrix(rows=rows)):
            return _place(rows[0][0])
        case _:
            return 0, 0


def _is_fresh(author: Author, target: Target) -> bool:
    """Whether a part of a softmax was not shown before."""
    if target.subject is None:
        return target.expr not in author.parts
    left = author.missing.get(target.subject)
    entry = target.expr
    return left is None or (isinstance(entry, n.Entry) and (entry.row, entry.column) in left)


def _softmaxes(walk: Walk, fact: Fact) -> list[Step]:
    """The steps that take a softmax along rows: the weights first, and those of the head spoken of."""
    steps = [s for s in walk.problem.program.steps if isinstance(s.expr, n.Softmax) and s.expr.axis == 1]
    return sorted(steps, key=lambda step: (step.role is not Role.WEIGHTS, step.head != fact.head))


def _exponential(author: Author, step: Step, literal: n.Expr) -> Iterator[Target]:
    """e^0.5: the exponentials of the scores of that value."""
    power = _value(literal.arg) if isinstance(literal, n.Exp) else None
    scores = author.own(_scores(step))
    for i, j in _cells(scores) if scores is not None else ():
        if scores is not None and _meets(power, scores.rows[i - 1][j - 1]):
            expr = n.Exp(n.Entry(_scores(step), i, j))
            yield Target(expr, True, plain(expr))


def _sum(author: Author, step: Step, literal: n.Expr) -> Iterator[Target]:
    """1.649 + 2.718: the sums of rows of exponentials with those values; what is masked may be left out."""
    if not isinstance(literal, n.Sum) or not all(
        isinstance(term, n.Number | n.Exp | n.Negate) for term in literal.terms
    ):
        return
    terms = [_value(term) for term in literal.terms]
    exps = _exponentials(author, step)
    for i, row in enumerate(exps.rows if exps is not None else (), 1):
        seen = [cell for cell in row if cell != 0]
        if any(len(cells) == len(terms) and all(map(_meets, terms, cells)) for cells in (row, seen)):
            yield Target(row_sum(_scores(step), i, len(row)), True, "sum of the exponentials")


def _quotient(author: Author, step: Step, literal: n.Expr) -> Iterator[Target]:
    """1.649/4.367: the weights made of an exponential and a sum with those values."""
    if not isinstance(literal, n.Quotient) or _scores(step) not in author.raised:
        return
    over, under = _value(literal.numerator), _value(literal.denominator)
    exps = _exponentials(author, step)
    for i, j in _cells(exps) if exps is not None else ():
        if exps is not None and _meets(over, exps.rows[i - 1][j - 1]) and _meets(under, _sum_of_row(author, step, i)):
            entry = n.Entry(n.Name(step.symbol), i, j)
            yield Target(entry, True, plain(entry), step.symbol)


READERS: dict[type, Callable[[Author, Step, n.Expr], Iterator[Target]]] = {
    n.Exp: _exponential,
    n.Sum: _sum,
    n.Quotient: _quotient,
}


def _scores(step: Step) -> n.Expr:
    """What a softmax is taken of."""
    return step.expr.arg if isinstance(step.expr, n.Softmax) else step.expr


def _exponentials(author: Author, step: Step) -> Value | None:
    """The exponentials that an author holds, cell by cell as printed."""
    scores = author.own(_scores(step))
    if scores is None:
        return None
    whole = [exponentials(_scores(step), i, scores.shape[1]) for i in range(1, scores.shape[0] + 1)]
    return author.own(n.Matrix(tuple(whole)))


def _sum_of_row(author: Author, step: Step, i: int) -> Cell | None:
    scores = author.own(_scores(step))
    if scores is None:
        return None
    expr = row_sum(_scores(step), i, scores.shape[1])
    total = author.own(n.Name(author.parts[expr]) if expr in author.parts else expr)
    return None if total is None else total.cell


def _cells(value: Value) -> Iterator[tuple[int, int]]:
    return ((i, j) for i in range(1, value.shape[0] + 1) for j in range(1, value.shape[1] + 1))


def _value(literal: n.Expr) -> Value | None:
    return evaluated(literal, {}, Loose()) if n.is_literal(literal) else None


def _meets(number: Value | None, cell: Cell | None) -> bool:
    """Whether a number that was put in may be the one that is held."""
    if number is None or number.shape != (1, 1) or cell is None:
        return False
    if number.cell is NEG_INF or cell is NEG_INF:
        return number.cell is cell
    (a, b), (c, d) = bounds(number.cell), bounds(cell)
    return bool(a <= d and c <= b)
