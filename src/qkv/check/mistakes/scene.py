"""What a mistake is made in: the names around it with what they stand for, the shapes, and how each name comes about.

A Scene is what the rules of the table see. There are two: a program (program.py here, for practice sheets) and a page
(judging/scene.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Iterator
from typing import NamedTuple

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.certified import Value
from qkv.interpret.fit import Shape

R = Role
# Quantities that an author may pass over although they were printed: scaled scores, the mask, the order of heads, what
# tokens are added to.
PASSED_OVER = frozenset({R.SCALED, R.MASKED, R.CONCAT, R.OUTPUT})
DEPTH = 5  # from an output with nothing printed in between down to X and the weights


class Thing(NamedTuple):
    """A quantity: its name, the role that it plays in a head (None: in all of them), and what its author calls it."""

    expr: n.Expr
    role: Role
    head: str | None
    spelled: str


class Scene(ABC):
    """The quantities around a mistake."""

    @abstractmethod
    def named(self, symbol: Symbol) -> Thing | None:
        """The quantity that a name stands for."""

    @abstractmethod
    def things(self, roles: Container[Role], like: Thing) -> Iterator[Thing]:
        """The quantities of some roles in any head; if `like` is one row of something, the same row of each."""

    def alike(self, name: n.Name) -> Iterator[tuple[n.Expr, str]]:
        """What may be taken for a name where no role says it, with what it is called; nothing in a program."""
        return iter(())

    def sizes(self) -> Iterable[int]:
        """The numbers of rows and columns of what is around, whatever it is; nothing in a program."""
        return ()

    @abstractmethod
    def shape(self, expr: n.Expr) -> Shape | None:
        """The true shape of an expression, None where it has none."""

    @abstractmethod
    def value(self, expr: n.Expr) -> Value | None:
        """The true value of an expression, None where it has none."""

    @abstractmethod
    def size(self, role: Role, head: str | None) -> int | None:
        """How many numbers a token has in a quantity."""

    @abstractmethod
    def formula(self, symbol: Symbol) -> n.Expr | None:
        """The expression that works a name out; None for what is given."""

    def written_out(self, expr: n.Expr) -> n.Expr:
        """An expression with functions that are defined by an equation, LayerNorm(x) say, replaced by it."""
        return expr

    def thing(self, expr: n.Expr) -> Thing | None:
        """The quantity that a name stands for, seen through transposes and entries."""
        while isinstance(expr, (n.Transpose, n.Entry)):
            expr = expr.arg
        return self.named(expr.symbol) if isinstance(expr, n.Name) else None

    def role(self, expr: n.Expr) -> Role | None:
        """What a name plays."""
        thing = self.thing(expr)
        return thing.role if thing else None


Variants = Iterator[tuple[n.Expr, str]]  # what might stand in the place of a node, with a detail for the sentence


def levels(scene: Scene, target: n.Expr, printed: Container[Symbol]) -> Iterator[tuple[n.Expr, ...]]:
    """The target written out: first by its own step (with the mask, which belongs to the softmax), then through steps
    that were not printed or may be passed over."""
    whole = target
    while isinstance(whole, (n.Transpose, n.Entry)):
        whole = whole.arg
    own = whole.symbol if isinstance(whole, n.Name) else None
    expr = _opened(target, lambda s: s == own, scene)
    unmasked = _opened(expr, lambda s: _role(s, scene) is R.MASKED, scene)
    yield (expr,) if unmasked == expr else (expr, unmasked)
    for _ in range(DEPTH):
        deeper = _opened(expr, lambda s: s not in printed or _role(s, scene) in PASSED_OVER, scene)
        if deeper == expr:
            return
        yield (deeper,)
        expr = deeper


def _role(symbol: Symbol, scene: Scene) -> Role | None:
    thing = scene.named(symbol)
    return thing.role if thing else None


def _opened(expr: n.Expr, which: Callable[[Symbol], bool], scene: Scene) -> n.Expr:
    """An expression with some of its names replaced by what works them out."""

    def change(part: n.Expr) -> n.Expr:
        if isinstance(part, n.Name) and which(part.symbol):
            return scene.formula(part.symbol) or part
        return part

    return scene.written_out(n.rewrite(expr, change))
