"""A program as the scene of a mistake: practice sheets have mistakes planted by the same table that finds them."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field

from qkv.check.mistakes.scene import Scene, Thing
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.certified import Value
from qkv.interpret.fit import Shape
from qkv.interpret.loop import evaluated
from qkv.interpret.shapes import Shapes
from qkv.interpret.trace import Trace
from qkv.program.model import Given, Step


@dataclass(frozen=True)
class ProgramScene(Scene):
    """A program with its trace, as the rules of the table see it."""

    trace: Trace
    _shapes: dict[int, tuple[n.Expr, Shape | None]] = field(default_factory=dict)  # with the node, so that its id stays

    def named(self, symbol: Symbol) -> Thing | None:
        item = self.trace.program.item(symbol)
        return _thing(item) if item is not None else None

    def things(self, roles: Container[Role], like: Thing) -> Iterator[Thing]:
        return (_thing(item) for item in reversed(self.trace.program.items) if item.role in roles)

    def shape(self, expr: n.Expr) -> Shape | None:
        if type(expr) is n.Name:
            return self.trace.shapes.get(expr.symbol)
        if id(expr) not in self._shapes:
            self._shapes[id(expr)] = expr, evaluated(expr, self.trace.shapes, Shapes())
        return self._shapes[id(expr)][1]

    def value(self, expr: n.Expr) -> Value | None:
        try:
            return self.trace.evaluate(expr)
        except QkvError:
            return None

    def size(self, role: Role, head: str | None) -> int | None:
        items = (item for item in reversed(self.trace.program.items) if item.role is role)
        item = next((item for item in items if item.head is None or str(item.head) == head), None)
        shape = self.shape(n.Name(item.symbol)) if item else None
        return None if shape is None else shape[0 if self.trace.program.columns else 1]

    def formula(self, symbol: Symbol) -> n.Expr | None:
        item = self.trace.program.item(symbol)
        return item.expr if isinstance(item, Step) else None


def _thing(item: Given | Step) -> Thing:
    return Thing(n.Name(item.symbol), item.role, None if item.head is None else str(item.head), item.spelled)
