"""A program: what is given, and the steps that lead from it to the answer, each an expression."""

from __future__ import annotations

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

    kept: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)  # results worked out once

    @property
    def items(self) -> tuple[Given | Step, ...]:
        """Everything with a name, the latest definition first."""
        if "items" not in self.kept:
            self.kept["items"] = (*reversed(self.steps), *self.givens)
        items: tuple[Given | Step, ...] = self.kept["items"]
        return items

    def find(self, role: Role, head: int | None = None) -> Symbol | None:
        """The symbol that plays a role (of a head)."""
        return next((item.symbol for item in self.items if item.role is role and item.head == head), None)

    @property
    def by_symbol(self) -> dict[Symbol, Given | Step]:
        """The given or step of each symbol, the latest one."""
        if "by symbol" not in self.kept:
            self.kept["by symbol"] = {item.symbol: item for item in reversed(self.items)}
        found: dict[Symbol, Given | Step] = self.kept["by symbol"]
        return found

    def item(self, symbol: Symbol) -> Given | Step | None:
        """The given or step of a symbol."""
        found: Given | Step | None = (self.kept.get("by symbol") or self.by_symbol).get(symbol)
        return found
