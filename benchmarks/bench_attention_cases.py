"""What is measured: shapes and options, and the arrays that every peer gets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Case:
    """One cell of the table; a batch of one, tokens of queries and keys, heads of queries and of keys."""

    group: str
    heads: int
    n_q: int
    n_k: int
    d: int
    kv_heads: int
    causal: bool = False
    window: int | None = None
    mask: str | None = None  # "blocks", "padding" or "scattered"
    dtype: str = "float32"
    backward: bool = False
    seed: int = 0

    @property
    def name(self) -> str:
        heads = f"{self.heads}" if self.heads == self.kv_heads else f"{self.heads}/{self.kv_heads}"
        tokens = f"{self.n_q}" if self.n_q == self.n_k else f"{self.n_q}→{self.n_k}"
        extra = [
            "causal" if self.causal else "",
            f"window {self.window}" if self.window else "",
            f"{self.mask} mask" if self.mask else "",
            self.dtype if self.dtype != "float32" else "",
            "backward" if self.backward else "",
        ]
        return " ".join([f"{heads}×{tokens}×{self.d}", *filter(None, extra)])

    @property
    def multiplications(self) -> float:
        """Multiply-adds that the result needs, twice: the usual count of operations."""
        pairs = self.n_q * self.n_k * (0.5 if self.causal else 1.0)
        if self.window:
            pairs = self.n_q * self.window
        if self.mask is not None:
            pairs = float(self.allowed.mean()) * self.n_q * self.n_k
        return (10 if self.backward else 4) * self.heads * pairs * self.d

    @property
    def key_bytes(self) -> int:
        return 2 * self.kv_heads * self.n_k * self.d * np.dtype(self.dtype).itemsize

    @cached_property
    def arrays(self) -> Arrays:
        rng = np.random.default_rng(self.seed)
        shapes = ((self.heads, self.n_q), (self.kv_heads, self.n_k), (self.kv_heads, self.n_k))
        q, k, v = (rng.standard_normal((1, *shape, self.d), dtype=np.float32).astype(self.dtype) for shape in shapes)
        return q, k, v

    @cached_property
    def allowed(self) -> np.ndarray:
        """The mask, true where a key may be used; (n_q, n_k) or (1, n_k)."""
        rng = np.random.default_rng(1)
        if self.mask == "padding":
            return (np.arange(self.n_k) < 0.7 * self.n_k)[None]
        if self.mask == "scattered":
            return (rng.random((self.n_q, self.n_k)) < 0.5) | (np.arange(self.n_k) == 0)
        blocks = rng.random((-(-self.n_q // 128), -(-self.n_k // 128))) < 0.1
        np.fill_diagonal(blocks, True)
        blocks[:, 0] |= ~blocks.any(axis=1)  # a row without a key is NaN for some peers
        return np.kron(blocks, np.ones((128, 128), bool)).astype(bool)[: self.n_q, : self.n_k]

    @cached_property
    def rule(self) -> np.ndarray | None:
        """Window and mask as one array of truth values, for peers that know no better; None for neither."""
        if self.window:
            distance = np.arange(self.n_q)[:, None] - np.arange(self.n_k)
            return (distance >= 0) & (distance < self.window)
        return self.allowed if self.mask else None


SQUARE = [
    (1, 3, 3),
    (2, 64, 64),
    (12, 128, 64),
    (12, 512, 64),
    (8, 2048, 64),
    (8, 4096, 128),
    (1, 8192, 64),
    (32, 1024, 80),
]
CASES = [
    *(Case("prefill", h, n, n, d, h, causal=c) for h, n, d in SQUARE for c in (False, True)),
    *(Case("decode", h, 1, n, 64, h) for n in (512, 4096, 65536) for h in (32, 8, 1)),
    *(Case("decode", 32, 1, n, 64, 8) for n in (512, 4096, 65536)),
    Case("masks", 8, 8192, 8192, 64, 8, causal=True, window=256),
    Case("masks", 8, 4096, 4096, 64, 8, mask="blocks"),
    Case("masks", 12, 512, 512, 64, 12, mask="padding"),
    Case("uneven", 4, 48, 48, 32, 4, causal=True),
    Case("uneven", 14, 1, 10000, 64, 14),
    Case("uneven", 4, 3000, 3000, 96, 4),
    Case("uneven", 8, 300, 2500, 64, 8),
    Case("uneven", 12, 197, 197, 64, 12),
    Case("uneven", 16, 1500, 1500, 128, 16, causal=True),
    Case("uneven", 12, 777, 777, 64, 12, causal=True),
    Case("uneven", 28, 512, 512, 128, 4),
    Case("float64", 8, 1024, 1024, 64, 8, dtype="float64"),
    Case("backward", 8, 1024, 1024, 64, 8, backward=True),
    Case("backward", 8, 1024, 1024, 64, 8, causal=True, backward=True),
]
