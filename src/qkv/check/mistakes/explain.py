"""Which known mistake reproduces what is shown: the table tried on the author's own numbers and on the true ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qkv.check.author import Author
from qkv.check.cells import Grid, Judged, fitted, shape_of
from qkv.check.compare import Agreement, Shown, follows
from qkv.check.mistakes.rewrites import LEFT_OUT, TABLE, Mistake, variants
from qkv.check.mistakes.scene import Scene, levels
from qkv.check.mistakes.slips import slips
from qkv.check.model import Cause, Verdict
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.interpret.certified import Value
from qkv.interpret.trace import Trace

Table = tuple[Mistake, ...]
MOST_NAMED = 2  # where more mistakes than this would explain a value, it tells too little to name any


def explain(trace: Trace, author: Author, target: n.Expr, judged: tuple[tuple[Judged, ...], ...]) -> Cause | None:
    """The known mistake that explains a wrong value, if there is one; two, if both do."""
    scene = Scene(trace)
    grid = tuple(tuple(cell.shown for cell in row) for row in judged)
    wrong = [(i, j) for i, row in enumerate(judged) for j, cell in enumerate(row) if cell.verdict is Verdict.WRONG]
    copied = _is_copy(scene, author, target)
    found: dict[str, str] = {}
    if not copied and shape_of(grid) != (1, 1):
        found = _reproducing(scene, author, target, grid, range(len(grid)))
        rows = sorted({i for i, _ in wrong})
        if not found and len(rows) < len(grid) and len(wrong) > 1:
            found = _reproducing(scene, author, target, grid, rows)
    return _cause(found or slips(scene, author, target, judged, wrong, copied))


def explain_misfit(
    trace: Trace, author: Author, target: n.Expr, grid: Grid, whole: bool = False
) -> tuple[bool, Cause | None]:
    """Whether known mistakes explain a value of the wrong shape (heads added, stacked, a factor left out; a row or a
    column of the result, if the document says that all of it is shown); and which one, if they are not too many."""
    scene, rows = Scene(trace), range(len(grid))
    found = _reproducing(scene, author, target, grid, rows)
    if not found and whole:
        found = _reproducing(scene, author, target, grid, rows, LEFT_OUT)
    return bool(found), _cause(found)


def _is_copy(scene: Scene, author: Author, target: n.Expr) -> bool:
    """Whether the value repeats one that was given or printed before: then nothing was worked out here."""
    item = scene.item(target)
    return item is not None and (item.symbol in author.printed or item in scene.trace.program.givens)


def _cause(found: dict[str, str]) -> Cause | None:
    if not 1 <= len(found) <= MOST_NAMED:
        return None
    return Cause(" or ".join(found), "; or ".join(found.values()))


def _reproducing(
    scene: Scene, author: Author, target: n.Expr, grid: Grid, rows: Sequence[int], table: Table = TABLE
) -> dict[str, str]:
    """Mistakes that give what is shown, by key: those made in the step itself, else those made on the way to it."""
    for bases in levels(scene, target, author.printed):
        found = {key: says for base in bases for key, says in _at_level(scene, author, base, grid, rows, table)}
        if found:
            return found
    return {}


def _at_level(
    scene: Scene, author: Author, base: n.Expr, grid: Grid, rows: Sequence[int], table: Table
) -> Iterator[tuple[str, str]]:
    tried: dict[n.Expr, bool] = {}
    for mistake in table:
        for expr, detail in variants(mistake, base, scene):
            if expr not in tried:
                tried[expr] = any(_shows(value, grid, rows) for value in _values(scene, author, expr))
            if tried[expr]:
                yield mistake.key, mistake.says.format(detail)
                break


def _values(scene: Scene, author: Author, expr: n.Expr) -> Iterator[Value]:
    own = author.own(expr)
    if own is not None:
        yield own
    try:
        yield scene.trace.evaluate(expr)
    except QkvError:
        return


def _shows(value: Value, grid: Grid, rows: Sequence[int]) -> bool:
    here = fitted(value, shape_of(grid))
    return here is not None and all(
        _agrees(cell, made) for i in rows for cell, made in zip(grid[i], here.rows[i], strict=True)
    )


def _agrees(shown: Shown, made: object) -> bool:
    return follows(shown, made) is Agreement.ROUNDED
