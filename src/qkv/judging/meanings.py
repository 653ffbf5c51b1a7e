"""What a printed value may be meant to be, the page's own word first."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import partial

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.tables import sinusoids
from qkv.judging.beside import from_beside
from qkv.judging.fit import How, Meaning
from qkv.judging.given import is_cell_of_given
from qkv.judging.phrases import lined, phrased
from qkv.judging.steps import runs_on
from qkv.library.around_said import PLACES_ASKED
from qkv.library.defined import is_activation
from qkv.library.roles import roles_in_words
from qkv.library.words import means
from qkv.reader.model import Relation
from qkv.reading.activations import USUAL
from qkv.reading.asked import asked_parts, formula
from qkv.reading.definitions import Source
from qkv.reading.equation import Equation, Item, Kind, is_printed
from qkv.reading.lettered import PROJECTED
from qkv.reading.method import says_causal
from qkv.reading.naming import SIZED, role_symbol
from qkv.reading.page import Spot
from qkv.reading.system import CONSTANTS, FAMILY, System
from qkv.reading.within import line_called
from qkv.regex import regex

ROLES_IN_ORDER = (
    Role.Q, Role.K, Role.V, Role.SCORES, Role.SCALED, Role.MASKED, Role.WEIGHTS, Role.HEAD, Role.CONCAT, Role.OUTPUT,
)  # fmt: skip

UNMASKED_ROLES = frozenset({Role.SCORES, Role.SCALED})
STATED_ROLES = UNMASKED_ROLES | {Role.WEIGHTS, Role.HEAD, Role.OUTPUT}
_ROOTS = frozenset({n.Quotient, n.Root})
WIDEST = 64  # columns of sines and cosines
UNMASKED = 4.0  # bits: a page about masks may show the weights without one first


def meanings(
    equation: Equation, item: Item, system: System, spot: Spot, printed: Collection[n.Expr] = ()
) -> Iterator[Meaning]:
    """Every meaning that the page or the library gives a printed value, the strongest first; `printed` are the formulas
    that a value was printed for."""
    at = equation.items.index(item)
    apart = max((k for k, other in enumerate(equation.items[:at]) if _is_apart(equation.items, k)), default=0)
    for k, other in enumerate(equation.items):
        if other.struck or k == at:
            continue
        if other.kind is Kind.FORMULA:
            anew = any(s in equation.names for s in n.names_in(other.expr))  # V_1 = a V_1 + b V_2
            called = k == 0 and len(equation.items) > 2 and is_cell_of_given(other.expr, system)
            only = (
                k > 0 or len(equation.of(Kind.FORMULA)) == 1
            )  # of what has a formula beside it, only the name is told
            plain, stated = not anew and not called and not _is_list_of_two(other), False
            for cost, expr in enumerate(dict.fromkeys(_readings(other, system, spot))):
                known = _is_sure(_unprinted(expr, printed, system), system, spot)
                stated |= known
                yield Meaning(How.STATED, expr, spot, 2.0 * cost, plain and known, side=k)
                if plain and not known and _is_named(expr, system):
                    yield Meaning(How.NAMED, expr, spot, 2.0 * cost, sure=only, side=k)
            for role in system.roles(other.expr)[:1]:  # q·k says the scores, whatever q and k are called
                for head in (None, *system.heads):
                    sure = plain and not stated and not system.heads and not _is_mixed(other.expr, system)
                    yield Meaning(How.NAMED, n.Name(role_symbol(role, head)), spot, sure=sure)
        elif k < at and (other.kind is Kind.WORKING or _is_exact(other)):
            sure = not _is_list_of_two(other) and k >= apart
            sure = sure and item.relation is not Relation.ARROW  # an arrow may say 'next'
            yield Meaning(How.WORKING, other.expr, spot, sure=sure, names=False)
            if _is_list_of_two(other) and isinstance(other.expr, n.Product):
                yield Meaning(How.WORKING, other.expr.right, spot, 2.0, sure=False, names=False)
    if not equation.of(Kind.FORMULA):
        yield from _captions(equation, system, spot)
    yield from from_beside(equation, system, spot)
    mixed = any(_is_mixed(other.expr, system) for other in equation.of(Kind.FORMULA))
    for symbol in equation.names:
        found = named(symbol, equation, system, spot)
        yield from (m._replace(sure=m.sure and not mixed) for m in found)
    if not equation.names and not equation.of(Kind.FORMULA):
        yield from _worded(equation, item, system, spot)
        yield from lined(equation, system, spot)
        yield from phrased(equation, system, spot)
        yield from _triangular(item, system, spot)
        yield from _waves(equation, item, system, spot)
        yield from _hidden(item, system, spot)


def _is_exact(item: Item) -> bool:
    """Whether a printed matrix has fractions or roots, and decimals follow: [1/4, 3/4] = [0.25, 0.75]."""
    return item.kind is Kind.VALUE and isinstance(item.expr, n.Matrix) and not _ROOTS.isdisjoint(n.kinds_in(item.expr))


def _waves(equation: Equation, item: Item, system: System, spot: Spot) -> Iterator[Meaning]:
    """Sines and cosines of positions, where a page speaks of such: of the position in the label, or from 0 or 1 on."""
    array = item.expr if isinstance(item.expr, n.Matrix) and not item.expr.is_ragged else None
    if array is None or not 1 < array.shape[1] <= WIDEST or not PLACES_ASKED.search(system.page.words):
        return
    firsts = (0, 1) if array.shape[0] > 1 else map(int, re.findall(r"(?<!\d)\d{1,3}(?!\d)", equation.label))
    for first in firsts:
        yield Meaning(How.WORDED, sinusoids(*array.shape, n.number(10000), first), spot, sure=False)


def _is_apart(items: tuple[Item, ...], k: int) -> bool:
    """Whether a side is equal to what follows it only: it lists two statements, or its author goes on calculating from
    the side before, 'e^0.5 = 1.649 × 3 = 4.947'."""
    return _is_list_of_two(items[k]) or (k > 0 and runs_on(items[k - 1].expr, items[k].expr))


def _is_list_of_two(item: Item) -> bool:
    """Whether a dot may part two statements: 'e^0.7 ≈ 2.03 · e^0 = 1'."""
    product = item.expr if isinstance(item.expr, n.Product) else None
    if product is None or item.relation is Relation.FIRST or not is_printed(product.left) or is_printed(product.right):
        return False
    return isinstance(product.left, n.Number) or bool(n.names_in(product.right))


def _readings(item: Item, system: System, spot: Spot) -> Iterator[n.Expr]:
    """A formula as it is read first, as it may be read too, and with its vectors turned: qᵀk of printed lists."""
    turned = n.rewrite(item.expr, lambda node: _turned(node, system))
    if turned != item.expr:
        yield turned
    yield item.expr
    yield from item.options
    if _is_list_of_two(item) and isinstance(item.expr, n.Product):
        yield item.expr.right
    if n.holds(item.expr, n.Softmax) and "columns" in system.conventions(spot.scope):  # written for rows all the same
        yield n.rewrite(item.expr, lambda x: replace(x, axis=1, by_rows=True) if isinstance(x, n.Softmax) else x)
    activated = (n.rewrite(item.expr, partial(_activated, key, system)) for key in USUAL)
    yield from (other for other in (n.rewrite(item.expr, _with_tanh), *activated) if other != item.expr)
    plain = n.rewrite(
        item.expr, lambda node: node.arg if isinstance(node, n.Transpose) and _is_list(node.arg, system) else node
    )
    if plain != item.expr:
        yield plain


def _with_tanh(node: n.Expr) -> n.Expr:
    """GELU may be its approximation by tanh, which a page need not say."""
    return replace(node, function="gelutanh") if isinstance(node, n.Call) and node.function == "gelu" else node


def _activated(key: str, system: System, node: n.Expr) -> n.Expr:
    """The σ of a page that does not say what it is may be any activation."""
    if not isinstance(node, n.Call) or node.function in system.functions or not is_activation(node.function):
        return node
    return replace(node, function=key)


def _turned(node: n.Expr, system: System) -> n.Expr:
    """q·k of several queries and keys is q kᵀ; a bias printed as a column is added to every row."""
    if isinstance(node, n.Product) and _has_rows(node.left, system) and _has_rows(node.right, system, Role.K):
        return replace(node, right=n.Transpose(node.right))
    if isinstance(node, n.Sum):
        return replace(node, terms=tuple(n.Transpose(t) if _is_column(t, system) else t for t in node.terms))
    return node


def _has_rows(expr: n.Expr, system: System, role: Role | None = None) -> bool:
    """Whether a small letter, which means a vector, stands for several of them: the column 'q' of a table."""
    if not isinstance(expr, n.Name) or not expr.symbol.base[:1].islower() or expr.symbol.indices:
        return False
    place = system.place(expr.symbol)
    if role is not None and (place is None or place.role is not role):
        return False
    found = [d.expr for d in system.page.definitions.get(expr.symbol, ())]
    return bool(found) and all(isinstance(x, n.Matrix) and min(x.shape) > 1 for x in found)


def _is_column(expr: n.Expr, system: System) -> bool:
    found = [d.expr for d in system.page.definitions.get(expr.symbol, ())] if isinstance(expr, n.Name) else []
    return bool(found) and all(isinstance(x, n.Matrix) and x.shape[1] == 1 < x.shape[0] for x in found)


def _is_list(expr: n.Expr, system: System) -> bool:
    """Whether a name stands for numbers in a list, which does not say whether it is a row or a column, or for a line of
    a table of them."""
    found = system.page.definitions.get(expr.symbol, ()) if isinstance(expr, n.Name) else ()
    place = system.place(expr.symbol) if isinstance(expr, n.Name) and not found else None
    if place is not None:
        return place.row is not None and place.column is None
    return any(isinstance(d.expr, n.Matrix) and len(d.expr.rows) == 1 for d in found)


def _unprinted(expr: n.Expr, printed: Collection[n.Expr], system: System) -> n.Expr:
    """An expression without the parts that a value was printed for: softmax(S + M) needs no M after S + M = […]. Of
    another sum nobody knows what is added: the S of S + B may be a scaled one."""

    def is_told(part: n.Expr) -> bool:
        masked = any(_is_mask(symbol, system) for symbol in n.names_in(part))
        return part in printed and part != expr and (masked or not isinstance(part, n.Sum))

    return n.rewrite(expr, lambda part: n.number(0) if is_told(part) else part) if printed else expr


def _is_sure(expr: n.Expr, system: System, spot: Spot) -> bool:
    names = n.names_in(expr)
    whole = not any(symbol.indices for symbol in names)  # of q_2 K^T + M, only a row of the mask is meant
    return all(_is_known(s, system, spot) or (whole and _is_causal_mask(s, system, spot)) for s in names)


def _is_mixed(expr: n.Expr, system: System) -> bool:
    """Whether something is added that the page does not define to something that it does: S + B, and nobody knows S."""
    sums = [part for part in n.walk(expr) if isinstance(part, n.Sum) and all(isinstance(x, n.Name) for x in part.terms)]
    return any(len({symbol in system.page.definitions for symbol in n.names_in(part)}) == 2 for part in sums)


def _is_mask(symbol: Symbol, system: System) -> bool:
    place = system.place(symbol)
    return place is not None and place.role is Role.MASK


def _is_causal_mask(symbol: Symbol, system: System, spot: Spot) -> bool:
    """Whether a name is the mask of a problem that is causal: then everybody knows its cells."""
    return _is_mask(symbol, system) and {"causal", "rows"} <= system.conventions(spot.scope)


def _is_named(expr: n.Expr, system: System) -> bool:
    """Whether a formula is one name, or a part of one, of which the library says what it is: 'weights[1]'."""
    while isinstance(expr, (n.Entry, n.Transpose)):
        expr = expr.arg
    return isinstance(expr, n.Name) and system.place(expr.symbol) is not None


def _is_known(symbol: Symbol, system: System, spot: Spot) -> bool:
    """Whether the page itself says what a name is: d_k is as large as what it prints, q_1 is a row of its Q."""
    above = [d for d in system.page.definitions.get(symbol, ()) if d.scope == spot.scope and d.line <= spot.line]
    if above and isinstance(above[-1].expr, n.Name) and system.place(above[-1].expr.symbol) is not None:
        other = above[-1].expr.symbol  # K = H, and nothing says what H is
        return other in system.page.definitions or _is_laid_out(other, system, spot)
    return (
        symbol in system.page.definitions
        or (symbol in CONSTANTS and not system.page.family(symbol))
        or _is_size(symbol, system)
        or _is_labelled(symbol, system, spot)
        or _is_projected(symbol, system)
        or any(line_called(system.page, symbol, spot))
        or _is_laid_out(symbol, system, spot)
    )


def _is_laid_out(symbol: Symbol, system: System, spot: Spot) -> bool:
    """Whether a name is a part of what the page defines, or put together from it."""
    if _is_mask(symbol, system):
        return False
    rows = [s for s in system.page.family(symbol) if s.indices != symbol.indices and s in system.page.definitions]
    if len(rows) > 1 and all(len(s.indices) == 1 and s.indices[0].isdecimal() for s in rows):
        return True  # all of maple_1, maple_2, maple_3
    wholes = system.structure(symbol, spot)
    return any(all(s in system.page.definitions for s in n.names_in(e)) for e in wholes)


def _is_labelled(symbol: Symbol, system: System, spot: Spot) -> bool:
    """Whether a name is a row with a label of an array that the page gives: k_cat beside the row 'cat' of the keys."""
    place = system.place(symbol)
    labels = [label.lower() for label in system.page.tokens.get(spot.scope, ())]
    given = place is not None and (place.role in dict(system.choices.arrays).values() or system.holders(place.role))
    return place is not None and bool(given) and place.row is not None and place.row.lower() in labels


def _is_projected(symbol: Symbol, system: System) -> bool:
    """Whether a name is that of queries, keys or values, and the page gives the tokens and weights behind them."""
    place = system.place(symbol)
    weights = PROJECTED.get(place.role) if place is not None else None
    tokens = system.holders(Role.X) or system.members(Role.X)
    return weights is not None and place is not None and bool(system.holders(weights, place.head) and tokens)


def _is_size(symbol: Symbol, system: System) -> bool:
    """Whether a name is d_k or its like, which the page's matrices tell; another letter for it has to be said."""
    place = system.place(symbol)
    return place is not None and place.role in SIZED and symbol.base[:1].lower() == "d"


