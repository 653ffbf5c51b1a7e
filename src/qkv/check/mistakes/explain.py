"""Which known mistake reproduces what is shown: the table tried on the author's own numbers and on the true ones."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from itertools import product

from qkv.check.author import Author, Loose
from qkv.check.cells import Grid, Judged, fits, fitted, shape_of
from qkv.check.mistakes.rewrites import LEFT_OUT, TABLE, Mistake, changes, places_in
from qkv.check.mistakes.rows import Sizes, row_of
from qkv.check.mistakes.scene import Scene, levels
from qkv.check.mistakes.slips import Written, products, slips
from qkv.check.mistakes.swaps import agree, swap_shown, what_is_swapped
from qkv.check.model import Cause, Verdict
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.cells import START_BITS, precision
from qkv.interpret.certified import Certified, Value
from qkv.interpret.fit import Shape
from qkv.interpret.loop import evaluate
from qkv.interpret.trace import Trace

Table = tuple[Mistake, ...]
TABLES: tuple[Table, ...] = tuple(tuple(row for row in TABLE if row.rare is rare) for rare in (False, True))
FEW_ROWS = 3  # so many are worked out as fast as one
MOST_NAMED = 2  # where more mistakes than this would explain a value, it tells too little to name any


def explain(
    trace: Trace, minds: Sequence[Author], target: n.Expr, judged: tuple[tuple[Judged, ...], ...]
) -> Cause | None:
    """The known mistake that explains a wrong value, if there is one; two, if both do. The author by the print comes
    first, then the same author with something else in mind."""
    grid = tuple(tuple(cell.shown for cell in row) for row in judged)
    wrong = [(i, j) for i, row in enumerate(judged) for j, cell in enumerate(row) if cell.verdict is Verdict.WRONG]
    search = _Search(Scene(trace), minds[0].printed, target, grid)
    written = Written(judged, wrong)
    if _is_copy(search.scene, minds[0], target):
        return _cause(slips(written, []))
    causes = (_cause(_mistakes(search, author, written)) for author in minds)
    return next((cause for cause in causes if cause is not None), None)


def _mistakes(search: _Search, author: Author, written: Written) -> dict[str, str]:
    found: dict[str, str] = {}
    if shape_of(search.grid) != (1, 1):
        found = search.reproducing(author, tuple(range(len(search.grid))))
        rows = tuple(sorted({i for i, _ in written.wrong}))
        if not found and len(rows) < len(search.grid) and len(written.wrong) > 1:
            found = search.reproducing(author, rows)
    return found or slips(written, list(products(search.scene, author, search.target)))


def explain_misfit(
    trace: Trace, minds: Sequence[Author], target: n.Expr, grid: Grid, whole: bool = False
) -> tuple[bool, Cause | None]:
    """Whether known mistakes explain a value of the wrong shape (heads added, stacked, a factor left out; a row or a
    column of the result, if the document says that all of it is shown); and which one, if they are not too many."""
    rows = tuple(range(len(grid)))
    search = _Search(Scene(trace), minds[0].printed, target, grid)
    for author in minds:
        found = search.reproducing(author, rows)
        if not found and whole:
            found = search.reproducing(author, rows, (LEFT_OUT,))
        if found:
            return True, _cause(found)
    return False, None


def _is_copy(scene: Scene, author: Author, target: n.Expr) -> bool:
    """Whether the value repeats one that was given or printed before: then nothing was worked out here."""
    item = scene.item(target)
    return item is not None and (item.symbol in author.printed or item in scene.trace.program.givens)


def _cause(found: dict[str, str]) -> Cause | None:
    if not 1 <= len(found) <= MOST_NAMED:
        return None
    return Cause(" or ".join(found), "; or ".join(found.values()))


Ways = list[tuple[n.Expr, str]]
Made = tuple[Mistake, Ways]  # what a mistake makes of the target, in each way, with its detail
NOWHERE = -1  # in place of a row: nothing agrees


class _Search:
    """Looks for the mistakes that give what is shown, for one author after the other. What they share is done once."""

    def __init__(self, scene: Scene, printed: Container[Symbol], target: n.Expr, grid: Grid) -> None:
        self.scene, self.target, self.grid = scene, target, grid
        self._levels = list(levels(scene, target, printed))
        self._made: dict[tuple[int, int, bool], list[Made]] = {}  # by base and table
        self._missed: dict[tuple[int, int], int] = {}  # whose numbers, and an expression → a row that does not agree
        self._wholes: dict[tuple[int, int], Value | None] = {}  # whose numbers, and what is swapped → its value

    def reproducing(self, author: Author, rows: tuple[int, ...], tables: tuple[Table, ...] = TABLES) -> dict[str, str]:
        """Mistakes that give some rows as shown, by key: common ones, else rare ones; and of those the ones made in the
        step itself, else those made before it."""
        for table, bases in product(tables, self._levels):
            found: dict[str, str] = {}
            for mistake, ways in (made for base in bases for made in self._candidates(author, base, table)):
                detail = (self._swapped if mistake.swaps else self._given_by)(author, ways, rows)
                if detail is not None:
                    found[mistake.key] = mistake.says.format(detail)
            if found:
                return found
        return {}

    def _candidates(self, author: Author, base: n.Expr, table: Table) -> list[Made]:
        key = id(base), id(table), author.has_usual_shapes
        if key not in self._made:
            test = _ShapeTest(self.scene, shape_of(self.grid), base) if author.has_usual_shapes else None
            self._made[key] = list(_in_shape(self.scene, base, table, test))
        return self._made[key]

    def _given_by(self, author: Author, ways: Ways, rows: tuple[int, ...]) -> str | None:
        """The detail of the first way that gives some rows as shown."""
        return next((detail for expr, detail in ways if self._gives(author, expr, rows)), None)

    def _swapped(self, author: Author, ways: Ways, rows: tuple[int, ...]) -> str | None:
        """The same for rows or columns that change places: all pairs are of one value, which is worked out once."""
        whole, axis = what_is_swapped(ways[0][0])
        holder = author.holder(whole)
        made = [self._once(holder, whole, lambda: _worked_out(holder.as_held(whole), holder, Loose()))]
        with precision(START_BITS):
            true = self.scene.trace.values()
            made.append(self._once(true, whole, lambda: _worked_out(whole, true, Certified())))
        if any(value is not None and value.shape != shape_of(self.grid) for value in made):
            return self._given_by(author, ways, rows)
        found = [swap_shown(self.grid, value.rows, rows, axis) for value in made if value is not None]
        return next((ways[k][1] for k in sorted(k for k in found if k is not None)), None)

    def _once(self, whose: object, whole: n.Concat, work: Callable[[], Value | None]) -> Value | None:
        key = id(whose), id(whole.parts[0])
        if key not in self._wholes:
            self._wholes[key] = work()
        return self._wholes[key]

    def _gives(self, author: Author, expr: n.Expr, rows: tuple[int, ...]) -> bool:
        """Whether an expression gives what is shown, in the author's numbers or in the true ones."""
        holder = author.holder(expr)
        if self._agrees(id(holder), expr, rows, lambda: _off(holder.as_held(expr), holder, Loose(), self.grid, rows)):
            return True
        with precision(START_BITS):
            true = self.scene.trace.values()
            return self._agrees(id(true), expr, rows, lambda: _off(expr, true, Certified(), self.grid, rows))

    def _agrees(self, whose: int, expr: n.Expr, rows: tuple[int, ...], off: Callable[[], int | None]) -> bool:
        missed = self._missed.get((whose, id(expr)))
        if missed is None or (missed != NOWHERE and missed not in rows):
            missed = off()
            if missed is not None:
                self._missed[whose, id(expr)] = missed
            return missed is None
        return False


