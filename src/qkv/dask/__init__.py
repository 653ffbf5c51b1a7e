"""Attention on dask arrays: block by block on many machines, exactly as on one.

>>> import dask.array as da
>>> import qkv
>>> q, k, v = (da.random.default_rng(seed).random((2, 600, 16), chunks=(1, 200, 16)) for seed in range(3))
>>> out = qkv.dask.attention(q, k, v, causal=True)
>>> out.chunks
((1, 1), (200, 200, 200), (16,))
>>> bool(abs(out.compute() - qkv.attention(*(x.compute() for x in (q, k, v)), causal=True)).max() < 1e-12)
True
"""

try:
    import dask.array  # noqa: F401
except ImportError as error:
    raise ImportError("qkv.dask needs Dask; install it with: pip install 'qkv[dask]'") from error

from qkv.dask.api import attention, attention_backward
from qkv.dask.warmup import warmup

__all__ = ["attention", "attention_backward", "warmup"]
