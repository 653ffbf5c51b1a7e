"""Certified arithmetic that remembers: the same operation on the same values is done once.

The readings of a page that compete, and what known mistakes would give, share most of their values. Operands are told
apart by identity, so the memory keeps them alive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qkv.expr import nodes as n
from qkv.expr.functions import Function
from qkv.interpret.certified import Certified, Value

MOST = 20_000  # results that are kept; then all of them are forgotten

Memory = dict[tuple[object, ...], tuple[tuple[object, ...], Value]]  # an operation and its operands → these, the result


def _key(operand: object) -> object:
    """What tells an operand from others: a value by its identity, an entry by what it picks, all else by itself."""
    if isinstance(operand, Value):
        return id(operand)
    if isinstance(operand, list):
        return tuple(map(_key, operand))
    return (operand.row, operand.column, operand.columns) if isinstance(operand, n.Entry) else operand


def _once(name: str) -> Callable[..., Value]:
    """An operation that looks into the memory first."""
    return lambda self, *operands: self.kept((name, *map(_key, operands)), name, *operands)


class Remembering(Certified):
    """An algebra of certified matrices with a memory, which others may share."""

    memory: Memory

    def __init__(self, memory: Memory | None = None) -> None:
        self.memory = {} if memory is None else memory

    def kept(self, key: tuple[object, ...], name: str, *operands: Any) -> Value:
        """What an operation gives, worked out where it is not remembered."""
        known = self.memory.get(key)
        if known is None:
            value = getattr(super(), name)(*operands)
            if len(self.memory) >= MOST:
                self.memory.clear()
            known = self.memory[key] = operands, value
        return known[1]

    def number(self, node: n.Number) -> Value:
        key = type(self), node.value.numerator, node.value.denominator, node.places, node.text
        return self.kept(key, "number", node)

    def table(self, matrix: n.Matrix) -> Value:
        return self.kept((type(self), id(matrix)), "table", matrix)

    def apply(self, function: Function, args: list[Value]) -> Value:
        return self.kept((function.key, *map(id, args)), "apply", function, args)

    stack, concat, entry, mask = map(_once, ("stack", "concat", "entry", "mask"))
    add, negate, multiply, divide, power = map(_once, ("add", "negate", "multiply", "divide", "power"))
    root, absolute, exp, transpose = map(_once, ("root", "absolute", "exp", "transpose"))
    softmax, normalise = map(_once, ("softmax", "normalise"))
