"""Gradients against finite differences of the forward pass, which know nothing of the backward formula."""

from __future__ import annotations

import numpy as np
import pytest

from qkv.errors import ShapeError
from qkv.kernel import attention, attention_backward

OPTIONS = [
    {},
    {"causal": True},
    {"softcap": 1.0, "bias": np.linspace(-1, 1, 30).reshape(5, 6)},
    {"window": (2, 1)},
    {"lengths": 4, "sinks": 0.3},
    {"mask": np.arange(30).reshape(5, 6) % 4 != 0, "scale": 0.9},
]


def by_differences(f, x, step=1e-5):
    result = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        nudge = np.zeros_like(x)
        nudge[at] = step
        result[at] = (f(x + nudge) - f(x - nudge)) / (2 * step)
    return result


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "+".join(o) or "plain")
def test_against_finite_differences(options):
    rng = np.random.default_rng(0)
    q, k, v, dout = (rng.standard_normal(shape) for shape in ((4, 5, 3), (2, 6, 3), (2, 6, 2), (4, 5, 2)))
    out, lse = attention(q, k, v, return_lse=True, **options)
    dq, dk, dv = attention_backward(dout, q, k, v, out, lse, **options)

    def loss(q, k, v):
        return (attention(q, k, v, **options) * dout).sum()

    np.testing.assert_allclose(dq, by_differences(lambda x: loss(x, k, v), q), atol=1e-8)
    np.testing.assert_allclose(dk, by_differences(lambda x: loss(q, x, v), k), atol=1e-8)
    np.testing.assert_allclose(dv, by_differences(lambda x: loss(q, k, x), v), atol=1e-8)


def test_masked_nan_has_no_gradient():
    rng = np.random.default_rng(0)
    q, k, v, dout = (rng.standard_normal((1, 8, 4)) for _ in range(4))
    mask = np.ones((8, 8), bool)
    mask[:, 3] = False
    expected = attention_backward(dout, q, k, v, *attention(q, k, v, mask=mask, return_lse=True), mask=mask)
    k[:, 3], v[:, 3] = np.nan, np.inf
    got = attention_backward(dout, q, k, v, *attention(q, k, v, mask=mask, return_lse=True), mask=mask)
    for mine, theirs in zip(got, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-14)


def test_keys_shared_by_a_batch_get_the_sum():
    rng = np.random.default_rng(0)
    q, dout = rng.standard_normal((2, 3, 2, 5, 4)), rng.standard_normal((2, 3, 2, 5, 4))
    k, v = rng.standard_normal((2, 1, 2, 6, 4)), rng.standard_normal((1, 3, 2, 6, 4))
    out, lse = attention(q, k, v, return_lse=True)
    _, dk, dv = attention_backward(dout, q, k, v, out, lse)
    wide_k, wide_v = np.broadcast_to(k, (2, 3, 2, 6, 4)), np.broadcast_to(v, (2, 3, 2, 6, 4))
    _, each_k, each_v = attention_backward(dout, q, wide_k, wide_v, out, lse)
    np.testing.assert_allclose(dk, each_k.sum(axis=1, keepdims=True), atol=1e-12)
    np.testing.assert_allclose(dv, each_v.sum(axis=0, keepdims=True), atol=1e-12)


def test_long_keys_are_cut_into_parts():
    rng = np.random.default_rng(0)
    q, dout = rng.standard_normal((1, 40, 8)), rng.standard_normal((1, 40, 8))
    k, v = rng.standard_normal((1, 2500, 8)), rng.standard_normal((1, 2500, 8))
    out, lse, weights = attention(q, k, v, causal=True, return_lse=True, return_weights=True)
    dq, _, dv = attention_backward(dout, q, k, v, out, lse, causal=True)
    np.testing.assert_allclose(dv, weights.swapaxes(1, 2) @ dout, atol=1e-12)
    slope = weights * (dout @ v.swapaxes(1, 2) - (dout * out).sum(-1, keepdims=True))
    np.testing.assert_allclose(dq, slope @ k / np.sqrt(8), atol=1e-12)


def test_half_precision_keeps_its_type():
    x = np.random.default_rng(0).standard_normal((2, 9, 4)).astype(np.float16)
    out, lse = attention(x, x, x, return_lse=True)
    assert [g.dtype for g in attention_backward(x, x, x, x, out, lse)] == [np.float16] * 3


def test_wrong_shapes_are_named():
    x = np.ones((2, 3, 4))
    with pytest.raises(ShapeError, match=r"dout has shape \(2, 3\)"):
        attention_backward(np.ones((2, 3)), x, x, x, x, np.ones((2, 3)))
