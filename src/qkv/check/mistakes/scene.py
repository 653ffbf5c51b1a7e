"""What a mistake is made in: a program, what a name in it plays, and the shapes of its expressions."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import field
from functools import partial
from typing import Any

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.fit import Shape
from qkv.interpret.loop import evaluated
from qkv.interpret.shapes import Shapes
from qkv.interpret.trace import Trace
from qkv.program.model import Given, Step
from qkv.records import dataclass

R = Role
# Quantities that an author may pass over although they were printed: scaled scores, the mask, the order of heads.
PASSED_OVER = frozenset({R.SCALED, R.MASKED, R.CONCAT})
DEPTH = 5  # from an output with nothing printed in between down to X and the weights


@dataclass(frozen=True)
class Scene:
    """A program, as the rules of the table see it."""

    trace: Trace
    _shapes: dict[int, tuple[n.Expr, Shape | None]] = field(default_factory=dict)  # with the node, so that its id stays

    def item(self, expr: n.Expr) -> Given | Step | None:
        """The given or step that a name stands for, seen through transposes and entries."""
        while isinstance(expr, (n.Transpose, n.Entry)):
            expr = expr.arg
        return self.trace.program.item(expr.symbol) if isinstance(expr, n.Name) else None

    def role(self, expr: n.Expr) -> Role | None:
        """What a name plays."""
        item = self.item(expr)
        return item.role if item else None

    def named(self, roles: Container[Role], head: int | None) -> Iterator[n.Name]:
        """The quantities of some roles in one head; what all heads share counts too."""
        for item in reversed(self.trace.program.items):
            if item.role in roles and item.head in (head, None):
                yield n.Name(item.symbol)

    def shape(self, expr: n.Expr) -> Shape | None:
        """The true shape of an expression, None where it has none."""
        if type(expr) is n.Name:
            return self.trace.shapes.get(expr.symbol)
        if id(expr) not in self._shapes:
            self._shapes[id(expr)] = expr, evaluated(expr, self.trace.shapes, Shapes())
        return self._shapes[id(expr)][1]

    def size(self, role: Role, head: int | None) -> int | None:
        """How many numbers a token has in a quantity."""
        name = next(self.named((role,), head), None)
        shape = self.shape(name) if name else None
        return None if shape is None else shape[0 if self.trace.program.columns else 1]


Variants = Iterator[tuple[n.Expr, str]]  # what might stand in the place of a node, with a detail for the sentence


@dataclass(frozen=True, slots=True)
class Rule:
    """What may happen to a node of some kinds."""

    kinds: tuple[type[n.Node], ...]
    change: Callable[[Any, Scene], Variants]


def on(*kinds: type[n.Node]) -> Callable[[Callable[[Any, Scene], Variants]], Rule]:
    """A rule for nodes of these kinds: it is shown no others."""
    return partial(Rule, kinds)


def levels(scene: Scene, target: n.Expr, printed: Container[Symbol]) -> Iterator[tuple[n.Expr, ...]]:
    """The target written out: first by its own step (with the mask, which belongs to the softmax), then through steps
    that were not printed or may be passed over."""
    item = scene.item(target)
    symbol = item.symbol if isinstance(item, Step) else None
    expr = _opened(target, lambda s: s == symbol, scene)
    unmasked = _opened(expr, lambda s: _role(s, scene) is R.MASKED, scene)
    yield (expr,) if unmasked == expr else (expr, unmasked)
    for _ in range(DEPTH):
        deeper = _opened(expr, lambda s: _may_open(s, scene, printed), scene)
        if deeper == expr:
            return
        yield (deeper,)
        expr = deeper


def _role(symbol: Symbol, scene: Scene) -> Role | None:
    item = scene.trace.program.item(symbol)
    return item.role if item else None


def _may_open(symbol: Symbol, scene: Scene, printed: Container[Symbol]) -> bool:
    item = scene.trace.program.item(symbol)
    return isinstance(item, Step) and (symbol not in printed or item.role in PASSED_OVER)


def _opened(expr: n.Expr, which: object, scene: Scene) -> n.Expr:
    def change(part: n.Expr) -> n.Expr:
        if isinstance(part, n.Name) and which(part.symbol):  # type: ignore[operator]
            item = scene.trace.program.item(part.symbol)
            return item.expr if isinstance(item, Step) else part
        return part

    return n.rewrite(expr, change)
