"""What an author has printed so far on a page: the numbers that later lines may go on from."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from qkv.check.cells import Loose
from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.interpret.certified import Certified, Value, same
from qkv.interpret.loop import evaluate
from qkv.reading.page import Spot
from qkv.reading.remembering import Memory, Remembering

PRINTED = "¶="  # the base of a symbol for a formula that was printed with a value


class Print(NamedTuple):
    """A value as its author printed it.

    held     what the author may go on with            mended  the same with its false cells put right
    true     what it should have been, if known        meant   the same with the slips made right here undone
    claim    the number of the claim that judged it
    """

    held: Value
    true: Value | None
    claim: int | None
    spot: Spot
    mended: Value | None = None
    meant: Value | None = None


class Mending(Enum):
    """What is put right in the author's numbers: nothing, what was only written down wrongly, or all that is false."""

    NOTHING, TYPOS, ALL = range(3)


class _Own(Remembering, Loose):
    """The author's arithmetic: decimals as printed, and roots as the author printed them (√2 ≈ 1.414)."""

    def __init__(self, memory: Memory | None = None) -> None:
        Loose.__init__(self)
        Remembering.__init__(self, memory)
        self.roots: list[tuple[Value, Value]] = []  # true ones, and what the author goes on with

    def root(self, a: Value) -> Value:
        made = super().root(a)
        return next((held for true, held in self.roots if a.shape == (1, 1) and same(true, made)), made)


Key = tuple[Symbol, int, int]  # a name, the scope and the epoch in which it is looked up


Known = dict[Key, tuple[Value | None, frozenset[int]]]  # what it is worth, and the claims that this comes from


@dataclass
class Prints:
    """What an author has printed so far on a page, by name and by formula; the walk over the page adds to it."""

    names: dict[Symbol, Print] = field(default_factory=dict)
    cells: dict[Symbol, dict[tuple[int, int], Print]] = field(default_factory=dict)  # of what plays a role
    formulas: dict[n.Expr, Symbol] = field(default_factory=dict)
    mending: Mending | int = Mending.NOTHING  # a number: the claim that was only written down wrongly
    algebra: _Own = field(default_factory=_Own)
    kinds: set[type] = field(default_factory=set)  # of the formulas
    known: defaultdict[Mending | int, Known] = field(default_factory=lambda: defaultdict(dict))  # what names are worth

    def add(self, symbol: Symbol, printed: Print) -> None:
        """Note the value that was printed for a name."""
        self.names[symbol] = printed
        self.known.clear()

    def add_cell(self, symbol: Symbol, i: int, j: int, printed: Print) -> None:
        """Note a number that was printed for one cell, counted from 1, of what plays a role."""
        self.cells.setdefault(symbol, {})[i, j] = printed
        self.known.clear()

    def add_formula(self, expr: n.Expr, printed: Print) -> Symbol:
        """Note the value that was printed for a formula; what uses the formula later may go on from it."""
        symbol = self.formulas.setdefault(expr, Symbol(PRINTED, (), (str(len(self.formulas)),)))
        true = evaluate(expr, {}, Certified()) if isinstance(expr, n.Root) and n.is_literal(expr) else printed.true
        if isinstance(expr, n.Root) and true is not None and true.shape == (1, 1):
            self.algebra.roots.append((true, printed.held))
        self.kinds.add(type(expr))
        self.add(symbol, printed)
        return symbol

    def value(self, printed: Print) -> Value:
        """What the author goes on with."""
        put_right = printed.mended if self.mending is Mending.ALL else None
        if self.mending in (Mending.TYPOS, printed.claim):
            put_right = printed.meant
        return put_right if put_right is not None else printed.held
