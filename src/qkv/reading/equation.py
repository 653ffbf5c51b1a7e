"""Equations as data: chains of names, formulas, workings and printed values that a page says are equal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.reader.model import Origin, Relation


class Kind(Enum):
    """What stands between two relations."""

    NAME = "a bare name"
    FORMULA = "mentions names"
    WORKING = "arithmetic in numbers"
    VALUE = "printed numbers"


class Item(NamedTuple):
    """One side of an equation; `options` are its other readings."""

    kind: Kind
    expr: n.Expr
    relation: Relation
    line: int
    column: int
    text: str = ""
    struck: bool = False
    options: tuple[n.Expr, ...] = ()
    repair: str = ""  # how it was read where it is damaged
    units: tuple[int, ...] = ()  # what the unit behind it may multiply it with: 5.24 G

    @property
    def approximate(self) -> bool:
        """Whether it follows ≈, so that trailing zeros need not be digits."""
        return self.relation is Relation.APPROX


@dataclass(frozen=True, slots=True)
class Equation:
    """Things that a page says are equal, with the words around them.

    label    the words right before it on its line            words   those, and what stands above it
    scope    which problem of the page it belongs to          next    it follows an arrow: the step after the one before
    rows     the words that label the rows of its array       columns those above its columns
    told     a person told it beside the page: it outranks what the page says of its name
    """

    index: int
    items: tuple[Item, ...]
    line: int
    end_line: int
    column: int
    text: str
    label: str = ""
    words: str = ""
    after: str = ""
    part: int = 0
    scope: int = 0
    origin: Origin = Origin.PLAIN
    struck: bool = False
    next: bool = False
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    told: bool = False

    @property
    def names(self) -> tuple[Symbol, ...]:
        """The bare names on its sides."""
        return tuple(item.expr.symbol for item in self.items if isinstance(item.expr, n.Name))

    def of(self, *kinds: Kind) -> tuple[Item, ...]:
        """Its sides of some kinds."""
        return tuple(item for item in self.items if item.kind in kinds)


def kind_of(expr: n.Expr) -> Kind:
    """What an expression is on a page."""
    if isinstance(expr, n.Name):
        return Kind.NAME
    if is_printed(expr):
        return Kind.VALUE
    return Kind.WORKING if n.is_literal(expr) else Kind.FORMULA


def is_rule_of_thumb(item: Item) -> bool:
    """Whether an item says how large something is about, by a number of somebody's: d_ff ≈ 8/3 d_model."""
    return item.approximate and item.kind is Kind.FORMULA and n.holds(item.expr, n.Number)


def is_printed(expr: n.Expr) -> bool:
    """Whether numbers stand there as people print a result: decimals, or a matrix of decimals, fractions and roots."""
    if isinstance(expr, n.Negate):
        return is_printed(expr.arg)
    if isinstance(expr, n.Matrix):
        cells = [cell for row in expr.rows for cell in row]
        return bool(cells) and not expr.is_ragged and all(is_printed(c) or _is_exact(c) for c in cells)
    return isinstance(expr, (n.Number, n.Infinite))


def _is_exact(expr: n.Expr) -> bool:
    """A fraction, a root or a power of whole numbers, written as one."""
    if not n.is_literal(expr) or n.holds(expr, n.Matrix):
        return False
    kinds = n.kinds_in(expr) - {n.Number, n.Quotient, n.Root, n.Negate, n.Exp, n.Infinite}
    return not kinds and not any(isinstance(x, n.Number) and x.places for x in n.walk(expr))


def settled(items: list[Item]) -> tuple[Item, ...]:
    """Arithmetic that nothing follows is itself what is shown: 'w = 1/3', 'q · k = 2·1 + 0·3'."""
    if len(items) > 2 and items[-1].kind is Kind.VALUE:
        items = [item for item in items if not _lists_parts(item.expr, items[0].expr)]
    if len(items) > 2 and items[-1].kind is Kind.NAME and items[-1].approximate and items[-2].kind is Kind.FORMULA:
        items = [*items[:-2], items[-1]]  # Y = LayerNorm(X) ≈ X: that is what its author goes on with
    last = items[-1]
    shows = last.kind is Kind.WORKING and not n.holds(last.expr, n.Matrix) and (len(items) > 1 or _is_exact(last.expr))
    if shows and all(item.kind is not Kind.VALUE for item in items):
        items = [*items[:-1], last._replace(kind=Kind.VALUE)]
    return tuple(items)


def _lists_parts(expr: n.Expr, whole: n.Expr) -> bool:
    """Whether an expression only lists the parts of a name: the [z_1, z_2, z_3] of z = [z_1, z_2, z_3] = [2, 1, 0]."""
    if not isinstance(expr, n.Matrix) or not isinstance(whole, n.Name):
        return False
    cells = [cell for row in expr.rows for cell in row]
    base = whole.symbol.base.lower()
    return all(isinstance(c, n.Name) and c.symbol.indices and c.symbol.base.lower() == base for c in cells)


def wholes(rows: Iterable[Symbol]) -> Iterator[Symbol]:
    """What names with a number may be rows of: X of x_1, Lambda of lambda_1."""
    for row in rows:
        if row.indices and row.indices[-1].isdecimal() and not row.base[:1].isupper():
            yield row._replace(base=row.base[:1].upper() + row.base[1:], indices=row.indices[:-1])
