"""Chains of plain algebra, attention or not: random formulas over numbers, vectors and matrices, worked out in floats.

This is an oracle of its own: nothing here uses the arithmetic that solve and check use.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from operator import add, mul, sub
from random import Random
from statistics import fmean

from laws.alphabets import pool
from laws.notations import NOTATIONS
from qkv.errors import QkvError
from qkv.expr.names import Symbol
from qkv.interpret.trace import Table
from qkv.practice.notation import Chain
from qkv.practice.pen import Page, Pen
from qkv.practice.sheet import Expected, Practice, Question
from qkv.practice.words import LANGUAGES

Rows = tuple[tuple[float, ...], ...]
SUM, PRODUCT, POSTFIX, ATOM = range(4)  # how tightly an operation binds


class Unfit(QkvError):
    """An operation that cannot be done here, or a number nobody would write; another chain is drawn."""


@dataclass(frozen=True)
class Operation:
    """One row of the table: what it does to its operands, and how it is written in LaTeX and in plain text. `needs` is
    how tightly each operand must bind to stand without brackets: a pair for LaTeX and for plain text."""

    apply: Callable[..., Rows]
    latex: str
    plain: str
    binds: int
    needs: tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Node:
    """An operation on operands: other nodes, names, or numbers as text."""

    operation: Operation
    operands: tuple[Node | Symbol | str, ...]


# ---------------------------------------------------------------- what operations do


def _shape(rows: Rows) -> tuple[int, int]:
    return len(rows), len(rows[0])


def _scalar(rows: Rows) -> float:
    if _shape(rows) != (1, 1):
        raise Unfit("a number is needed")
    return rows[0][0]


def _each(function: Callable[[float], float]) -> Callable[[Rows], Rows]:
    return lambda rows: tuple(tuple(map(function, row)) for row in rows)


def _both(function: Callable[[float, float], float]) -> Callable[[Rows, Rows], Rows]:
    def apply(a: Rows, b: Rows) -> Rows:
        if _shape(a) != _shape(b):
            raise Unfit("two of one shape are needed")
        return tuple(tuple(map(function, *rows)) for rows in zip(a, b, strict=True))

    return apply


def _scaled(a: Rows, b: Rows) -> Rows:
    factor = _scalar(a)
    return tuple(tuple(factor * x for x in row) for row in b)


def _over(a: Rows, b: Rows) -> Rows:
    below = _scalar(b)
    if abs(below) < 0.05:
        raise Unfit("nobody divides by that")
    return tuple(tuple(x / below for x in row) for row in a)


def _summed(a: Sequence[float], b: Sequence[float]) -> float:
    return math.fsum(map(mul, a, b))


def _product(a: Rows, b: Rows) -> Rows:
    if 1 in _shape(a) or 1 in _shape(b) or len(a[0]) != len(b):
        raise Unfit("two matrices that fit are needed")
    return tuple(tuple(_summed(row, column) for column in zip(*b, strict=True)) for row in a)


def _dot(a: Rows, b: Rows) -> Rows:
    if _shape(a) != _shape(b) or len(a) != 1 or len(a[0]) == 1:
        raise Unfit("two vectors are needed")
    return ((_summed(a[0], b[0]),),)


def _transposed(a: Rows) -> Rows:
    if 1 in _shape(a):
        raise Unfit("a matrix is needed")
    return tuple(zip(*a, strict=True))


def _of_vector(function: Callable[[tuple[float, ...]], float]) -> Callable[[Rows], Rows]:
    def apply(a: Rows) -> Rows:
        if len(a) != 1 or len(a[0]) == 1:
            raise Unfit("a vector is needed")
        return ((function(a[0]),),)

    return apply


def _root(a: Rows) -> Rows:
    if _scalar(a) <= 0:
        raise Unfit("a root of something positive is needed")
    return ((math.sqrt(_scalar(a)),),)


def _exponential(x: float) -> float:
    if not -4 < x < 4:
        raise Unfit("nobody writes such an exponential out")
    return math.exp(x)


def _hyperbolic(x: float) -> float:
    if not -4 < x < 4:
        raise Unfit("that is 1 to all digits that anybody writes")
    return math.tanh(x)


def _logarithm(x: float) -> float:
    if x < 0.05:
        raise Unfit("a logarithm of something positive is needed")
    return math.log(x)


def _row(apply: Callable[..., Rows], latex: str, plain: str, binds: int = ATOM, *needs: int) -> Operation:
    return Operation(apply, latex, plain, binds, (needs or (SUM,),) * 2)


OPERATIONS: dict[str, Operation] = {
    "add": _row(_both(add), "{} + {}", "{} + {}", SUM, SUM, PRODUCT),
    "subtract": _row(_both(sub), "{} - {}", "{} - {}", SUM, SUM, PRODUCT),
    "scale": _row(_scaled, r"{} \cdot {}", "{} * {}", PRODUCT, PRODUCT, POSTFIX),
    "divide": Operation(_over, r"\frac{{{}}}{{{}}}", "{} / {}", PRODUCT, ((SUM, SUM), (PRODUCT, POSTFIX))),
    "product": _row(_product, "{} {}", "{} {}", PRODUCT, POSTFIX, POSTFIX),
    "dot": _row(_dot, r"{} \cdot {}", "{} · {}", PRODUCT, POSTFIX, POSTFIX),
    "transpose": _row(_transposed, "{}^T", "{}^T", POSTFIX, ATOM),
    "square": _row(lambda a: _scaled(a, a), "{}^2", "{}^2", POSTFIX, ATOM),
    "root": _row(_root, r"\sqrt{{{}}}", "sqrt({})"),
    "exp": _row(_each(_exponential), r"\exp({})", "exp({})"),
    "ln": _row(_each(_logarithm), r"\ln({})", "ln({})"),
    "tanh": _row(_each(_hyperbolic), r"\tanh({})", "tanh({})"),
    "max": _row(_of_vector(max), r"\max({})", "max({})"),
    "sum": _row(_of_vector(math.fsum), r"\mathrm{{sum}}({})", "sum({})"),
    "mean": _row(_of_vector(fmean), r"\mathrm{{mean}}({})", "mean({})"),
}


def value_of(expr: Node | Symbol | str, known: Mapping[Symbol, Rows]) -> Rows:
    """The value of a formula."""
    if isinstance(expr, str):
        return ((float(expr),),)
    if isinstance(expr, Symbol):
        return known[expr]
    return expr.operation.apply(*(value_of(operand, known) for operand in expr.operands))


def spelled(expr: Node | Symbol | str, pen: Pen, needs: int = SUM) -> str:
    """A formula as it is written, in brackets where it binds less tightly than it has to."""
    if isinstance(expr, str):
        return pen.notation.number(expr)
    if isinstance(expr, Symbol):
        return pen.name(expr)
    latex = pen.notation.latex
    needed = expr.operation.needs[0 if latex else 1]
    parts = (spelled(operand, pen, level) for operand, level in zip(expr.operands, needed, strict=True))
    text = (expr.operation.latex if latex else expr.operation.plain).format(*parts)
    return f"({text})" if expr.operation.binds < needs else text


def names_in(expr: Node | Symbol | str) -> set[Symbol]:
    """The names in a formula."""
    if isinstance(expr, Node):
        return set().union(*map(names_in, expr.operands))
    return {expr} if isinstance(expr, Symbol) else set()


# ---------------------------------------------------------------- chains


@dataclass(frozen=True)
class Chains:
    """Givens, and steps that follow from them; `places` after the point are printed, and gone on with or not."""

    givens: dict[Symbol, Table]
    steps: dict[Symbol, Node]
    places: int
    carries_print: bool


@dataclass(frozen=True)
class Work:
    """The steps as printed, and what stood behind each print."""

    shown: dict[Symbol, Table]
    values: dict[Symbol, Rows]


def drawn(rng: Random, names: list[str]) -> Chains:
    """A random chain; some authors write small letters."""
    small = rng.random() < 0.4
    fresh = (Symbol(name.lower() if small and len(name) == 1 else name) for name in names)
    size, other = rng.choice((2, 3)), rng.choice((2, 3))
    shapes = [(1, 1), (1, 1), (1, size), (1, size), (size, other), (other, size)]
    givens = {next(fresh): _numbers(rng, *shape) for shape in rng.sample(shapes, rng.choice((3, 4, 4, 5)))}
    values = {symbol: _floats(table) for symbol, table in givens.items()}
    steps: dict[Symbol, Node] = {}
    for symbol in (next(fresh) for _ in range(rng.choice((2, 3, 4, 5)))):
        steps[symbol], values[symbol] = _step(rng, values)
    return Chains(givens, steps, rng.choice((2, 3, 3, 4)), rng.random() < 0.5)


def _numbers(rng: Random, rows: int, columns: int) -> Table:
    whole = rng.random() < 0.5
    entries = (str(rng.randint(1, 9)) if whole else f"{rng.randint(-30, 60) / 10:.1f}" for _ in count())
    return tuple(tuple(islice(entries, columns)) for _ in range(rows))


def _floats(table: Table) -> Rows:
    return tuple(tuple(map(float, row)) for row in table)


def _step(rng: Random, values: Mapping[Symbol, Rows]) -> tuple[Node, Rows]:
    """A formula that can be worked out and gives numbers that people write."""
    while True:
        try:
            node = _node(rng, list(values), 1)
            value = value_of(node, values)
        except Unfit:
            continue
        sizes = [abs(x) for row in value for x in row]
        if names_in(node) and 0.02 < max(sizes) < 1000 and value not in values.values():
            return node, value


def _node(rng: Random, names: list[Symbol], depth: int) -> Node:
    operation = OPERATIONS[rng.choice(list(OPERATIONS))]
    operands: list[Node | Symbol | str] = []
    for _ in operation.needs[0]:
        chance = rng.random()
        if depth and chance < 0.3:
            operands.append(_node(rng, names, depth - 1))
        else:
            operands.append(str(rng.randint(2, 5)) if chance > 0.93 else rng.choice(names))
    if len(set(operands)) < len(operands):
        raise Unfit("nobody subtracts a number from itself")
    return Node(operation, tuple(operands))


# ---------------------------------------------------------------- working

Slip = tuple[Symbol, int, int, str]  # where another text is written: a step, and a cell from 0


def work(chains: Chains, slip: Slip | None = None) -> Work:
    """Print every step in order, a slip included; what follows goes on with it."""
    held = {symbol: _floats(table) for symbol, table in chains.givens.items()}
    shown: dict[Symbol, Table] = {}
    values: dict[Symbol, Rows] = {}
    for symbol, node in chains.steps.items():
        values[symbol] = value_of(node, held)
        shown[symbol] = printed(values[symbol], chains.places)
        if slip and slip[0] == symbol:
            shown[symbol] = _with(shown[symbol], *slip[1:])
            values[symbol] = _floats(_with(_exact(values[symbol]), *slip[1:]))
        held[symbol] = _floats(shown[symbol]) if chains.carries_print else values[symbol]
    return Work(shown, values)


def printed(value: Rows, places: int) -> Table:
    """Numbers as people print them: short decimals as they are, all else to so many places."""
    exact = all(abs(x - round(x, places)) < 1e-9 for row in value for x in row)
    return tuple(tuple(_text(x, places, exact) for x in row) for row in value)


def _text(x: float, places: int, exact: bool) -> str:
    steps = abs(x) * 10**places
    if not exact and abs(steps - math.floor(steps) - 0.5) < 1e-4:
        raise Unfit("a rounding is nearly a tie")
    text = f"{x:.{places}f}"
    if exact and "." in text:
        text = text.rstrip("0").rstrip(".")
    return text if text.strip("-0.") else text.removeprefix("-")


def _exact(value: Rows) -> Table:
    return tuple(tuple(map(repr, row)) for row in value)


def _with(table: Table, i: int, j: int, text: str) -> Table:
    row = (*table[i][:j], text, *table[i][j + 1 :])
    return (*table[:i], row, *table[i + 1 :])


def _ulp(text: str) -> float:
    return 10.0 ** -len(text.partition(".")[2])


def planted(chains: Chains, rng: Random) -> Slip:
    """A slip in one cell: a number that is far from what should stand there, with as many digits."""
    symbol = rng.choice(list(chains.steps))
    table = work(chains).shown[symbol]
    i, j = rng.randrange(len(table)), rng.randrange(len(table[0]))
    right = float(table[i][j])
    by = max(abs(right) * rng.uniform(0.1, 0.6), 30 * _ulp(table[i][j]))
    places = len(table[i][j].partition(".")[2])
    return symbol, i, j, f"{right + rng.choice((-1, 1)) * by:.{places}f}"


# ---------------------------------------------------------------- documents


def calculation(seed: int, slips: int = 0, notation: str = "") -> Practice:
    """A document of plain algebra with its key, clean or with one slip; one notation, or one at random.

    >>> [expected.verdict for expected in calculation(1).key]
    ['fine', 'fine', 'fine', 'fine']
    """
    rng = Random(f"calculation/{seed}/{slips}/{notation}")
    usable = [key for key, row in NOTATIONS.items() if row.copies and row.point == "." and row.suffix != ".tex"]
    pen = Pen(NOTATIONS[notation or rng.choice(usable)])
    while True:
        try:
            chains = drawn(rng, pool(rng.choice(("letters", "greek", "greek signs", "words", "cyrillic")), rng))
            return _document(chains, planted(chains, rng) if slips else None, pen, rng)
        except (Unfit, OverflowError):
            continue


def _document(chains: Chains, slip: Slip | None, pen: Pen, rng: Random) -> Practice:
    made, clean = work(chains, slip), work(chains)
    language, page = LANGUAGES[rng.choice(("en", "de", "fr", ""))], Page()
    page.heading(pen.notation, language.title.format("Algebra"))
    page.write(
        [(pen.notation, Chain("", (), table, True, pen.name(symbol))) for symbol, table in chains.givens.items()]
    )
    formulas = {symbol: spelled(node, pen) for symbol, node in chains.steps.items()}
    definitions = [f"{pen.math(f'{pen.name(symbol)} = {formula}')}\n" for symbol, formula in formulas.items()]
    asked = list(chains.steps)[-1]
    ask = (language.task or "{} = ?").format(pen.math(pen.name(asked)))
    question = Question("\n".join((*page.lines, "", *definitions, ask)) + "\n", _exact(_truth(chains)[asked]))
    page.heading(pen.notation, language.solution)
    before = len(page.places)
    page.write(
        [
            (pen.notation, Chain("", (formulas[symbol],), table, _is_exact(made, symbol), pen.name(symbol)))
            for symbol, table in made.shown.items()
        ]
    )
    key = tuple(
        replace(_expected(symbol, chains, made, clean, slip), line=line, end_line=end)
        for symbol, (line, end) in zip(chains.steps, page.places[before:], strict=True)
    )
    return Practice(page.text, pen.notation.suffix, key, question)


def _truth(chains: Chains) -> dict[Symbol, Rows]:
    return work(replace(chains, carries_print=False)).values


def _is_exact(made: Work, symbol: Symbol) -> bool:
    value, shown = made.values[symbol], _floats(made.shown[symbol])
    return all(abs(x - y) < 1e-9 for a, b in zip(value, shown, strict=True) for x, y in zip(a, b, strict=True))


def _expected(symbol: Symbol, chains: Chains, made: Work, clean: Work, slip: Slip | None) -> Expected:
    """What is due for one step: wrong at the slip; carried where it changed what is printed, and far enough."""
    name = str(symbol)
    if slip and slip[0] == symbol:
        cell = frozenset({(slip[1] + 1, slip[2] + 1)})
        return Expected(name, 0, 0, "wrong", wrong=cell, slipped=cell)
    truth = _truth(chains)[symbol]
    carried = frozenset(
        (i + 1, j + 1)
        for i, row in enumerate(made.shown[symbol])
        for j, text in enumerate(row)
        if text != clean.shown[symbol][i][j]
        and abs(float(text) - truth[i][j]) > 2 * _ulp(text)
        and abs(float(text) - float(clean.shown[symbol][i][j])) > 2 * _ulp(text)
    )
    return Expected(name, 0, 0, "carried" if carried else "fine", carried=carried)
