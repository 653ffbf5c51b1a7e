"""Integers in memory that several threads read and write at the same time."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from qkv.kernel.emit import I32, I64, call_llvm, intrinsic, pointer
from qkv.kernel.jit import processor

# Tells the processor that a loop only waits: LLVM's name for the instruction, and its argument if it has one.
WAITING: dict[str, tuple[str, list[int]]] = {
    "x86_64": ("llvm.x86.sse2.pause", []),
    "aarch64": ("llvm.aarch64.hint", [1]),
}


@intrinsic
def fetch_add(typing: Any, address: Any, amount: Any) -> Any:
    """Add to the integer at an address, atomically among all threads, and give what was there before."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("add", pointer(builder, arguments[0], I64), arguments[1], "seq_cst")

    return types.int64(types.int64, types.int64), code


@intrinsic
def fetch(typing: Any, address: Any) -> Any:
    """The integer at an address, as the other threads last wrote it."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(pointer(builder, arguments[0], I64), "acquire", 8)

    return types.int64(types.int64), code


@intrinsic
def publish(typing: Any, address: Any, value: Any) -> Any:
    """Write an integer; who sees it sees everything that this thread wrote before."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store_atomic(arguments[1], pointer(builder, arguments[0], I64), "release", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), code


@intrinsic
def exchange_if(typing: Any, address: Any, expected: Any, value: Any) -> Any:
    """Replace the integer at an address if it is the expected one; whether it was."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = pointer(builder, arguments[0], I64)
        found = builder.cmpxchg(place, arguments[1], arguments[2], "seq_cst", "seq_cst")
        return builder.extract_value(found, 1)

    return types.boolean(types.int64, types.int64, types.int64), code


@intrinsic
def relax(typing: Any) -> Any:
    """Wait for a moment inside a loop that looks at memory again and again."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if processor() in WAITING:
            name, numbers = WAITING[processor()]
            call_llvm(builder, name, ir.VoidType(), [ir.Constant(I32, n) for n in numbers])
        return context.get_dummy_value()

    return types.void(), code
