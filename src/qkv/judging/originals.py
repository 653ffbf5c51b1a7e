"""Workings with what their numbers are copies of, written out as far as the page says where these come from."""

from __future__ import annotations

from collections.abc import Callable

from qkv.expr import nodes as n
from qkv.interpret.certified import Certified, Value
from qkv.judging.copies import Copies
from qkv.judging.seen import Copied, are_near, worth
from qkv.judging.units import is_in_units

DEEPEST = 5  # copies of copies without a name that are followed

ValueOf = Callable[[n.Expr], Value | None]


def meant(copies: Copies, expr: n.Expr, value_of: ValueOf, within: frozenset[int] = frozenset()) -> n.Expr:
    """A working with what its numbers are copies of in their places, as far as that has a value.

    `within` are the numbers that it stands for itself: no copy explains itself."""

    def change(node: n.Expr) -> n.Expr:
        copied = copies.copied(node) if id(node) not in within and len(within) < DEEPEST else None
        if copied is None:
            return node
        ways = (meant(copies, way, value_of, within | {id(node)}) for way in (copied.part, *copied.ways))
        return next((way for way in ways if _stands_for(copies, node, copied, value_of(way))), node)

    return n.rewrite(copies.written(expr), change)


def _stands_for(copies: Copies, numbers: n.Expr, copied: Copied, value: Value | None) -> bool:
    """Whether numbers put in stand for what has a value: it is near them, or they copy what is false."""
    typed = worth(numbers, {}, Certified())
    if typed is None or value is None or value.shape not in (typed.shape, typed.shape[::-1]):
        return False
    return copies.is_false(copied.claims) or are_near(value, typed) or is_in_units(value, typed)
