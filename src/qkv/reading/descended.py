"""What one step of gradient descent makes of names: W' is W − η ∂L/∂W, and y' is the formula of y with W' in the
place of W."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.library.words import pattern, spoken
from qkv.reading.definitions import Source
from qkv.reading.page import Page
from qkv.reading.slopes import derivative
from qkv.regex import regex

RATES = frozenset({"eta", "lr", "alpha", "learning_rate", "rate"})
_DEEPEST = 6  # formulas from a loss back to what the step changes
_NEW = regex(rf"(?:{pattern('new')})", re.IGNORECASE)
_DESCENT = regex(spoken("descent"), re.IGNORECASE)
_RATE = regex(
    rf"(?:{spoken('rate')}|η|\\eta)[^\w\d]{{0,6}}(?:\w{{1,4}}\s*=?\s*)?\$?(?P<rate>\d+[.,]\d+|\d+/\d+)", re.IGNORECASE
)


def rate(page: Page) -> n.Expr | None:
    """The learning rate of a page that speaks of a step of gradient descent: by its name, or in words."""
    if not _DESCENT.search(page.words):
        return None
    named = next((s for s in page.definitions if s.base in RATES and not s.indices), None)
    said = _RATE.search(page.words)
    if named is not None:
        return n.Name(named)
    over, _, under = said["rate"].replace(",", ".").partition("/") if said else ("", "", "")
    return n.Quotient(n.number(over), n.number(under)) if under else n.number(over) if over else None


def before(symbol: Symbol) -> Symbol | None:
    """What a name was before the step: W for W', W_new, W_neu."""
    if symbol.primes:
        return symbol._replace(primes=symbol.primes - 1)
    new = [label for label in symbol.labels if _NEW.fullmatch(label)]
    return symbol._replace(labels=tuple(x for x in symbol.labels if x not in new)) if new else None


Formulas = Callable[[Symbol], list[n.Expr]]  # what a page says that a name is


def descended(symbol: Symbol, page: Page, formulas_of: Formulas) -> Iterator[n.Expr]:
    """What a name without a formula is after the step."""
    old = before(symbol)
    stated = [d for d in page.definitions.get(symbol, ()) if d.source is not Source.GIVEN]
    if old is None or old not in page.definitions or stated:
        return
    eta = rate(page)
    if eta is None or old.base in RATES:
        return
    if formulas := formulas_of(old):
        new: dict[Symbol, n.Expr] = {}
        for other in page.definitions:
            if (was := before(other)) is not None and other != symbol:
                new[was] = n.Name(other)
        yield from (made for f in formulas if (made := _renewed(f, new, formulas_of)) != f)
    else:
        yield from (stepped(old, n.Name(slope), eta) for slope in slopes_by(old, page))


def stepped(old: Symbol, slope: n.Expr, eta: n.Expr) -> n.Expr:
    """W − η ∂L/∂W"""
    return n.Sum((n.Name(old), n.Negate(n.Product(eta, slope))))


def slopes_by(symbol: Symbol, page: Page) -> list[Symbol]:
    """The names that derivatives by a name have: as the page writes those by others, or as its loss is called."""
    written = [found.over for other in page.mentioned if (found := derivative(other)) is not None and found.over]
    joined = any(found is not None and not found.over for found in map(derivative, page.definitions))
    losses = [s.base for s in page.symbols if s.base in ("L", "ell", "loss", "J") and not s.indices and not s.primes]
    named = [symbol._replace(base=f"∂{over}/∂{symbol.base}") for over in dict.fromkeys((*written, *losses))]
    return [*named, *([symbol._replace(base=f"d{symbol.base}")] if joined else [])]


def _renewed(formula: n.Expr, new: dict[Symbol, n.Expr], formulas_of: Formulas, depth: int = 0) -> n.Expr:
    """A formula with what names are after the step, those without a name of their own by their formulas."""

    def after(symbol: Symbol) -> n.Expr | None:
        if symbol in new or depth > _DEEPEST:
            return new.get(symbol)
        stated = formulas_of(symbol)
        made = _renewed(stated[0], new, formulas_of, depth + 1) if stated else None
        return made if stated and made != stated[0] else None

    def change(node: n.Expr) -> n.Expr:
        if not isinstance(node, n.Name):
            return node
        if (made := after(node.symbol)) is not None:
            return made
        *_, last = ("", *node.symbol.indices)
        whole = after(node.symbol._replace(indices=node.symbol.indices[:-1])) if last.isdecimal() else None
        return n.Entry(whole, row=int(last)) if whole is not None else node

    return n.rewrite(formula, change)
