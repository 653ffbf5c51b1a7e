"""Which numbers under a name are given, and which are claims: what the rest of the page works out in the same shape."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from qkv.check.cells import Grid, fitted, shape_of
from qkv.check.compare import agree, meets
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.certified import Value
from qkv.library.roles import SCORE_LIKE
from qkv.reader.model import Origin
from qkv.reading.choices import Choices
from qkv.reading.definitions import Definition, Source
from qkv.reading.equation import Equation
from qkv.reading.evidence import printed_grid
from qkv.reading.indexed import LETTER, is_cell_of, put_in
from qkv.reading.method import is_supposed
from qkv.reading.nameless import INPUTS
from qkv.reading.naming import ROLE, Known
from qkv.reading.page import Page, Spot
from qkv.reading.system import System
from qkv.reading.values import Values, values_of


def formulas_above(page: Page, given: Definition) -> Iterator[n.Expr]:
    """The formulas that say above what a name is, itself or for every index, over names that have a meaning above."""
    runs = (s for s in page.running(given.symbol) if s != given.symbol and _runs(s, given.symbol))
    alike = [s for s in (given.symbol, *runs) if s in page.definitions]
    for formula in (d for symbol in alike for d in page.definitions[symbol] if d.source is Source.STATED):
        above = formula.scope == given.scope and formula.line < given.line
        names = n.names_in(formula.expr) if above else ()
        running = " ".join(formula.symbol.indices)
        known = (s.base in running or _is_known_above(page, s, given) for s in names)
        if (names or (above and n.is_literal(formula.expr))) and given.symbol not in names and all(known):
            yield formula.expr


def _runs(family: Symbol, symbol: Symbol) -> bool:
    """Whether a name with letters as indices speaks of another: p_i of p and of p_1, PE_{pos,2i} of PE_1."""
    count, more = len(symbol.indices), len(family.indices)
    if count and more in (count, count + 1) and family.labels == symbol.labels:
        return bool(put_in(family._replace(indices=family.indices[:count]), symbol))
    return not count and bool(more) and all(map(LETTER.match, family.indices))


def _is_known_above(page: Page, symbol: Symbol, given: Definition) -> bool:
    found = (d for s in page.same_letter(symbol) for d in page.definitions[s])
    return any(d.line < given.line and d.scope == given.scope and d.equation != given.equation for d in found)


DERIVED = (  # the first three may be given too
    Role.Q, Role.K, Role.V, Role.SCORES, Role.SCALED, Role.MASKED, Role.WEIGHTS, Role.HEAD, Role.CONCAT, Role.OUTPUT,
)  # fmt: skip
Scopes = frozenset[int]  # numbers of problems


def derivable(page: Page, choices: Choices) -> Iterator[int]:
    """Equations that give numbers alone to a name whose role is worked out from others."""
    system = System(page, choices)
    yield from page.retold
    for symbol, definitions in page.definitions.items():
        place = system.place(symbol)
        laid_out = symbol in page.fixed and place is not None and place.role in INPUTS
        if place is not None and place.role in DERIVED and not laid_out and not _is_part(symbol, system):
            yield from (d.equation for d in definitions if _may_be_claimed(d, page))
        for d in definitions:
            told = any(formulas_above(page, d)) or _is_worked_in_parts(page, d) or any(system.followed(symbol))
            if _may_be_claimed(d, page) and told:
                yield d.equation


def _is_worked_in_parts(page: Page, whole: Definition) -> bool:
    """Whether all parts of a name were worked out above it: ∇L = [..] below ∂L/∂z_1 = 0.6 − 1, ∂L/∂z_2 = 0.4 − 0."""
    parts = [s for s in page.same_letter(whole.symbol) if is_cell_of(s, whole.symbol)]
    found = [[d for d in page.definitions.get(s, ()) if d.line < whole.line and d.scope == whole.scope] for s in parts]
    return len(parts) > 1 and all(ds and all(d.source is not Source.GIVEN for d in ds) for ds in found)


def _may_be_claimed(definition: Definition, page: Page) -> bool:
    """Whether numbers alone define a name, and neither the assignment, nor a person, nor a supposition gives them."""
    granted = page.is_granted(page.equations[definition.equation])
    return definition.source is Source.GIVEN and not granted and not is_supposed(page, definition.equation)


def _is_part(symbol: Symbol, system: System) -> bool:
    """Whether the whole that a name would be a row of is put together from it: K = [K_cache; K_new]."""
    place = system.place(symbol)
    if place is None or place.row is None:
        return False
    wholes = (d for whole in system.holders(place.role, place.head) for d in system.page.definitions[whole])
    return any(d.source is Source.STATED and symbol in n.names_in(d.expr) for d in wholes)


def claimed_in(page: Page, choices: Choices, scopes: Scopes | None) -> Iterator[int]:
    """Of those the ones that the rest of the page gives a value of the same shape, of which some digits agree."""
    kept = set(choices.claimed)
    values = values_of(page, choices)
    givens = _givens(page, choices.claimed - choices.answered, scopes)
    for equation, definitions in groupby(givens, lambda d: d.equation):
        if not any(_is_derived(page, values, definition) for definition in definitions):
            kept.discard(equation)
            values = values_of(page, choices._replace(claimed=frozenset(kept)))
    yield from kept


def _is_derived(page: Page, values: Values, definition: Definition) -> bool:
    """Whether the rest of the page gives a value of the shape that is printed."""
    spot = Spot(definition.scope, definition.line)
    elsewhere = (e for e in _elsewhere(values.system, definition, spot) if _comes_before(values.system, e, definition))
    found = [(e, value) for e in elsewhere if (value := values.true(e, spot)) is not None]
    equation = page.equations[definition.equation]
    grid = grid_of(equation, definition)
    if grid is None:
        return False
    pieces = n.Matrix, n.Concat  # which may be only some of its rows or cells
    whole = next((v for e, v in found if not isinstance(e, pieces) or fitted(v, shape_of(grid)) is not None), None)
    made = fitted(whole, shape_of(grid)) if whole is not None else None
    if made is None:
        return False
    pairs = [pair for row, cells in zip(grid, made.rows, strict=True) for pair in zip(row, cells, strict=True)]
    agreed = sum(meets(shown, cell) for shown, cell in pairs)
    copied = _is_input(values.system, definition) and any(isinstance(e, n.Name) and v is whole for e, v in found)
    followed = next(e for e, v in found if v is whole) in values.system.followed(definition.symbol)
    pieces_first = found[0][1] is not whole
    if copied or followed or _is_given_elsewhere(page, definition, made) or pieces_first:
        return 2 * agreed > len(pairs)
    return agreed > 0 or not (
        _is_only_tokens(values.system, definition)
        or _is_no_share(values.system, definition, grid)
        or _is_only_taken(values.system, definition)
    )


def _is_input(system: System, definition: Definition) -> bool:
    """Whether a name may be given as well: keys that are the states themselves are those states, or given apart."""
    place = system.place(definition.symbol)
    return place is not None and place.role in INPUTS


def _is_given_elsewhere(page: Page, definition: Definition, value: Value) -> bool:
    """Whether a value is what the page gives the same name at another place: numbers that differ are a new version."""
    others = (d for d in page.definitions[definition.symbol] if d.source is Source.GIVEN and d.expr != definition.expr)
    grids = (grid_of(page.equations[d.equation], d) for d in others)
    same = (grid for grid in grids if grid is not None and shape_of(grid) == value.shape)
    return any(all(map(agree, grid, value.rows)) for grid in same)


def _is_only_tokens(system: System, definition: Definition) -> bool:
    """Whether a page has tokens and, by its letter alone, an output, but nothing of attention between them: in X + Z it
    may be any array, unless some of its numbers agree. What is called A and is a sum of two arrays is no weights."""
    place, named = system.place(definition.symbol), system.naming.by_place
    between = [symbol for (role, _), names in named.items() if role in SCORE_LIKE for symbol, _ in names]
    is_output = place is not None and place.role in (Role.HEAD, Role.OUTPUT)
    unlike = bool(between) and all(map(system.naming.is_otherwise, between))
    return is_output and (unlike or ("plain" in system.conventions(definition.scope) and not between))


def _is_no_share(system: System, definition: Definition, grid: Grid) -> bool:
    """Whether a name that only its letter makes attention weights holds numbers that no softmax gives: w = [1, 1]."""
    place, known = system.place(definition.symbol), system.known_by(definition.symbol)
    weights = place is not None and place.role is Role.WEIGHTS and place.column is None and known is Known.NAME
    rows = [[shown.value for shown in row if shown.value is not None] for row in grid]
    return weights and any(row and (min(row) < 0 or 2 * sum(row) > 3) for row in rows)


def _is_only_taken(system: System, definition: Definition) -> bool:
    """Whether only the softmax that is taken of a name says what it is, on a page that sets no task: without a number
    that agrees it is given."""
    place, known = system.place(definition.symbol), system.known_by(definition.symbol)
    return system.page.task is None and place is not None and place.role is Role.MASKED and known is Known.STATED


def _comes_before(system: System, expr: n.Expr, definition: Definition) -> bool:
    """Whether what a name would follow from does not stand below it: Q = [..] is no copy of states s_1 further down,
    nor is it put together from rows that only come later."""
    rows = [s for s in n.names_in(expr) if s != definition.symbol and s in system.page.same_letter(definition.symbol)]
    told = [d.line for s in rows for d in system.page.definitions[s] if d.scope == definition.scope]
    if told and min(told) > definition.line:
        return False
    for role in (Role(s.labels[0]) for s in n.names_in(expr) if s.base == ROLE):
        names = [*system.holders(role), *(symbol for symbol, _ in system.members(role))]
        lines = [d.line for name in names for d in system.page.definitions[name] if d.scope == definition.scope]
        if role in (Role.SOURCE, Role.STATES) and lines and min(lines) > definition.line:
            return False
    return True


def _elsewhere(system: System, definition: Definition, spot: Spot) -> Iterator[n.Expr]:
    stated = (d for d in system.page.definitions[definition.symbol] if d.source is Source.STATED)
    here = system.page.equations[definition.equation]
    if here.origin is not Origin.CODE:  # code gives a name another value
        yield from (d.expr for d in stated if d.scope == here.scope and d.equation != here.index)
    yield from system.schema(definition.symbol, spot)
    yield from system.structure(definition.symbol, spot)
    yield from system.followed(definition.symbol)
    yield from system.library(definition.symbol, spot)


def _givens(page: Page, wanted: frozenset[int], scopes: Scopes | None) -> list[Definition]:
    """Definitions by numbers alone (in some problems), in the order in which attention works them out."""
    found = [d for ds in page.definitions.values() for d in ds if d.source is Source.GIVEN and d.equation in wanted]
    return sorted((d for d in found if scopes is None or d.scope in scopes), key=lambda d: d.equation)


def grid_of(equation: Equation, definition: Definition) -> Grid | None:
    """The numbers with which an equation defines a name."""
    item = next((item for item in equation.items if item.expr is definition.expr), None)
    return printed_grid(item) if item is not None else None
