"""Ring attention over MPI: every process keeps its queries, while keys and values travel from process to process.

    pip install qkv mpi4py mpich
    mpiexec -n 4 python examples/ring_mpi.py --tokens 8192 --causal

Each process holds a block of the sequence, in order of ranks, and never more than two blocks of keys and values: those it
works on and those that are arriving meanwhile. Gradients of keys and values travel along with them, and after a full
turn they are home.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np
from mpi4py import MPI

import qkv


def pass_on(ring, *arrays, tokens):
    """Begin sending arrays to the next process and receiving those of the previous one, of so many tokens."""
    after, before = (ring.rank + 1) % ring.size, (ring.rank - 1) % ring.size
    arriving = [np.empty((*x.shape[:-2], tokens, x.shape[-1]), x.dtype) for x in arrays]
    requests = [ring.Irecv(x, before, tag) for tag, x in enumerate(arriving)]
    requests += [ring.Isend(np.ascontiguousarray(x), after, tag) for tag, x in enumerate(arrays)]
    return arriving, requests


def turn(ring, tokens):
    """A full turn of the ring: at each step, whose keys are here, where they begin, and how many come next."""
    sizes = ring.allgather(tokens)
    starts = np.cumsum([0, *sizes])
    for step in range(ring.size):
        owner = (ring.rank - step) % ring.size
        yield step, starts[owner], sizes[(owner - 1) % ring.size]


def ring_attention(ring, q, k, v, *, causal=False, threads=None):
    """This process's rows of the attention over everybody's tokens: out and lse."""
    begin = ring.exscan(q.shape[-2]) or 0
    whole = None
    for step, start, coming in turn(ring, k.shape[-2]):
        arriving, requests = pass_on(ring, k, v, tokens=coming) if step + 1 < ring.size else ((k, v), [])
        if not causal or start < begin + q.shape[-2]:  # else all these keys lie in the future
            part = qkv.attention(q, k, v, causal=causal, offset=begin - start, return_lse=True, threads=threads)
            whole = part if whole is None else qkv.merge_attention(whole, part)
        MPI.Request.Waitall(requests)
        k, v = arriving
    return whole


def ring_backward(ring, dout, q, k, v, out, lse, *, causal=False, threads=None):
    """This process's dq, dk and dv."""
    begin = ring.exscan(q.shape[-2]) or 0
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    for _, start, coming in turn(ring, k.shape[-2]):
        arriving, requests = pass_on(ring, k, v, tokens=coming)
        if not causal or start < begin + q.shape[-2]:
            rules = {"causal": causal, "offset": begin - start, "threads": threads}
            slopes = qkv.attention_backward(dout, q, k, v, out, lse, **rules)
            for total, slope in zip((dq, dk, dv), slopes):
                total += slope
        MPI.Request.Waitall(requests)
        (k, v), ((dk, dv), requests) = arriving, pass_on(ring, dk, dv, tokens=coming)
        MPI.Request.Waitall(requests)
    return dq, dk, dv


def compare(ring, mine, inputs, causal):
    """On the first process: the largest difference from the same computation on one machine, of each result."""
    q, k, v, dout, *results = (ring.gather(x) for x in (*inputs, *mine))
    if ring.rank:
        return None
    q, k, v, dout = (np.concatenate(x, axis=-2) for x in (q, k, v, dout))
    out, lse = qkv.attention(q, k, v, causal=causal, return_lse=True)
    expected = {"out": out, "lse": lse}
    expected |= dict(zip(("dq", "dk", "dv"), qkv.attention_backward(dout, q, k, v, out, lse, causal=causal)))
    joined = (np.concatenate(x, axis=1) for x in results)
    return {name: float(abs(x - y).max()) for (name, x), y in zip(expected.items(), joined)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=4096, help="of the whole sequence")
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--d", type=int, default=64)
    parser.add_argument("--causal", action="store_true")
    asked = parser.parse_args()
    ring = MPI.COMM_WORLD
    threads = max(1, (os.cpu_count() or 1) // ring.Split_type(MPI.COMM_TYPE_SHARED).size)
    tokens = len(range(ring.rank, asked.tokens, ring.size))
    rng = np.random.default_rng(ring.rank)
    q, k, v, dout = (rng.standard_normal((asked.heads, tokens, asked.d), dtype=np.float32) for _ in range(4))
    rules = {"causal": asked.causal, "threads": threads}
    ring_attention(ring, *(x[:, :40] for x in (q, k, v)), **rules)  # compiles
    begin = time.perf_counter()
    out, lse = ring_attention(ring, q, k, v, **rules)
    slopes = ring_backward(ring, dout, q, k, v, out, lse, **rules)
    seconds = ring.reduce(time.perf_counter() - begin, MPI.MAX)
    differences = compare(ring, (out, lse, *slopes), (q, k, v, dout), asked.causal)
    if differences is not None:
        print(f"{asked.tokens} tokens on {ring.size} processes, forward and backward: {seconds:.2f} s")
        print("differs from one machine by at most", ", ".join(f"{x:.1e} ({n})" for n, x in differences.items()))
        if max(differences.values()) > 1e-4:
            raise SystemExit("that is too much")


if __name__ == "__main__":
    main()
