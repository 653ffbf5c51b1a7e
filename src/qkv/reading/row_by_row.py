"""Arrays that a page gives row by row: as a program would, k[0] = [1, 0], then k[1] = [0, 1], or for each token, 'cat:
q = [1, 0], k = [1, 1]' above 'dog: q = [0, 1], k = [0, 1]'."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.library.roles import places, roles_in_words
from qkv.library.words import pattern
from qkv.reader.model import Relation, Sheet
from qkv.reading.equation import Equation, Kind
from qkv.reading.nameless import INPUTS


def with_wholes(equations: Iterable[Equation]) -> Iterator[Equation]:
    """The equations of a page, and one for each array of which only the rows are given, behind the last of these; where
    a formula is stated for one row, h[0] = W x[0], the numbers of all rows have it beside them."""
    made = list(equations)
    stated = dict(filter(None, map(_row_stated, made)))
    made = [_with_formula(equation, stated) for equation in made] if stated else made
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


def _row_stated(equation: Equation) -> tuple[Symbol, tuple[int, n.Expr]] | None:
    """The array for one row of which an equation states a formula over rows of the same number, and that formula."""
    if len(equation.items) != 2 or equation.items[1].kind is not Kind.FORMULA or equation.struck:
        return None
    left, formula = (item.expr for item in equation.items)
    number = _row_number(left)
    if number is None or number not in map(_row_number, n.walk(formula)):
        return None
    return next(iter(n.names_in(left))), (number, formula)


def _row_number(expr: n.Expr) -> int | None:
    """The row of a name that an expression is: 1 for x[1]."""
    row = isinstance(expr, n.Entry) and isinstance(expr.arg, n.Name) and not (expr.column or expr.columns)
    return expr.row if row and isinstance(expr, n.Entry) else None


def _with_formula(equation: Equation, stated: dict[Symbol, tuple[int, n.Expr]]) -> Equation:
    """The numbers of a row with the formula that is stated for one of the rows, for this one."""
    found = _row_of(equation)
    if found is None or found[0] not in stated:
        return equation
    (number, formula), row = stated[found[0]], found[1]

    def moved(part: n.Expr) -> n.Expr:
        return replace(part, row=row) if isinstance(part, n.Entry) and _row_number(part) == number else part

    left, value = equation.items
    item = replace(value, expr=n.rewrite(formula, moved), kind=Kind.FORMULA)
    return replace(equation, items=(left, item, value))


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


# — by token —

NEAR = 3  # lines from one token of a list to the next
_COUNTED = re.compile(rf"(?:{pattern('line')}|pos)\s*#?(?P<number>\d{{1,2}})(?:\s*[(（].*[)）])?", re.IGNORECASE)
_WORD = re.compile(
    rf"(?:(?:{pattern('line')})\s+)?[\"“”„'‘’«»`*]*(?P<word>[^\W\d_][\w'’-]*)[\"“”'‘’«»`*]*", re.IGNORECASE
)


@dataclass(slots=True)
class _Line:
    """What a line of a list gives: vectors under names, for one token."""

    token: str
    given: list[Equation] = field(default_factory=list)

    @property
    def kinds(self) -> list[tuple[Symbol, tuple[int, int]]]:
        return [(e.names[0], e.items[1].expr.shape) for e in self.given]  # type: ignore[union-attr]


def of_tokens(made: Sequence[Equation], sheet: Sheet) -> list[Equation]:
    """The equations, with the token as a script of names that are given a vector for each token of a list."""
    changed = {
        equation.index: _for_token(equation, line.token)
        for run in _lists(made, sheet)
        if len(run) > 1 and len({line.token for line in run}) == len(run)
        for line in run
        for equation in line.given
    }
    return [changed.get(equation.index, equation) for equation in made]


def _lists(made: Sequence[Equation], sheet: Sheet) -> Iterator[list[_Line]]:
    """Lines after each other that give the same names vectors of the same length."""
    run: list[_Line] = []
    for above, equation in zip((None, *made), made, strict=False):
        title = sheet.parts[equation.part].title or ""
        said = equation.label or equation.words.removeprefix(title).strip()
        said = said or (title if above is None or above.part != equation.part else "")
        token = _token(said) if _gives_vector(equation) else ""
        if run and not said and _gives_vector(equation):
            run[-1].given.append(equation)
            continue
        if run[1:] and run[-1].kinds != run[0].kinds:
            yield run[:-1]
            run = run[-1:]
        near = bool(run) and equation.line - run[-1].given[-1].end_line <= NEAR
        if run and not (token and near):
            yield run
            run = []
        if token:
            run.append(_Line(token, [equation]))
    if run[1:] and run[-1].kinds != run[0].kinds:
        run.pop()
    yield run


def _gives_vector(equation: Equation) -> bool:
    if len(equation.items) != 2 or equation.struck or equation.items[1].kind is not Kind.VALUE:
        return False
    name, value = (item.expr for item in equation.items)
    plain = isinstance(name, n.Name) and name.symbol == Symbol(name.symbol.base) and bool(places(name.symbol))
    return plain and isinstance(value, n.Matrix) and 1 in value.shape and value.shape != (1, 1)


def _token(said: str) -> str:
    """The token that a few words before a line name, if they name one: 'Token 2', 'cat', 'word "cat"'."""
    label = said.strip(" :：-–—•*")
    if (counted := _COUNTED.fullmatch(label)) is not None:
        return counted["number"]
    word = _WORD.fullmatch(label)
    return word["word"] if word is not None and not roles_in_words(word["word"]) else ""


def _for_token(equation: Equation, token: str) -> Equation:
    """An equation whose name belongs to a token: q becomes q_2, or q_cat."""
    first, symbol = equation.items[0], equation.names[0]
    scripts = ((), (token,)) if token.isdecimal() else ((token,), ())
    name = n.Name(Symbol(symbol.base.lower(), *scripts), f"{first.text}_{token}", at=first.expr.at)
    return replace(equation, items=(replace(first, expr=name, options=()), equation.items[1]))
