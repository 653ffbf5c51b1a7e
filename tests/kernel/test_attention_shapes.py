"""Shapes on both sides of where another kernel takes over, with all that may be added, against the plain formula."""

from __future__ import annotations

import numpy as np
import pytest

import qkv
from qkv.errors import ShapeError, ValueRefused

ROWS = (1, 2, 3, 4, 5, 8, 9, 16, 17, 47, 50)
KEYS = (1, 2, 4, 5, 17, 130)
SIZES = ((16, 16), (24, 5), (67, 40))  # d of keys and of values
OPTIONS = {
    "plain": lambda rng, n_q, n_k: {},
    "causal": lambda rng, n_q, n_k: {"causal": True},
    "window": lambda rng, n_q, n_k: {"causal": True, "window": (3, 0)},
    "both sides": lambda rng, n_q, n_k: {"window": (2, 1)},
    "scattered": lambda rng, n_q, n_k: {"mask": rng.random((n_q, n_k)) < 0.5},
    "padding": lambda rng, n_q, n_k: {"mask": np.arange(n_k)[None] < (n_k + 1) // 2},
    "one column": lambda rng, n_q, n_k: {"mask": rng.random((4, n_q, 1)) < 0.5},
    "bias": lambda rng, n_q, n_k: {"bias": rng.standard_normal((4, 1, n_k), dtype=np.float32)},
    "bias and mask": lambda rng, n_q, n_k: {
        "bias": rng.standard_normal((1, 4, n_q, n_k), dtype=np.float32),
        "mask": rng.random((n_k,)) < 0.7,
    },
}


def inputs(rng, n_q, n_k, d, d_v, heads=4, kv_heads=2):
    shapes = ((heads, n_q, d), (kv_heads, n_k, d), (kv_heads, n_k, d_v))
    return [rng.standard_normal((1, *shape), dtype=np.float32) for shape in shapes]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("n_q", ROWS)
def test_every_kernel_gives_the_formula(n_q, options):
    rng = np.random.default_rng(n_q)
    for n_k in KEYS:
        for d, d_v in SIZES:
            q, k, v = inputs(rng, n_q, n_k, d, d_v)
            given = OPTIONS[options](rng, n_q, n_k)
            expected = qkv.trace_attention(*(x.astype(np.float64) for x in (q, k, v)), **given).output
            np.testing.assert_allclose(qkv.attention(q, k, v, **given), expected, rtol=0, atol=5e-6)


@pytest.mark.parametrize("n_q", [1, 3, 6, 20])
@pytest.mark.parametrize("n_k", [3, 40])
def test_what_stands_at_masked_keys_does_not_matter(n_q, n_k):
    rng = np.random.default_rng(0)
    q, k, v = inputs(rng, n_q, n_k, 24, 24)
    mask = np.arange(n_k) != 1
    expected = qkv.attention(q, k, v, mask=mask)
    k[:, :, 1], v[:, :, 1] = np.nan, np.inf
    np.testing.assert_allclose(qkv.attention(q, k, v, mask=mask), expected, rtol=0, atol=1e-6)
    assert np.isnan(qkv.attention(q, k, v)).all()


@pytest.mark.parametrize("options", OPTIONS)
def test_the_short_way_in_gives_what_the_general_one_gives(options):
    rng = np.random.default_rng(1)
    q, k, v = inputs(rng, 6, 9, 16, 16)
    given = OPTIONS[options](rng, 6, 9)
    general, _ = qkv.attention(q, k, v, return_lse=True, **given)
    np.testing.assert_array_equal(qkv.attention(q, k, v, **given), general)


def test_the_short_way_in_leaves_refusals_to_the_general_one():
    q, k, v = inputs(np.random.default_rng(2), 6, 9, 16, 16)
    with pytest.raises(ShapeError, match="mask has shape"):
        qkv.attention(q, k, v, mask=np.ones((5, 9), bool))
    with pytest.raises(ShapeError, match="bias has shape"):
        qkv.attention(q, k, v, bias=np.ones((1, 1, 1, 6, 9), np.float32))
    with pytest.raises(ValueRefused, match="window is"):
        qkv.attention(q, k, v, window=(2, -5))
