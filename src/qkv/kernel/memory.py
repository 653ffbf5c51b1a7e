"""Registers to and from memory. Addresses and strides are integers in bytes.

Nothing here reads or writes outside the addresses that it is given.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from qkv.kernel.emit import (
    F16,
    F32,
    F64,
    I1,
    I16,
    I32,
    I64,
    IR_FLOATS,
    Vector,
    constant,
    intrinsic,
    lanes_of,
    pointer,
    read,
    read_part,
    vector_ir,
    write,
    write_part,
)


@intrinsic
def load(typing: Any, address: Any, one: Any) -> Any:
    """The register at an address."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return read(builder, one, arguments[0])

    return Vector(one)(types.int64, one), code


@intrinsic
def store(typing: Any, address: Any, value: Any) -> Any:
    """Write a register to an address."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        write(builder, value.element, arguments[1], arguments[0])
        return context.get_dummy_value()

    return types.void(types.int64, value), code


@intrinsic
def peek(typing: Any, address: Any, one: Any) -> Any:
    """The single number at an address."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        size = one.bitwidth // 8
        return builder.load(pointer(builder, arguments[0], context.get_value_type(one)), align=size)

    return one(types.int64, one), code


@intrinsic
def poke(typing: Any, address: Any, value: Any) -> Any:
    """Write a single number to an address."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[1], pointer(builder, arguments[0], arguments[1].type), align=value.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(types.int64, value), code


@intrinsic
def load_part(typing: Any, address: Any, count: Any, one: Any) -> Any:
    """The first `count` lanes from an address and zeros after them; nothing beyond them is read."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return read_part(builder, one, arguments[0], arguments[1])

    return Vector(one)(types.int64, types.int64, one), code


@intrinsic
def store_part(typing: Any, address: Any, count: Any, value: Any) -> Any:
    """Write the first `count` lanes and nothing else."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        write_part(builder, value.element, arguments[2], arguments[0], arguments[1])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, value), code


@intrinsic
def keep_bits(typing: Any, address: Any, value: Any) -> Any:
    """`value` in the lanes whose bit is set in the 16-bit word at an address, −inf in the others."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = builder.load(pointer(builder, arguments[0], I16), align=2)
        lanes = value.lanes
        bits = word if lanes == 16 else builder.trunc(word, ir.IntType(lanes))
        chosen = builder.bitcast(bits, ir.VectorType(I1, lanes))
        return builder.select(chosen, arguments[1], constant(value.element, float("-inf")))

    return value(types.int64, value), code


@intrinsic
def keep_flags(typing: Any, address: Any, value: Any) -> Any:
    """`value` in the lanes whose byte at an address is not 0, −inf in the others."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        flags = ir.VectorType(ir.IntType(8), value.lanes)
        loaded = builder.load(pointer(builder, arguments[0], flags), align=1)
        chosen = builder.icmp_unsigned("!=", loaded, ir.Constant(flags, [0] * value.lanes))
        return builder.select(chosen, arguments[1], constant(value.element, float("-inf")))

    return value(types.int64, value), code


@intrinsic
def widen_half(typing: Any, address: Any, one: Any) -> Any:
    """A register of float32 from float16 numbers at an address."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        narrow = ir.VectorType(F16, lanes_of(one))
        return builder.fpext(builder.load(pointer(builder, arguments[0], narrow), align=2), vector_ir(one))

    return Vector(one)(types.int64, one), code


@intrinsic
def widen_brain(typing: Any, address: Any, one: Any) -> Any:
    """A register of float32 from bfloat16 numbers at an address: their upper halves."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = lanes_of(one)
        narrow, wide = ir.VectorType(I16, lanes), ir.VectorType(I32, lanes)
        words = builder.load(pointer(builder, arguments[0], narrow), align=2)
        moved = builder.shl(builder.zext(words, wide), ir.Constant(wide, [16] * lanes))
        single = builder.bitcast(moved, ir.VectorType(F32, lanes))
        return single if one == types.float32 else builder.fpext(single, vector_ir(one))

    return Vector(one)(types.int64, one), code


@intrinsic
def peek_half(typing: Any, address: Any, one: Any) -> Any:
    """The single float16 at an address."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fpext(builder.load(pointer(builder, arguments[0], F16), align=2), IR_FLOATS[one])

    return one(types.int64, one), code


