"""Rows that grow by one number each: what a mask hides is left out, in a matrix or in lines with counted labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction

from qkv.expr import nodes as n
from qkv.reading.equation import Equation, Kind
from qkv.regex import regex

Rows = tuple[tuple[n.Expr, ...], ...]


def whole(expr: n.Expr) -> n.Expr:
    """An expression in which matrices of growing rows have what was left out of them.

    >>> from qkv.expr.show import plain
    >>> plain(whole(n.Matrix(((n.number(1),), (n.number("0.4"), n.number("0.6"))))))
    '[1, 0; 0.4, 0.6]'
    """
    return n.rewrite(expr, _whole) if n.holds(expr, n.Matrix) else expr


def _whole(node: n.Expr) -> n.Expr:
    rows = filled(node.rows) if isinstance(node, n.Matrix) and node.is_ragged else None
    return node if rows is None else n.Matrix(rows, at=node.at)


def filled(rows: Rows) -> Rows | None:
    """Rows that grow from one number to as many as there are rows, with zeros in shares and −∞ in scores where nothing
    is printed; None for rows of other lengths."""
    widths = [len(row) for row in rows]
    if len(rows) < 2 or len(set(widths)) == 1:
        return None
    sums = [sum((x.value for x in row if isinstance(x, n.Number)), Fraction()) for row in rows]
    shares = all(abs(total - 1) * 8 <= 1 for total in sums)
    grown = widths == list(range(1, len(rows) + 1))  # of scores more may be shown than a mask leaves
    if not grown and not (shares and widths[0] == 1 and max(widths) == widths[-1] == len(rows)):
        return None
    hidden = n.number(0) if shares else n.Infinite(-1, printed=False)
    return tuple((*row, *(hidden,) * (len(rows) - len(row))) for row in rows)


def triangles(made: Iterable[Equation]) -> Iterator[Equation]:
    """Lines that grow from one number to as many as there are lines, 'token 1: 0.71' above 'token 2: 2.12  1.41', as
    one array: what a mask hides is left out. Lines of other lengths under such labels stay what they are."""
    run: list[Equation] = []
    for equation in made:
        if run and not _counts_on(run[-1], equation):
            yield from _as_triangle(run)
            run = []
        if run or (_numbers(equation) is not None and _COUNTED.fullmatch(equation.label)):
            run.append(equation)
        else:
            yield equation
    yield from _as_triangle(run)


_COUNTED = regex(r"(?P<word>\D+?)[\s_]*(?P<number>\d{1,2})\W*")  # token 1


def _numbers(equation: Equation) -> tuple[n.Expr, ...] | None:
    """The number, or the one row of numbers, that an equation consists of."""
    only = equation.items[0] if len(equation.items) == 1 and not equation.struck and not equation.rows else None
    if only is None or only.kind is not Kind.VALUE:
        return None
    if isinstance(only.expr, n.Matrix):
        return only.expr.rows[0] if len(only.expr.rows) == 1 else None
    return (only.expr,)


def _counts_on(above: Equation, below: Equation) -> bool:
    """Whether the label of a line of numbers is the next after that of the one above: 'token 2' after 'token 1'."""
    first, second = _COUNTED.fullmatch(above.label), _COUNTED.fullmatch(below.label)
    near = below.line - above.end_line in (1, 2) and below.part == above.part and _numbers(below) is not None
    if first is None or second is None or not near:
        return False
    return first["word"] == second["word"] and int(second["number"]) == int(first["number"]) + 1


def _as_triangle(run: list[Equation]) -> Iterator[Equation]:
    rows = [numbers for equation in run if (numbers := _numbers(equation)) is not None]
    made = filled(tuple(rows))
    if len({len(row) for row in rows}) < 2:
        yield from run
    elif made is not None:
        first, text = run[0], "\n".join(equation.text for equation in run)
        item = first.items[0]._replace(expr=n.Matrix(made), text=text)
        words = re.sub(rf"\s*{re.escape(first.label)}\W*$", "", first.words)
        labels = tuple(equation.label for equation in run)
        yield replace(first, items=(item,), end_line=run[-1].end_line, text=text, label="", words=words, rows=labels)
    else:
        yield from (replace(equation, rows=(equation.label,)) for equation in run)
