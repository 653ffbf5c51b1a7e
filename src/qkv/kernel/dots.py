"""Dot products of one query with as many keys as a register has lanes: the sums of all of them end in one register."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from qkv.kernel.emit import (
    AHEAD,
    I32,
    I64,
    constant,
    fetch_ahead,
    intrinsic,
    lanes_of,
    multiply_add,
    read,
    read_part,
    write,
)
from qkv.kernel.jit import compiled
from qkv.kernel.vectors import lane_count, size_of

COLUMNS = 4  # registers of columns at once: keys are read in the order of their addresses, as processors foresee it


def _number(value: int) -> ir.Constant:
    return ir.Constant(I64, value)


def _fold_rows(builder: Any, rows: list[Any], lanes: int) -> Any:
    """Register i's total into lane i: exchange halves between pairs of registers and add, until one is left."""
    kind = ir.VectorType(I32, lanes)
    span = lanes // 2
    while span:
        upper = ir.Constant(kind, [i if i & span == 0 else lanes + i - span for i in range(lanes)])
        lower = ir.Constant(kind, [i + span if i & span == 0 else lanes + i for i in range(lanes)])
        rows = [
            builder.fadd(
                builder.shuffle_vector(rows[i], rows[i + span], upper),
                builder.shuffle_vector(rows[i], rows[i + span], lower),
            )
            for i in range(span)
        ]
        span //= 2
    return rows[0]


def _add_columns(
    builder: Any, one: Any, q: Any, keys: list[Any], further: Any, column: Any, sums: list[Any], registers: int
) -> list[Any]:
    """Add the products over some registers of columns to each key's sum; keys so many bytes further are asked for."""
    width = one.bitwidth // 8 * lanes_of(one)
    columns = [builder.add(column, _number(i * width)) for i in range(registers)]
    query = [read(builder, one, builder.add(q, at)) for at in columns]
    result = []
    for key, before in zip(keys, sums, strict=True):
        after = before
        for at, x in zip(columns, query, strict=True):
            after = multiply_add(builder, one, read(builder, one, builder.add(key, at)), x, after)
        result.append(after)
    if further is not None:
        for key in keys:
            for at in columns:
                fetch_ahead(builder, builder.add(key, builder.add(at, further)))
    return result


def _sum_columns(
    builder: Any, one: Any, q: Any, keys: list[Any], further: Any, start: Any, stop: Any, sums: list[Any],
    registers: int,
) -> tuple[Any, list[Any]]:  # fmt: skip
    """Go over the columns, so many registers at a time while they fit; the offset where that ends, and the sums."""
    step = registers * lanes_of(one) * one.bitwidth // 8
    entry = builder.block
    head, loop, after = (builder.append_basic_block(n) for n in ("head", "loop", "after"))
    builder.branch(head)
    builder.position_at_end(head)
    column, *state = (builder.phi(value.type) for value in (start, *sums))
    end = builder.add(column, _number(step))
    builder.cbranch(builder.icmp_signed("<=", end, stop), loop, after)
    builder.position_at_end(loop)
    new = _add_columns(builder, one, q, keys, further, column, state, registers)
    builder.branch(head)
    for phi, first, value in zip((column, *state), (start, *sums), (end, *new), strict=True):
        phi.add_incoming(first, entry)
        phi.add_incoming(value, loop)
    builder.position_at_end(after)
    return column, state


def _dots_of_lanes(*, streams: bool) -> Any:
    """Scores of one query against `lanes` keys; keys past the last one repeat it, nothing past d is read."""

    @intrinsic
    def dot_lanes(typing: Any, q: Any, k: Any, step: Any, keys: Any, d: Any, target: Any, one: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            q_, k_, step_, keys_, d_, target_, _ = arguments
            lanes, size = lanes_of(one), one.bitwidth // 8
            last = builder.sub(keys_, _number(1))
            row = [builder.select(builder.icmp_signed("<", _number(i), last), _number(i), last) for i in range(lanes)]
            at = [builder.add(k_, builder.mul(index, step_)) for index in row]
            stop = builder.mul(d_, _number(size))
            further = builder.mul(step_, _number(AHEAD)) if streams else None
            left = builder.and_(d_, _number(lanes - 1))
            zero = constant(one, 0.0)
            column, sums = _number(0), [zero] * lanes
            for registers in (COLUMNS, 1):
                column, sums = _sum_columns(builder, one, q_, at, further, column, stop, sums, registers)
            tail = builder.block
            rest, done = (builder.append_basic_block(n) for n in ("rest", "done"))
            builder.cbranch(builder.icmp_signed("==", left, _number(0)), done, rest)
            builder.position_at_end(rest)
            x = read(builder, one, builder.add(q_, column))
            more = [
                multiply_add(builder, one, read_part(builder, one, builder.add(a, column), left), x, s)
                for a, s in zip(at, sums, strict=True)
            ]
            builder.branch(done)
            builder.position_at_end(done)
            final = []
            for s, m in zip(sums, more, strict=True):
                phi = builder.phi(zero.type)
                phi.add_incoming(s, tail)
                phi.add_incoming(m, rest)
                final.append(phi)
            write(builder, one, _fold_rows(builder, final, lanes), target_)
            return context.get_dummy_value()

        return types.void(*[types.int64] * 6, one), code

    return dot_lanes


_dot_lanes, _dot_lanes_ahead = _dots_of_lanes(streams=False), _dots_of_lanes(streams=True)


@compiled
def dots(q: int, k: int, step: int, keys: int, d: int, scores: int, fresh: bool, one: float) -> None:
    """Scores of one query against keys `step` bytes apart; q is padded with zeros, scores has whole registers.

    Keys that nobody has looked at yet are `fresh`.
    """
    lanes = lane_count(one)
    for key in range(0, keys, lanes):
        at, target = k + key * step, scores + key * size_of(one)
        if fresh:
            _dot_lanes_ahead(q, at, step, keys - key, d, target, one)
        else:
            _dot_lanes(q, at, step, keys - key, d, target, one)