def named(symbol: Symbol, equation: Equation, system: System, spot: Spot) -> Iterator[Meaning]:
    """What the page says elsewhere of a name, and what the library says of it."""
    for definition in system.page.definitions.get(symbol, ()):
        if definition.equation == equation.index or definition.scope > spot.scope:
            continue
        if definition.source is Source.STATED:
            here = definition.scope == spot.scope
            sure = here and definition.line <= spot.line  # what is said elsewhere or below excuses, and accuses not
            sure = sure and _is_sure(definition.expr, system, spot)
            yield Meaning(How.DEFINED, definition.expr, spot, 0.0 if here else 2.0, sure)
    for expr in system.schema(symbol, spot):
        yield Meaning(How.DEFINED, expr, spot)
    for expr in system.structure(symbol, spot):
        stated = isinstance(expr, n.Call) and expr.function == FAMILY  # p of p_i = …
        yield Meaning(How.DEFINED if stated else How.NAMED, expr, spot)
    for expr in system.followed(symbol):
        yield Meaning(How.DEFINED, expr, spot)
    usual = How.DEFINED if _is_asked(symbol, system, spot) else How.NAMED
    for expr in system.library(symbol, spot):
        yield Meaning(usual, expr, spot)


def _is_asked(symbol: Symbol, system: System, spot: Spot) -> bool:
    """Whether a question states how what a name stands for is worked out: 'compute softmax(Q Kᵀ) V' says what scores,
    weights and output are. Words say what is masked, so that nothing after a mask is stated."""
    place = system.place(symbol)
    masked = not {"causal", "patterned"}.isdisjoint(system.conventions(spot.scope))
    if place is None or place.role not in (UNMASKED_ROLES if masked else STATED_ROLES):
        return False
    return any(place.role in system.roles(part) for part in asked_parts(system.page, spot.scope))


