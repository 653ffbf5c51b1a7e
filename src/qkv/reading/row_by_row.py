"""Arrays that a page gives row by row, as a program would: k[0] = [1, 0], then k[1] = [0, 1]."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.library.roles import places
from qkv.reader.model import Relation
from qkv.reading.equation import Equation, Kind
from qkv.reading.nameless import INPUTS


def with_wholes(equations: Iterable[Equation]) -> Iterator[Equation]:
    """The equations of a page, and one for each array of which only the rows are given, behind the last of these."""
    made = list(equations)
    named = {symbol for equation in made for symbol in equation.names} | set(_columns(made))
    rows: dict[Symbol, dict[int, Equation]] = {}
    for equation in made:
        if (found := _row_of(equation)) is not None and found[0] not in named and _may_be_input(found[0]):
            rows.setdefault(found[0], {}).setdefault(found[1], equation)
    wholes = {list(found.values())[-1].index: symbol for symbol, found in rows.items() if _is_whole(found)}
    for equation in made:
        yield equation
        if (symbol := wholes.get(equation.index)) is not None:
            yield _whole(symbol, rows[symbol])


def _columns(made: list[Equation]) -> Iterator[Symbol]:
    """The names that stand behind a matrix in a formula: the x of q = W x is each row, as a column."""
    formulas = (item.expr for equation in made for item in equation.of(Kind.FORMULA))
    products = (node for formula in formulas for node in n.walk(formula) if isinstance(node, n.Product))
    yield from (node.right.symbol for node in products if isinstance(node.right, n.Name))


def _may_be_input(symbol: Symbol) -> bool:
    """Whether a name is no step of attention: rows of weights are worked out, not given."""
    return all(place.role in INPUTS for place in places(symbol)[:1])


def _row_of(equation: Equation) -> tuple[Symbol, int] | None:
    """The array and the row, from 1, that an equation gives the numbers of."""
    if len(equation.items) != 2 or equation.struck or equation.items[1].kind is not Kind.VALUE:
        return None
    left, right = (item.expr for item in equation.items)
    entry = left if isinstance(left, n.Entry) and left.column is None and left.columns is None else None
    if entry is None or entry.row is None or not isinstance(entry.arg, n.Name) or not isinstance(right, n.Matrix):
        return None
    return (entry.arg.symbol, entry.row) if right.shape[0] == 1 < right.shape[1] else None


def _is_whole(rows: dict[int, Equation]) -> bool:
    """Whether rows are all of an array: numbered from the first, and as long as each other."""
    lengths = {len(_numbers(equation)) for equation in rows.values()}
    return sorted(rows) == list(range(1, len(rows) + 1)) and len(rows) > 1 == len(lengths)


def _numbers(equation: Equation) -> tuple[n.Expr, ...]:
    value = equation.items[1].expr
    return value.rows[0] if isinstance(value, n.Matrix) else ()


def _whole(symbol: Symbol, rows: dict[int, Equation]) -> Equation:
    """The equation of an array that is given row by row, with the words above its first row."""
    first, last = (list(rows.values())[end] for end in (0, -1))
    left, right = last.items
    matrix = n.Matrix(tuple(_numbers(rows[number]) for number in sorted(rows)))
    name = n.Name(symbol, str(symbol), at=left.expr.at)
    items = (
        replace(left, expr=name, kind=Kind.NAME, text=str(symbol), relation=Relation.FIRST),
        replace(right, expr=matrix),
    )
    return replace(last, items=items, label=first.label, words=first.words)
