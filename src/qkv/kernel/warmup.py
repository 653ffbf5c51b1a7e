"""Compiling ahead, so that the first real call does not wait."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from qkv.kernel.api import attention
from qkv.kernel.backward import attention_backward
from qkv.kernel.jit import say_nothing


def warmup(progress: Callable[[str], None] | None = None) -> float:
    """Compile every kernel that is not on disk yet; the seconds it took.

    >>> warmup() >= 0
    True
    """
    say_nothing()
    begin = time.perf_counter()
    for dtype in (np.float32, np.float64):
        for name, rows in (("decode", 1), ("forward and backward", 32)):
            if progress is not None:
                progress(f"{name}, {np.dtype(dtype)}")
            q, k = np.ones((1, rows, 4), dtype), np.ones((1, 32, 4), dtype)
            attention(q, k, k)
            out, lse = attention(q, k, k, return_lse=True)
            if rows > 1:
                attention_backward(out, q, k, k, out, lse)
    large = np.ones((4, 256, 16), np.float32)
    attention(large, large, large)  # what hands it to other threads is compiled too
    return time.perf_counter() - begin
