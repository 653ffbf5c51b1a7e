"""Derivatives that a page names and states no formula for: ∂L/∂x, from the formulas that lead from x to L.

The way back begins at L itself, a number, or at every y whose ∂L/∂y the page has: what it says of that comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.backward import Backward, Share, added
from qkv.interpret.fit import Shape

SLOPE = "slope"  # a call that needs values, see preparation.py
MOST = 120  # names that lead to a loss

Formula = Callable[[Symbol], n.Expr | None]  # by which a name is worked out; None for what is given
Sizes = Callable[[Symbol], Shape | None]


class Derivative(NamedTuple):
    """∂L/∂W_U as its two names; `over` is empty for dW_U, which does not say of what."""

    over: str
    under: Symbol


def derivative(symbol: Symbol) -> Derivative | None:
    """A name as a derivative, if its letters say so.

    >>> derivative(Symbol("∂L/∂W", ("U",))), derivative(Symbol("dW", ("U",)))[1].base
    (Derivative(over='L', under=Symbol(base='W', labels=('U',), indices=(), primes=0)), 'W')
    """
    over, slash, under = symbol.base.partition("/")
    if slash and over[:1] == under[:1] == "∂":
        return Derivative(over[1:], symbol._replace(base=under[1:]))
    if len(symbol.base) > 1 and symbol.base[0] == "d" and not slash:
        return Derivative("", symbol._replace(base=symbol.base[1:]))
    return None


def slope(symbol: Symbol, named: tuple[Symbol, ...], formula: Formula, size: Sizes) -> n.Expr | None:
    """A derivative by the formulas of a page; `named` are all names that it defines."""
    asked = derivative(symbol)
    if asked is None:
        return None
    pairs = [(found.under, other) for other in named if (found := derivative(other)) is not None and other != symbol
             and found.over == asked.over]  # fmt: skip
    known = {under: other for under, other in pairs if under in named or formula(under) is not None}
    whole = Symbol(asked.over) if asked.over else None
    tops = [*([whole] if whole is not None and size(whole) == (1, 1) else []), *known]
    uses = _uses(tops, formula)
    between = _leading(asked.under, uses)
    tops = [top for top in tops if top in between and top != asked.under]
    if not tops:
        return None
    try:
        return _accumulated(asked.under, tops, known, uses, between, formula, size)
    except QkvError:
        return None


def _uses(tops: list[Symbol], formula: Formula) -> dict[Symbol, tuple[Symbol, ...]]:
    """The names in the formula of each name that leads to one of some."""
    uses: dict[Symbol, tuple[Symbol, ...]] = {}
    open_ = list(tops)
    while open_ and len(uses) < MOST:
        symbol = open_.pop()
        if symbol not in uses:
            expr = formula(symbol)
            uses[symbol] = tuple(n.names_in(expr)) if expr is not None else ()
            open_ += uses[symbol]
    return uses


def _leading(start: Symbol, uses: dict[Symbol, tuple[Symbol, ...]]) -> set[Symbol]:
    """Everything that a name leads to, and itself."""
    found = {start}
    while more := {symbol for symbol, names in uses.items() if symbol not in found and found.intersection(names)}:
        found |= more
    return found


def _accumulated(
    under: Symbol, tops: list[Symbol], known: dict[Symbol, Symbol], uses: dict[Symbol, tuple[Symbol, ...]],
    between: set[Symbol], formula: Formula, size: Sizes,
) -> n.Expr | None:  # fmt: skip
    """What comes back to a name, from all that it leads to."""
    sizes = {symbol: size(symbol) for names in uses.values() for symbol in names} | {s: size(s) for s in uses}
    shapes = {symbol: shape for symbol, shape in sizes.items() if shape is not None}
    shapes |= {slope: shape for of, slope in known.items() if (shape := size(slope)) is not None}
    found: dict[Symbol, list[Share]] = {}
    for symbol in _in_order(tops, uses):
        expr = formula(symbol) if symbol in between and symbol != under else None
        if expr is None or symbol not in shapes:
            continue
        g: n.Expr
        if symbol in known:
            g = n.Name(known[symbol])
            if shapes.get(known[symbol]) != shapes[symbol]:
                if shapes.get(known[symbol]) != shapes[symbol][::-1]:
                    continue
                g = n.Transpose(g)
        elif symbol in found:
            g = added(found[symbol], shapes[symbol][1])
        elif symbol in tops:
            g = n.number(1)
        else:
            continue
        made: dict[Symbol, list[Share]] = {}
        Backward(shapes, made).through(expr, g, n.Name(symbol))
        for name, shares in made.items():
            found.setdefault(name, []).extend(shares if name in between else [])
    return added(found[under], shapes[under][1]) if found.get(under) and under in shapes else None


def _in_order(tops: list[Symbol], uses: dict[Symbol, tuple[Symbol, ...]]) -> list[Symbol]:
    """The names so that each stands before those in its formula."""
    seen: set[Symbol] = set()
    ordered: list[Symbol] = []

    def visit(symbol: Symbol) -> Iterator[Symbol]:
        seen.add(symbol)
        for name in uses.get(symbol, ()):
            if name not in seen:
                yield from visit(name)
        yield symbol

    for top in tops:
        if top not in seen:
            ordered += visit(top)
    return ordered[::-1]
