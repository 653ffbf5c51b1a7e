"""A program: what is given, and the steps that lead from it to the answer, each an expression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from qkv.expr.names import Role, Symbol
from qkv.expr.nodes import Expr, Name, rewrite
from qkv.expr.show import symbol_plain


@dataclass(frozen=True, slots=True)
class Given:
    """A quantity that the problem states. `implied` marks one that follows from shapes (d_k) rather than from print,
    `rounded` one that is printed after ≈: its author may hold more digits."""

    symbol: Symbol
    expr: Expr
    role: Role
    spelled: str
    head: int | None = None
    line: int | None = None
    implied: bool = False
    rounded: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """A quantity and the expression that gives it."""

    symbol: Symbol
    expr: Expr
    role: Role
    spelled: str
    head: int | None = None
    line: int | None = None
    says: str = ""  # why this step, in words


@dataclass(frozen=True, slots=True)
class Part:
    """A quantity that answers a question: what it is called, and an expression in the names of the program."""

    name: str
    expr: Expr


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question asks for.

    label    its number as written: '(a)', '2.3'         says     the answer in words: 'love attends most to cats'
    text     the question, and its line                  assumed  what was assumed to work it out
    parts    quantities; none where there is no answer   missing  why there is no answer
    places   decimals that it wants                      lets     what to tell so that there is one: 'K = [1, 0; 0, 1]'
    digits   significant digits that it wants
    """

    label: str
    text: str
    line: int
    parts: tuple[Part, ...] = ()
    places: int | None = None
    says: str = ""
    assumed: tuple[str, ...] = ()
    missing: str = ""
    lets: tuple[str, ...] = ()
    digits: int | None = None


@dataclass(frozen=True)
class Program:
    """Givens and steps, in an order in which each uses only what stands before it, and the answers to questions."""

    kind: str
    givens: tuple[Given, ...]
    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()
    title: str = ""
    line: int = 1
    columns: bool = False  # tokens are columns (Q = W_Q X) rather than rows
    answers: tuple[Answer, ...] = ()

    def renamed(self, names: Mapping[Symbol, Symbol]) -> Program:
        """The program with other names for some of its quantities."""
        return replace(
            self,
            givens=tuple(_renamed(given, names) for given in self.givens),
            steps=tuple(_renamed(step, names) for step in self.steps),
        )

    @property
    def items(self) -> tuple[Given | Step, ...]:
        """Everything with a name, the latest definition first."""
        return (*reversed(self.steps), *self.givens)

    @cached_property
    def _by_symbol(self) -> dict[Symbol, Given | Step]:
        return {item.symbol: item for item in reversed(self.items)}

    def item(self, symbol: Symbol) -> Given | Step | None:
        """The given or step of a symbol, the latest one."""
        return self._by_symbol.get(symbol)

    def find(self, role: Role, head: int | None = None) -> Symbol | None:
        """The symbol that plays a role (of a head)."""
        for item in self.items:
            if item.role is role and item.head == head:
                return item.symbol
        return None


Item = TypeVar("Item", Given, Step)


def _renamed(item: Item, names: Mapping[Symbol, Symbol]) -> Item:
    expr = rewrite(
        item.expr, lambda node: Name(names.get(node.symbol, node.symbol)) if isinstance(node, Name) else node
    )
    symbol = names.get(item.symbol)
    if symbol is None:
        return replace(item, expr=expr)
    return replace(item, expr=expr, symbol=symbol, spelled=symbol_plain(symbol))
