"""The cells of a claim, judged one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from operator import itemgetter

from flint import arb, fmpq

from qkv.check.compare import Agreement, Shown, agreement, follows, held, meets, shown_cell, shown_number
from qkv.check.model import Verdict
from qkv.errors import QkvError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.show import plain
from qkv.interpret.cells import NEG_INF, Cell, precision
from qkv.interpret.certified import Certified, Value
from qkv.interpret.fit import Shape
from qkv.interpret.loop import evaluate
from qkv.records import record, replace

Grid = tuple[tuple[Shown, ...], ...]
ENOUGH_BITS = (96, 384, 1536)


@record(frozen=True, slots=True)
class Judged:
    """One cell with its verdict, what it should be, and what each source of the author's own numbers gives. How it
    stands to those is worked out where it is asked for: most cells are right, and most meanings that are tried fail."""

    shown: Shown
    verdict: Verdict
    true: Cell
    how: Agreement  # how it stands to the true value
    owns: tuple[Cell, ...]

    @property
    def following(self) -> tuple[tuple[Agreement, Cell], ...]:
        """How it stands to what each source gives."""
        return tuple([(follows(self.shown, own), own) for own in self.owns])

    @property
    def own(self) -> Cell | None:
        """What the author's own numbers give: the source that it stands nearest to."""
        return min(self.following, key=itemgetter(0), default=(Agreement.APART, None))[1]

    @property
    def kept(self) -> Cell:
        """What the author may go on with."""
        value = self.shown.value
        for x in (self.true, *self.owns):
            if type(x) is not fmpq or x != value:
                break
        else:
            return value  # nothing gives another number, as in most cells
        if self.verdict is Verdict.MISROUNDED:
            near = [(self.how, self.true), *self.following]
            return held(self.shown, [cell for how, cell in near if how is Agreement.NEAR], badly=True)
        sources = [self.true] if self.how <= Agreement.OPEN else []
        return held(self.shown, sources + [own for own in self.owns if meets(self.shown, own)])


def shown_grid(matrix: n.Matrix, approximate: bool) -> Grid | None:
    """A printed matrix, cell by cell; None where it is ragged or a cell has no value."""
    if matrix.is_ragged or not matrix.rows or not matrix.rows[0]:
        return None
    grid = tuple(
        [
            tuple([shown_number(x, approximate) if type(x) is n.Number else _shown(x) for x in row])
            for row in matrix.rows
        ]
    )
    return grid if all(map(all, grid)) else None  # type: ignore[return-value]


def in_per_cent(matrix: n.Matrix) -> n.Matrix | None:
    """Rows (or a column) of numbers that add up to a hundred, as fractions of one; None for anything else."""
    flat = matrix.shape[1] == 1
    rows = [[row[0] for row in matrix.rows]] if flat and not matrix.is_ragged else matrix.rows
    for row in rows:
        numbers = [cell.value for cell in row if isinstance(cell, n.Number)]
        if len(numbers) < max(2, len(row)) or min(numbers) < 0 or not 99 <= sum(numbers) <= 101:
            return None
    return replace(matrix, rows=tuple(tuple(_hundredth(cell) for cell in row) for row in matrix.rows))


def _hundredth(cell: n.Expr) -> n.Expr:
    if not isinstance(cell, n.Number):
        return cell
    return replace(cell, value=cell.value / 100, places=None if cell.places is None else cell.places + 2)


def _shown(cell: n.Expr) -> Shown | None:
    """A cell that is no decimal."""
    if isinstance(cell, n.Infinite):
        return shown_cell("-∞", NEG_INF) if cell.sign < 0 else None
    try:
        with precision(ENOUGH_BITS[-1]):
            value = evaluate(cell, {}, Certified())
    except QkvError:
        return None
    return shown_cell(plain(cell), value.cell) if value.shape == (1, 1) else None


def shape_of(grid: Grid) -> tuple[int, int]:
    """Rows and columns."""
    return len(grid), len(grid[0])


