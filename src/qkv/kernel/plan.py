"""How a job is cut into tasks and which kernel runs it.

The cut depends on the problem alone, never on the number of threads, so the result is bitwise the same for any.
"""

from __future__ import annotations

from typing import Any

from qkv.kernel.decode import padded_rows, partial_line
from qkv.kernel.few import FEW_KEYS
from qkv.kernel.jit import compiled, entry
from qkv.kernel.job import UNBOUNDED, WORD, job_at
from qkv.kernel.memory import poke
from qkv.kernel.panel import BLOCK
from qkv.kernel.parts import part_size
from qkv.kernel.tile import TILE_VECTORS
from qkv.kernel.vectors import lane_count, size_of

PANELS = 4  # panels per task: 192 rows of float32 read each block of keys once from memory
DECODE_ROWS = 8  # up to so many rows per key the decode kernel is faster,
DECODE_ALONE = 4  # (where rows do not see the same keys, each goes alone)
MOST_ROWS = 32  # that the decode kernel has for one key
TASKS_WANTED = 16  # enough for that many processors
NEAR_BYTES = 1 << 20  # keys and values of a head that stay in a second-level cache: panels need not share their reads
SPLIT_KEYS = 256  # no part of the keys is smaller,
SPLIT_FORWARD = 1024  # (where each part has to pack the queries for itself)
SHARED_MULTIPLIES = 1_000_000  # with less to multiply, or less to read,
SHARED_DECODE = 500_000  # (fewer queries per key are slower to multiply)
SHARED_BYTES = 1_000_000  # waking a second thread costs more than it brings

LINE = 64  # bytes of a cache line: threads that write to the same one wait for each other

FORWARD, DECODE = 1, 2


@compiled
def settle(job: Any, one: float) -> None:
    """Fill in what is left of a job: its kernel, group, tasks, and whether more than one thread should see it."""
    size = size_of(one)
    group = job.heads // job.kv_heads
    units, rows = job.batch * job.kv_heads, group * job.n_q
    close = job.storage > 0 or (job.k_d == size and job.v_d == size)
    masked = job.mask != 0 or job.bias != 0
    job.kernel, job.few = FORWARD, 0
    if close and job.weights == 0:
        alone = job.n_q if masked else rows  # with a mask, heads of a group do not share registers in either kernel
        if rows <= MOST_ROWS and alone <= (DECODE_ALONE if masked or _differ(job) else DECODE_ROWS):
            job.kernel = DECODE
        elif job.n_k <= FEW_KEYS and job.storage == 0 and job.q_d == size and job.out_d == size:
            job.few = 1 if group == 1 or job.n_q >= lane_count(one) else 0
    width = job.d + job.d_v
    multiplies = job.batch * job.heads * job.n_q * job.n_k * width
    busy = multiplies >= SHARED_MULTIPLIES
    job.splits, job.panels = 1, 1
    if job.kernel == DECODE:
        busy = multiplies >= SHARED_DECODE or units * job.n_k * width * size >= SHARED_BYTES
        job.group = group
        if busy:
            job.splits = _splits(job.n_k, units, SPLIT_KEYS)
        job.tasks = units * job.splits
        part = padded_rows(rows) * partial_line(job, one)
    else:
        job.group = 1 if masked or job.few or job.n_q >= TILE_VECTORS * lane_count(one) else group
        units = job.batch * job.heads // job.group
        near = job.n_k * width * size <= NEAR_BYTES
        job.panels, shares = _shares(job.group * job.n_q, TASKS_WANTED // units if near else 1, lane_count(one))
        if busy and job.weights == 0:
            job.splits = _splits(job.n_k, units * shares, SPLIT_FORWARD)
        job.tasks = units * shares * job.splits
        part = job.panels * part_size(job, one)
    job.shared = busy and job.tasks > 1
    job.room = 0
    if job.splits > 1:
        job.room = job.tasks // job.splits * WORD + LINE + job.tasks * part


@compiled
def _differ(job: Any) -> bool:
    """Whether the queries see different keys in all blocks that there are."""
    limited = job.left < UNBOUNDED or job.right < UNBOUNDED
    return bool(limited and job.n_q > 1 and job.n_k <= BLOCK)


@compiled
def give_room(job: Any, memory: int) -> None:
    """Memory for split keys, `job.room` bytes: a count of finished parts for each whole, and what each part leaves."""
    wholes = job.tasks // job.splits
    for whole in range(wholes):
        poke(memory + whole * WORD, 0)
    job.counters, job.partials = memory, (memory + wholes * WORD + LINE - 1) // LINE * LINE
    job.room = 0


@compiled
def _splits(n_k: int, wholes: int, least: int) -> int:
    """Parts of the keys, whole blocks of at least so many each: one where there are tasks enough without."""
    wanted = min((n_k + least - 1) // least, (TASKS_WANTED + wholes - 1) // wholes)
    share = ((n_k + wanted - 1) // wanted + BLOCK - 1) // BLOCK * BLOCK
    return (n_k + share - 1) // share


@compiled
def _shares(rows: int, wanted: int, lanes: int) -> tuple[int, int]:
    """Panels per task, and tasks per unit: as many as wanted, if there are so many panels."""
    vectors = (rows + lanes - 1) // lanes
    count = (vectors + TILE_VECTORS - 1) // TILE_VECTORS
    panels = max(1, min(PANELS, count // max(1, wanted)))
    return panels, (count + panels - 1) // panels


@compiled
def to_launch(address: int, job: Any) -> int:
    """The job's address, which is a multiple of 8, plus its kernel's number if the calling thread does it alone."""
    alone: int = 0 if job.shared else job.kernel
    return address + alone


@entry
def settle_job(address: int, one: float) -> int:
    """`settle` for a job that Python filled in; what `launch` wants to know."""
    job = job_at(address)
    settle(job, one)
    return to_launch(address, job)


@entry
def give_room_to(address: int, memory: int) -> None:
    """`give_room` for a job that Python found memory for."""
    give_room(job_at(address), memory)