def _worded(equation: Equation, item: Item, system: System, spot: Spot) -> Iterator[Meaning]:
    """What the words before a bare value say that it is; positions are no step of attention, whatever stands above.
    That weights are shown without a mask excuses them: where there may be one, it accuses nobody."""
    if means(equation.label.lower(), "positions"):
        return
    causal = "causal" in system.choices.conventions[spot.scope]
    laid_out = system.page.suggested.get(equation.index, ()) if equation.rows and equation.columns else ()
    said = roles_in_words(equation.words[-90:])[:3] or (laid_out if len(laid_out) == 1 else ())  # q1, q2 by k1, k2
    for rank, role in enumerate(said):
        if role in ROLES_IN_ORDER:
            for head in (None, *system.heads):
                seen = role is Role.WEIGHTS and not causal and _begins_alone(item)
                yield Meaning(How.WORDED, n.Name(role_symbol(role, head)), spot, 2.0 * rank, sure=not seen)
                if role is Role.WEIGHTS and causal:
                    scaled = "scaled" in system.conventions(spot.scope)
                    scores = n.Name(role_symbol(Role.SCALED if scaled else Role.SCORES, head))
                    yield Meaning(How.WORDED, n.Softmax(scores), spot, 2.0 * rank + UNMASKED, sure=False)


