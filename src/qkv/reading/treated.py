"""What a page does with a name: the shapes that it prints, and formulas that divide, project or score it."""

from __future__ import annotations

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.library.roles import SCORE_LIKE, places
from qkv.library.words import spoken
from qkv.reading.definitions import Definition, Source
from qkv.reading.equation import Kind
from qkv.reading.method import speaks_of_mask
from qkv.reading.page import Page, found_once
from qkv.regex import regex

_CROSSED = regex(spoken("crossed"))
WORKED_FROM_TOKENS = frozenset({Role.Q, Role.K, Role.V, *SCORE_LIKE, Role.HEAD, Role.CONCAT})


def is_divided(page: Page, symbol: Symbol) -> bool:
    """Whether a formula divides what a name stands for by a root: E = (Q Kᵀ + Q Rᵀ) / √2; or a working all its numbers
    by one: S = [2/1.414, 3/1.414] = [1.414, 2.121]."""
    stated = (d.expr for d in page.definitions.get(symbol, ()) if d.source is Source.STATED)
    if any(isinstance(x, n.Quotient) and n.holds(x.denominator, n.Root) for x in stated):
        return True
    shown = (page.equations[d.equation] for d in page.definitions.get(symbol, ()))
    return any(_is_cell_by_cell(item.expr) for equation in shown for item in equation.of(Kind.WORKING))


def _is_cell_by_cell(expr: n.Expr) -> bool:
    """Whether every number of a matrix is divided by the same one."""
    cells = [cell for row in expr.rows for cell in row] if isinstance(expr, n.Matrix) else []
    below = {cell.denominator for cell in cells if isinstance(cell, n.Quotient)}
    return len(cells) > 1 and all(isinstance(cell, n.Quotient) for cell in cells) and len(below) == 1


def printed_shapes(page: Page, symbol: Symbol) -> list[tuple[int, int]]:
    """The shapes of all arrays that are printed for a name, given or worked out."""
    equations = (page.equations[d.equation] for d in page.definitions.get(symbol, ()))
    items = (item.expr for equation in equations for item in equation.items)
    return [expr.shape for expr in items if isinstance(expr, n.Matrix) and expr.shape != (1, 1)]


def is_matrix(page: Page, symbol: Symbol) -> bool:
    """Whether several rows and columns are printed for a name."""
    shapes = printed_shapes(page, symbol)
    return bool(shapes) and min(shapes[0]) > 1


def are_lettered(page: Page, symbol: Symbol) -> bool:
    """Whether a name is one of several that a letter each tells apart, and none is a matrix: K_A and K_B are keys."""
    alike = [s for s in page.definitions if s.base == symbol.base and len(s.labels) == 1 and not s.indices]
    letters = [s for s in alike if len(s.labels[0]) == 1]
    return (
        symbol.base.lower() in ("q", "k", "v", "x")
        and len(letters) > 1
        and not any(is_matrix(page, s) for s in letters)
    )


def are_numbers(page: Page, symbol: Symbol) -> bool:
    """Whether one number each is printed for a name with an index and for others of its family: score_0, score_1."""
    return _are_numbers(page, page.family(symbol), len(symbol.indices))


@found_once
def _are_numbers(page: Page, names: tuple[Symbol, ...], count: int) -> bool:
    family = [s for s in names if len(s.indices) == count and all(map(str.isdecimal, s.indices))]
    printed = [page.equations[d.equation].of(Kind.VALUE)[-1:] for s in family for d in page.definitions.get(s, ())]
    values = [value.expr for found in printed for value in found]
    return len(family) > 1 and len(values) > 1 and not any(n.holds(value, n.Matrix) for value in values)


def is_projected(page: Page, symbol: Symbol) -> bool:
    """Whether a formula multiplies a name by weights: Q = Y W_Q."""
    stated = (d.expr for ds in page.definitions.values() for d in ds if d.source is Source.STATED)
    products = (part for expr in stated for part in n.walk(expr) if isinstance(part, n.Product))
    return any(
        isinstance(p.left, n.Name)
        and p.left.symbol == symbol
        and isinstance(p.right, n.Name)
        and any(place.role in (Role.W_Q, Role.W_K, Role.W_V) for place in places(p.right.symbol))
        for p in products
    )


def before_weights(page: Page, given: Definition) -> bool:
    """Whether something is given before the last weights are, or before anything that attention works out."""
    weights, worked = list[int](), list[int]()
    for symbol, definitions in page.definitions.items():
        role = _usual_role(symbol)
        for each in definitions:
            if role in (Role.W_K, Role.W_V) and each.source is Source.GIVEN:
                weights.append(each.line)
            elif symbol != given.symbol and (each.source is not Source.GIVEN or role in WORKED_FROM_TOKENS):
                worked.append(each.line)
    return bool(weights) and given.line < max(*weights, min(worked, default=given.line + 1))


def is_other_sequence(page: Page, symbol: Symbol) -> bool:
    """Whether a name may be the tokens that are attended to, whatever its letter: the page speaks of cross-attention,
    and gives it two rows or more, as wide as its tokens, before anything is worked out."""
    given = page.definitions.get(symbol, ())
    if not given or not all(d.source is Source.GIVEN and isinstance(d.expr, n.Matrix) for d in given):
        return False
    if symbol.base.lower() == "x" or (_usual_role(symbol) is Role.MASK and speaks_of_mask(page.words)):
        return False
    if not _CROSSED.search(page.words) or not before_weights(page, given[0]):
        return False
    shapes = {
        role: [
            shape
            for s in page.definitions
            if _usual_role(s) is role and s != symbol
            for shape in printed_shapes(page, s)
        ]
        for role in (Role.X, Role.W_K, Role.W_V)
    }
    weights = shapes[Role.W_K] + shapes[Role.W_V]
    tall, wide = {rows for rows, _ in weights}, {columns for _, columns in weights}
    own = printed_shapes(page, symbol)
    fits = all(min(shape) > 1 and ({shape[1]} == tall or {shape[0]} == wide) for shape in own)
    return fits and bool(shapes[Role.X])


def _usual_role(symbol: Symbol) -> Role | None:
    return next((place.role for place in places(symbol)), None)


def additive(page: Page) -> frozenset[Symbol]:
    """The names that multiply a tanh: v in vᵀ tanh(W s + U h) makes scores, it is no value."""
    formulas = (d.expr for definitions in page.definitions.values() for d in definitions if d.source is Source.STATED)
    products = (
        part
        for formula in formulas
        for part in n.walk(formula)
        if isinstance(part, n.Product) and isinstance(part.right, n.Call) and part.right.function == "tanh"
    )
    sides = (product.left.arg if isinstance(product.left, n.Transpose) else product.left for product in products)
    return frozenset(side.symbol for side in sides if isinstance(side, n.Name))
