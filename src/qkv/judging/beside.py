"""What stands beside a printed value and says what it is: a working alone on the line above it, the share that another
one of its family is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import product

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.judging.fit import How, Meaning
from qkv.library.words import means
from qkv.reading.equation import Equation, Kind
from qkv.reading.page import Page, Spot
from qkv.reading.system import System
from qkv.regex import regex

FAR = 4  # lines between a working and the numbers below it
_WORD = regex(r"[^\W\d]{3,}")


def from_beside(equation: Equation, system: System, spot: Spot) -> Iterator[Meaning]:
    """What a value without a formula of its own is, by what stands beside it."""
    if equation.of(Kind.FORMULA, Kind.WORKING):
        return
    for symbol in equation.names:
        if (share := share_of(symbol, equation, system.page)) is not None:
            yield Meaning(How.DEFINED, share, spot, names=False)
    if not equation.names:
        yield from _worked_above(equation, system.page, spot)


def share_of(symbol: Symbol, equation: Equation, page: Page) -> n.Expr | None:
    """The share that a name is, where another one of its family is worked out as one above it: after
    α_1 = a/(a + b + c) comes α_2, which is b/(a + b + c)."""
    place = _number(symbol)
    for other, at, terms, found in reversed(_shares(page).get(_family(symbol), ())) if place is not None else ():
        which = found + place - at if place is not None and place != at else -1
        if other.index < equation.index and other.scope == equation.scope and 0 <= which < len(terms):
            return n.Quotient(terms[which], n.Sum(terms))
    return None


def written_out(symbol: Symbol, equation: Equation, page: Page) -> n.Expr | None:
    """The same where the share is one of exponentials that are written out, here or above: a weight of a softmax."""
    place = _number(symbol)
    for other, at, terms, found in _shares(page).get(_family(symbol), ()) if place is not None else ():
        which = found + place - at if place is not None else -1
        above = other.scope == equation.scope and other.index <= equation.index
        if above and 0 <= which < len(terms) and all(isinstance(term, n.Exp) for term in terms):
            return n.Quotient(terms[which], n.Sum(terms))
    return None


_Shares = dict[Symbol, list[tuple[Equation, int, tuple[n.Expr, ...], int]]]


def _shares(page: Page) -> _Shares:
    """The names that are worked out as shares, by their family: where, their numbers, the terms, which one is divided;
    found once for a page."""
    kept: dict[str, _Shares] = page.__dict__
    if "_shares" not in kept:
        kept["_shares"] = defaultdict(list)
        for equation in page.equations:
            shares = [_share(item.expr) for item in equation.items if not equation.struck]
            for symbol, (terms, found) in product(equation.names, (share for share in shares if share[0])):
                if (at := _number(symbol)) is not None:
                    kept["_shares"][_family(symbol)].append((equation, at, terms, found))
    return kept["_shares"]


def _number(symbol: Symbol) -> int | None:
    last = symbol.indices[-1] if symbol.indices else ""
    return int(last) if last.isdecimal() else None


def _family(symbol: Symbol) -> Symbol:
    """What names that differ in their last index have in common."""
    return symbol._replace(indices=(*symbol.indices[:-1], ""))


def _share(expr: n.Expr) -> tuple[tuple[n.Expr, ...], int]:
    """The terms of a sum of numbers, and which one of them is divided by it; none where that is not clear."""
    terms = expr.denominator.terms if isinstance(expr, n.Quotient) and isinstance(expr.denominator, n.Sum) else ()
    if not isinstance(expr, n.Quotient) or terms.count(expr.numerator) != 1 or not n.is_literal(expr):
        return (), 0
    return terms, terms.index(expr.numerator)


def _worked_above(equation: Equation, page: Page, spot: Spot) -> Iterator[Meaning]:
    """A working that stands alone right above, with at most a word between: [sin 2, cos 2], 'or' [0.909, −0.416]."""
    above = page.equations[equation.index - 1] if equation.index else None
    if above is None or above.scope != equation.scope or above.struck or not 0 <= spot.line - above.end_line < FAR:
        return
    item = above.items[0]
    numbers = isinstance(item.expr, n.Call) and all(map(n.is_literal, item.expr.args))
    alone = len(above.items) == 1 and (item.kind is Kind.WORKING or numbers)
    if alone and len(_WORD.findall(equation.label)) < 2:
        steps = isinstance(item.expr, n.Softmax) and means(equation.label, "exponential")  # on the way to its weights
        made = n.Exp(item.expr.arg) if steps and isinstance(item.expr, n.Softmax) else item.expr
        yield Meaning(How.CAPTION, made, spot, names=item.kind is not Kind.WORKING)