def _begins_alone(item: Item) -> bool:
    """Whether the first row of a matrix is 1, 0, …, 0: what a causal mask leaves of weights."""
    rows = item.expr.rows if isinstance(item.expr, n.Matrix) and len(item.expr.rows) > 1 else ((),)
    numbers = [x.value for x in rows[0] if isinstance(x, n.Number)]
    return len(numbers) == len(rows[0]) > 1 and numbers == [1, *(0 for _ in numbers[1:])]


def _triangular(item: Item, system: System, spot: Spot) -> Iterator[Meaning]:
    """Shares with nothing above the diagonal are weights under a causal mask; sure where words speak of one."""
    rows = item.expr.rows if isinstance(item.expr, n.Matrix) and not item.expr.is_ragged else ()
    cells = {(i, j): x for i, row in enumerate(rows) for j, x in enumerate(row)}
    numbers = {at: x.value for at, x in cells.items() if isinstance(x, n.Number)}
    square = 1 < len(rows) == len(rows[0]) and len(numbers) == len(cells)
    if not square or any((numbers[i, j] == 0) != (j > i) or not 0 <= numbers[i, j] <= 1 for i, j in numbers):
        return
    for role in (Role.SCORES, Role.SCALED):
        for head in (None, *system.heads_in(spot.scope)):
            expr = n.Softmax(n.Mask(n.Name(role_symbol(role, head))))
            yield Meaning(How.WORDED, expr, spot, sure=says_causal(system.page.words))


