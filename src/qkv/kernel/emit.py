"""Writing LLVM instructions for one register of float32 or float64 lanes: what the intrinsics are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic as _intrinsic
from numba.extending import models, register_model

from qkv.kernel.jit import vector_unit

intrinsic: Callable[[Callable[..., Any]], Any] = _intrinsic

I1, I16, I32, I64 = ir.IntType(1), ir.IntType(16), ir.IntType(32), ir.IntType(64)
F32, F64, F16 = ir.FloatType(), ir.DoubleType(), ir.HalfType()
IR_FLOATS = {types.float32: F32, types.float64: F64}
AHEAD = 8  # rows: how far ahead of their use keys and values are asked for where reading them is most of the work
SUFFIX = {types.float32: "f32", types.float64: "f64"}


def lanes_of(element: Any) -> int:
    """How many numbers of this Numba type one register holds."""
    return int(vector_unit().width // (element.bitwidth // 8))


class Vector(types.Type):  # type: ignore[misc]
    """The Numba type of one register."""

    def __init__(self, element: Any) -> None:
        self.element = element
        self.lanes = lanes_of(element)
        super().__init__(name=f"Vector({element}, {self.lanes})")


@register_model(Vector)
class VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, dmm: Any, fe_type: Vector) -> None:
        super().__init__(dmm, fe_type, ir.VectorType(IR_FLOATS[fe_type.element], fe_type.lanes))


def vector_ir(element: Any) -> ir.VectorType:
    return ir.VectorType(IR_FLOATS[element], lanes_of(element))


def constant(element: Any, value: float) -> ir.Constant:
    return ir.Constant(vector_ir(element), [float(value)] * lanes_of(element))


def whole(value: int) -> ir.Constant:
    return ir.Constant(I64, value)


def pointer(builder: Any, address: Any, kind: Any) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


def read(builder: Any, element: Any, address: Any) -> Any:
    """A whole register; the address needs only the alignment of one element."""
    return builder.load(pointer(builder, address, vector_ir(element)), align=element.bitwidth // 8)


def write(builder: Any, element: Any, value: Any, address: Any) -> None:
    builder.store(value, pointer(builder, address, vector_ir(element)), align=element.bitwidth // 8)


def spread(builder: Any, element: Any, scalar: Any) -> Any:
    """The same number in every lane."""
    undefined = ir.Constant(vector_ir(element), ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.Constant(I32, 0))
    zeros = ir.Constant(ir.VectorType(I32, lanes_of(element)), [0] * lanes_of(element))
    return builder.shuffle_vector(first, undefined, zeros)


def call_llvm(builder: Any, name: str, result: Any, arguments: Sequence[Any]) -> Any:
    """Call an LLVM intrinsic by its full name, declaring it at first use in a module."""
    known = builder.module.globals.get(name)
    if known is None:
        known = ir.Function(builder.module, ir.FunctionType(result, [a.type for a in arguments]), name)
    return builder.call(known, arguments)


def fetch_ahead(builder: Any, address: Any) -> None:
    """Ask for the cache line at an address, which may lie anywhere: nothing is read, nothing can fail."""
    place = builder.inttoptr(address, ir.IntType(8).as_pointer())
    hints = [ir.Constant(I32, value) for value in (0, 3, 1)]  # to read, to keep close, data
    call_llvm(builder, "llvm.prefetch.p0", ir.VoidType(), [place, *hints])


def multiply_add(builder: Any, element: Any, a: Any, b: Any, c: Any) -> Any:
    """a·b + c, in one rounding where the machine has it (fmuladd leaves that choice to the target)."""
    name = f"llvm.fmuladd.v{lanes_of(element)}{SUFFIX[element]}"
    return call_llvm(builder, name, vector_ir(element), [a, b, c])


def read_part(builder: Any, element: Any, address: Any, count: Any) -> Any:
    """The first `count` lanes from an address and zeros after them; nothing beyond them is read."""
    lanes, kind = lanes_of(element), vector_ir(element)
    name = f"llvm.masked.load.v{lanes}{SUFFIX[element]}.p0"
    align = ir.Constant(I32, element.bitwidth // 8)
    place = pointer(builder, address, kind)
    return call_llvm(builder, name, kind, [place, align, first_lanes(builder, lanes, count), constant(element, 0.0)])


def write_part(builder: Any, element: Any, value: Any, address: Any, count: Any) -> None:
    """Write the first `count` lanes and nothing else."""
    lanes = lanes_of(element)
    name = f"llvm.masked.store.v{lanes}{SUFFIX[element]}.p0"
    align = ir.Constant(I32, element.bitwidth // 8)
    place = pointer(builder, address, vector_ir(element))
    call_llvm(builder, name, ir.VoidType(), [value, place, align, first_lanes(builder, lanes, count)])


def first_lanes(builder: Any, lanes: int, count: Any) -> Any:
    kind = ir.VectorType(I32, lanes)
    undefined = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(undefined, builder.trunc(count, I32), ir.Constant(I32, 0))
    counts = builder.shuffle_vector(first, undefined, ir.Constant(kind, [0] * lanes))
    return builder.icmp_signed("<", ir.Constant(kind, list(range(lanes))), counts)