@intrinsic
def peek_brain(typing: Any, address: Any, one: Any) -> Any:
    """The single bfloat16 at an address."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = builder.load(pointer(builder, arguments[0], I16), align=2)
        wide = builder.bitcast(builder.shl(builder.zext(word, I32), ir.Constant(I32, 16)), F32)
        return wide if one == types.float32 else builder.fpext(wide, F64)

    return one(types.int64, one), code


def _transposed(builder: Any, rows: list[Any], lanes: int) -> list[Any]:
    """Exchange the off-diagonal quarters of ever smaller squares."""
    span = lanes // 2
    while span:
        rows = _exchange(builder, rows, span, lanes)
        span //= 2
    return rows


@intrinsic
def transpose(typing: Any, source: Any, source_step: Any, target: Any, target_step: Any, one: Any) -> Any:
    """Transpose a square of lanes × lanes numbers from rows at `source` to rows at `target`."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source_, source_step_, target_, target_step_, _ = arguments
        lanes = lanes_of(one)
        rows = [read(builder, one, _nth(builder, source_, source_step_, i)) for i in range(lanes)]
        for i, row in enumerate(_transposed(builder, rows, lanes)):
            write(builder, one, row, _nth(builder, target_, target_step_, i))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64, one), code


@intrinsic
def transpose_in(typing: Any, places: Any, at: Any, rows: Any, columns: Any, target: Any, step: Any, one: Any) -> Any:
    """Transpose a part of a square; row i begins `at` bytes after the address that stands i-th at `places`.

    Only so many rows and columns are read, the others are zeros. A whole square is written.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        places_, at_, rows_, columns_, target_, step_, _ = arguments
        lanes = lanes_of(one)
        read_rows = []
        for i in range(lanes):
            place, count = _row_part(builder, places_, at_, rows_, columns_, i)
            read_rows.append(read_part(builder, one, place, count))
        for i, row in enumerate(_transposed(builder, read_rows, lanes)):
            write(builder, one, row, _nth(builder, target_, step_, i))
        return context.get_dummy_value()

    return types.void(*[types.int64] * 6, one), code


@intrinsic
def transpose_out(typing: Any, source: Any, step: Any, places: Any, at: Any, rows: Any, columns: Any, one: Any) -> Any:
    """The way back: a whole square is read, only so many rows and columns of what it becomes are written."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source_, step_, places_, at_, rows_, columns_, _ = arguments
        lanes = lanes_of(one)
        read_rows = [read(builder, one, _nth(builder, source_, step_, i)) for i in range(lanes)]
        for i, row in enumerate(_transposed(builder, read_rows, lanes)):
            place, count = _row_part(builder, places_, at_, rows_, columns_, i)
            write_part(builder, one, row, place, count)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 6, one), code


def _nth(builder: Any, start: Any, step: Any, i: int) -> Any:
    return builder.add(start, builder.mul(step, ir.Constant(I64, i)))


def _row_part(builder: Any, places: Any, at: Any, rows: Any, columns: Any, i: int) -> tuple[Any, Any]:
    """Where row i begins, and how many of its columns there are: none of a row past the end."""
    listed = builder.load(pointer(builder, builder.add(places, ir.Constant(I64, 8 * i)), I64), align=8)
    there = builder.icmp_signed("<", ir.Constant(I64, i), rows)
    return builder.add(listed, at), builder.select(there, columns, ir.Constant(I64, 0))


def _exchange(builder: Any, rows: list[Any], span: int, lanes: int) -> list[Any]:
    kind = ir.VectorType(I32, lanes)
    upper = ir.Constant(kind, [i if i & span == 0 else lanes + i - span for i in range(lanes)])
    lower = ir.Constant(kind, [i + span if i & span == 0 else lanes + i for i in range(lanes)])
    mixed = list(rows)
    for i in range(lanes):
        if i & span == 0:
            mixed[i] = builder.shuffle_vector(rows[i], rows[i + span], upper)
            mixed[i + span] = builder.shuffle_vector(rows[i], rows[i + span], lower)
    return mixed


@intrinsic
def pack_words(typing: Any, source: Any, row_step: Any, rows: Any, target: Any, one: Any) -> Any:
    """16 keys of a mask, one row per lane, to 16 words of one bit per lane; rows past the end are repeated."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source_, row_step_, rows_, target_, _ = arguments
        flags, words = ir.VectorType(ir.IntType(8), 16), ir.VectorType(I16, 16)
        last = builder.sub(rows_, ir.Constant(I64, 1))
        result = ir.Constant(words, [0] * 16)
        for lane in range(lanes_of(one)):
            row = ir.Constant(I64, lane)
            row = builder.select(builder.icmp_signed("<", row, last), row, last)
            at = builder.add(source_, builder.mul(row, row_step_))
            loaded = builder.load(pointer(builder, at, flags), align=1)
            open_ = builder.icmp_unsigned("!=", loaded, ir.Constant(flags, [0] * 16))
            bit = ir.Constant(words, [_signed_bit(lane)] * 16)
            result = builder.or_(result, builder.select(open_, bit, ir.Constant(words, [0] * 16)))
        builder.store(result, pointer(builder, target_, words), align=2)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4, one), code


def _signed_bit(lane: int) -> int:
    return -(1 << 15) if lane == 15 else 1 << lane
