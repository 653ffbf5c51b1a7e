"""The cells of a claim, judged one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from qkv.check.compare import Agreement, Shown, agreement, follows, held, shown_cell, shown_number
from qkv.check.model import Verdict
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.show import plain
from qkv.interpret.cells import NEG_INF, Cell, precision
from qkv.interpret.certified import Certified, Value
from qkv.interpret.loop import evaluate

Grid = tuple[tuple[Shown, ...], ...]
ENOUGH_BITS = (96, 384, 1536)


@dataclass(frozen=True, slots=True)
class Judged:
    """One cell with its verdict, what it should be, what the author's own numbers give, and what may be carried on."""

    shown: Shown
    verdict: Verdict
    true: Cell
    own: Cell | None
    kept: Cell


def shown_grid(matrix: n.Matrix, approximate: bool) -> Grid | None:
    """A printed matrix, cell by cell; None where it is ragged or a cell has no value."""
    if matrix.is_ragged or not matrix.rows or not matrix.rows[0]:
        return None
    grid = tuple(tuple(_shown(cell, approximate) for cell in row) for row in matrix.rows)
    return grid if all(cell is not None for row in grid for cell in row) else None  # type: ignore[return-value]


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
    candidates = [own for own in owns if own.shape == shape_of(grid)]
    values: dict[int, Value] = {}

    def true_cell(bits: int, i: int, j: int) -> Cell:
        if bits not in values:
            values[bits] = true(bits)
        return values[bits].rows[i][j]

    return tuple(
        tuple(
            _judge(shown, lambda bits, i=i, j=j: true_cell(bits, i, j), [own.rows[i][j] for own in candidates])  # type: ignore[misc]
            for j, shown in enumerate(row)
        )
        for i, row in enumerate(grid)
    )


def _judge(shown: Shown, true: Callable[[int], Cell], owns: list[Cell]) -> Judged:
    cell, how = _settled(shown, true)
    following = [(follows(shown, own), own) for own in owns]
    best, own = min(following, key=lambda pair: pair[0], default=(Agreement.APART, None))
    if how is Agreement.EQUAL:
        verdict = Verdict.RIGHT
    elif how in (Agreement.ROUNDED, Agreement.OPEN):
        verdict = Verdict.ROUNDED
    elif best is Agreement.ROUNDED:
        verdict = Verdict.DRIFTED
    elif best is Agreement.NEAR or (how is Agreement.NEAR and not owns):
        verdict = Verdict.MISROUNDED
    else:
        verdict = Verdict.WRONG
    sources = [cell] if how <= Agreement.OPEN else []
    return Judged(
        shown, verdict, cell, own, held(shown, [*sources, *(o for a, o in following if a is Agreement.ROUNDED)])
    )


def _settled(shown: Shown, true: Callable[[int], Cell]) -> tuple[Cell, Agreement]:
    for bits in ENOUGH_BITS:
        cell = true(bits)
        how = agreement(shown, cell)
        if how is not Agreement.OPEN:
            break
    return cell, how


def score(judged: tuple[tuple[Judged, ...], ...]) -> float:
    """The share of cells that are not accused; ties between meanings are broken by truth before following."""
    cells = [cell for row in judged for cell in row]
    points = {Verdict.RIGHT: 1.0, Verdict.ROUNDED: 1.0, Verdict.DRIFTED: 0.95, Verdict.MISROUNDED: 0.5}
    return sum(points.get(cell.verdict, 0.0) for cell in cells) / len(cells)
