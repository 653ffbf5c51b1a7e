"""Which known mistake reproduces what is shown: the table tried on the author's own numbers and on the true ones."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from itertools import product

from qkv.check.author import Author
from qkv.check.cells import Grid, Judged, covers, fits, fitted, shape_of
from qkv.check.compare import agree, meets
from qkv.check.loose import Loose
from qkv.check.mistakes.program import ProgramScene as Scene
from qkv.check.mistakes.rewrites import LEFT_OUT, TABLE, Mistake, Place, changes, places_in
from qkv.check.mistakes.scene import levels
from qkv.check.mistakes.slips import Factors, Written, products, slips
from qkv.check.mistakes.swaps import swap_shown, what_is_swapped
from qkv.check.model import Cause, Verdict
from qkv.check.rows import Sizes, row_of
from qkv.check.single import single_cell
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.cells import START_BITS, precision
from qkv.interpret.certified import Certified, Value
from qkv.interpret.fit import Shape
from qkv.interpret.loop import evaluate, evaluated
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
    search = _Search(Scene(trace), minds[0].printed, target, grid, wrong)
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
    if found:
        return found
    factors = products(search.base, (author.own, search.scene.value))
    if factors in search.tried:
        return {}  # as an author before has them, and no cause came of it
    search.tried.append(factors)
    return slips(written, factors)


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
    thing = scene.thing(target)
    item = scene.trace.program.item(thing.expr.symbol) if thing is not None and isinstance(thing.expr, n.Name) else None
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

    def __init__(
        self,
        scene: Scene,
        printed: Container[Symbol],
        target: n.Expr,
        grid: Grid,
        wrong: Sequence[tuple[int, int]] = (),
    ) -> None:
        self.scene, self.target, self.grid = scene, target, grid
        # A mistake is tried on a wrong cell first. A vector may be cut into the rows that are shown: that leaves the
        # cells of its first row where they are, but not those of a column.
        self.telling = next(((i, j) for i, j in wrong if i == 0 or j > 0), (0, 0))
        self.tried: list[list[Factors]] = []
        self._true = scene.trace.values()
        self._levels = list(levels(scene, target, printed))
        self._bases: dict[int, tuple[list[Place], _ShapeTest]] = {}
        self._made: dict[tuple[int, int, bool], list[Made]] = {}  # by base and table
        self._joined: dict[int, n.Concat] = {}
        # By whose numbers (None for the true ones), and an expression that is kept here:
        self._missed: dict[tuple[int, int], int] = {}  # a row that does not agree
        self._wholes: dict[tuple[int, int], Value | None] = {}  # the value of what is swapped
        self._covered: dict[tuple[int, int], bool] = {}  # whether they include the true ones
        self._covered_names: dict[tuple[int, Symbol], bool] = {}

    @property
    def base(self) -> n.Expr:
        """The target as its own step works it out."""
        return self._levels[0][0]

    def reproducing(self, author: Author, rows: tuple[int, ...], tables: tuple[Table, ...] = TABLES) -> dict[str, str]:
        """Mistakes that give some rows as shown, by key: common ones, else rare ones; and of those the ones made in the
        step itself, else those made before it."""
        usual = author.has_usual_shapes
        for table, bases in product(tables, self._levels):
            found: dict[str, str] = {}
            for base in bases:
                for mistake, ways in self._candidates(usual, base, table):
                    detail = (self._swapped if mistake.swaps else self._given_by)(author, ways, rows)
                    if detail is not None:
                        found[mistake.key] = mistake.says.format(detail)
            if found:
                return found
        return {}

    def _candidates(self, usual: bool, base: n.Expr, table: Table) -> list[Made]:
        key = id(base), id(table), usual
        if key not in self._made:
            if id(base) not in self._bases:
                self._bases[id(base)] = places_in(base), _ShapeTest(self.scene, shape_of(self.grid), base)
            places, test = self._bases[id(base)]
            self._made[key] = list(_in_shape(self.scene, places, table, test if usual else None))
        return self._made[key]

    def _given_by(self, author: Author, ways: Ways, rows: tuple[int, ...]) -> str | None:
        """The detail of the first way that gives some rows as shown."""
        for expr, detail in ways:
            if self._gives(author, expr, rows):
                return detail
        return None

    def _swapped(self, author: Author, ways: Ways, rows: tuple[int, ...]) -> str | None:
        """The same for rows or columns that change places: all pairs are of one value, which is worked out once."""
        whole, axis = what_is_swapped(ways[0][0])
        joined = self._joined.setdefault(id(whole), n.Concat((whole,)))
        holder = author.holder(joined)
        made = [self._worked_out(holder, joined)]
        if made[0] is None or not self._covers_truth(holder, joined):
            made.append(self._worked_out(None, joined))
        values = [value for value in made if value is not None]
        if any(value.shape != shape_of(self.grid) for value in values):
            return self._given_by(author, ways, rows)
        found = [swap_shown(self.grid, value.rows, rows, axis) for value in values]
        return next((ways[k][1] for k in sorted([k for k in found if k is not None])), None)

    def _worked_out(self, holder: Author | None, whole: n.Expr) -> Value | None:
        """The value of an expression in an author's numbers, or in the true ones."""
        key = id(holder), id(whole)
        if key not in self._wholes:
            if holder is not None:
                self._wholes[key] = evaluated(holder.as_held(whole), holder, Loose())
            else:
                with precision(START_BITS):
                    self._wholes[key] = evaluated(whole, self._true, Certified())
        return self._wholes[key]

    def _gives(self, author: Author, expr: n.Expr, rows: tuple[int, ...]) -> bool:
        """Whether an expression gives what is shown, in the author's numbers or in the true ones."""
        holder = author.holder(expr)
        off = self._row_off(holder, expr, rows)
        if off is None or (off != NOWHERE and self._covers_truth(holder, expr)):
            return off is None
        return self._row_off(None, expr, rows) is None

    def _row_off(self, holder: Author | None, expr: n.Expr, rows: tuple[int, ...]) -> int | None:
        """One of some rows that an expression does not give; where one is known, nothing is worked out again."""
        key = id(holder), id(expr)
        missed = self._missed.get(key)
        if missed is None or (missed != NOWHERE and missed not in rows):
            if holder is not None:
                missed = _off(holder.as_held(expr), holder, Loose(), self.grid, rows, self.telling)
            else:
                with precision(START_BITS):
                    missed = _off(expr, self._true, Certified(), self.grid, rows, self.telling)
            if missed is not None:
                self._missed[key] = missed
        return missed

    def _covers_truth(self, holder: Author, expr: n.Expr) -> bool:
        """Whether an author's numbers for an expression include the true ones: what those do not give, these do not."""
        key = id(holder), id(expr)
        if key not in self._covered:
            names = n.names_in(holder.as_held(expr))
            self._covered[key] = all(map(partial(self._covers_name, holder), names))
        return self._covered[key]

    def _covers_name(self, holder: Author, symbol: Symbol) -> bool:
        key = id(holder), symbol
        if key not in self._covered_names:
            true = self._true.get(symbol)
            self._covered_names[key] = true is not None and covers(holder[symbol], true)
        return self._covered_names[key]


