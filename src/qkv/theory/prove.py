"""Whether two expressions are equal for all matrices of given sizes: an exact proof, or a counterexample."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from qkv.errors import QkvError, ShapeError
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.expr.show import plain
from qkv.interpret.cells import NEG_INF, START_BITS, Cell, bounds, precision
from qkv.interpret.certified import Certified, Value
from qkv.interpret.fit import Shape, say
from qkv.interpret.loop import evaluate
from qkv.interpret.rounding import round_digits
from qkv.theory.ring import MOST_SYMBOLS, OutOfRoom, Ring
from qkv.theory.symbols import Cells, Symbolic, shape_of

DRAWS = 300
RANGES = ((0, 1), (-1, 1), (-2, 3))  # small numbers first: a counterexample is to be read


@dataclass(frozen=True, slots=True)
class Equation:
    """left = right, for all values of the names in them; `label` says which case of a statement it is."""

    label: str
    left: n.Expr
    right: n.Expr


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Numbers for which an equation fails, and the first cell where it does (from 1)."""

    equation: Equation
    values: tuple[tuple[str, tuple[tuple[int, ...], ...]], ...]
    row: int
    column: int
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class Expansion:
    """One cell of an equation, worked out in symbols."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found: `holds` is True (proven), False (with a counterexample) or None (neither)."""

    holds: bool | None
    equations: int
    cells: int
    symbols: int
    expansions: tuple[Expansion, ...] = ()
    counterexample: Counterexample | None = None


def prove_all(equations: tuple[Equation, ...], sizes: Mapping[Symbol, Shape]) -> Verdict:
    """Prove every equation for symbolic matrices of the given sizes, or find numbers that refute one.

    >>> Q, K = n.Name(Symbol("Q")), n.Name(Symbol("K"))
    >>> same = Equation("", n.Transpose(n.Product(Q, K)), n.Product(n.Transpose(K), n.Transpose(Q)))
    >>> prove_all((same,), {Symbol("Q"): (2, 3), Symbol("K"): (3, 2)}).holds
    True
    """
    room = 64
    while True:
        try:
            return _prove(equations, sizes, Ring(room))
        except OutOfRoom:
            if room >= MOST_SYMBOLS:
                raise
            room *= 4


def _prove(equations: tuple[Equation, ...], sizes: Mapping[Symbol, Shape], ring: Ring) -> Verdict:
    algebra = Symbolic(ring)
    env = {symbol: algebra.matrix(_letter(symbol), *shape) for symbol, shape in sizes.items()}
    expansions: list[Expansion] = []
    cells, proven = 0, True
    for equation in equations:
        left, right = (evaluate(side, env, algebra) for side in (equation.left, equation.right))
        rows, columns = shape = shape_of(left)
        if shape != shape_of(right):
            raise ShapeError(
                f"{plain(equation.left)} is {say(shape)} and {plain(equation.right)} is {say(shape_of(right))}"
            )
        cells += rows * columns
        proven &= left == right
        expansions += _expansions(equation, left, ring)
    if proven:
        return Verdict(True, len(equations), cells, len(ring.labels), tuple(expansions))
    refuted = counterexample(equations, sizes)
    return Verdict(None if refuted is None else False, len(equations), cells, len(ring.labels), counterexample=refuted)


def _expansions(equation: Equation, left: Cells, ring: Ring) -> list[Expansion]:
    alone = shape_of(left) == (1, 1)
    return [
        Expansion(equation.label + ("" if alone else f" ({i},{j})"), ring.show(cell))
        for i, row in enumerate(left, 1)
        for j, cell in enumerate(row, 1)
    ]


def _letter(symbol: Symbol) -> str:
    """Cells are written with the small letter of their matrix: q_12, w_Q_12 → wQ_12."""
    base = symbol.base if len(symbol.base) > 1 else symbol.base.lower()
    return base + "".join((*symbol.labels, *symbol.indices)) + "'" * symbol.primes


def counterexample(equations: tuple[Equation, ...], sizes: Mapping[Symbol, Shape]) -> Counterexample | None:
    """Small whole numbers for which an equation provably fails, or None if none turned up."""
    draw = random.Random(0)
    for attempt in range(DRAWS):
        low, high = RANGES[attempt * len(RANGES) // DRAWS]
        values = {
            symbol: tuple(tuple(draw.randint(low, high) for _ in range(columns)) for _ in range(rows))
            for symbol, (rows, columns) in sizes.items()
        }
        for equation in equations:
            found = _difference(equation, values)
            if found:
                named = tuple((str(symbol), rows) for symbol, rows in values.items())
                return Counterexample(equation, named, *found)
    return None


def _difference(
    equation: Equation, values: Mapping[Symbol, tuple[tuple[int, ...], ...]]
) -> tuple[int, int, str, str] | None:
    """The first cell in which the two sides differ for these numbers, proven by disjoint enclosures."""
    algebra = Certified()
    with precision(START_BITS):
        env = {symbol: evaluate(n.matrix([list(row) for row in rows]), {}, algebra) for symbol, rows in values.items()}
        try:
            left, right = (evaluate(side, env, algebra) for side in (equation.left, equation.right))
        except QkvError:  # these numbers divide by zero or mask a whole row: they refute nothing
            return None
    return _first_difference(left, right)


def _first_difference(left: Value, right: Value) -> tuple[int, int, str, str] | None:
    for i, (a_row, b_row) in enumerate(zip(left.rows, right.rows, strict=True), 1):
        for j, (a, b) in enumerate(zip(a_row, b_row, strict=True), 1):
            if _apart(a, b):
                return i, j, _shown(a), _shown(b)
    return None


def _apart(a: Cell, b: Cell) -> bool:
    if a is NEG_INF or b is NEG_INF:
        return (a is NEG_INF) != (b is NEG_INF)
    (low_a, high_a), (low_b, high_b) = bounds(a), bounds(b)
    return bool(high_a < low_b or high_b < low_a)


def _shown(cell: Cell) -> str:
    return "−∞" if cell is NEG_INF else round_digits(cell, 6) or "0"
