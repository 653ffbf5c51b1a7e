"""Attention on dask arrays, here without a cluster: against one machine, and by the tasks that it makes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_attention_fuzz import FUZZ, problems

da = pytest.importorskip("dask.array", reason="Dask is not installed: pip install 'qkv[dask]'")
import dask  # noqa: E402

import qkv  # noqa: E402
from qkv.errors import QkvError  # noqa: E402


@pytest.fixture(autouse=True)
def _one_process():
    with dask.config.set(scheduler="synchronous"):
        yield


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def cut(draw, array):
    """The same array in blocks of any length."""
    chunks = []
    for size in array.shape:
        cuts = sorted(draw(st.sets(st.integers(1, max(1, size - 1)), max_size=3))) if size > 1 else []
        chunks.append(tuple(np.diff([0, *cuts, size]).tolist()))
    return da.from_array(array, chunks=tuple(chunks))


@st.composite
def cut_problems(draw):
    q, k, v, options, tolerance = draw(problems())
    options.pop("offset", None)
    lazy = dict(options)
    for name in ("mask", "bias"):
        if name in options and draw(st.booleans()):
            lazy[name] = cut(draw, options[name])
    return (q, k, v), [cut(draw, x) for x in (q, k, v)], options, lazy, tolerance


@settings(FUZZ, max_examples=80)
@given(cut_problems())
def test_any_problem_in_any_blocks(given_):
    arrays, lazy_arrays, options, lazy, tolerance = given_
    out, lse = qkv.dask.attention(*lazy_arrays, return_lse=True, **lazy)
    one, one_lse = qkv.attention(*arrays, return_lse=True, **options)
    assert (out.dtype, lse.dtype) == (one.dtype, one_lse.dtype)
    assert out.compute().dtype == one.dtype
    np.testing.assert_allclose(out.compute().astype(float), one.astype(float), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(lse, one_lse, rtol=tolerance, atol=tolerance)


@settings(FUZZ, max_examples=40)
@given(cut_problems())
def test_any_gradient_in_any_blocks(given_):
    arrays, lazy_arrays, options, lazy, tolerance = given_
    out, lse = qkv.attention(*arrays, return_lse=True, **options)
    dout = random(*out.shape).astype(out.dtype)
    rows = [da.from_array(x, chunks=3) for x in (dout, out, lse)]
    got = qkv.dask.attention_backward(rows[0], *lazy_arrays, *rows[1:], **lazy)
    expected = qkv.attention_backward(dout, *arrays, out, lse, **options)
    for mine, theirs, given_array in zip(got, expected, arrays, strict=True):
        assert mine.shape == given_array.shape
        assert mine.dtype == mine.compute().dtype == theirs.dtype
        scale = 10 * tolerance * max(1.0, float(np.abs(theirs.astype(float)).max(initial=0)))
        np.testing.assert_allclose(mine.compute().astype(float), theirs.astype(float), rtol=0, atol=scale)


@pytest.mark.parametrize(
    "q, k, v",
    [
        ((6, 4), (9, 4), (9, 3)),
        ((2, 6, 4), (2, 9, 4), (2, 9, 3)),
        ((2, 3, 4, 6, 4), (2, 1, 2, 9, 4), (3, 2, 9, 3)),
        ((2, 0, 4), (2, 9, 4), (2, 9, 3)),
        ((2, 6, 4), (2, 0, 4), (2, 0, 3)),
        ((0, 2, 6, 4), (0, 2, 9, 4), (0, 2, 9, 3)),
    ],
    ids=str,
)
def test_any_number_of_axes(q, k, v):
    arrays = [random(*shape) for shape in (q, k, v)]
    lazy = [da.from_array(x, chunks=2) for x in arrays]
    out, lse = qkv.dask.attention(*lazy, causal=True, return_lse=True)
    one, one_lse = qkv.attention(*arrays, causal=True, return_lse=True)
    np.testing.assert_allclose(out, one, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(lse, one_lse, rtol=1e-12, atol=1e-13)
    dout = random(*one.shape, seed=1)
    got = qkv.dask.attention_backward(dout, *lazy, out, lse, causal=True)
    expected = qkv.attention_backward(dout, *arrays, one, one_lse, causal=True)
    for mine, theirs in zip(got, expected, strict=True):
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-13)


def long(n=80, chunk=10):
    return [da.from_array(random(2, n, 4, seed=seed), chunks=(2, chunk, 4)) for seed in range(3)]


def pairs(array):
    """Which blocks of queries meet which blocks of keys."""
    keys = (key for key in array.__dask_graph__() if isinstance(key, tuple) and key[0].startswith("attention-pair-"))
    return sorted(key[-2:] for key in keys)


DIAGONAL = np.kron(np.eye(8), np.ones((10, 10)))
EMPTYING = {
    "plain": ({}, lambda i, j: True),
    "causal": ({"causal": True}, lambda i, j: j <= i),
    "window": ({"window": (10, 0)}, lambda i, j: i - 1 <= j <= i),
    "wider window": ({"window": (11, 1)}, lambda i, j: i - 2 <= j <= i + 1),
    "lengths": ({"lengths": 41}, lambda i, j: j <= 4),
    "causal lengths": ({"lengths": 40, "causal": "lower-right"}, lambda i, j: j <= i - 4),
    "mask": ({"mask": DIAGONAL > 0}, lambda i, j: i == j),
    "additive mask": ({"mask": np.where(DIAGONAL > 0, 0.0, -np.inf)}, lambda i, j: i == j),
    "bias": ({"bias": np.where(np.arange(80) < 20, -np.inf, 0.0)}, lambda i, j: j >= 2),
}


@pytest.mark.parametrize("name", EMPTYING)
def test_pairs_that_are_empty_are_never_made(name):
    options, sees = EMPTYING[name]
    lazy = long()
    expected = [(i, j) for i in range(8) for j in range(8) if sees(i, j)]
    out, lse = qkv.dask.attention(*lazy, return_lse=True, **options)
    assert pairs(out) == expected
    dq, _, _ = qkv.dask.attention_backward(out, *lazy, out, lse, **options)
    assert [pair for pair in pairs(dq) if pair] == sorted([*expected, *expected])  # forward and backward


def test_a_lazy_mask_is_not_looked_at():
    lazy = long()
    assert len(pairs(qkv.dask.attention(*lazy, mask=da.zeros((80, 80), bool, chunks=20)))) == 64


def test_nothing_is_computed_and_nothing_is_gathered():
    def refuse(block):
        raise AssertionError("computed too early")

    lazy = [x.map_blocks(refuse, meta=np.empty((0, 0, 0))) for x in long()]
    out = qkv.dask.attention(*lazy, causal=True)
    own = [name for name in out.dask.layers if not any(name in x.dask.layers for x in lazy)]
    assert sorted(name.rpartition("-")[0] for name in own) == ["attention", "attention-work"]
    graph = dict(out.__dask_graph__())
    inputs = {x.name for x in lazy}
    for key, task in graph.items():
        if isinstance(key, tuple) and key[0].startswith("attention-"):
            assert sum(needed[0] in inputs for needed in task.dependencies) in (0, 3)  # a block each of q, k and v


def test_parts_are_joined_a_few_at_once():
    graph = dict(qkv.dask.attention(*long(n=640)).__dask_graph__())
    joins = [task for key, task in graph.items() if key[0].startswith("attention-join")]
    assert len(joins) == 64 * (16 + 4 + 1)
    assert max(len(task.dependencies) for task in joins) == 4


def test_what_is_not_asked_for_is_not_made():
    (out,) = dask.optimize(qkv.dask.attention(*long()))
    assert not any("lse" in str(key) for key in dict(out.__dask_graph__()))


def test_every_task_keeps_to_one_thread(monkeypatch):
    asked = []

    def spy(*arrays, threads=None, **options):
        asked.append(threads)
        return qkv.attention(*arrays, threads=threads, **options)

    monkeypatch.setattr("qkv.dask.tasks.attention", spy)
    qkv.dask.attention(*long()).compute()
    assert asked == [1] * 64


def test_names_follow_from_what_is_asked():
    lazy = long()
    assert qkv.dask.attention(*lazy).name == qkv.dask.attention(*lazy).name
    asked = [{}, {"causal": True}, {"scale": 2.0}, {"lengths": 70}, {"sinks": 1.0}, {"bias": np.ones((80, 80))}]
    assert len({qkv.dask.attention(*lazy, **options).name for options in asked}) == len(asked)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16], ids=["float16", "bfloat16"])
def test_half_precision_is_rounded_once(dtype):
    arrays = [x.compute().astype(dtype) for x in long()]
    out, lse = qkv.dask.attention(*(da.from_array(x, chunks=(1, 7, 4)) for x in arrays), return_lse=True)
    exact = qkv.attention(*(x.astype(np.float64) for x in arrays))
    got = out.compute()
    assert (got.dtype, lse.compute().dtype) == (np.dtype(dtype), np.float32)
    half_a_digit = np.finfo(np.float16).eps / 2 if dtype is np.float16 else 2**-8
    assert (abs(got.astype(float) - exact) <= 1.01 * half_a_digit * abs(exact) + 1e-6).all()


def test_numpy_arrays_are_taken_too():
    arrays = [x.compute() for x in long()]
    np.testing.assert_allclose(qkv.dask.attention(*arrays), qkv.attention(*arrays), atol=1e-13)


REFUSED = [
    ({"lengths": da.from_array(np.array(3), chunks=())}, "lengths.compute()"),
    ({"sinks": da.zeros(2)}, "sinks.compute()"),
    ({"mask": np.ones((7, 80), bool)}, "does not broadcast"),
    ({"bias": da.zeros((1, 1, 2, 80, 80))}, "does not broadcast"),
    ({"bias": da.zeros((80, 80), dtype=complex)}, "expected numbers to add"),
    ({"causal": "diagonal"}, "upper-left"),
    ({"lengths": 81}, "80 keys"),
    ({"window": (1, 2, 3)}, "whole numbers"),
]


@pytest.mark.parametrize("options, message", REFUSED, ids=[message for _, message in REFUSED])
def test_what_does_not_fit_is_refused(options, message):
    with pytest.raises(QkvError, match=message.replace("(", r"\(").replace(")", r"\)")):
        qkv.dask.attention(*long(), **options)


def test_blocks_of_unknown_size_are_refused():
    q, k, v = long()
    with pytest.raises(QkvError, match="compute_chunk_sizes"):
        qkv.dask.attention(q, k[:, da.ones((80,), dtype=bool, chunks=10)], v)


def test_rows_that_do_not_fit_are_refused():
    q, k, v = long()
    out, lse = qkv.dask.attention(q, k, v, return_lse=True)
    with pytest.raises(QkvError, match="dout has shape"):
        qkv.dask.attention_backward(out[:, :7], q, k, v, out, lse)
