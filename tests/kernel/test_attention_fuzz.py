"""Random problems against the row-by-row definition."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernel_oracle import attend

from qkv.kernel import attention, attention_backward, merge_attention
from qkv.kernel.arguments import problem
from qkv.kernel.formula import gradients

DTYPES = {"float32": 3e-5, "float64": 1e-12, "float16": 4e-3, "bfloat16": 4e-2}
LAYOUTS = (
    lambda x: x,
    lambda x: np.ascontiguousarray(x.swapaxes(1, 2)).swapaxes(1, 2),
    lambda x: np.repeat(x, 3, axis=3)[..., ::3],
    lambda x: np.ascontiguousarray(x[:, :, ::-1])[:, :, ::-1],
)


@st.composite
def problems(draw, dtypes=tuple(DTYPES)):
    """q, k, v, options and the tolerance that suits the type."""
    dtype = draw(st.sampled_from(dtypes))
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    batch, kv_heads, group = draw(st.integers(1, 2)), draw(st.integers(1, 2)), draw(st.integers(1, 3))
    n_q, n_k = (
        draw(st.sampled_from([1, 2, 3, 5, 16, 17, 31, 49])),
        draw(st.sampled_from([1, 2, 9, 16, 40, 65, 129, 140])),
    )
    d, d_v = draw(st.sampled_from([1, 2, 7, 8, 16, 19, 33])), draw(st.sampled_from([1, 3, 8, 16, 17, 40]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    heads = kv_heads * group
    shapes = [(batch, heads, n_q, d), (batch, kv_heads, n_k, d), (batch, kv_heads, n_k, d_v)]
    q, k, v = (draw(st.sampled_from(LAYOUTS))(rng.standard_normal(shape).astype(kind)) for shape in shapes)
    full = [batch, heads, n_q, n_k]
    part = [draw(st.sampled_from([1, n])) for n in full]
    options = {}
    if draw(st.booleans()):
        options["causal"] = draw(st.sampled_from(["lower-right", "upper-left"]))
    if draw(st.booleans()):
        options["window"] = (draw(st.integers(-1, 40)), draw(st.integers(-1, 40)))
    if draw(st.booleans()):
        options["mask"] = rng.random(part) < draw(st.sampled_from([0.05, 0.5, 0.95]))
    if draw(st.booleans()):
        options["bias"] = np.where(rng.random(part) < 0.7, rng.standard_normal(part), -np.inf).astype(np.float32)
    if draw(st.booleans()):
        options["lengths"] = rng.integers(0, n_k + 1, batch)
    if draw(st.booleans()):
        options["softcap"] = draw(st.sampled_from([0.5, 20.0]))
    if draw(st.booleans()):
        options["sinks"] = rng.standard_normal(heads)
    if draw(st.booleans()):
        options["offset"] = rng.integers(-60, 160, batch)
    return q, k, v, options, DTYPES[dtype]


FUZZ = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))


@FUZZ
@given(problems())
def test_any_problem(given_):
    q, k, v, options, tolerance = given_
    output, lse, weights = attend(q, k, v, **options)
    for return_weights in (False, True):
        got = attention(q, k, v, return_lse=True, return_weights=return_weights, **options)
        np.testing.assert_allclose(got[0].astype(np.float64), output, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(got[1], lse, rtol=tolerance, atol=tolerance)
        if return_weights:
            np.testing.assert_allclose(got[2].astype(np.float64), weights, rtol=tolerance, atol=tolerance)


@settings(FUZZ, max_examples=40)
@given(problems(("float32", "float64")), st.integers(0, 140))
def test_split_keys_merge_to_the_whole(given_, cut):
    q, k, v, options, tolerance = given_
    mask, bias = options.get("mask", np.ones(1, bool)), options.get("bias", np.zeros(1, np.float32))
    full = (*q.shape[:3], k.shape[2])
    mask, bias = np.broadcast_to(mask, full), np.broadcast_to(bias, full)
    parts = []
    for keys in (slice(0, cut), slice(cut, None)):
        part = attention(q, k[:, :, keys], v[:, :, keys], mask=mask[..., keys], bias=bias[..., keys], return_lse=True)
        parts.append(part)
    out, lse = merge_attention(*parts)
    whole, whole_lse, _ = attend(q, k, v, mask=mask, bias=bias)
    np.testing.assert_allclose(out, whole, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(lse, whole_lse, rtol=tolerance, atol=tolerance)


@settings(FUZZ, max_examples=60)
@given(problems(("float32", "float64")))
def test_any_gradient(given_):
    q, k, v, options, tolerance = given_
    dout = np.random.default_rng(0).standard_normal((*q.shape[:3], v.shape[3])).astype(q.dtype)
    out, lse = attention(q, k, v, return_lse=True, **options)
    biased = "bias" in options
    if biased:  # its gradient has its type
        options["bias"] = options["bias"].astype(q.dtype)
    got = attention_backward(dout, q, k, v, out, lse, return_dbias=biased, **options)
    wide = [x.astype(np.float64) for x in (q, k, v)]
    exact, exact_lse, _ = attend(*wide, **options)
    expected = gradients(problem(*wide, **options), dout.astype(np.float64), exact_lse, (dout * exact).sum(-1))
    if biased:  # summed over the axes along which the bias was repeated
        repeated = tuple(axis for axis, n in enumerate(options["bias"].shape) if n != expected[3].shape[axis])
        expected = (*expected[:3], expected[3].sum(repeated, keepdims=True))
    for mine, theirs in zip(got, expected[: len(got)], strict=True):
        scale = max(1.0, float(np.abs(theirs).max(initial=0)))
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=10 * tolerance * scale)
