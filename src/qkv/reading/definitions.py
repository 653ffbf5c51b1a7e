"""What an equation says of the names on its sides: by a formula, by a working, or by numbers alone."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.reading.equation import Equation, Kind, is_rule_of_thumb
from qkv.regex import regex

_LETTER, _SCORING = regex(r"[a-z]$"), ("score", "align", "sim", "a")


class Source(Enum):
    """How a page says what a name is."""

    STATED = "by a formula"
    WORKING = "by a formula with numbers put in"
    GIVEN = "by its numbers alone"


class Definition(NamedTuple):
    """What a page says of a name at one place."""

    symbol: Symbol
    expr: n.Expr
    source: Source
    line: int
    scope: int
    equation: int


def definitions_in(equation: Equation) -> Iterator[Definition]:
    """What an equation says of each of the names on its sides."""
    if equation.struck:
        return
    where = equation.line, equation.scope, equation.index
    formulas, values = equation.of(Kind.FORMULA), equation.of(Kind.VALUE)
    named = equation.of(Kind.NAME)
    for item in named:
        symbol = item.expr.symbol  # type: ignore[union-attr]
        at = equation.items.index(item)
        meant = [f for f in formulas if values or not is_rule_of_thumb(f)]
        later = [f for f in meant if not f.struck and (equation.items.index(f) > at or values)]
        for formula in later:
            source = Source.WORKING if has_decimals(formula.expr) else Source.STATED
            yield Definition(symbol, formula.expr, source, *where)
        for working in equation.of(Kind.WORKING):
            yield Definition(symbol, working.expr, Source.WORKING, *where)
        if not formulas and not values and item is not named[-1]:
            yield Definition(symbol, named[-1].expr, Source.STATED, *where)
        shown = [value for value in values if not value.struck]
        if shown and not formulas and not equation.of(Kind.WORKING):
            yield Definition(symbol, shown[-1].expr, Source.GIVEN, *where)


def is_row_again(definition: Definition, before: list[Definition]) -> bool:
    """Whether numbers under a known name are only one of its rows: 'the query of cat (Q = [0, 1])'."""
    row = definition.expr.rows if isinstance(definition.expr, n.Matrix) else ()
    wholes = (d.expr for d in before if d.source is Source.GIVEN and d.scope == definition.scope)
    return (
        len(row) == 1
        and definition.source is Source.GIVEN
        and any(isinstance(whole, n.Matrix) and len(whole.rows) > 1 and row[0] in whole.rows for whole in wholes)
    )


def has_decimals(expr: n.Expr) -> bool:
    """Whether numbers were put in by hand: 0.3 h_1 + 0.6 h_2 is a working, not a definition."""
    return any(isinstance(part, n.Number) and (part.places or 0) > 1 for part in n.walk(expr))
