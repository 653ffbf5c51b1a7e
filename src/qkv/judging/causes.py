"""Why a value is wrong: the known mistakes that give what is shown, in the author's own numbers or in the true ones.

The expression that was meant is written out through the page's equations, level by level; each mistake of the table
rewrites it; what gives every shown cell (else every wrong row, else the wrong cells one by one) is named. At most two
names are told: where more mistakes explain a value, it tells too little to name any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import NamedTuple

from qkv.check.cells import Grid, covers, fits, fitted, shape_of
from qkv.check.compare import agree
from qkv.check.mistakes.rewrites import (
    AGAINST,
    ANY_OTHER,
    LEFT_OUT,
    NO_CONVENTION,
    STRUCTURAL,
    TABLE,
    places_in,
    swap_shown,
    variants,
    what_is_swapped,
)
from qkv.check.mistakes.scene import levels
from qkv.check.mistakes.slips import JudgedCell, Written, cut_off, products, slips
from qkv.check.mistakes.table import Mistake
from qkv.check.model import Cause, Verdict
from qkv.errors import QkvError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.expr.show import plain
from qkv.interpret.cells import Cell, same_cell
from qkv.interpret.certified import Value
from qkv.judging.fit import Fit, How, Meaning
from qkv.judging.misread import judged_cells, lost_points, misread
from qkv.judging.scene import PageScene
from qkv.reading.bits import grid_bits
from qkv.reading.prints import Mending, Prints
from qkv.render.workings import cell_workings

Table = tuple[Mistake, ...]
Mind = Callable[[n.Expr], tuple[Value | None, frozenset[int]]]  # a value in somebody's numbers, the claims they are of
COMMON, RARE = (tuple(row for row in TABLE if row.rare is rare) for rare in (False, True))
TABLES: tuple[Table, ...] = (COMMON, RARE, ANY_OTHER)
MISTAKE = 7.0  # bits that a known mistake costs; it saves the digits of every cell
MOST_NAMED = 2  # where more mistakes than this would explain a value, it tells too little to name any

ENOUGH_NUMBERS = 3  # different ones, where no formula beside them tells what is shown


class Found(NamedTuple):
    """A mistake that gives what is shown: its key, its sentence, and the expression that was worked out instead."""

    key: str
    says: str
    expr: n.Expr


def explained(grid: Grid, chosen: Fit, mistakes_of: Callable[[Fit], Search]) -> Fit:
    """The same fit with the cause of what is wrong in it."""
    if chosen.cause is not None or chosen.misfit is not None or chosen.worst not in (Verdict.WRONG, Verdict.MISROUNDED):
        return chosen
    cells = judged_cells(grid, chosen)
    if chosen.worst is Verdict.MISROUNDED:
        return chosen._replace(cause=cut_off(cells))
    if points := lost_points(cells):
        return misread(chosen, points)
    search = mistakes_of(chosen)
    wrong = [(i, j) for i, row in enumerate(cells) for j, cell in enumerate(row) if cell.verdict is Verdict.WRONG]
    cause = _cause(search.mistakes(cells, wrong))
    structural = cause is not None and set(cause.mistake.split(" or ")) <= STRUCTURAL
    verdicts = _whole_rows(chosen.verdicts) if structural else chosen.verdicts
    return chosen._replace(cause=cause, verdicts=verdicts, instead=search.instead)


Mistaken = tuple[Fit, frozenset[Symbol]]  # a slip with a name, and the names that it was worked out from


def as_mistake(grid: Grid, slip: Fit, mistakes_of: Callable[[Fit], Search]) -> Mistaken | None:
    """A value in which much is wrong as one known mistake that gives every cell of it, or of the rows that are wrong,
    with the names it was worked out from; None where no mistake does. Where more than two do, none is named."""
    if slip.slips < 2 or shape_of(grid) == (1, 1):
        return None
    search = mistakes_of(slip)
    tables = (COMMON, RARE) if slip.meaning.how in (How.NAMED, How.WORDED) else TABLES
    found = search.reproducing(tuple(range(len(grid))), tables) if not search.is_copy else []
    wrong, cost = tuple(i for i, row in enumerate(slip.verdicts) if Verdict.WRONG in row), MISTAKE
    if not found and not search.is_copy and len(wrong) < len(grid):
        found, cost = search.reproducing(wrong, tables), MISTAKE + len(grid)
    if not found:
        return None
    cause = _cause({one.key: one.says for one in found})
    names = frozenset().union(*(operands(search.scene, search.prints, one.expr, all_of=True) for one in found))
    meaning, digits = slip.meaning._replace(cost=slip.meaning.cost + cost), sum(map(sum, grid_bits(grid)))
    verdicts = _whole_rows(slip.verdicts)
    made = slip._replace(
        cause=cause, meaning=meaning, agreed=digits, slips=0, verdicts=verdicts, instead=search.instead
    )
    return made, names


def operands(scene: PageScene, prints: Prints, expr: n.Expr, all_of: bool = False) -> frozenset[Symbol]:
    """The names that an expression is made of; those of a formula, where its printed value is meant. With `all_of` also
    those that they are made of in their turn."""
    formulas = {symbol: formula for formula, symbol in prints.formulas.items()}
    found: set[Symbol] = set()
    left = list(n.names_in(scene.in_names(expr)))
    while left:
        symbol = left.pop()
        inner = formulas.get(symbol) or (scene.formula(symbol) if all_of else None)
        if symbol not in found:
            left += n.names_in(scene.in_names(inner)) if inner is not None else ()
            found |= {symbol} if symbol not in formulas else set()
    return frozenset(found)


def has_excuse(mistaken: Fit, decided: frozenset[str]) -> bool:
    """Whether a known mistake may as well be another convention: where no formula is stated, and the page does not ask
    for one of them, many are."""
    keys = mistaken.cause.mistake.split(" or ") if mistaken.cause is not None else [""]
    plain = all(key in NO_CONVENTION or AGAINST.get(key) in decided for key in keys)
    return mistaken.meaning.how in (How.NAMED, How.WORDED) and not plain


def misfit(
    grid: Grid, meaning: Meaning, meant: Value, used: frozenset[int], mistakes_in: Callable[[], Search]
) -> Fit | None:
    """A value of another shape than it should have, as a slip, if a known mistake gives all of it: heads averaged or
    stacked, a factor or a row left out. A shape alone proves nothing: an author may show a part."""
    shape, stated = shape_of(grid), meaning.how is How.STATED
    if not (meaning.sure or stated) or fitted(meant, shape) is not None or min(shape) == 1 < min(meant.shape):
        return None
    if shape == (1, 1):
        return None  # one number of several
    if not stated and (min(shape) == 1 or len({cell.text for row in grid for cell in row}) < ENOUGH_NUMBERS):
        return None
    search = mistakes_in()
    found = search.misfit(stated) if not search.is_copy else []
    if not found:
        return None
    wrong = ((Verdict.WRONG,) * shape[1],) * shape[0]
    meaning, digits = meaning._replace(cost=meaning.cost + MISTAKE, sure=True), sum(map(sum, grid_bits(grid)))
    return Fit(meaning, None, None, used, wrong, digits, 0, _cause({one.key: one.says for one in found}), misfit=meant)


def minds(scene: PageScene, prints: Prints, false: bool) -> list[Mind]:
    """The numbers that an author may have worked with: those printed, those with what is false put right, the true."""

    def mended(mending: Mending) -> Mind:
        look = scene.values.owner(scene.spot, prints)

        def work(expr: n.Expr) -> tuple[Value | None, frozenset[int]]:
            prints.mending = mending
            made = look(expr)
            prints.mending = Mending.NOTHING
            return made

        return work

    own = [mended(mending) for mending in (Mending if false else (Mending.NOTHING,))]
    return [*own, lambda expr: (scene.value(expr), frozenset())]


def _whole_rows(verdicts: tuple[tuple[Verdict, ...], ...]) -> tuple[tuple[Verdict, ...], ...]:
    """In a row that a known mistake gives, a cell lies near the true value by chance."""
    return tuple(
        tuple(Verdict.WRONG if v is Verdict.MISROUNDED else v for v in row) if Verdict.WRONG in row else row
        for row in verdicts
    )


def _cause(found: dict[str, str]) -> Cause | None:
    if not 1 <= len(found) <= MOST_NAMED:
        return None
    return Cause(" or ".join(found), "; or ".join(found.values()))


def cell_working(scene: PageScene, chosen: Fit) -> Callable[[int, int], str]:
    """How each cell of what is meant comes about: 2·2 + 2·3 + 2·1 = 12; nothing where no cell is to be explained."""
    meant = scene.in_names(chosen.meaning.expr)
    part = meant if isinstance(meant, n.Entry) and meant.column is None and meant.columns is None else None
    row, expr = (part.row, part.arg) if part is not None else (None, meant)
    if isinstance(expr, n.Name):
        expr = scene.formula(expr.symbol) or expr
    how_cell = cell_workings(expr, partial(_value_of, scene), show=lambda name: plain(scene.as_written(name)))

    def work(i: int, j: int) -> str:
        try:
            made = _value_of(scene, expr).rows[(row or i) - 1][j - 1]
            how = how_cell(row or i, j)
        except (QkvError, IndexError):
            return ""  # the shown value is turned, or a part of something: there is no such cell to explain
        told = chosen.true is None or same_cell(made, chosen.true.rows[i - 1][j - 1])
        return how if told and ("=" in how or "≈" in how) else ""  # what is given comes about in no way

    return work


def _value_in(mind: Mind) -> Callable[[n.Expr], Value | None]:
    return lambda expr: mind(expr)[0]


def _value_of(scene: PageScene, expr: n.Expr) -> Value:
    value = scene.value(expr)
    if value is None:
        raise ValueRefused("this has no value")
    return value


class Search:
    """Looks for the mistakes that turn what is meant into what is shown.

    `is_false` tells of claims whether one of them is false; `false`, whether the author went on from such a one."""

    def __init__(
        self,
        scene: PageScene,
        target: n.Expr,
        grid: Grid,
        prints: Prints,
        is_false: Callable[[frozenset[int]], bool],
        false: bool,
    ) -> None:
        self.scene, self.grid, self.prints = scene, grid, prints
        self.minds = minds(scene, prints, false)
        self.target = scene.in_names(target)
        own, *deeper = levels(scene, self.target, prints.names)
        self.levels = [own, *(bases for bases in deeper if scene.shape(bases[0]) is not None)]
        name = self.target.symbol if isinstance(self.target, n.Name) else None
        self.is_copy = name is not None and (name in prints.names or scene.formula(name) is None)
        self.instead: Value | None = None  # what the author worked out, if a mistake that was found gives it
        self._is_false = is_false
        self._covered: dict[Symbol, bool] = {}
        self._rows: dict[tuple[int, n.Expr], tuple[tuple[Cell, ...], ...] | None] = {}
        self._sound: set[n.Expr] = set()  # what has a value that no false claim bears on
        self._made: dict[tuple[object, ...], dict[str, Found]] = {}

    def mistakes(self, cells: tuple[tuple[JudgedCell, ...], ...], wrong: list[tuple[int, int]]) -> dict[str, str]:
        """The mistakes that explain all of the value, else its wrong rows, else its wrong cells one by one."""
        written = Written(cells, wrong)
        if self.is_copy:
            return slips(written, [])  # nothing was worked out here
        found: list[Found] = []
        if shape_of(self.grid) != (1, 1):
            found = self.reproducing(tuple(range(len(self.grid))))
            rows = tuple(sorted({i for i, _ in wrong}))
            if not found and len(rows) < len(self.grid) and len(wrong) > 1:
                found = self.reproducing(rows)
        return {one.key: one.says for one in found} or slips(
            written, products(self.levels[0][0], map(_value_in, self.minds))
        )

    def misfit(self, whole: bool) -> list[Found]:
        """The mistakes that give a value of another shape than it should have; `whole` says that all of it is shown."""
        rows = tuple(range(len(self.grid)))
        found = self.reproducing(rows)
        if found or not whole:
            return found
        return self.reproducing(rows, (LEFT_OUT[:1] if self._is_projection() else LEFT_OUT,))

    def _is_projection(self) -> bool:
        """Whether the target is a product with a given matrix: a column too few may be one too many in a damaged W."""
        base = self.levels[0][0]
        right = base.right if isinstance(base, n.Product) else None
        return isinstance(right, n.Name) and self.scene.formula(right.symbol) is None

    def reproducing(self, rows: tuple[int, ...], tables: tuple[Table, ...] = TABLES) -> list[Found]:
        """Mistakes that give some rows as shown: common ones, else rare ones; and of those the ones made in the step
        itself, else those made before it."""
        for table, level in product(tables, range(len(self.levels))):
            key = table[0].key, len(table), level, rows
            if key not in self._made:
                bases = self.levels[level]
                self._made[key] = {one.key: one for base in bases for one in self._made_in(base, table, rows)}
            if self._made[key]:
                return list(self._made[key].values())
        return []

    def _made_in(self, base: n.Expr, table: Table, rows: tuple[int, ...]) -> Iterator[Found]:
        places = places_in(base)
        shape = self.scene.shape(base)
        in_shape = shape is not None and fits(shape, shape_of(self.grid))
        kinds: set[type] = {n.Node, *(type(node) for node, _ in places)}
        for mistake in table:
            if (in_shape or not mistake.keeps_shape) and not kinds.isdisjoint(mistake.kinds):
                ways = variants(mistake, places, self.scene)
                way = self._swapped(list(ways), rows) if mistake.swaps else next(self._giving(ways, rows), None)
                if way is not None:
                    yield Found(mistake.key, mistake.says.format(way[1]), way[0])

    def _giving(self, ways: Iterator[tuple[n.Expr, str]], rows: tuple[int, ...]) -> Iterator[tuple[n.Expr, str]]:
        """The ways to make a mistake that give some rows as shown."""
        for expr, detail in ways:
            made = (self._value(mind, expr) for mind in self._apart(expr))
            given = next((value for value in made if value is not None and self._agrees(value, rows)), None)
            if given is not None:
                self.instead = self.instead or Value(given)
                yield expr, detail

    def _agrees(self, value: tuple[tuple[Cell, ...], ...], rows: tuple[int, ...]) -> bool:
        return all(agree(self.grid[i], value[i]) for i in rows)

    def _apart(self, expr: n.Expr) -> range:
        """The minds to ask about an expression: the first is enough where it holds what is true of each name, and no
        formula in it was printed with something false."""
        if all(map(self._covers, n.names_in(expr))) and (self._value(0, expr) is None or expr in self._sound):
            return range(1)
        return range(len(self.minds))

    def _covers(self, symbol: Symbol) -> bool:
        if symbol not in self._covered:
            (own, _), (true, _) = self.minds[0](n.Name(symbol)), self.minds[-1](n.Name(symbol))
            self._covered[symbol] = own is not None and true is not None and covers(own, true)
        return self._covered[symbol]

    def _value(self, mind: int, expr: n.Expr) -> tuple[tuple[Cell, ...], ...] | None:
        """What an expression gives in somebody's numbers, in the shape that is shown.

        Where no false claim bears on it, putting right what is false changes nothing."""
        key = (0 if expr in self._sound and mind < len(self.minds) - 1 else mind), expr
        if key not in self._rows:
            value, used = self.minds[mind](expr)
            made = fitted(value, shape_of(self.grid)) if value is not None else None
            self._rows[key] = made.rows if made is not None else None
            if mind == 0 and value is not None and not self._is_false(used):
                self._sound.add(expr)
        return self._rows[key]

    def _swapped(self, ways: list[tuple[n.Expr, str]], rows: tuple[int, ...]) -> tuple[n.Expr, str] | None:
        """Rows or columns that changed places: all pairs are of one value, which is worked out once."""
        if not ways:
            return None
        whole, axis = what_is_swapped(ways[0][0])
        if self.scene.shape(whole) != shape_of(self.grid):
            return next(self._giving(iter(ways), rows), None)
        for mind in self._apart(whole):
            made = self._value(mind, whole)
            pair = swap_shown(self.grid, made, rows, axis) if made is not None else None
            if pair is not None and pair < len(ways):
                return ways[pair]
        return None
