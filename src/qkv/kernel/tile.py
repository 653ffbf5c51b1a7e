"""The micro-kernel: C[rows, lanes] = A[rows, :] B[:, lanes], with all of C in registers.

One shape serves every product. A is read one number at a time, wherever its strides put it, so keys and values are
used where the caller left them; B and C are our own, packed and padded. Rows past the end repeat the last row, so
nothing outside A is ever read.
"""

from __future__ import annotations

from typing import Any

from numba import types

from qkv.kernel.dots import TOGETHER
from qkv.kernel.emit import (
    AHEAD,
    IR_FLOATS,
    constant,
    fetch_ahead,
    intrinsic,
    lanes_of,
    multiply_add,
    pointer,
    read,
    spread,
    whole,
    write,
)
from qkv.kernel.jit import compiled, vector_unit
from qkv.kernel.vectors import lane_count, size_of

TILE_ROWS = vector_unit().tile_rows
TILE_VECTORS = 3  # 8×3 accumulators and 3 of B leave 5 of 32 registers for A; 4×3, 3 and 1 fill 16


BLOCKS = ("loop", "done", "more", "end")


def _row_offsets(builder: Any, height: int, step: Any, rows: Any) -> list[Any]:
    """Byte offsets of the tile's rows in A; rows past the last one repeat it."""
    last = builder.sub(rows, whole(1))
    indices = [builder.select(builder.icmp_signed("<", whole(i), last), whole(i), last) for i in range(height)]
    return [builder.mul(index, step) for index in indices]


def _resume(builder: Any, element: Any, cells: list[Any], sums: list[Any], vectors: int, factor: Any) -> list[Any]:
    """The new sums on top of what C holds, times a factor per lane; adding late keeps the rounding errors apart."""
    size = element.bitwidth // 8 * lanes_of(element)
    factors = [read(builder, element, builder.add(factor, whole(j * size))) for j in range(vectors)]
    return [
        multiply_add(builder, element, read(builder, element, cell), factors[i % vectors], sums[i])
        for i, cell in enumerate(cells)
    ]