def fits(shape: Shape, shown: Shape) -> bool:
    """Whether a value of a shape can be brought into the shape that is shown; see fitted."""
    return shape == shown or (1 in shape and shape[0] * shape[1] == shown[0] * shown[1])


def fitted(value: Value, shape: tuple[int, int]) -> Value | None:
    """The value in the shape that is shown: as it is, a vector turned, or a vector cut into rows (heads)."""
    if value.shape == shape:
        return value
    if not fits(value.shape, shape):
        return None
    rows, columns = shape
    cells = list(chain.from_iterable(value.rows))
    return Value(tuple([tuple(cells[i * columns : (i + 1) * columns]) for i in range(rows)]))


def covers(own: Value, true: Value) -> bool:
    """Whether what an author holds includes what is true, cell by cell."""
    if own is true or own.shape != true.shape:
        return own is true
    for row, line in zip(own.rows, true.rows, strict=True):
        for x, y in zip(row, line, strict=True):
            if not (x == y if type(x) is not arb else y is not NEG_INF and y in x):
                return False
    return True


def judge_grid(grid: Grid, true: Callable[[int], Value], owns: Iterable[Value]) -> tuple[tuple[Judged, ...], ...]:
    """Judge every cell; `true` is asked for more bits where a ball leaves a rounding open. DRIFTED stands for
    'follows from the author's own numbers' until blame is settled."""
    shape = shape_of(grid)
    candidates = [own.rows for own in owns if own.shape == shape]
    if [x for rows in candidates for row in rows for x in row if type(x) is arb and not x.is_finite()]:
        raise ValueRefused("the author's own numbers leave a value open")
    sharper: dict[int, Value] = {}

    def judge(shown: Shown, cell: Cell, owns: tuple[Cell, ...], i: int, j: int) -> Judged:
        how = agreement(shown, cell)
        for bits in ENOUGH_BITS[1:] if how is Agreement.OPEN else ():
            if bits not in sharper:
                sharper[bits] = true(bits)
            cell = sharper[bits].rows[i][j]
            how = agreement(shown, cell)
            if how is not Agreement.OPEN:
                break
        return Judged(shown, _verdict(shown, how, owns), cell, how, owns)

    judged = []
    for i, lines in enumerate(zip(grid, true(ENOUGH_BITS[0]).rows, *candidates, strict=True)):
        cells = []
        for j, (shown, cell, *own) in enumerate(zip(*lines, strict=True)):
            if type(cell) is fmpq and cell == shown.value:  # as most are
                cells.append(Judged(shown, Verdict.RIGHT, cell, Agreement.EQUAL, tuple(own)))
            else:
                cells.append(judge(shown, cell, tuple(own), i, j))
        judged.append(tuple(cells))
    return tuple(judged)


def _verdict(shown: Shown, how: Agreement, owns: Sequence[Cell]) -> Verdict:
    if how is Agreement.EQUAL:
        return Verdict.RIGHT
    if how <= Agreement.OPEN:
        return Verdict.ROUNDED
    best = Agreement.APART
    for own in owns:
        best = min(best, follows(shown, own))
        if best is Agreement.ROUNDED:
            return Verdict.DRIFTED
    if best is Agreement.NEAR or (how is Agreement.NEAR and not owns):
        return Verdict.MISROUNDED
    return Verdict.WRONG


POINTS = dict.fromkeys(Verdict, 0.0) | {
    Verdict.RIGHT: 1.0,
    Verdict.ROUNDED: 1.0,
    Verdict.DRIFTED: 0.95,
    Verdict.MISROUNDED: 0.5,
}


def score(judged: tuple[tuple[Judged, ...], ...], skipped: int = 0) -> float:
    """The share of cells that are not accused; ties between meanings are broken by truth before following. The first
    few sources may be left out."""
    if skipped:
        cells = [cell for row in judged for cell in row]
        verdicts = [
            cell.verdict if cell.how <= Agreement.OPEN else _verdict(cell.shown, cell.how, cell.owns[skipped:])
            for cell in cells
        ]
    else:
        verdicts = [cell.verdict for row in judged for cell in row]
    return sum(map(POINTS.__getitem__, verdicts)) / len(verdicts)
