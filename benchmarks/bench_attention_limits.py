"""What the machine can do: the best float32 matrix product, and reading a case's keys and values once."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench_attention_cases import Case
from bench_attention_timing import THREADS, Maker, Run
from qkv.kernel.atomics import fetch_add
from qkv.kernel.jit import entry
from qkv.kernel.job import DONE, JOB, NEXT, job_at
from qkv.kernel.memory import load
from qkv.kernel.pool import run
from qkv.kernel.vectors import add, like, splat, total

SIDE = 2048  # rows and columns of the matrices
PIECE = 1 << 15  # bytes of keys, and of values, that a thread takes at a time


LARGE = ("8×2048×64", "8×4096×128", "1×8192×64", "32×1024×80")  # cases that are little else than products


def _matrix(case: Case) -> np.ndarray | None:
    if case.name not in LARGE:
        return None
    return np.random.default_rng(0).standard_normal((SIDE, SIDE), dtype=np.float32)


def numpy_product(case: Case) -> Run | None:
    a = _matrix(case)
    return None if a is None else lambda: a @ a


def torch_product(case: Case) -> Run | None:
    import torch

    a = _matrix(case)
    t = None if a is None else torch.from_numpy(a)
    return None if t is None else lambda: t @ t


@entry
def _read(address: int, one: float) -> None:
    """Add up pieces of keys and values until none is left."""
    job = job_at(address)
    nothing = splat(like(0.0, one))
    a, b, c, d = nothing, nothing, nothing, nothing
    task = fetch_add(address + NEXT, 1)
    while task < job.tasks:
        for array in (job.k, job.v):
            start = array + task * PIECE
            for at in range(start, min(start + PIECE, array + job.n_k), 256):
                a, b = add(a, load(at, one)), add(b, load(at + 64, one))
                c, d = add(c, load(at + 128, one)), add(d, load(at + 192, one))
        fetch_add(address + DONE, 1)
        task = fetch_add(address + NEXT, 1)
    job.scale = total(add(add(a, b), add(c, d)))  # so that nothing is optimised away


def stream(case: Case) -> Run | None:
    """Reading the keys and values of a case: the same bytes of the same arrays, by the same threads as qkv's own."""
    if case.group != "decode":
        return None
    _, k, v = case.arrays
    job: Any = np.zeros(1, JOB)
    job["k"], job["v"], job["n_k"] = k.ctypes.data, v.ctypes.data, k.nbytes
    job["tasks"] = -(-k.nbytes // PIECE)
    words, one = job.view(np.int64), np.float32(1)

    def read(kept: object = (k, v)) -> object:  # the job holds their addresses only
        job["next"] = job["done"] = 0
        return run(_read, job.ctypes.data, words, one, THREADS)

    return read


STREAM, PRODUCTS = "read stream", ("sgemm of NumPy", "sgemm of torch")
LIMITS: dict[str, Maker] = {STREAM: stream, PRODUCTS[0]: numpy_product, PRODUCTS[1]: torch_product}
