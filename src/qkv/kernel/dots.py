"""Dot products of one query with as many keys as a register has lanes: the sums of all of them end in one register."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from qkv.kernel.emit import I32, I64, constant, intrinsic, lanes_of, multiply_add, read, read_part, write
from qkv.kernel.jit import compiled
from qkv.kernel.vectors import lane_count, size_of


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


@intrinsic
def _dot_lanes(typing: Any, q: Any, k: Any, step: Any, keys: Any, d: Any, target: Any, one: Any) -> Any:
    """Scores of one query against `lanes` keys; keys past the last one repeat it, nothing past d is read."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        q_, k_, step_, keys_, d_, target_, _ = arguments
        lanes, size = lanes_of(one), one.bitwidth // 8
        last = builder.sub(keys_, _number(1))
        row = [builder.select(builder.icmp_signed("<", _number(i), last), _number(i), last) for i in range(lanes)]
        at = [builder.add(k_, builder.mul(index, step_)) for index in row]
        whole = builder.mul(builder.and_(d_, _number(-lanes)), _number(size))
        left = builder.and_(d_, _number(lanes - 1))
        zero = constant(one, 0.0)
        entry = builder.block
        head, loop, tail, rest, done = (builder.append_basic_block(n) for n in ("head", "loop", "tail", "rest", "done"))
        builder.branch(head)
        builder.position_at_end(head)
        column = builder.phi(I64)
        sums = [builder.phi(zero.type) for _ in range(lanes)]
        builder.cbranch(builder.icmp_signed("<", column, whole), loop, tail)
        builder.position_at_end(loop)
        x = read(builder, one, builder.add(q_, column))
        new = [
            multiply_add(builder, one, read(builder, one, builder.add(a, column)), x, s)
            for a, s in zip(at, sums, strict=True)
        ]
        column.add_incoming(_number(0), entry)
        column.add_incoming(builder.add(column, _number(lanes * size)), loop)
        for s, n in zip(sums, new, strict=True):
            s.add_incoming(zero, entry)
            s.add_incoming(n, loop)
        builder.branch(head)
        builder.position_at_end(tail)
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


@compiled
def dots(q: int, k: int, step: int, keys: int, d: int, scores: int, one: float) -> None:
    """Scores of one query against keys `step` bytes apart; q is padded with zeros, scores has whole registers."""
    lanes = lane_count(one)
    for key in range(0, keys, lanes):
        _dot_lanes(q, k + key * step, step, keys - key, d, scores + key * size_of(one), one)
