"""Formulas without numbers: V = X W_V is right where it is what the library says of V, in values or letter by letter.

A formula that says something else is left open: it may define what it likes.
"""

from __future__ import annotations

from collections.abc import Iterator

from qkv.check.cells import fitted
from qkv.check.model import Claim, Verdict
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.expr.show import plain
from qkv.interpret.certified import Value, same
from qkv.library.attention import role_in, rows_for
from qkv.library.roles import places
from qkv.reader.model import Origin
from qkv.reading.definitions import Source
from qkv.reading.equation import Equation, Item, Kind
from qkv.reading.indexed import at_indices
from qkv.reading.page import Page, Spot
from qkv.reading.system import System
from qkv.reading.unify import beside
from qkv.reading.values import Values

SILENT = frozenset({Role.X, Role.Y, Role.STATES, Role.SOURCE, Role.MASK, Role.OTHER})  # the library gives no formula


def judge_definitions(page: Page, system: System, values: Values, first: int) -> Iterator[Claim]:
    """The formulas of a page that are right, numbered from `first`."""
    number = first
    for equation in page.own:
        spot = Spot(equation.scope, equation.line)
        for item in _general(equation):
            for symbol in equation.names:
                if _agrees(symbol, item.expr, system, values, spot) or _is_usual(symbol, item.expr, system, spot):
                    text = f"{symbol} = {item.text}"
                    yield Claim(
                        number,
                        item.line,
                        item.line,
                        str(symbol),
                        plain(item.expr),
                        text,
                        Verdict.RIGHT,
                        column=item.column,
                    )
                    number += 1
                    break


def _general(equation: Equation) -> Iterator[Item]:
    """The formulas of an equation that stand on lines without numbers."""
    shown = {item.line for item in equation.of(Kind.VALUE, Kind.WORKING)}
    if equation.struck or equation.origin is Origin.CODE:
        return
    for item in equation.of(Kind.FORMULA):
        if item.line not in shown and not item.struck:
            yield item


# — in values —


def _agrees(symbol: Symbol, formula: n.Expr, system: System, values: Values, spot: Spot) -> bool:
    """Whether a formula comes to what the library gives for the name, in every instance that the page has."""
    instances = list(_instances(symbol, formula, system))
    return bool(instances) and all(_comes_to(s, expr, system, values, spot) for s, expr in instances)


def _instances(symbol: Symbol, formula: n.Expr, system: System) -> Iterator[tuple[Symbol, n.Expr]]:
    """q_i = W x_i as q_1 = W x_1, q_2 = W x_2, …"""
    letters = [index for index in symbol.indices if index.isalpha()]
    if not letters:
        yield symbol, formula
        return
    for other in system.page.symbols:
        alike = other.family == symbol.family and len(other.indices) == len(symbol.indices)
        if alike and all(i.isdecimal() for i in other.indices):
            put = {a: b for a, b in zip(symbol.indices, other.indices, strict=True) if a in letters}
            yield other, at_indices(formula, put)


def _comes_to(symbol: Symbol, formula: n.Expr, system: System, values: Values, spot: Spot) -> bool:
    place = system.place(symbol)
    made = values.true(formula, spot) if place is not None and place.role not in SILENT else None
    return made is not None and any(
        usual is not None and _same(made, usual)
        for expr in system.library(symbol, spot)
        if expr != formula and (usual := values.true(expr, spot)) is not None
    )


def _same(a: Value, b: Value) -> bool:
    turned = fitted(b, a.shape)
    return turned is not None and same(a, turned)


# — letter by letter —


def _is_usual(symbol: Symbol, formula: n.Expr, system: System, spot: Spot) -> bool:
    """Whether a formula is an equation of the library, or several put into each other, in the page's own names."""
    place = system.place(symbol)
    if place is None or place.row is not None or place.role in SILENT:
        return False
    heads = {p.head for name in n.names_in(formula) if (p := system.place(name)) and p.head}
    conventions = system.conventions(spot.scope) | {"scaled"}
    for role, without in ((Role.SCALED, "unscaled"), (Role.MASKED, "open")):  # a step without a name may be left out
        if not system.holders(role, place.head):
            conventions |= {without}

    def fits(pattern: n.Expr, expr: n.Expr) -> bool:
        role = role_in(pattern.symbol) if isinstance(pattern, n.Name) else None
        if role is not None:
            return is_(role, expr)
        parts = beside(pattern, expr)
        return parts is not None and all(fits(a, b) for a, b in parts)

    def is_(role: Role, expr: n.Expr) -> bool:
        if isinstance(expr, n.Name):
            meant = system.place(expr.symbol)
            if meant is None:  # the d of √d, where nothing else is said of it
                return role is Role.D_K and expr.symbol == Symbol("d") and expr.symbol not in system.page.definitions
            letters = {usual.role for usual in places(expr.symbol)}  # K Qᵀ would make K a query
            said = not letters or role in letters or _is_stated(expr.symbol, role, system)
            return meant.role is role and meant.row is None and said
        return any(not isinstance(row.expr, n.Name) and fits(row.expr, expr) for row in rows_for(role, conventions))

    meant = (place.role, *(usual.role for usual in places(symbol)))  # E may be the scores and what the softmax is of
    return heads <= {place.head} and any(is_(role, formula) for role in meant if role not in SILENT)


def _is_stated(symbol: Symbol, role: Role, system: System) -> bool:
    """Whether a formula of the page makes a name what it is taken for: B = X W_k holds keys."""
    stated = (d.expr for d in system.page.definitions.get(symbol, ()) if d.source is Source.STATED)
    return any(role in system.naming.roles(formula) for formula in stated)
