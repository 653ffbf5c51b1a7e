"""Which known mistake reproduces what is shown: the table tried on the author's own numbers and on the true ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from qkv.check.author import Author, Loose
from qkv.check.cells import Grid, Judged, fits, fitted, shape_of
from qkv.check.compare import Agreement, Shown, follows
from qkv.check.mistakes.rewrites import LEFT_OUT, TABLE, Mistake, changes, places_in
from qkv.check.mistakes.rows import Sizes, row_of
from qkv.check.mistakes.scene import Scene, levels
from qkv.check.mistakes.slips import slips
from qkv.check.model import Cause, Verdict
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.cells import START_BITS, Cell, precision
from qkv.interpret.certified import Certified, Value
from qkv.interpret.fit import Shape
from qkv.interpret.loop import evaluate
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
    places = list(places_in(base))
    test = _ShapeTest(scene, shape_of(grid), base) if author.has_usual_shapes else None
    for mistake in table:
        if test is not None and mistake.keeps_shape and not test.base_fits:
            continue
        for (node, whole), made, detail in changes(mistake, places, scene):
            if test is not None and not mistake.keeps_shape and not test.passes(node, made, whole):
                continue
            expr = whole(made)
            if expr not in tried:
                tried[expr] = _gives(scene, author, expr, grid, rows)
            if tried[expr]:
                yield mistake.key, mistake.says.format(detail)
                break


class _ShapeTest:
    """Whether a change may give the shape that is shown. What keeps the shape of its place keeps that of the whole."""

    def __init__(self, scene: Scene, shown: Shape, base: n.Expr) -> None:
        self._scene, self._shown = scene, shown
        self._places: dict[int, Shape | None] = {}
        self.base_fits = self._fits(base)

    def passes(self, node: n.Expr, made: n.Expr, whole: Callable[[n.Expr], n.Expr]) -> bool:
        """Whether the whole may be what is shown if `made` stands for `node`, one of its parts."""
        if id(node) not in self._places:
            self._places[id(node)] = self._scene.shape(node)
        after = self._scene.shape(made)
        if after is None or after == self._places[id(node)]:
            return after is not None and self.base_fits
        return self._fits(whole(made))

    def _fits(self, expr: n.Expr) -> bool:
        shape = self._scene.shape(expr)
        return shape is not None and fits(shape, self._shown)


def _gives(scene: Scene, author: Author, expr: n.Expr, grid: Grid, rows: Sequence[int]) -> bool:
    """Whether an expression gives what is shown, in the author's numbers or in the true ones."""
    if _shows(author.as_held(expr), author, Loose(), grid, rows):
        return True
    with precision(START_BITS):
        return _shows(expr, scene.trace.values(), Certified(), grid, rows)


def _shows(expr: n.Expr, values: Mapping[Symbol, Value], algebra: Certified, grid: Grid, rows: Sequence[int]) -> bool:
    """The cheapest test first: the shape, then one row, then all."""
    sizes = Sizes(values)
    try:
        shape = sizes.of(expr)
        if not fits(shape, shape_of(grid)):
            return False
        if shape == shape_of(grid) and len(grid) > 1:
            row = evaluate(row_of(expr, rows[0] + 1, sizes.of), values, algebra)
            if not _agree(grid[rows[0]], row.rows[0]):
                return False
        here = fitted(evaluate(expr, values, algebra), shape_of(grid))
    except QkvError:
        return False
    return here is not None and all(_agree(grid[i], here.rows[i]) for i in rows)


def _agree(shown: Sequence[Shown], made: Sequence[Cell]) -> bool:
    return all(follows(*pair) is Agreement.ROUNDED for pair in zip(shown, made, strict=True))
