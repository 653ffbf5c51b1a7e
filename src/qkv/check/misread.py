"""Damaged text told from slips: a number that its author never wrote, as what is done with it proves.

A wrong cell is misread if one small repair of its text (a minus, a point, a digit) gives the number that it should be,
and a later line agrees with that number and not with the print. Without such a use it may as well be a slip.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise

from flint import fmpq

from qkv.check.author import Author
from qkv.check.cells import Grid, fitted, shape_of
from qkv.check.compare import Shown, agree, meets, shown_number
from qkv.check.meanings import steps_of
from qkv.check.model import BAD, SEVERITY, Claim, Verdict
from qkv.check.targets import Target
from qkv.check.walk import Judgement, Source, Walk
from qkv.expr import nodes as n
from qkv.expr.late import late
from qkv.expr.nodes import factors
from qkv.interpret.cells import NEG_INF, Cell, bounds, rational
from qkv.interpret.certified import Value
from qkv.records import replace
from qkv.understand.values import plain_value

Place = tuple[int, int]  # row and column, from 0


# ---------------------------------------------------------------- repairs of one number


def _minus(text: str) -> Iterator[str]:
    yield text.removeprefix("-") if text.startswith("-") else "-" + text


def _point(text: str) -> Iterator[str]:
    if "." not in text:
        start = 1 + text.startswith("-")
        yield from (f"{text[:i]}.{text[i:]}" for i in range(start, len(text)))


def _doubled(text: str) -> Iterator[str]:
    """One of two equal digits too many, or a stray one in front."""
    for (i, a), (_, b) in pairwise(enumerate(text)):
        if a == b and a.isdigit():
            yield text[:i] + text[i + 1 :]
    bare = text.removeprefix("-")
    if bare[:2].isdigit():
        yield text[: len(text) - len(bare)] + bare[1:]


def _digit(text: str) -> Iterator[str]:
    """One digit taken for another, where at least two others tell the number."""
    places = [i for i, ch in enumerate(text) if ch.isdigit()]
    for i in places if len(places) > 2 else ():
        yield from (text[:i] + d + text[i + 1 :] for d in "0123456789" if d != text[i])


DECIMAL = late(r"-?\d+(\.\d+)?")
REPAIRS: tuple[Callable[[str], Iterator[str]], ...] = (_minus, _point, _doubled, _digit)


def repairs(text: str) -> Iterator[str]:
    """What may have stood where `text` was read.

    >>> [made for made in repairs("7071") if made.startswith("7.")]
    ['7.071']
    """
    if DECIMAL.fullmatch(text):
        made = dict.fromkeys(made for repair in REPAIRS for made in repair(text))
        yield from (text for text in made if DECIMAL.fullmatch(text))


def _only(found: dict[fmpq, str]) -> str | None:
    """The repair, if there is exactly one."""
    return next(iter(found.values())) if len(found) == 1 else None


def _repaired(text: str, meant: Cell) -> str | None:
    """The one repair that gives what was meant."""
    if meant is NEG_INF:
        return None
    low, high = bounds(meant)
    values = ((rational(Fraction(made)), made) for made in repairs(text))
    return _only({value: made for value, made in values if low <= value <= high})


# ---------------------------------------------------------------- proof by a later use


def tell_misread(walk: Walk, target: Target, grid: Grid) -> None:
    """Look whether a value that is about to be judged proves that earlier numbers were read wrongly."""
    author, meant = walk.author, walk.author.meant
    steps = [(expr, author.standing(expr)) for expr in steps_of(walk, target)] if meant else []
    for symbol, mind in zip(tuple(meant), author.in_mind, strict=False):
        wrong = [k for k in author.blame.get(symbol, ()) if walk.claims[k - 1].verdict is Verdict.WRONG]
        touched = [expr for expr, standing in steps if symbol in standing]  # nothing else proves anything
        if wrong and any(_proves(author, mind, expr, grid) for expr in touched):
            for number in wrong:
                _amend(walk, number, meant[symbol][0])


def _proves(author: Author, mind: Author, expr: n.Expr, grid: Grid) -> bool:
    """Whether a value agrees with what was meant and not with the print."""
    return _agrees(grid, mind.own(expr)) and not _agrees(grid, author.own(expr))


def _agrees(grid: Grid, value: Value | None) -> bool:
    made = fitted(value, shape_of(grid)) if value is not None else None
    return made is not None and all(map(agree, grid, made.rows))


def _amend(walk: Walk, number: int, meant: Value) -> None:
    """Say of a wrong claim that it was misread, if every wrong cell of it has its one repair."""
    claim = walk.claims[number - 1]
    if not claim.shown or (len(claim.shown), len(claim.shown[0])) != meant.shape:
        return
    found = {
        (cell.row - 1, cell.column - 1): _repaired(cell.shown, meant.rows[cell.row - 1][cell.column - 1])
        for cell in claim.cells
        if cell.verdict is Verdict.WRONG
    }
    if all(found.values()):
        walk.claims[number - 1] = _misread(claim, {place: text for place, text in found.items() if text})


def _misread(claim: Claim, found: dict[Place, str]) -> Claim:
    cells = tuple(
        replace(cell, verdict=Verdict.MISREAD) if (cell.row - 1, cell.column - 1) in found else cell
        for cell in claim.cells
    )
    told = ", ".join(f"{text} in cell ({i + 1},{j + 1})" for (i, j), text in found.items())
    verdict = max((cell.verdict for cell in cells), key=SEVERITY.__getitem__)
    cause = claim.cause if verdict is Verdict.WRONG else None
    return replace(claim, cells=cells, verdict=verdict, repair=told, cause=cause)


# ---------------------------------------------------------------- points that were lost among decimals


def tell_lost_points(walk: Walk, claim: Claim, judged: Judgement) -> None:
    """A claim is misread if its wrong cells are right but for the point that the decimals around them have: 566 beside
    11.31 and 5.66. Nobody works that out wrongly."""
    places = {len(text.partition(".")[2]) for row in claim.shown for text in row if "." in text}
    if claim.verdict is not Verdict.WRONG or len(places) != 1:
        return
    wide = places.pop()
    found = {}
    for i, row in enumerate(judged):
        for j, cell in enumerate(row):
            if cell.verdict is Verdict.WRONG:
                text = cell.shown.text
                made = f"{text[:-wide]}.{text[-wide:]}" if re.fullmatch(rf"-?\d{{{wide + 1},}}", text) else ""
                number = shown_number(n.number(made)) if made else None
                if number is None or not any(meets(number, value) for value in (cell.true, *cell.owns)):
                    return
                found[i, j] = made
    walk.claims[claim.id - 1] = _misread(claim, found)


# ---------------------------------------------------------------- proof by a product that is written out


def mend_operands(walk: Walk, working: n.Expr, grid: Grid) -> None:
    """[..] [..] = [..] where one cell of the left operand was read wrongly: the printed product tells, and the product
    of the mended operand is one more way to come to it."""
    written = [source.expr for source in walk.versions.get(id(working), ())] or [working]
    for product in written:
        left, right = _operands(product) if product is not None else (None, None)
        claim = _claim_at(walk, left) if left is not None else None
        if product is None or left is None or right is None or claim is None:
            continue
        mended = _mended(walk.author.typed(product, exact=True), left, right, grid, claim)
        if mended is not None:
            place, text, value = mended
            walk.claims[claim.id - 1] = _misread(claim, {place: text})
            walk.versions.setdefault(id(working), []).append(Source(value, (claim.id,), None))


def _operands(product: n.Expr) -> tuple[n.Matrix | None, n.Matrix | None]:
    """The two matrices of numbers of a product that is written out."""
    parts = factors(product)
    found = [plain_value(part) for part in parts] if len(parts) == 2 else [None, None]
    kinds = {type(cell) for matrix in found if matrix is not None for row in matrix.rows for cell in row}
    return (found[0], found[1]) if kinds <= {n.Number} else (None, None)


def _claim_at(walk: Walk, operand: n.Matrix) -> Claim | None:
    here = (operand.at.line, operand.at.column) if operand.at is not None else None
    found = [c for c in walk.claims if c.verdict in BAD and (c.line, c.column) == here]
    return found[-1] if found else None


def _mended(
    before: Value | None, left: n.Matrix, right: n.Matrix, grid: Grid, claim: Claim
) -> tuple[Place, str, Value] | None:
    """The wrong cell of the left operand whose one repair gives the whole printed product, in two cells or more;
    `before` is the product as it stands there."""
    if before is None or before.shape != shape_of(grid) or left.shape[1] != right.shape[0]:
        return None
    off = {i for i, row in enumerate(grid) if not all(map(meets, row, before.rows[i]))}
    found: dict[tuple[Place, fmpq], tuple[str, Value]] = {}
    for cell in claim.cells if len(off) == 1 else ():
        i, j = cell.row - 1, cell.column - 1
        if {i} == off and cell.verdict is Verdict.WRONG:
            old, beside = _exact(left.rows[i][j]), tuple(map(_exact, right.rows[j]))
            low, high = _missing(grid[i], before.rows[i], beside)
            for text in repairs(cell.shown) if low <= high else ():
                more = rational(Fraction(text)) - old
                if more != 0 and low <= more <= high:
                    row = tuple(x + more * y for x, y in zip(before.rows[i], beside, strict=True))
                    found[(i, j), more] = text, Value((*before.rows[:i], row, *before.rows[i + 1 :]))
    if len(found) != 1:
        return None
    (place, _), (text, value) = next(iter(found.items()))
    return place, text, value


EMPTY = fmpq(1), fmpq(0)  # from 1 to 0


def _missing(printed: tuple[Shown, ...], made: tuple[Cell, ...], beside: tuple[fmpq, ...]) -> tuple[fmpq, fmpq]:
    """Between what a cell must have been more, so that its row of the product is the printed one: that changes by as
    many times the row beside. Where only one number tells, nothing is told."""
    ends = []
    for shown, x, y in zip(printed, made, beside, strict=True):
        if shown.low is None or shown.high is None or (y == 0 and not meets(shown, x)):
            return EMPTY
        if y != 0:
            ends.append(sorted(((shown.low - x) / y, (shown.high - x) / y)))
    return (max(low for low, _ in ends), min(high for _, high in ends)) if len(ends) > 1 else EMPTY


def _exact(cell: n.Expr) -> fmpq:
    assert isinstance(cell, n.Number)  # see _operands
    return rational(cell.value)
