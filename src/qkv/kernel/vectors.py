"""Vectors as values in compiled code: arithmetic on one register of float32 or float64 lanes.

An argument called `one` only tells the lane type: a float32 or a float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import types

from qkv.kernel.emit import I32, I64, Vector, constant, intrinsic, lanes_of, multiply_add, spread, vector_ir

# Minimax polynomials for 2**f, |f| <= 1/2, with a constant term of exactly 1: relative error 1.5e-7 and 1.8e-17.
EXP2_SINGLE = (1.0, 0.69314696706526493, 0.24022119723969178, 0.055507132728753912, 0.0096755413310213911,
               0.0013276472167819943)  # fmt: skip
EXP2_DOUBLE = (1.0, 0.69314718055994569675, 0.24022650695910098007, 0.055504108664790394552, 0.0096181291076070023796,
               0.0013333558153439964747, 0.0001540353044157213033, 0.000015252727385193868197,
               1.3215442675329822143e-6, 1.0180647659234138888e-7, 7.0725704128144235096e-9,
               4.078071929588336665e-10)  # fmt: skip
EXP2 = {types.float32: EXP2_SINGLE, types.float64: EXP2_DOUBLE}
LOG2_E, LN_2 = 1.4426950408889634, 0.6931471805599453


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


def _inverse(builder: Any, element: Any, x: Any) -> Any:
    """1 / x, and 0 for 0: the share of a row that saw no key."""
    nothing = constant(element, 0.0)
    return builder.select(builder.fcmp_ordered("==", x, nothing), nothing, builder.fdiv(constant(element, 1.0), x))


add = _elementwise(lambda b, e, x, y: b.fadd(x, y), 2)
subtract = _elementwise(lambda b, e, x, y: b.fsub(x, y), 2)
multiply = _elementwise(lambda b, e, x, y: b.fmul(x, y), 2)
maximum = _elementwise(_maximum, 2)  # where either is NaN: the second
fma = _elementwise(multiply_add, 3)
finite_or_zero = _elementwise(_finite_or_zero, 1)
exp2 = _elementwise(_exp2, 1)  # for x <= 127 (1023)
tanh = _elementwise(_tanh, 1)
add_bias = _elementwise(_add_bias, 2)
chain = _elementwise(_chain, 3)
is_open = _elementwise(_is_open, 1)
inverse = _elementwise(_inverse, 1)


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
def ramp(typing: Any, start: Any) -> Any:
    """start, start + 1, start + 2, … in the lanes of a register."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        steps = ir.Constant(vector_ir(start), [float(i) for i in range(lanes_of(start))])
        return builder.fadd(spread(builder, start, arguments[0]), steps)

    return Vector(start)(start), code


@intrinsic
def between(typing: Any, low: Any, position: Any, high: Any, value: Any) -> Any:
    """`value` in the lanes where low <= position <= high, −inf in the others."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        low_, position_, high_, value_ = arguments
        inside = builder.and_(builder.fcmp_ordered("<=", low_, position_), builder.fcmp_ordered("<=", position_, high_))
        return builder.select(inside, value_, constant(value.element, float("-inf")))

    return value(value, value, value, value), code


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