def _step(
    builder: Any, element: Any, a: Any, offsets: list[Any], b: Any, sums: list[Any], further: Any | None
) -> list[Any]:
    """One column of A times one row of B, added to the sums; the row of B so many bytes further is asked for."""
    vectors = len(sums) // len(offsets)
    size = element.bitwidth // 8 * lanes_of(element)
    row = [read(builder, element, builder.add(b, whole(j * size))) for j in range(vectors)]
    if further is not None:
        for j in range(vectors):
            fetch_ahead(builder, builder.add(b, builder.add(further, whole(j * size))))
    result = []
    for i, offset in enumerate(offsets):
        scalar = builder.load(pointer(builder, builder.add(a, offset), IR_FLOATS[element]), align=element.bitwidth // 8)
        wide = spread(builder, element, scalar)
        result += [multiply_add(builder, element, wide, row[j], sums[i * vectors + j]) for j in range(vectors)]
    return result


def _emit(builder: Any, element: Any, height: int, vectors: int, arguments: Any, streams: bool) -> None:
    a, a_row, rows, a_step, b, b_step, c, c_row, count, factor = arguments[:10]
    size = element.bitwidth // 8 * lanes_of(element)
    offsets = _row_offsets(builder, height, a_row, rows)
    lines = [builder.add(c, builder.mul(c_row, whole(i))) for i in range(height)]
    cells = [builder.add(line, whole(j * size)) for line in lines for j in range(vectors)]
    further = builder.mul(b_step, whole(AHEAD)) if streams else None
    entry, loop, done, more, end = (builder.block, *(builder.append_basic_block(n) for n in BLOCKS))
    builder.branch(loop)
    builder.position_at_end(loop)
    zero = constant(element, 0.0)
    starts = [whole(0), a, b, *[zero] * len(cells)]
    state = [builder.phi(value.type) for value in starts]
    k, a_at, b_at, *sums = state
    new = _step(builder, element, a_at, offsets, b_at, sums, further)
    following = [builder.add(k, whole(1)), builder.add(a_at, a_step), builder.add(b_at, b_step), *new]
    for phi, start, value in zip(state, starts, following, strict=True):
        phi.add_incoming(start, entry)
        phi.add_incoming(value, loop)
    builder.cbranch(builder.icmp_signed("<", following[0], count), loop, done)
    builder.position_at_end(done)
    builder.cbranch(builder.icmp_signed("!=", factor, whole(0)), more, end)
    builder.position_at_end(more)
    resumed = _resume(builder, element, cells, new, vectors, factor)
    builder.branch(end)
    builder.position_at_end(end)
    final = [builder.phi(zero.type) for _ in cells]
    for value, fresh, old, cell in zip(final, new, resumed, cells, strict=True):
        value.add_incoming(fresh, done)
        value.add_incoming(old, more)
        write(builder, element, value, cell)


def _product(height: int, vectors: int, *, streams: bool = False) -> Any:
    @intrinsic
    def product(
        typing: Any, a: Any, a_row: Any, rows: Any, a_step: Any, b: Any, b_step: Any, c: Any, c_row: Any,
        count: Any, factor: Any, one: Any,
    ) -> Any:  # fmt: skip
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            _emit(builder, one, height, vectors, arguments, streams)
            return context.get_dummy_value()

        return types.void(*[types.int64] * 10, one), code

    return product


_product_1, _product_2, _product_3 = (_product(TILE_ROWS, n) for n in (1, 2, 3))
SPAN = 4 if TILE_ROWS == 8 else 2  # registers of each of TOGETHER rows: they leave room for the value
_quad_wide, _quad_1 = (_product(TOGETHER, n, streams=True) for n in (SPAN, 1))
_row_1, _row_2, _row_3, _row_4, _row_6, _row_8 = (_product(1, n, streams=True) for n in (1, 2, 3, 4, 6, 8))


@compiled
def multiply_tiles(
    a: int, a_row: int, rows: int, a_step: int, b: int, b_step: int, c: int, c_row: int, count: int,
    factor: int, vectors: int, one: float,
) -> None:  # fmt: skip
    """C = A B, or C = C·factor + A B where `factor` is the address of one number per lane; count must not be 0.

    Row i of A is at a + i·a_row and its columns a_step apart; B's rows are b_step and C's c_row apart, and C has room
    for a multiple of TILE_ROWS rows.
    """
    for row in range(0, rows, TILE_ROWS):
        a_at, c_at, left = a + row * a_row, c + row * c_row, rows - row
        if vectors == 3:
            _product_3(a_at, a_row, left, a_step, b, b_step, c_at, c_row, count, factor, one)
        elif vectors == 2:
            _product_2(a_at, a_row, left, a_step, b, b_step, c_at, c_row, count, factor, one)
        else:
            _product_1(a_at, a_row, left, a_step, b, b_step, c_at, c_row, count, factor, one)


@compiled
def add_product(
    a: int, a_row: int, rows: int, a_step: int, b: int, b_step: int, c: int, c_row: int, count: int,
    ones: int, vectors: int, one: float,
) -> None:  # fmt: skip
    """C += A B for any number of registers per row; `ones` is the address of TILE_VECTORS registers of ones."""
    width = lane_count(one) * size_of(one)
    parts = (vectors + TILE_VECTORS - 1) // TILE_VECTORS
    done = 0
    for part in range(parts):
        mine = (vectors - done + parts - part - 1) // (parts - part)
        at = done * width
        multiply_tiles(a, a_row, rows, a_step, b + at, b_step, c + at, c_row, count, ones, mine, one)
        done += mine


@compiled
def add_together(
    weights: int, weights_row: int, b: int, b_step: int, c: int, c_row: int, vectors: int, count: int, ones: int,
    one: float,
) -> None:  # fmt: skip
    """C += weights B for TOGETHER rows of so many whole registers, reading B once."""
    size, done = size_of(one), 0
    width = size * lane_count(one)
    while done < vectors:
        at, to = b + done * width, c + done * width
        if vectors - done >= SPAN:
            _quad_wide(weights, weights_row, TOGETHER, size, at, b_step, to, c_row, count, ones, one)
            done += SPAN
        else:
            _quad_1(weights, weights_row, TOGETHER, size, at, b_step, to, c_row, count, ones, one)
            done += 1


@compiled
def add_rows(weights: int, b: int, b_step: int, c: int, vectors: int, count: int, factor: int, one: float) -> None:
    """C = C·factor + weights B for a single row C of so many whole registers; `factor` has 8 registers' worth."""
    size, done = size_of(one), 0
    width = size * lane_count(one)
    while done < vectors:
        at, to = b + done * width, c + done * width
        left = vectors - done  # as many sums as there are at once: one alone would wait for itself at each addition
        if left >= 8:
            _row_8(weights, 0, 1, size, at, b_step, to, 0, count, factor, one)
            done += 8
        elif left >= 6:
            _row_6(weights, 0, 1, size, at, b_step, to, 0, count, factor, one)
            done += 6
        elif left >= 4:
            _row_4(weights, 0, 1, size, at, b_step, to, 0, count, factor, one)
            done += 4
        elif left == 3:
            _row_3(weights, 0, 1, size, at, b_step, to, 0, count, factor, one)
            done += 3
        elif left == 2:
            _row_2(weights, 0, 1, size, at, b_step, to, 0, count, factor, one)
            done += 2
        else:
            _row_1(weights, 0, 1, size, at, b_step, to, 0, count, factor, one)
            done += 1
