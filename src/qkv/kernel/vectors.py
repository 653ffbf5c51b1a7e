"""Vectors as values in compiled code: one register of float32 or float64 lanes, and the operations on it.

Addresses and strides are integers in bytes. An argument called `one` only tells the lane type: a float32 or a float64.
Nothing here reads or writes outside the addresses that it is given.
"""

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
SUFFIX = {types.float32: "f32", types.float64: "f64"}

# Minimax polynomials for 2**f, |f| <= 1/2, with a constant term of exactly 1: relative error 1.5e-7 and 1.8e-17.
EXP2_SINGLE = (1.0, 0.69314696706526493, 0.24022119723969178, 0.055507132728753912, 0.0096755413310213911,
               0.0013276472167819943)  # fmt: skip
EXP2_DOUBLE = (1.0, 0.69314718055994569675, 0.24022650695910098007, 0.055504108664790394552, 0.0096181291076070023796,
               0.0013333558153439964747, 0.0001540353044157213033, 0.000015252727385193868197,
               1.3215442675329822143e-6, 1.0180647659234138888e-7, 7.0725704128144235096e-9,
               4.078071929588336665e-10)  # fmt: skip
EXP2 = {types.float32: EXP2_SINGLE, types.float64: EXP2_DOUBLE}
LOG2_E, LN_2 = 1.4426950408889634, 0.6931471805599453


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


def multiply_add(builder: Any, element: Any, a: Any, b: Any, c: Any) -> Any:
    """a·b + c, in one rounding where the machine has it (fmuladd leaves that choice to the target)."""
    name = f"llvm.fmuladd.v{lanes_of(element)}{SUFFIX[element]}"
    return call_llvm(builder, name, vector_ir(element), [a, b, c])


def _elementwise(emit: Callable[..., Any], arity: int) -> Any:
    """An intrinsic from `arity` registers to one; `emit(builder, element, *registers)` writes its instructions."""

    def code_for(element: Any) -> Callable[..., Any]:
        return lambda context, builder, signature, arguments: emit(builder, element, *arguments)

    def one(typing: Any, a: Any) -> Any:
        return a(a), code_for(a.element)

    def two(typing: Any, a: Any, b: Any) -> Any:
        return a(a, a), code_for(a.element)

    def three(typing: Any, a: Any, b: Any, c: Any) -> Any:
        return a(a, a, a), code_for(a.element)

    shapes: dict[int, Callable[..., Any]] = {1: one, 2: two, 3: three}
    return intrinsic(shapes[arity])


def _split_power(builder: Any, element: Any, x: Any) -> tuple[Any, Any]:
    """2**n for the integer n nearest to x, and f = x − n.

    Adding 1.5·2**mantissa rounds x to an integer in the low mantissa bits; the exponent bias is added there too,
    so that a shift alone makes 2**n.
    """
    integer, mantissa, bias = (I32, 23, 127) if element == types.float32 else (I64, 52, 1023)
    lanes = lanes_of(element)
    magic = constant(element, 1.5 * 2.0**mantissa + bias)
    shifted = builder.fadd(x, magic)
    integers = ir.VectorType(integer, lanes)
    power = builder.shl(builder.bitcast(shifted, integers), ir.Constant(integers, [mantissa] * lanes))
    return builder.bitcast(power, vector_ir(element)), builder.fsub(x, builder.fsub(shifted, magic))


