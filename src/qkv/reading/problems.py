"""Which problem of a page an equation belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.library.words import pattern
from qkv.reader.model import Part, Sheet
from qkv.reading.equation import Equation, Kind
from qkv.regex import regex

_PROBLEM = regex(
    rf"^\W*(?:\d[\d.]*\)?\s+)?(?:worked\s+(?:\w+\s+)?)?(?:{pattern('problem')})\W*\s*(?:[\divxIVX]+|[A-Z]\b)"
    r"|^\W*第\s*[\d一二三四五六七八九十]+\s*[题問问]",
    re.IGNORECASE,
)


def by_problem(made: list[Equation], sheet: Sheet) -> tuple[Equation, ...]:
    """The number of the problem for each equation: a new one begins under a heading that numbers problems, in a part
    where something is given anew with other numbers, and where a name that was asked about gets another formula."""
    scope, part = 0, -1
    given: dict[Symbol, tuple[n.Expr, int]] = {}
    worked: dict[Symbol, tuple[n.Expr, ...]] = {}
    stated: dict[Symbol, Equation] = {}
    printed: set[tuple[n.Expr, ...]] = set()
    shown: set[tuple[Symbol, n.Expr]] = set()
    scoped = []
    for equation in made:
        titles = [passed.title or "" for passed in sheet.parts[part + 1 : equation.part + 1]]
        anew = bool(given) and any(map(_PROBLEM.search, titles))
        anew = anew and not any(_is_taken_up(other, shown, {*worked, *stated}) for other in _of_part(equation, made))
        part = equation.part
        bare = _given(equation)
        if bare is not None and bare[0] in given:
            value, where = given[bare[0]]
            other = where != equation.part and value != bare[1] and isinstance(value, n.Matrix)
            anew = anew or (other and _opens(equation, made) and not _is_row(bare[1], printed))
        anew = anew or (
            _is_numbered(sheet.parts[equation.part]) and _opens(equation, made) and _is_other(equation, worked)
        )
        anew = anew or any(s in stated and _is_restated(stated[s], equation, sheet) for s in _only_stated(equation))
        if anew:
            scope, given, worked, stated, shown = scope + 1, {}, {}, {}, set()
        stated.update(dict.fromkeys(_only_stated(equation), equation))
        worked.update(dict.fromkeys(equation.names if equation.of(Kind.FORMULA) else (), _numbers(equation)))
        if bare is not None:
            given.setdefault(bare[0], (bare[1], equation.part))
            shown.add(bare)
        printed |= {row for item in equation.of(Kind.VALUE) for row in _rows(item.expr)}
        scoped.append(replace(equation, scope=scope))
    return tuple(scoped)


def _of_part(first: Equation, made: list[Equation]) -> Iterator[Equation]:
    """The equations of the part that begins with one of them."""
    return takewhile(lambda equation: equation.part == first.part, made[first.index :])


def _is_taken_up(equation: Equation, shown: set[tuple[Symbol, n.Expr]], stated: set[Symbol]) -> bool:
    """Whether a part only repeats what the problem above came to: the same matrix under a name with a formula."""
    bare = _given(equation)
    return bare is not None and bare in shown and isinstance(bare[1], n.Matrix) and bare[0] in stated


def _rows(expr: n.Expr) -> tuple[tuple[n.Expr, ...], ...]:
    """The rows of a printed matrix that has several."""
    return expr.rows if isinstance(expr, n.Matrix) and len(expr.rows) > 1 else ()


def _is_row(value: n.Expr, printed: set[tuple[n.Expr, ...]]) -> bool:
    """Whether a vector is a row of a matrix above: 's = [0.7, 0.1]' for each row in turn gives nothing new."""
    return isinstance(value, n.Matrix) and len(value.rows) == 1 and value.rows[0] in printed


def _is_numbered(part: Part) -> bool:
    """Whether a part is one of several on the first level: '2.) Cross-attention'."""
    return part.level == 1 and bool(re.match(r"\W*\(?\d+\s*[.)]", part.title or ""))


def _numbers(equation: Equation) -> tuple[n.Expr, ...]:
    return tuple(item.expr for item in equation.of(Kind.WORKING, Kind.VALUE))


def _is_other(equation: Equation, worked: dict[Symbol, tuple[n.Expr, ...]]) -> bool:
    """Whether a formula for a name is said again, with other numbers."""
    numbers = _numbers(equation)
    return bool(numbers and equation.of(Kind.FORMULA)) and any(
        worked.get(symbol, numbers) != numbers for symbol in equation.names
    )


def _only_stated(equation: Equation) -> tuple[Symbol, ...]:
    """The names that an equation has a formula for, and no numbers."""
    return equation.names if equation.of(Kind.FORMULA) and not _numbers(equation) else ()


def _is_restated(before: Equation, after: Equation, sheet: Sheet) -> bool:
    """Whether a name gets another formula below a question about it: 'b) Repeat with e_j = sᵀ W h_j.'"""
    formulas = [{item.expr for item in equation.of(Kind.FORMULA)} for equation in (before, after)]
    return formulas[0].isdisjoint(formulas[1]) and any(before.line <= q.line < after.line for q in sheet.questions)


def _given(equation: Equation) -> tuple[Symbol, n.Expr] | None:
    """The name and the numbers of an equation that says nothing else."""
    if equation.struck or len(equation.items) != 2:
        return None
    name, value = equation.items
    plain = isinstance(name.expr, n.Name) and value.kind is Kind.VALUE
    return (name.expr.symbol, value.expr) if plain and isinstance(name.expr, n.Name) else None


def _opens(equation: Equation, made: list[Equation]) -> bool:
    """Whether an equation is the first of its part but for formulas: what it gives begins a problem."""
    before = made[max(equation.index - 9, 0) : equation.index]
    return all(other.part != equation.part or not _numbers(other) for other in before)
