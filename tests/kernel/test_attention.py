"""`qkv.attention` against the row-by-row definition, option by option, and its rules at the edges."""

from __future__ import annotations

from inspect import signature

import ml_dtypes
import numpy as np
import pytest
from kernel_oracle import attend

from qkv.errors import QkvError, ShapeError, ValueRefused
from qkv.kernel import attention, attention_backward, trace_attention

RTOL = {"float32": 2e-5, "float64": 1e-13, "float16": 3e-3, "bfloat16": 3e-2}


def arrays(n_q, n_k, d=8, d_v=None, heads=2, kv_heads=None, batch=2, dtype="float32", seed=0):
    rng = np.random.default_rng(seed)
    shapes = [(batch, heads, n_q, d), (batch, kv_heads or heads, n_k, d), (batch, kv_heads or heads, n_k, d_v or d)]
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    return [rng.standard_normal(shape).astype(kind) for shape in shapes]


def agree(q, k, v, tolerance=None, **options):
    tolerance = tolerance or RTOL[q.dtype.name]
    output, lse, weights = attend(q, k, v, **options)
    got, got_lse, got_weights = attention(q, k, v, return_lse=True, return_weights=True, **options)
    assert got.dtype == q.dtype
    np.testing.assert_allclose(got.astype(np.float64), output, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(got_weights.astype(np.float64), weights, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(got_lse, lse, rtol=max(tolerance / 10, 1e-13), atol=max(tolerance / 10, 1e-13))
    alone = attention(q, k, v, **options)  # without weights the decode kernel may serve
    np.testing.assert_allclose(alone.astype(np.float64), output, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize(
    "n_q,n_k,d,d_v",
    [
        (1, 1, 1, 1),
        (1, 70, 8, 8),
        (3, 3, 3, 3),
        (5, 131, 16, 16),
        (50, 130, 20, 33),
        (100, 40, 64, 17),
        (17, 300, 33, 64),
    ],
)
def test_shapes(dtype, n_q, n_k, d, d_v):
    agree(*arrays(n_q, n_k, d, d_v, dtype=dtype))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"causal": True, "window": (1700, 0)},
        {"sinks": [1.5, -2.0]},
        {"mask": np.random.default_rng(0).random((20, 4500)) < 0.5, "softcap": 3.0},
        {"lengths": [1500, 4400]},
    ],
    ids=["plain", "causal window", "sinks", "mask", "lengths"],
)
def test_few_queries_over_many_keys_in_parts(options):
    q, k, v = arrays(20, 4500)
    output, lse, _ = attend(q, k, v, **options)
    got, got_lse = attention(q, k, v, return_lse=True, **options)
    np.testing.assert_allclose(got, output, rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(got_lse, lse, rtol=2e-6)


def test_nan_at_a_masked_key_stays_out_of_every_part():
    q, k, v = arrays(20, 4500)
    k[:, :, 100], v[:, :, 3000] = np.nan, np.inf
    mask = np.ones(4500, bool)
    mask[[100, 3000]] = False
    np.testing.assert_allclose(attention(q, k, v, mask=mask), attend(q, k, v, mask=mask)[0], rtol=2e-5, atol=2e-6)


OPTIONS = {
    "causal": {"causal": True},
    "upper-left": {"causal": "upper-left"},
    "window": {"window": (9, 3)},
    "one-sided": {"window": (None, 2)},
    "causal window": {"causal": True, "window": (20, -1)},
    "scale": {"scale": -0.7},
    "softcap": {"softcap": 1.5},
    "lengths": {"lengths": [3, 37]},
    "no keys in one batch": {"lengths": [0, 40], "causal": True},
    "sinks": {"sinks": [0.5, -1.0]},
    "sinks and causal": {"sinks": 2.0, "causal": "upper-left", "lengths": [0, 5]},
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n_q", [1, 3, 40, 60])
@pytest.mark.parametrize("name", OPTIONS)
def test_options(name, n_q, dtype):
    agree(*arrays(n_q, 40, dtype=dtype), **OPTIONS[name])


@pytest.mark.parametrize("n_q", [1, 2, 50])
@pytest.mark.parametrize(
    "shape", [(1, 1, 1, 150), (2, 1, 1, 150), (1, 2, -1, 150), (-1, 150), (-1, 1), (2, 2, -1, 150), (150,)]
)
@pytest.mark.parametrize("kind", ["mask", "additive", "bias", "both"])
def test_masks_broadcast_as_numpy_does(kind, shape, n_q):
    rng = np.random.default_rng(1)
    shape = tuple(n_q if n == -1 else n for n in shape)
    flags = rng.random(shape) < 0.4
    numbers = rng.standard_normal(shape).astype(np.float32)
    holes = np.where(flags, numbers, -np.inf)
    q, k, v = arrays(n_q, 150)
    if kind == "mask":
        agree(q, k, v, mask=flags)
    elif kind == "bias":
        agree(q, k, v, bias=numbers)
    elif kind == "both":
        agree(q, k, v, mask=flags, bias=numbers, causal=True, softcap=3.0)
    else:
        expected = attend(q, k, v, bias=holes)[0]
        np.testing.assert_allclose(attention(q, k, v, mask=holes), expected, rtol=2e-5, atol=2e-5)


def test_additive_mask_and_bias_add_up():
    q, k, v = arrays(20, 30)
    a, b = np.full((20, 30), 0.5), np.tri(20, 30)
    np.testing.assert_allclose(attention(q, k, v, mask=a, bias=b), attend(q, k, v, bias=a + b)[0], rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("n_q", [1, 4, 20, 70])
@pytest.mark.parametrize("heads,kv_heads", [(6, 2), (4, 1), (8, 8)])
def test_grouped_queries(heads, kv_heads, n_q):
    agree(*arrays(n_q, 90, heads=heads, kv_heads=kv_heads), causal=True)


@pytest.mark.parametrize("heads,kv_heads", [(4, 1), (8, 1), (8, 2), (5, 1)])
@pytest.mark.parametrize("options", [{}, {"lengths": [90, 3]}, {"softcap": 2.0, "window": (30, 0)}], ids=str)
def test_one_query_for_a_whole_group(heads, kv_heads, options):
    for d in (32, 80):
        agree(*arrays(1, 90, d=d, heads=heads, kv_heads=kv_heads), **options)


def test_a_block_sparse_mask_skips_tiles_and_stays_right():
    rng = np.random.default_rng(2)
    blocks = rng.random((5, 5)) < 0.2
    mask = np.kron(blocks, np.ones((64, 64), bool)).astype(bool)
    agree(*arrays(320, 320, heads=1, batch=1), mask=mask)


@pytest.mark.parametrize("layout", ["transposed", "every other column", "reversed", "broadcast"])
@pytest.mark.parametrize("n_q", [2, 40])
def test_any_strides(layout, n_q):
    q, k, v = arrays(n_q, 50)
    views = {
        "transposed": lambda x: np.ascontiguousarray(x.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3),
        "every other column": lambda x: np.repeat(x, 2, axis=3)[..., ::2],
        "reversed": lambda x: np.ascontiguousarray(x[..., ::-1, ::-1])[..., ::-1, ::-1],
        "broadcast": lambda x: np.broadcast_to(x[:1, :1], x.shape),
    }
    q, k, v = (views[layout](x) for x in (q, k, v))
    agree(q, k, v, causal=True)


@pytest.mark.parametrize("lead", [(), (3,), (2, 3), (2, 1, 3), (1, 2, 2, 3)])
def test_leading_axes(lead):
    rng = np.random.default_rng(3)
    q, k, v = (rng.standard_normal((*lead, n, 4)) for n in (5, 7, 7))
    out, lse, weights = attention(q, k, v, return_lse=True, return_weights=True)
    assert (out.shape, lse.shape, weights.shape) == ((*lead, 5, 4), (*lead, 5), (*lead, 5, 7))
    four = [x.reshape(-1, lead[-1] if lead else 1, *x.shape[-2:]) for x in (q, k, v)]
    np.testing.assert_allclose(out, attend(*four)[0].reshape(out.shape), rtol=1e-13, atol=1e-13)


def test_keys_may_be_shared_by_a_batch():
    q, k, v = arrays(5, 9)
    shared = attention(q, k[:1], v[:1])
    np.testing.assert_array_equal(shared, attention(q, k[0], v[0]))  # axes in front as NumPy adds them
    np.testing.assert_allclose(
        shared, attend(q, np.repeat(k[:1], 2, 0), np.repeat(v[:1], 2, 0))[0], rtol=2e-5, atol=2e-6
    )


@pytest.mark.parametrize("n_q,n_k,d,d_v", [(0, 4, 3, 3), (4, 0, 3, 3), (4, 5, 0, 2), (4, 5, 3, 0)])
def test_nothing_to_do(n_q, n_k, d, d_v):
    out, lse = attention(np.ones((2, n_q, d)), np.ones((2, n_k, d)), np.ones((2, n_k, d_v)), return_lse=True)
    assert out.shape == (2, n_q, d_v)
    if n_k == 0:
        assert not out.any()
        assert (lse == -np.inf).all()
    else:
        np.testing.assert_allclose(out, 1.0)


@pytest.mark.parametrize("n_q", [1, 33])
def test_a_row_without_keys_is_zeros(n_q):
    q, k, v = arrays(n_q, 20)
    out, lse, weights = attention(q, k, v, mask=np.zeros((n_q, 20), bool), return_lse=True, return_weights=True)
    assert not out.any()
    assert not weights.any()
    assert (lse == -np.inf).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("n_q", [1, 60])
@pytest.mark.parametrize("rule", ["mask", "additive", "causal", "lengths", "window"])
@pytest.mark.parametrize("poison", [np.nan, np.inf])
def test_what_is_masked_does_not_leak(rule, n_q, poison, dtype):
    q, k, v = arrays(n_q, 60, dtype=dtype, batch=1)
    open_ = np.ones((n_q, 60), bool)
    open_[:, 7] = open_[:, 59] = False
    options = {
        "mask": {"mask": open_},
        "additive": {"bias": np.where(open_, 0.0, -np.inf)},
        "causal": {"causal": "upper-left"},
        "lengths": {"lengths": 50},
        "window": {"window": (3, 3)},
    }[rule]
    before = attention(q, k, v, **options)
    used = attend(q, k, v, **options)[2].sum(axis=(0, 2)) > 0  # by head and key
    k[0, ~used], v[0, ~used] = poison, poison
    after = attention(q, k, v, **options)  # the last bit may differ: sums around NaN are added one by one
    np.testing.assert_allclose(after.astype(np.float64), before.astype(np.float64), rtol=RTOL[dtype], atol=RTOL[dtype])


def test_nan_at_a_key_that_some_rows_use_reaches_only_those():
    q, k, v = arrays(60, 60, batch=1, heads=1)
    before = attention(q, k, v, causal=True)
    v[0, 0, 30, 2] = np.nan
    after = attention(q, k, v, causal=True)
    np.testing.assert_allclose(after[0, 0, :30], before[0, 0, :30], rtol=1e-5, atol=1e-6)
    assert np.isnan(after[0, 0, 30:, 2]).all()
    np.testing.assert_allclose(after[0, 0, :, :2], before[0, 0, :, :2], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("n_q", [1, 40])
@pytest.mark.parametrize("which", ["q", "k", "v"])
def test_nan_in_use_shows(which, n_q):
    given = dict(zip("qkv", arrays(n_q, 40, batch=1, heads=1), strict=True))
    given[which][0, 0, 0, 0] = np.nan
    assert np.isnan(attention(**given)).any()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n_q", [1, 40])
def test_large_scores_do_not_overflow(n_q, dtype):
    q, k, v = arrays(n_q, 40, dtype=dtype)
    agree(q * 100, k * 100, v, tolerance=2e-2 if dtype == "float32" else 1e-10, scale=1.0)
    assert np.isfinite(attention(q * 1e4, k * 1e4, v, scale=1.0)).all()


def test_integers_and_mixed_types():
    q, k, v = np.eye(3, dtype=int), np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float16)
    assert attention(q, q, q).dtype == np.float64
    assert attention(q, k, v).dtype == np.float64
    assert attention(k, k, v).dtype == np.float32
    assert attention(v, v.astype(ml_dtypes.bfloat16), v).dtype == np.float32
    assert attention([[1.0, 0.0]], [[1.0, 0.0]], [[5.0]]).tolist() == [[5.0]]


@pytest.mark.parametrize("n_q", [1, 30])
def test_out_is_used(n_q):
    q, k, v = arrays(n_q, 30)
    expected = attention(q, k, v)
    wide = np.zeros((2, n_q, 2, 16), np.float32)
    out = wide.transpose(0, 2, 1, 3)[..., ::2]
    assert attention(q, k, v, out=out) is out
    np.testing.assert_array_equal(out, expected)
    assert not wide.transpose(0, 2, 1, 3)[..., 1::2].any()
    shared = k.copy()
    if n_q == 30:
        np.testing.assert_array_equal(attention(q, shared, v, out=shared), expected)


REFUSED = [
    ((3, 4), (3, 5), (3, 5), {}, "last axis"),
    ((3, 4), (3, 4), (2, 4), {}, "one value per key"),
    ((2, 3, 4), (3, 4), (3, 4), {}, "same number of axes"),
    ((3, 3, 4), (2, 3, 4), (2, 3, 4), {}, "multiple of the heads"),
    ((4, 2, 3, 4), (3, 2, 3, 4), (3, 2, 3, 4), {}, "do not fit each other"),
    ((3, 4), (3, 4), (3, 4), {"mask": np.ones((2, 3), bool)}, r"\(2, 3\)"),
    ((3, 4), (3, 4), (3, 4), {"mask": np.ones((3, 3), int)}, "True/False"),
    ((3, 4), (3, 4), (3, 4), {"bias": np.ones(5)}, "broadcast"),
    ((3, 4), (3, 4), (3, 4), {"causal": "diagonal"}, "upper-left"),
    ((3, 4), (3, 4), (3, 4), {"window": 4}, "left, right"),
    ((3, 4), (3, 4), (3, 4), {"window": (-2, 0)}, "left, right"),
    ((3, 4), (3, 4), (3, 4), {"scale": float("nan")}, "finite"),
    ((3, 4), (3, 4), (3, 4), {"softcap": 0.0}, "above 0"),
    ((3, 4), (3, 4), (3, 4), {"lengths": 5}, "0 to the 3 keys"),
    ((3, 4), (3, 4), (3, 4), {"lengths": [1, 2]}, "one per batch entry"),
    ((3, 4), (3, 4), (3, 4), {"sinks": [1.0, 2.0]}, "one per query head"),
    ((3, 4), (3, 4), (3, 4), {"out": np.zeros((3, 5))}, r"expected \(3, 4\)"),
    ((3, 4), (3, 4), (3, 4), {"threads": 0}, "at least 1"),
]


@pytest.mark.parametrize("q,k,v,options,says", REFUSED)
def test_bad_input_is_one_sentence(q, k, v, options, says):
    with pytest.raises((ShapeError, ValueRefused), match=says):
        attention(np.ones(q), np.ones(k), np.ones(v), **options)


FOREIGN = [
    ("is_causal", "causal=True"),
    ("attn_mask", "write mask"),
    ("enable_gqa", "leave it out"),
    ("dropout_p", "scaled_dot_product_attention"),
    ("key_padding_mask", "~key_padding_mask"),
    ("need_weights", "return_weights=True"),
    ("softmax_scale", "write scale"),
    ("window_size", "window="),
    ("colour", "there are causal, window, mask"),
]


@pytest.mark.parametrize("name,says", FOREIGN)
def test_names_of_other_libraries_get_ours(name, says):
    x = np.ones((2, 3))
    for function, given in ((attention, (x, x, x)), (attention_backward, (x,) * 6), (trace_attention, (x, x, x))):
        with pytest.raises(TypeError, match=f"{function.__name__} has no argument {name}; .*{says}"):
            function(*given, **{name: True})


def test_every_argument_is_explained():
    known = [name for name in signature(attention).parameters if name not in ("q", "k", "v", "others")]
    assert all(f"\n    {name}: " in attention.__doc__ for name in known)


@pytest.mark.parametrize("n", [1, 7, 40])
@pytest.mark.parametrize("options", [{"causal": True}, {"causal": True, "window": (3, 0)}, {"window": (2, 2)}], ids=str)
def test_a_batch_padded_on_the_right_is_each_sequence_alone(n, options):
    q, k, v = arrays(n, n, dtype="float64")
    lengths = [max(1, n // 3), n]
    out = attention(q, k, v, lengths=lengths, **options)
    for b, length in enumerate(lengths):
        alone = attention(q[b, :, :length], k[b, :, :length], v[b, :, :length], **options)
        np.testing.assert_allclose(out[b, :, :length], alone, rtol=1e-13, atol=1e-14)


def test_fewer_keys_than_queries_are_refused_with_the_remedy():
    q, k, v = arrays(5, 9)
    with pytest.raises(ValueRefused, match=r"lengths go down to 3; write causal='upper-left'"):
        attention(q, k, v, causal=True, lengths=[3, 9])
    for corner in ("upper-left", "lower-right"):
        agree(q, k, v, causal=corner, lengths=[3, 9])
    agree(q, k, v, causal=True, lengths=[3, 9], offset=[0, 4])
    agree(q, k, v, causal=True, lengths=[0, 5])  # a free place in a batch


def test_other_types_are_refused():
    with pytest.raises(QkvError, match="complex128"):
        attention(np.eye(2) * 1j, np.eye(2), np.eye(2))
    with pytest.raises(QkvError, match="object"):
        attention(np.array([["a"]], object), np.eye(1), np.eye(1))


def test_trace_has_every_stage():
    q, k, v = arrays(4, 6, dtype="float64")
    trace = trace_attention(q, k, v, causal=True, softcap=2.0, bias=np.ones((4, 6)))
    np.testing.assert_allclose(trace.scores, q @ k.swapaxes(-1, -2))
    np.testing.assert_allclose(trace.scaled, trace.scores / np.sqrt(8))
    np.testing.assert_allclose(trace.capped, 2 * np.tanh(trace.scaled / 2))
    assert np.isneginf(trace.masked[..., 0, 3:]).all()
    np.testing.assert_allclose(trace.masked[..., 3, :], trace.capped[..., 3, :] + 1)
    np.testing.assert_allclose(trace.weights.sum(-1), 1)
    output, lse, weights = attend(q, k, v, causal=True, softcap=2.0, bias=np.ones((4, 6)))
    np.testing.assert_allclose(trace.output, output, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(trace.lse, lse, rtol=1e-13)
    np.testing.assert_allclose(trace.weights, weights, rtol=1e-12, atol=1e-14)
