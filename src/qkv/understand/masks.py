"""Masks that are given as a list of keys or said in words, as the matrix of who may see whom."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.expr.show import symbol_plain
from qkv.program.model import Given
from qkv.program.spec import Key, default_symbol
from qkv.records import dataclass, replace
from qkv.understand.gathering import Gathering
from qkv.understand.words import Rule

R = Role
Shape = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Mask:
    """A mask of the scores' shape; `truth` says that it holds 1 and 0, not what is added."""

    given: Given
    truth: bool
    note: str = ""


def mask_of(found: Gathering, shapes: dict[Key, Shape]) -> Mask | None:
    """The mask of a problem: as printed, spread over the queries where it is one list of keys, or as the words say."""
    size = score_shape(shapes)
    given = found.givens.get((R.MASK, None))
    if given is not None and isinstance(given.expr, n.Matrix):
        return _printed(found, given, given.expr, size)
    if size is None or not found.rules:
        return None
    return said_mask(found.rules, size, causal=found.causal and found.hides_future)


def said_mask(rules: Sequence[Rule], size: Shape, *, causal: bool) -> Mask | None:
    """The matrix that rules in words make."""
    fitting = [rule for rule in rules if _fits(rule, size)]
    if not fitting:
        return None
    symbol = default_symbol(R.MASK)
    biased = next((rule.bias for rule in fitting if rule.bias is not None), None)
    seen = [[_sees(i, j, size, fitting, causal) for j in range(size[1])] for i in range(size[0])]
    rows: tuple[tuple[n.Expr, ...], ...] = tuple(
        tuple(_shown(ok, biased, i, j, size) for j, ok in enumerate(row)) for i, row in enumerate(seen)
    )
    words = "; ".join(dict.fromkeys(rule.words for rule in fitting))
    note = f"The mask {symbol_plain(symbol)} follows from the words: “{words[:200]}”"
    given = Given(symbol, n.Matrix(rows), R.MASK, symbol_plain(symbol), implied=True)
    return Mask(given, biased is None, note)


def score_shape(shapes: dict[Key, Shape]) -> Shape | None:
    """How many queries and keys there are, from whatever has one row for each."""

    def rows(*roles: Role) -> int | None:
        held = (shape for role in roles for (other, _), shape in shapes.items() if other is role)
        return next((shape[0] for shape in held), None)

    scores = next((shape for (role, _), shape in shapes.items() if role in (R.SCORES, R.SCALED)), None)
    if scores is not None:
        return scores
    queries, keys = rows(R.Q, R.X), rows(R.K, R.Y, R.X)
    return (queries, keys) if queries is not None and keys is not None else None


def _fits(rule: Rule, size: Shape) -> bool:
    keys = size[1]
    padded = all(-keys <= key <= keys and key for key in rule.padded) and len(rule.padded) < keys
    return padded and (rule.prefix or 0) <= keys


def _sees(i: int, j: int, size: Shape, rules: Sequence[Rule], causal: bool) -> bool:
    """Whether query i may see key j; queries sit at the last keys."""
    here = i + max(size[1] - size[0], 0)
    causal = causal or any(rule.bias is not None for rule in rules)
    for rule in rules:
        if j + 1 in rule.padded or j - size[1] in rule.padded:
            return False
        if rule.window is not None and abs(here - j) > rule.window:
            return False
        if rule.behind is not None and not 0 <= here - j < rule.behind:
            return False
    open_to_all = any(rule.prefix is not None and j < rule.prefix for rule in rules)
    after = causal or any(rule.prefix is not None for rule in rules)
    return open_to_all or not after or j <= here


def _shown(ok: bool, slope: Fraction | None, i: int, j: int, size: Shape) -> n.Expr:
    """One cell: 1 or 0, or what is added."""
    if slope is None:
        return n.number(int(ok))
    return _bias(slope, i, j, size) if ok else n.Infinite(-1)


def _bias(slope: Fraction, i: int, j: int, size: Shape) -> n.Number:
    here = i + max(size[1] - size[0], 0)
    return n.number(-slope * abs(here - j))


def _printed(found: Gathering, given: Given, matrix: n.Matrix, size: Shape | None) -> Mask | None:
    if matrix.is_ragged:
        return None
    cells = [cell for row in matrix.rows for cell in row]
    ones = (
        all(isinstance(cell, n.Number) and cell.value in (0, 1) for cell in cells) and len({*map(_value, cells)}) == 2
    )
    added = given.symbol in found.added
    truth = found.mask_truth or (ones and not added)
    rows = matrix.rows
    note = ""
    if size is not None and matrix.shape != size and size[1] in matrix.shape and min(matrix.shape) == 1:
        rows = (tuple(cells),) * size[0]
        note = f"{given.spelled} says for each key whether it may be seen; every query has the same."
    if truth and not found.mask_truth and _forbids(rows, found):
        rows = tuple(tuple(n.number(1 - int(_value(cell) or 0)) for cell in row) for row in rows)
        note = f"A 1 in {given.spelled} marks a key that may not be seen."
    if rows is matrix.rows and not truth:
        return None
    if found.causal and found.hides_future and truth and len(rows) > 1:
        offset = max(len(rows[0]) - len(rows), 0)
        rows = tuple(
            tuple(cell if j <= i + offset else n.number(0) for j, cell in enumerate(row)) for i, row in enumerate(rows)
        )
    return Mask(replace(given, expr=n.Matrix(rows, at=matrix.at)), truth, note)


def _value(cell: n.Expr) -> Fraction | None:
    return cell.value if isinstance(cell, n.Number) else None


def _forbids(rows: tuple[tuple[n.Expr, ...], ...], found: Gathering) -> bool:
    """Whether 1 stands for 'forbidden': it is said, or no query could see itself."""
    square = len(rows) > 1 and len(rows) == len(rows[0]) and rows[0] is not rows[-1]
    return found.ones_forbid or (square and all(_value(rows[i][i]) == 0 for i in range(len(rows))))
