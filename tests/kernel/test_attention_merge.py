"""Joining partial results."""

from __future__ import annotations

import numpy as np
import pytest

from qkv.errors import QkvError
from qkv.kernel import attention, merge_attention


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