def _in_shape(scene: Scene, places: list[Place], table: Table, test: _ShapeTest | None) -> Iterator[Made]:
    """What each mistake makes of an expression, but for what cannot have the shape that is shown."""
    kinds: set[type] = {n.Node, *[type(node) for node, _ in places]}
    same: dict[n.Expr, n.Expr] = {}
    for mistake in table:
        if kinds.isdisjoint(mistake.rule.kinds) or (test is not None and mistake.keeps_shape and not test.base_fits):
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
        self.base_fits = self._fits(base)

    def passes(self, node: n.Expr, made: n.Expr, whole: Callable[[n.Expr], n.Expr]) -> bool:
        """Whether the whole may be what is shown if `made` stands for `node`, one of its parts."""
        after = self._scene.shape(made)
        if after is None or after == self._scene.shape(node):
            return after is not None and self.base_fits
        return self._fits(whole(made))

    def _fits(self, expr: n.Expr) -> bool:
        shape = self._scene.shape(expr)
        return shape is not None and fits(shape, self._shown)


def _off(
    expr: n.Expr,
    values: Mapping[Symbol, Value],
    algebra: Certified,
    grid: Grid,
    rows: Sequence[int],
    telling: tuple[int, int],
) -> int | None:
    """The first of some rows that does not agree, None if all do. One cell is tried first; then, where there are many,
    one row."""
    try:
        i, j = telling
        cell = single_cell(expr, i, j, values) if i in rows else None
        if cell is not None and not meets(grid[i][j], cell):
            return i
        sizes = Sizes(values)
        if len(grid) > FEW_ROWS and sizes.of(expr) == shape_of(grid):
            row = evaluate(row_of(expr, rows[0] + 1, sizes.of), values, algebra)
            if not agree(grid[rows[0]], row.rows[0]):
                return rows[0]
    except QkvError:
        return NOWHERE
    made = evaluated(expr, values, algebra)
    here = fitted(made, shape_of(grid)) if made is not None else None
    return NOWHERE if here is None else next((i for i in rows if not agree(grid[i], here.rows[i])), None)
