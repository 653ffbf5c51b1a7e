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


class Remembering(Certified):
    """An algebra of certified matrices with a memory, which others may share."""

    memory: Memory

    def __init__(self, memory: Memory | None = None) -> None:
        self.memory = {} if memory is None else memory

    def _once(self, work: Callable[..., Value], key: tuple[object, ...], *operands: Any) -> Value:
        known = self.memory.get(key)
        if known is None:
            value = work(*operands)
            if len(self.memory) >= MOST:
                self.memory.clear()
            known = self.memory[key] = operands, value
        return known[1]

    def number(self, node: n.Number) -> Value:
        key = type(self), node.value.numerator, node.value.denominator, node.places, node.text
        return self._once(super().number, key, node)

    def table(self, matrix: n.Matrix) -> Value:
        return self._once(super().table, (type(self), id(matrix)), matrix)

    def stack(self, rows: list[list[Value]]) -> Value:
        return self._once(super().stack, ("stack", *(tuple(map(id, row)) for row in rows)), rows)

    def add(self, a: Value, b: Value) -> Value:
        return self._once(super().add, ("add", id(a), id(b)), a, b)

    def negate(self, a: Value) -> Value:
        return self._once(super().negate, ("negate", id(a)), a)

    def multiply(self, a: Value, b: Value) -> Value:
        return self._once(super().multiply, ("multiply", id(a), id(b)), a, b)

    def divide(self, a: Value, b: Value) -> Value:
        return self._once(super().divide, ("divide", id(a), id(b)), a, b)

    def power(self, a: Value, b: Value) -> Value:
        return self._once(super().power, ("power", id(a), id(b)), a, b)

    def root(self, a: Value) -> Value:
        return self._once(super().root, ("root", id(a)), a)

    def absolute(self, a: Value) -> Value:
        return self._once(super().absolute, ("absolute", id(a)), a)

    def exp(self, a: Value) -> Value:
        return self._once(super().exp, ("exp", id(a)), a)

    def tanh(self, a: Value) -> Value:
        return self._once(super().tanh, ("tanh", id(a)), a)

    def transpose(self, a: Value) -> Value:
        return self._once(super().transpose, ("transpose", id(a)), a)

    def softmax(self, a: Value, axis: int | None) -> Value:
        return self._once(super().softmax, ("softmax", id(a), axis), a, axis)

    def normalise(self, a: Value, axis: int | None) -> Value:
        return self._once(super().normalise, ("normalise", id(a), axis), a, axis)

    def concat(self, parts: list[Value], axis: int) -> Value:
        return self._once(super().concat, ("concat", axis, *map(id, parts)), parts, axis)

    def mask(self, a: Value, pattern: Value | None, truth: bool) -> Value:
        return self._once(super().mask, ("mask", id(a), id(pattern), truth), a, pattern, truth)

    def entry(self, a: Value, node: n.Entry) -> Value:
        return self._once(super().entry, ("entry", id(a), node.row, node.column, node.columns), a, node)

    def apply(self, function: Function, args: list[Value]) -> Value:
        return self._once(super().apply, (function.key, *map(id, args)), function, args)
