"""Known mistakes as rewrites of an expression: what each row of the table makes of it, at each of its places.

Rows or columns that change places are many pairs, all of one value: that is worked out once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

from qkv.check.cells import Grid
from qkv.check.compare import Shown, agree
from qkv.check.mistakes import block, patterns, rules, softmax
from qkv.check.mistakes.scene import Scene, Variants
from qkv.check.mistakes.table import SAYS, Mistake
from qkv.expr import nodes as n
from qkv.interpret.cells import Cell

LEFT_OUT = rules.LEFT_OUT  # a result that lacks a row or a column: a mistake only where all of it should be shown
ANY_OTHER = (rules.other_name, rules.root_of_other_size)  # any other quantity or size, where nothing else explains it
_RULES = {
    row.key: row
    for module in (rules, softmax, block)
    for row in vars(module).values()
    if isinstance(row, Mistake) and row not in ANY_OTHER
}
_OTHERS = {row.key for row in LEFT_OUT + ANY_OTHER} - _RULES.keys()
TABLE = tuple(_RULES.get(key) or patterns.mistake(key) for key in SAYS if key not in _OTHERS)

Place = tuple[n.Expr, Callable[[n.Expr], n.Expr]]  # a node, and the whole with something else in its stead

RARE = frozenset(row.key for row in TABLE if row.rare)
STRUCTURAL = frozenset(row.key for row in TABLE + LEFT_OUT + ANY_OTHER)

# Mistakes that are nobody's convention: without any formula they are mistakes all the same.
NO_CONVENTION = frozenset(
    {
        "softmax down the columns",
        "scaled after the softmax",
        "multiplied by the scale",
        "mask after softmax",
        "masked with 0 in place of -inf",
        "softmax over the whole matrix",
        "divided by the sum of another row",
        "one matrix for another",
        "matrix of the other head",
        "projection left out",
        "W_O left out",
    }
)


# Mistakes that are another convention, and the word for the one that rules them out where a page asks for it.
AGAINST = {
    "no scale": "scaled",
    "divided by d_k": "scaled",
    "sqrt(d_model) for sqrt(d_k)": "scaled",
    "sqrt(d_v) for sqrt(d_k)": "scaled",
    "sqrt(n) for sqrt(d_k)": "scaled",
    "mask forgotten": "causal",
    "mask the wrong way round": "causal",
}


def variants(mistake: Mistake, places: Sequence[Place], scene: Scene) -> Variants:
    """What a mistake makes of an expression: at each place where its rule applies, one at a time; what occurs several
    times (the sum in a norm of X + Z) also at all of them."""
    for (node, whole), made, detail in changes(mistake, places, scene):
        yield whole(made), detail
        if not isinstance(node, n.Name) and sum(other == node for other, _ in places) > 1:
            yield n.replaced(places[0][0], node, made), detail


def changes(mistake: Mistake, places: Sequence[Place], scene: Scene) -> Iterator[tuple[Place, n.Expr, str]]:
    """The places where a mistake may be made, with what it puts there."""
    for place in places[:1] if mistake.whole else places:
        if isinstance(place[0], mistake.kinds):
            for made, detail in mistake.change(place[0], scene):
                yield place, made, detail


def places_in(node: n.Expr) -> list[Place]:
    """Every node of an expression, but for cells of matrices, from the top down."""
    found: list[Place] = []
    _collect(node, _itself, found)
    return found


def _collect(node: n.Expr, whole: Callable[[n.Expr], n.Expr], found: list[Place]) -> None:
    found.append((node, whole))
    for name in n.part_names(node):
        value = getattr(node, name)
        if isinstance(value, n.Node):
            _collect(value, partial(_with_part, whole, node, name), found)  # type: ignore[arg-type]
        elif isinstance(value, tuple) and value and isinstance(value[0], n.Node):
            for i, part in enumerate(value):
                _collect(part, partial(_with_item, whole, node, name, i), found)


def _itself(made: n.Expr) -> n.Expr:
    return made


def _with_part(whole: Callable[[n.Expr], n.Expr], node: n.Expr, name: str, made: n.Expr) -> n.Expr:
    return whole(replace(node, **{name: made}))  # type: ignore[arg-type]


def _with_item(whole: Callable[[n.Expr], n.Expr], node: n.Expr, name: str, i: int, made: n.Expr) -> n.Expr:
    value = getattr(node, name)
    return whole(replace(node, **{name: (*value[:i], made, *value[i + 1 :])}))  # type: ignore[arg-type]


def what_is_swapped(swapped: n.Expr) -> tuple[n.Expr, int]:
    """The whole that the rows or columns of a swap are taken from; and 1 for columns."""
    assert isinstance(swapped, n.Concat)
    entry = swapped.parts[0]
    assert isinstance(entry, n.Entry)
    return entry.arg, swapped.axis


def swap_shown(grid: Grid, made: Sequence[Sequence[Cell]], rows: Sequence[int], axis: int) -> int | None:
    """Which pair of rows or columns, in the order of `rules.swapped`, has to change places for a value to be what is
    shown in some rows; None where none does. A swap leaves all others where they are."""
    shown: Sequence[Sequence[Shown]] = grid
    lines: Sequence[int] = rows
    if axis == 1:
        shown, made = list(zip(*[grid[i] for i in rows], strict=True)), list(zip(*[made[i] for i in rows], strict=True))
        lines = range(len(shown))
    off: set[int] = set()
    for i in lines:
        if not agree(shown[i], made[i]):
            off.add(i)
            if len(off) > 2:
                return None
    for k, pair in enumerate(combinations(range(len(shown)), 2)):
        if off.issubset(pair) and all(agree(shown[i], made[j]) for i, j in (pair, pair[::-1]) if i in lines):
            return k
    return None