def _in_shape(scene: Scene, base: n.Expr, table: Table, test: _ShapeTest | None) -> Iterator[Made]:
    """What each mistake makes of an expression, but for what cannot have the shape that is shown."""
    places = list(places_in(base))
    same: dict[n.Expr, n.Expr] = {}
    for mistake in table:
        if test is not None and mistake.keeps_shape and not test.base_fits:
            continue
        ways = []
        for (node, whole), made, detail in changes(mistake, places, scene):
            if test is None or mistake.keeps_shape or test.passes(node, made, whole):
                expr = whole(made)
                ways.append((same.setdefault(expr, expr), detail))
        if ways:
            yield mistake, ways


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


def _off(
    expr: n.Expr, values: Mapping[Symbol, Value], algebra: Certified, grid: Grid, rows: Sequence[int]
) -> int | None:
    """The first of some rows that does not agree, None if all do. Where there are many, one of them is tried first."""
    sizes = Sizes(values)
    try:
        if len(grid) > FEW_ROWS and sizes.of(expr) == shape_of(grid):
            row = evaluate(row_of(expr, rows[0] + 1, sizes.of), values, algebra)
            if not agree(grid[rows[0]], row.rows[0]):
                return rows[0]
    except QkvError:
        return NOWHERE
    made = _worked_out(expr, values, algebra)
    here = fitted(made, shape_of(grid)) if made is not None else None
    return NOWHERE if here is None else next((i for i in rows if not agree(grid[i], here.rows[i])), None)


def _worked_out(expr: n.Expr, values: Mapping[Symbol, Value], algebra: Certified) -> Value | None:
    try:
        return evaluate(expr, values, algebra)
    except QkvError:
        return None
