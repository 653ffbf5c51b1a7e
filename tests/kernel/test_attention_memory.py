"""Memory: nothing is read outside the arrays, nothing grows with the square of the tokens."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# Each array ends exactly where a page that may not be touched begins: one byte too many ends the process.
GUARDED = """
import ctypes, mmap
import ml_dtypes
import numpy as np
from qkv.kernel import attention, attention_backward
libc = ctypes.CDLL(None, use_errno=True)
kept = []

def guarded(shape, dtype):
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    pages = -(-size // mmap.PAGESIZE)
    room = mmap.mmap(-1, (pages + 1) * mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(room))
    end = start + pages * mmap.PAGESIZE
    assert libc.mprotect(ctypes.c_void_p(end), ctypes.c_size_t(mmap.PAGESIZE), 0) == 0
    kept.append(room)
    array = np.frombuffer(room, np.uint8, size, pages * mmap.PAGESIZE - size).view(dtype).reshape(shape)
    array[...] = np.random.default_rng(0).random(shape)
    return array

for dtype in (np.float32, np.float64, np.float16, ml_dtypes.bfloat16):
    for n_q, n_k, d, d_v in ((1, 1, 1, 1), (1, 67, 5, 3), (3, 16, 16, 16), (21, 35, 7, 9), (50, 130, 33, 20)):
        q, k, v = guarded((2, n_q, d), dtype), guarded((2, n_k, d), dtype), guarded((2, n_k, d_v), dtype)
        mask = guarded((n_q, n_k), np.bool_)
        bias = guarded((n_q, n_k), np.float32)
        out = guarded((2, n_q, d_v), dtype)
        attention(q, k, v)
        attention(q, k, v, causal=True, out=out)
        _, lse, _ = attention(q, k, v, mask=mask, bias=bias, return_lse=True, return_weights=True)
        attention(q, k, v, mask=mask, bias=bias)
        attention_backward(out, q, k, v, out, lse, mask=mask, bias=bias)
print("unharmed")
"""

LINEAR = """
import resource
import numpy as np
from qkv.kernel import attention
small = np.ones((1, 64, 64), np.float32)
attention(small, small, small)
x = np.random.default_rng(0).standard_normal((1, 8192, 64), dtype=np.float32)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
out = attention(x, x, x)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((peak - before) // 1024)
"""


def run_alone(program):
    return subprocess.run(
        [sys.executable, "-c", program], env=os.environ, timeout=120, capture_output=True, text=True, check=False
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="guard pages are set up as on Linux")
def test_nothing_outside_the_arrays_is_touched():
    done = run_alone(GUARDED)
    assert (done.returncode, done.stdout.strip()) == (0, "unharmed"), done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is in kilobytes on Linux only")
def test_scores_are_not_stored():
    done = run_alone(LINEAR)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 64  # the scores alone would be 256 MB
