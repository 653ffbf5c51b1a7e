"""The cells of a claim, judged one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from operator import itemgetter

from qkv.check.compare import Agreement, Shown, agreement, follows, held, meets, shown_cell, shown_number
from qkv.check.model import Verdict
from qkv.errors import QkvError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.show import plain
from qkv.interpret.cells import NEG_INF, Cell, is_bounded, precision
from qkv.interpret.certified import Certified, Value
from qkv.interpret.fit import Shape
from qkv.interpret.loop import evaluate
from qkv.records import dataclass

Grid = tuple[tuple[Shown, ...], ...]
ENOUGH_BITS = (96, 384, 1536)


@dataclass(frozen=True, slots=True)
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
        if self.verdict is Verdict.MISROUNDED:
            near = [(self.how, self.true), *self.following]
            return held(self.shown, [cell for how, cell in near if how is Agreement.NEAR], badly=True)
        sources = [self.true] if self.how <= Agreement.OPEN else []
        return held(self.shown, sources + [own for own in self.owns if meets(self.shown, own)])


def shown_grid(matrix: n.Matrix, approximate: bool) -> Grid | None:
    """A printed matrix, cell by cell; None where it is ragged or a cell has no value."""
    if matrix.is_ragged or not matrix.rows or not matrix.rows[0]:
        return None
    grid = tuple(tuple(_shown(cell, approximate) for cell in row) for row in matrix.rows)
    return grid if all(cell is not None for row in grid for cell in row) else None  # type: ignore[return-value]


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


def _shown(cell: n.Expr, approximate: bool) -> Shown | None:
    if isinstance(cell, n.Number):
        return shown_number(cell, approximate)
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
    cells = [cell for row in value.rows for cell in row]
    if 1 in value.shape and len(cells) == shape[0] * shape[1]:
        return Value(tuple(tuple(cells[i * shape[1] : (i + 1) * shape[1]]) for i in range(shape[0])))
    return None


def judge_grid(grid: Grid, true: Callable[[int], Value], owns: Iterable[Value]) -> tuple[tuple[Judged, ...], ...]:
    """Judge every cell; `true` is asked for more bits where a ball leaves a rounding open. DRIFTED stands for
    'follows from the author's own numbers' until blame is settled."""
    candidates = [own.rows for own in owns if own.shape == shape_of(grid)]
    if not all(is_bounded(cell) for rows in candidates for row in rows for cell in row):
        raise ValueRefused("the author's own numbers leave a value open")
    values = {ENOUGH_BITS[0]: true(ENOUGH_BITS[0])}

    def true_cell(bits: int, i: int, j: int) -> Cell:
        if bits not in values:
            values[bits] = true(bits)
        return values[bits].rows[i][j]

    def judge(shown: Shown, i: int, j: int) -> Judged:
        for bits in ENOUGH_BITS:
            cell = true_cell(bits, i, j)
            how = agreement(shown, cell)
            if how is not Agreement.OPEN:
                break
        owns = tuple([own[i][j] for own in candidates])
        return Judged(shown, _verdict(shown, how, owns), cell, how, owns)

    return tuple([tuple([judge(shown, i, j) for j, shown in enumerate(row)]) for i, row in enumerate(grid)])


def _verdict(shown: Shown, how: Agreement, owns: Sequence[Cell]) -> Verdict:
    if how is Agreement.EQUAL:
        return Verdict.RIGHT
    if how <= Agreement.OPEN:
        return Verdict.ROUNDED
    best = min([follows(shown, own) for own in owns], default=Agreement.APART)
    if best is Agreement.ROUNDED:
        return Verdict.DRIFTED
    if best is Agreement.NEAR or (how is Agreement.NEAR and not owns):
        return Verdict.MISROUNDED
    return Verdict.WRONG


POINTS = {Verdict.RIGHT: 1.0, Verdict.ROUNDED: 1.0, Verdict.DRIFTED: 0.95, Verdict.MISROUNDED: 0.5}


def score(judged: tuple[tuple[Judged, ...], ...], skipped: int = 0) -> float:
    """The share of cells that are not accused; ties between meanings are broken by truth before following. The first
    few sources may be left out."""
    cells = [cell for row in judged for cell in row]
    verdicts = [_verdict(cell.shown, cell.how, cell.owns[skipped:]) if skipped else cell.verdict for cell in cells]
    return sum([POINTS.get(verdict, 0.0) for verdict in verdicts]) / len(cells)