def _hidden(item: Item, system: System, spot: Spot) -> Iterator[Meaning]:
    """Numbers among infinities are masked scores, whatever stands above them."""
    rows = item.expr.rows if isinstance(item.expr, n.Matrix) and not item.expr.is_ragged else ()
    kinds = {type(cell) for row in rows for cell in row}
    if len(rows) > 1 and kinds == {n.Number, n.Infinite}:
        for head in (None, *system.heads_in(spot.scope)):
            yield Meaning(How.WORDED, n.Name(role_symbol(Role.MASKED, head)), spot)


_MATHS = regex(r"\$([^$]{2,80})\$|`([^`]{2,60})`|\(([^()]*(?:\([^()]*\)[^()]*)*)\)")


def _captions(equation: Equation, system: System, spot: Spot) -> Iterator[Meaning]:
    """A formula in the words before a value: 'Scores (Q × Kᵀ):'."""
    words = equation.words[-160:]
    told = formula(equation.label.strip(" $`*:"), system.page) if equation.label else None
    if told is not None:  # '$QK^T$: [..]'
        yield Meaning(How.CAPTION, told, spot, sure=_is_sure(told, system, spot))
    for found in reversed(list(_MATHS.finditer(words))):
        expr = formula(next(filter(None, found.groups()), ""), system.page)
        if expr is not None:
            right_before = not re.search(r"\w", words[found.end() :].removesuffix(equation.label))
            how = How.CAPTION if right_before else How.WORDED
            yield Meaning(how, expr, spot, sure=right_before and _is_sure(expr, system, spot))
