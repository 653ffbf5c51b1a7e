"""Gradients against finite differences of the forward pass, which know nothing of the backward formula."""

from __future__ import annotations

import numpy as np
import pytest

from qkv.errors import ShapeError, ValueRefused
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


BIASES = [(4, 5, 6), (1, 5, 6), (5, 6), (6,), (4, 1, 1), (2, 4, 5, 6), (2, 1, 1, 6), (3, 1, 4, 5, 6), (3, 2, 4, 5, 6)]


@pytest.mark.parametrize("shape", BIASES, ids=str)
@pytest.mark.parametrize("options", [{}, {"causal": True, "softcap": 1.0, "sinks": 0.5}], ids=["plain", "softcap"])
def test_bias_and_sinks_against_finite_differences(shape, options):
    rng = np.random.default_rng(0)
    lead = shape[:-3]
    q, k, v, dout = (rng.standard_normal((*lead, *x)) for x in ((4, 5, 3), (2, 6, 3), (2, 6, 2), (4, 5, 2)))
    bias, sinks = rng.standard_normal(shape), rng.standard_normal(4)
    options = {**options, "sinks": sinks}
    dlse = rng.standard_normal(dout.shape[:-1])

    def loss(bias, sinks):
        out, lse = attention(q, k, v, **{**options, "bias": bias, "sinks": sinks}, return_lse=True)
        return (out * dout).sum() + (lse * dlse).sum()

    out, lse = attention(q, k, v, bias=bias, return_lse=True, **options)
    asked = {"bias": bias, "dlse": dlse, "return_dbias": True, "return_dsinks": True, **options}
    *_, dbias, dsinks = attention_backward(dout, q, k, v, out, lse, **asked)
    assert (dbias.shape, dsinks.shape) == (shape, (4,))
    np.testing.assert_allclose(dbias, by_differences(lambda x: loss(x, sinks), bias), atol=2e-8)
    np.testing.assert_allclose(dsinks, by_differences(lambda x: loss(bias, x), sinks), atol=2e-8)


def test_one_sink_for_all_heads_gets_the_sum():
    rng = np.random.default_rng(0)
    q, k, v, dout = (rng.standard_normal((3, 5, 4)) for _ in range(4))
    slopes = []
    for sinks in (0.4, np.full(3, 0.4)):
        out, lse = attention(q, k, v, sinks=sinks, return_lse=True)
        slopes.append(attention_backward(dout, q, k, v, out, lse, sinks=sinks, return_dsinks=True)[3])
    np.testing.assert_allclose(slopes[0], slopes[1].sum(), rtol=1e-13)
    assert slopes[0].shape == ()


def test_the_bias_of_a_masked_key_has_no_gradient():
    rng = np.random.default_rng(0)
    q, k, v, dout = (rng.standard_normal((2, 40, 4)) for _ in range(4))
    bias = np.where(rng.random((40, 40)) < 0.5, 0.0, -np.inf)
    bias[7] = -np.inf  # a row without any key
    for poison in (0.0, np.nan):
        k[:, 39], bias[:, 39] = poison, -np.inf
        out, lse = attention(q, k, v, bias=bias, causal=True, return_lse=True)
        options = {"bias": bias, "causal": True, "return_dbias": True}
        *_, dbias = attention_backward(dout, q, k, v, out, lse, **options)
        assert not dbias[np.isneginf(bias) | ~np.tri(40, dtype=bool)].any()
        assert np.isfinite(dbias).all()
        assert dbias.any()


def test_gradients_keep_the_types_of_what_they_belong_to():
    x = np.random.default_rng(0).standard_normal((2, 9, 4)).astype(np.float16)
    bias, sinks = np.zeros((9, 9), np.float32), np.zeros(2, int)
    out, lse = attention(x, x, x, bias=bias, sinks=sinks, return_lse=True)
    asked = {"return_dbias": True, "return_dsinks": True}
    slopes = attention_backward(x, x, x, x, out, lse, bias=bias, sinks=sinks, **asked)
    assert [g.dtype for g in slopes] == [np.float16] * 3 + [np.float32, np.float16]


@pytest.mark.parametrize("name", ["bias", "sinks"])
def test_what_was_not_given_has_no_gradient(name):
    x = np.ones((2, 3, 4))
    with pytest.raises(ValueRefused, match=f"no {name} are given"):
        attention_backward(x, x, x, x, x, np.ones((2, 3)), **{f"return_d{name}": True})


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
