"""Joining partial results."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from qkv.errors import QkvError
from qkv.kernel import attention, attention_backward, merge_attention


def test_three_parts_are_the_whole():
    rng = np.random.default_rng(0)
    q, k, v = rng.standard_normal((2, 6, 4)), rng.standard_normal((2, 30, 4)), rng.standard_normal((2, 30, 3))
    parts = [attention(q, k[:, i:j], v[:, i:j], return_lse=True) for i, j in ((0, 7), (7, 8), (8, 30))]
    out, lse = merge_attention(*parts)
    whole, whole_lse = attention(q, k, v, return_lse=True)
    np.testing.assert_allclose(out, whole, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(lse, whole_lse, rtol=1e-13)


def test_a_part_without_keys_changes_nothing():
    full, empty = (np.ones((2, 3)), np.array([1.0, 2.0])), (np.full((2, 3), np.nan), np.full(2, -np.inf))
    out, lse = merge_attention(empty, full, empty)
    np.testing.assert_array_equal(out, full[0])
    np.testing.assert_array_equal(lse, full[1])


def test_nothing_but_empty_parts_is_zeros():
    empty = (np.zeros((2, 3), np.float32), np.full(2, -np.inf, np.float32))
    out, lse = merge_attention(empty, empty)
    assert out.dtype == lse.dtype == np.float32
    assert not out.any()
    assert (lse == -np.inf).all()


def test_far_apart_parts_do_not_overflow():
    out, lse = merge_attention((np.array([[1.0]]), np.array([1e4])), (np.array([[2.0]]), np.array([-1e4])))
    assert (out.tolist(), lse.tolist()) == ([[1.0]], [1e4])


@pytest.mark.parametrize(
    "parts", [[], [(np.ones((2, 3)), np.ones(3))], [(np.ones((2, 3)), np.ones(2)), (np.ones((1, 3)), np.ones(1))]]
)
def test_parts_that_do_not_fit_are_refused(parts):
    with pytest.raises(QkvError, match=r"expected|need"):
        merge_attention(*parts)


@pytest.mark.parametrize(
    "options", [{"causal": True}, {"window": (9, 4)}, {"causal": "lower-right", "lengths": [17, 30]}], ids=str
)
def test_blocks_with_their_offsets_are_the_whole(options):
    """Queries and keys cut into blocks, each block told where its queries stand among its keys."""
    rng = np.random.default_rng(0)
    q, k, v, dout = (rng.standard_normal((2, 3, n, 4)) for n in (20, 30, 30, 20))
    lengths = np.asarray(options.get("lengths", [30, 30]))
    whole = attention(q, k, v, return_lse=True, **options)
    slopes = attention_backward(dout, q, k, v, *whole, **options)
    sums = [np.zeros_like(x) for x in (q, k, v)]
    for a, b in ((0, 7), (7, 20)):
        parts = []
        for c, d in ((0, 11), (11, 12), (12, 30)):
            block = {**options, "lengths": np.clip(lengths - c, 0, d - c), "offset": lengths - 20 + a - c}
            part = q[:, :, a:b], k[:, :, c:d], v[:, :, c:d]
            parts.append(attention(*part, return_lse=True, **block))
            rows = (x[:, :, a:b] for x in whole)
            dq, dk, dv = attention_backward(dout[:, :, a:b], *part, *rows, **block)
            for total, (i, j), slope in zip(sums, ((a, b), (c, d), (c, d)), (dq, dk, dv), strict=True):
                total[:, :, i:j] += slope
        for mine, theirs in zip(merge_attention(*parts), whole, strict=True):
            np.testing.assert_allclose(mine, theirs[:, :, a:b], rtol=1e-12, atol=1e-13)
    for mine, theirs in zip(sums, slopes, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-13)


def test_a_block_with_nan_gives_its_share_of_the_gradient():
    """Masked NaN takes the slow way, which must go by the output of all keys, not by that of its own block."""
    rng = np.random.default_rng(0)
    q, k, v, dout = (rng.standard_normal((1, 8, 4)) for _ in range(4))
    whole = attention(q, k, v, causal=True, return_lse=True)
    expected = attention_backward(dout, q, k[:, 5:], v[:, 5:], *whole, causal=True, offset=-5)
    k[:, 7], v[:, 7] = np.nan, np.inf
    rows = [x[:, :7] for x in (dout, q, *whole)]
    got = attention_backward(*rows[:2], k[:, 5:], v[:, 5:], *rows[2:], causal=True, offset=-5)
    np.testing.assert_allclose(got[0], expected[0][:, :7], atol=1e-14)


@pytest.mark.parametrize("offset, message", [(1.5, "whole numbers"), ([1, 2, 3], "one per batch entry")])
def test_offsets_that_do_not_fit_are_refused(offset, message):
    with pytest.raises(QkvError, match=message):
        attention(np.ones((2, 1, 3, 4)), np.ones((2, 1, 3, 4)), np.ones((2, 1, 3, 4)), offset=offset)


def test_far_away_queries_see_everything_or_nothing():
    x = np.ones((2, 3))
    assert (attention(x, x, x, causal=True, offset=2**62) == 1).all()
    assert not attention(x, x, x, causal=True, offset=-(2**62)).any()
    assert not attention(x, x, x, window=(5, None), offset=2**62).any()


def test_joining_holds_little_besides_the_parts():
    parts = [(np.ones((2000, 500)), np.zeros(2000)) for _ in range(8)]
    tracemalloc.start()
    try:
        out, _ = merge_attention(*parts)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (out == 1).all()
    assert peak < 3 * out.nbytes
