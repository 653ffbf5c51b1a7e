"""A program: what is given, and the steps that lead from it to the answer, each an expression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

from qkv.expr.names import Role, Symbol
from qkv.expr.nodes import Expr
from qkv.records import dataclass


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
class Program:
    """Givens and steps, in an order in which each uses only what stands before it."""

    kind: str
    givens: tuple[Given, ...]
    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()
    title: str = ""
    line: int = 1
    columns: bool = False  # tokens are columns (Q = W_Q X) rather than rows

    # What follows from these, asked for all the time: everything with a name, the latest definition first; the given or
    # step of each symbol, the latest one; and the same for one symbol, None where there is none.
    items: tuple[Given | Step, ...] = field(init=False, compare=False, repr=False)
    by_symbol: dict[Symbol, Given | Step] = field(init=False, compare=False, repr=False)
    item: Callable[[Symbol], Given | Step | None] = field(init=False, compare=False, repr=False)
    kept: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)  # results worked out once

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "items", (*reversed(self.steps), *self.givens))
        put(self, "by_symbol", {item.symbol: item for item in reversed(self.items)})
        put(self, "item", self.by_symbol.get)

    def find(self, role: Role, head: int | None = None) -> Symbol | None:
        """The symbol that plays a role (of a head)."""
        for item in self.items:
            if item.role is role and item.head == head:
                return item.symbol
        return None