def _horner(builder: Any, element: Any, f: Any, coefficients: Sequence[float]) -> Any:
    value = constant(element, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        value = multiply_add(builder, element, value, f, constant(element, coefficient))
    return value


def _exp2(builder: Any, element: Any, x: Any) -> Any:
    """2**x: exactly 0 below the smallest normal number, NaN for NaN."""
    power, f = _split_power(builder, element, x)
    value = builder.fmul(_horner(builder, element, f, EXP2[element]), power)
    smallest = -126.0 if element == types.float32 else -1022.0
    normal = builder.fcmp_unordered(">", x, constant(element, smallest))
    return builder.select(normal, value, constant(element, 0.0))


def _tanh(builder: Any, element: Any, x: Any) -> Any:
    """(e − 1) / (e + 1) with e = exp(2x), where e − 1 is kept exact near 0."""
    y = builder.fmul(x, constant(element, 2 * LOG2_E))
    for bound, side in ((60.0, ">"), (-60.0, "<")):  # tanh is ±1 well before; NaN passes
        limit = constant(element, bound)
        y = builder.select(builder.fcmp_ordered(side, y, limit), limit, y)
    power, f = _split_power(builder, element, y)
    small = builder.fmul(f, _horner(builder, element, f, EXP2[element][1:]))
    less_one = multiply_add(builder, element, power, small, builder.fsub(power, constant(element, 1.0)))
    return builder.fdiv(less_one, builder.fadd(less_one, constant(element, 2.0)))


def _maximum(builder: Any, element: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def _finite_or_zero(builder: Any, element: Any, x: Any) -> Any:
    """0 in place of −inf: the maximum of a row that has no key yet."""
    return builder.select(builder.fcmp_ordered("==", x, constant(element, float("-inf"))), constant(element, 0.0), x)


def _add_bias(builder: Any, element: Any, score: Any, bias: Any) -> Any:
    """score + bias; a bias of −inf masks the key even if its score is NaN."""
    nothing = constant(element, float("-inf"))
    return builder.select(builder.fcmp_ordered("==", bias, nothing), nothing, builder.fadd(score, bias))


def _chain(builder: Any, element: Any, weight: Any, difference: Any, slope: Any) -> Any:
    """weight · difference · slope, and 0 where the weight is 0: a masked key has no gradient, NaN or not."""
    product = builder.fmul(builder.fmul(weight, difference), slope)
    nothing = constant(element, 0.0)
    return builder.select(builder.fcmp_ordered("==", weight, nothing), nothing, product)


def _is_open(builder: Any, element: Any, x: Any) -> Any:
    """1 where x is not −inf, 0 where it is."""
    masked = builder.fcmp_ordered("==", x, constant(element, float("-inf")))
    return builder.select(masked, constant(element, 0.0), constant(element, 1.0))


add = _elementwise(lambda b, e, x, y: b.fadd(x, y), 2)
subtract = _elementwise(lambda b, e, x, y: b.fsub(x, y), 2)
multiply = _elementwise(lambda b, e, x, y: b.fmul(x, y), 2)
divide = _elementwise(lambda b, e, x, y: b.fdiv(x, y), 2)
maximum = _elementwise(_maximum, 2)  # where either is NaN: the second
fma = _elementwise(multiply_add, 3)
finite_or_zero = _elementwise(_finite_or_zero, 1)
exp2 = _elementwise(_exp2, 1)  # for x <= 127 (1023)
tanh = _elementwise(_tanh, 1)
add_bias = _elementwise(_add_bias, 2)
chain = _elementwise(_chain, 3)
is_open = _elementwise(_is_open, 1)


@intrinsic
def size_of(typing: Any, one: Any) -> Any:
    """Bytes per number."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return ir.Constant(I64, one.bitwidth // 8)

    return types.int64(one), code


@intrinsic
def lane_count(typing: Any, one: Any) -> Any:
    """Numbers per register."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return ir.Constant(I64, lanes_of(one))

    return types.int64(one), code


@intrinsic
def like(typing: Any, value: Any, one: Any) -> Any:
    """A number as the lane type."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.cast(builder, arguments[0], value, one)

    return one(value, one), code


@intrinsic
def splat(typing: Any, value: Any) -> Any:
    """A register with the same number in every lane."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return spread(builder, value, arguments[0])

    return Vector(value)(value), code


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


def read_part(builder: Any, element: Any, address: Any, count: Any) -> Any:
    """The first `count` lanes from an address and zeros after them; nothing beyond them is read."""
    lanes, kind = lanes_of(element), vector_ir(element)
    name = f"llvm.masked.load.v{lanes}{SUFFIX[element]}.p0"
    align = ir.Constant(I32, element.bitwidth // 8)
    place = pointer(builder, address, kind)
    return call_llvm(builder, name, kind, [place, align, _first_lanes(builder, lanes, count), constant(element, 0.0)])


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
        element, lanes = value.element, value.lanes
        mask = _first_lanes(builder, lanes, arguments[1])
        name = f"llvm.masked.store.v{lanes}{SUFFIX[element]}.p0"
        place = pointer(builder, arguments[0], vector_ir(element))
        align = ir.Constant(I32, element.bitwidth // 8)
        call_llvm(builder, name, ir.VoidType(), [arguments[2], place, align, mask])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, value), code


def _first_lanes(builder: Any, lanes: int, count: Any) -> Any:
    kind = ir.VectorType(I32, lanes)
    undefined = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(undefined, builder.trunc(count, I32), ir.Constant(I32, 0))
    counts = builder.shuffle_vector(first, undefined, ir.Constant(kind, [0] * lanes))
    return builder.icmp_signed("<", ir.Constant(kind, list(range(lanes))), counts)


@intrinsic
def between(typing: Any, low: Any, position: Any, high: Any, value: Any) -> Any:
    """`value` in the lanes where low <= position <= high, −inf in the others."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        low_, position_, high_, value_ = arguments
        inside = builder.and_(builder.fcmp_ordered("<=", low_, position_), builder.fcmp_ordered("<=", position_, high_))
        return builder.select(inside, value_, constant(value.element, float("-inf")))

    return value(value, value, value, value), code


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
def total(typing: Any, value: Any) -> Any:
    """The sum of all lanes, halves added to halves: always in the same order."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _fold(builder, arguments[0], value.lanes, builder.fadd)

    return value.element(value), code


@intrinsic
def largest(typing: Any, value: Any) -> Any:
    """The largest of all lanes."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def larger(a: Any, b: Any) -> Any:
            return builder.select(builder.fcmp_ordered(">", a, b), a, b)

        return _fold(builder, arguments[0], value.lanes, larger)

    return value.element(value), code


def _fold(builder: Any, vector: Any, lanes: int, join: Callable[[Any, Any], Any]) -> Any:
    while lanes > 1:
        lanes //= 2
        undefined = ir.Constant(vector.type, ir.Undefined)
        low = ir.Constant(ir.VectorType(I32, lanes), list(range(lanes)))
        high = ir.Constant(ir.VectorType(I32, lanes), list(range(lanes, 2 * lanes)))
        vector = join(builder.shuffle_vector(vector, undefined, low), builder.shuffle_vector(vector, undefined, high))
    return builder.extract_element(vector, ir.Constant(I32, 0))


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


@intrinsic
def transpose(typing: Any, source: Any, source_step: Any, target: Any, target_step: Any, one: Any) -> Any:
    """Transpose a square of lanes × lanes numbers from rows at `source` to rows at `target`."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source_, source_step_, target_, target_step_, _ = arguments
        lanes = lanes_of(one)
        at = [builder.add(source_, builder.mul(source_step_, ir.Constant(I64, i))) for i in range(lanes)]
        rows = [read(builder, one, address) for address in at]
        span = lanes // 2
        while span:  # exchange the off-diagonal quarters of ever smaller squares
            rows = _exchange(builder, rows, span, lanes)
            span //= 2
        for i, row in enumerate(rows):
            write(builder, one, row, builder.add(target_, builder.mul(target_step_, ir.Constant(I64, i))))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64, one), code


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
