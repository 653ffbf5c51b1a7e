"""Names that a formula above gives, so that numbers alone for them are a claim and no input."""

from __future__ import annotations

from collections.abc import Iterator

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.reading.definitions import Definition, Source
from qkv.reading.indexed import LETTER, put_in
from qkv.reading.page import Page


def formulas_above(page: Page, given: Definition) -> Iterator[n.Expr]:
    """The formulas that say above what a name is, itself or for every index, over names that have a meaning above."""
    alike = [s for s in page.same_letter(given.symbol) if s == given.symbol or _runs(s, given.symbol)]
    for formula in (d for symbol in alike for d in page.definitions[symbol] if d.source is Source.STATED):
        above = formula.scope == given.scope and formula.line < given.line
        names = n.names_in(formula.expr) if above else ()
        running = " ".join(formula.symbol.indices)
        known = (s.base in running or _is_known_above(page, s, given) for s in names)
        if names and given.symbol not in names and all(known):
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
