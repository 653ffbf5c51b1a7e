"""Dot products of queries with keys, as many pairs at once as a register has lanes: all sums end in one register."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba import types

from qkv.kernel.emit import (
    AHEAD,
    I32,
    constant,
    fetch_ahead,
    intrinsic,
    lanes_of,
    multiply_add,
    pointer,
    read,
    read_part,
    whole,
)
from qkv.kernel.jit import compiled
from qkv.kernel.vectors import lane_count, size_of

COLUMNS = 4  # registers of columns at once: keys are read in the order of their addresses, as processors foresee it
COLUMNS_TOGETHER = 2  # where several queries share the registers
TOGETHER = 4  # queries that look at a key at the same time


@dataclass(frozen=True, slots=True)
class Square:
    """Addresses of queries and keys, as many pairs as lanes; query i with key j is pair i · keys + j."""

    builder: Any
    one: Any
    queries: list[Any]
    keys: list[Any]
    further: Any | None  # bytes to what is asked for while a key is read

    def plus(self, address: Any, offset: Any) -> Any:
        return self.builder.add(address, offset)


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


def _add_products(s: Square, columns: list[Any], sums: list[Any], left: Any | None = None) -> list[Any]:
    """Add the products over registers of columns to the sums of all pairs; of the last register maybe only a part."""
    query = [[read(s.builder, s.one, s.plus(q, at)) for at in columns] for q in s.queries]
    result = list(sums)
    for j, key in enumerate(s.keys):
        for c, at in enumerate(columns):
            place = s.plus(key, at)
            x = read(s.builder, s.one, place) if left is None else read_part(s.builder, s.one, place, left)
            for i in range(len(s.queries)):
                pair = i * len(s.keys) + j
                result[pair] = multiply_add(s.builder, s.one, x, query[i][c], result[pair])
    if s.further is not None:
        for key in s.keys:
            for at in columns:
                fetch_ahead(s.builder, s.plus(key, s.plus(at, s.further)))
    return result


def _add_columns(s: Square, start: Any, stop: Any, sums: list[Any], registers: int) -> tuple[Any, list[Any]]:
    """Go over the columns, so many registers at a time while they fit; the offset where that ends, and the sums."""
    builder, width = s.builder, lanes_of(s.one) * s.one.bitwidth // 8
    entry = builder.block
    head, loop, after = (builder.append_basic_block(n) for n in ("head", "loop", "after"))
    builder.branch(head)
    builder.position_at_end(head)
    column, *state = (builder.phi(value.type) for value in (start, *sums))
    end = s.plus(column, whole(registers * width))
    builder.cbranch(builder.icmp_signed("<=", end, stop), loop, after)
    builder.position_at_end(loop)
    new = _add_products(s, [s.plus(column, whole(i * width)) for i in range(registers)], state)
    builder.branch(head)
    for phi, first, value in zip((column, *state), (start, *sums), (end, *new), strict=True):
        phi.add_incoming(first, entry)
        phi.add_incoming(value, loop)
    builder.position_at_end(after)
    return column, state


def _add_rest(s: Square, column: Any, left: Any, sums: list[Any]) -> list[Any]:
    """Add the columns that do not fill a register, if there are any."""
    builder, before = s.builder, s.builder.block
    rest, done = (builder.append_basic_block(n) for n in ("rest", "done"))
    builder.cbranch(builder.icmp_signed("==", left, whole(0)), done, rest)
    builder.position_at_end(rest)
    more = _add_products(s, [column], sums, left)
    builder.branch(done)
    builder.position_at_end(done)
    final = [builder.phi(value.type) for value in sums]
    for phi, old, new in zip(final, sums, more, strict=True):
        phi.add_incoming(old, before)
        phi.add_incoming(new, rest)
    return final


def _write_scores(s: Square, scores: Any, target: Any, target_row: Any) -> None:
    """Each query's scores to its own row."""
    builder, keys = s.builder, len(s.keys)
    for i in range(len(s.queries)):
        lanes = ir.Constant(ir.VectorType(I32, keys), list(range(i * keys, (i + 1) * keys)))
        mine = builder.shuffle_vector(scores, ir.Constant(scores.type, ir.Undefined), lanes)
        place = s.plus(target, builder.mul(target_row, whole(i)))
        builder.store(mine, pointer(builder, place, mine.type), align=s.one.bitwidth // 8)


def _dot_square(queries: int, *, streams: bool) -> Any:
    """Scores of so many queries (fewer where there are fewer lanes) against as many keys as fit the lanes.

    Keys past the last one repeat it; nothing past d is read.
    """

    @intrinsic
    def dot(
        typing: Any, q: Any, q_row: Any, k: Any, k_row: Any, keys: Any, d: Any, target: Any, target_row: Any, one: Any
    ) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            q_, q_row_, k_, k_row_, keys_, d_, target_, target_row_, _ = arguments
            lanes, size = lanes_of(one), one.bitwidth // 8
            rows = min(queries, lanes)
            last = builder.sub(keys_, whole(1))
            key = [whole(j) for j in range(lanes // rows)]
            key = [builder.select(builder.icmp_signed("<", j, last), j, last) for j in key]
            further = builder.mul(k_row_, whole(AHEAD)) if streams else None
            q_at = [builder.add(q_, builder.mul(whole(i), q_row_)) for i in range(rows)]
            s = Square(builder, one, q_at, [builder.add(k_, builder.mul(j, k_row_)) for j in key], further)
            column, sums = whole(0), [constant(one, 0.0)] * lanes
            for registers in (COLUMNS if rows == 1 else COLUMNS_TOGETHER, 1):
                column, sums = _add_columns(s, column, builder.mul(d_, whole(size)), sums, registers)
            sums = _add_rest(s, column, builder.and_(d_, whole(lanes - 1)), sums)
            _write_scores(s, _fold_rows(builder, sums, lanes), target_, target_row_)
            return context.get_dummy_value()

        return types.void(*[types.int64] * 8, one), code

    return dot


_dot, _dot_ahead = _dot_square(1, streams=False), _dot_square(1, streams=True)
_dot_together = _dot_square(TOGETHER, streams=True)


@compiled
def dots(q: int, k: int, step: int, keys: int, d: int, scores: int, fresh: bool, one: float) -> None:
    """Scores of one query against keys `step` bytes apart; q is padded with zeros, scores has whole registers.

    Keys that nobody has looked at yet are `fresh`.
    """
    for key in range(0, keys, lane_count(one)):
        at, target = k + key * step, scores + key * size_of(one)
        if fresh:
            _dot_ahead(q, 0, at, step, keys - key, d, target, 0, one)
        else:
            _dot(q, 0, at, step, keys - key, d, target, 0, one)


@compiled
def dots_together(
    q: int, q_row: int, k: int, step: int, keys: int, d: int, scores: int, scores_row: int, one: float
) -> None:
    """The same for TOGETHER queries, each key read once for all of them."""
    rows = min(TOGETHER, lane_count(one))
    wide = lane_count(one) // rows
    for row in range(0, TOGETHER, rows):
        for key in range(0, keys, wide):
            at, target = k + key * step, scores + row * scores_row + key * size_of(one)
            _dot_together(q + row * q_row, q_row, at, step, keys - key, d, target, scores_row, one)
