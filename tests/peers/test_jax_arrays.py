"""`qkv.attention` on arrays of JAX: at once, and inside jit, vmap and grad."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="jax is not installed: make test-peers installs it")

import jax.numpy as jnp  # noqa: E402

import qkv  # noqa: E402
from qkv.errors import ShapeError, ValueRefused  # noqa: E402

pytestmark = pytest.mark.peers
TOLERANCE = {"float32": 2e-6, "float16": 2e-3, "bfloat16": 2e-2}


def arrays(*shapes, dtype="float32", seed=0):
    rng = np.random.default_rng(seed)
    return [jnp.asarray(rng.standard_normal(shape), dtype) for shape in shapes]


QKV = ((2, 4, 9, 8),) * 3


def plain(q, k, v, *, bias=0.0, mask=None, causal=False, sinks=None):
    """The formula in JAX, in float32; heads of k and v are repeated."""
    k, v = (jnp.repeat(x, q.shape[-3] // x.shape[-3], axis=-3) if x.ndim > 2 else x for x in (k, v))
    scores = jnp.einsum("...nd,...md->...nm", q, k) / np.sqrt(q.shape[-1]) + bias
    if causal:
        mask = np.tri(*scores.shape[-2:], dtype=bool)
    if mask is not None:
        scores = jnp.where(mask, scores, -1e30)
    if sinks is not None:
        wide = jnp.broadcast_to(sinks[:, None, None], (*scores.shape[:-1], 1))
        return jax.nn.softmax(jnp.concatenate([scores, wide], -1), -1)[..., :-1] @ v
    return jax.nn.softmax(scores, -1) @ v


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["at once", "jit"])
def test_takes_and_gives_arrays(dtype, wrap):
    q, k, v = arrays(*QKV, dtype=dtype)
    expected = plain(*(x.astype("float32") for x in (q, k, v)), causal=True)
    out = wrap(lambda *x: qkv.attention(*x, causal=True))(q, k, v)
    assert isinstance(out, jax.Array)
    assert out.dtype == dtype
    np.testing.assert_allclose(out.astype("float32"), expected, rtol=0, atol=TOLERANCE[dtype])


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["at once", "jit"])
@pytest.mark.parametrize("lead", [(), (4,), (2, 4), (3, 2, 4)], ids=str)
def test_everything_that_can_be_asked_for(wrap, lead):
    q, k, v = arrays((*lead, 5, 3), (*lead, 6, 3), (*lead, 6, 2))
    whole = wrap(lambda *x: qkv.attention(*x, return_lse=True, return_weights=True, window=[2, None]))(q, k, v)
    expected = qkv.attention(*map(np.asarray, (q, k, v)), return_lse=True, return_weights=True, window=(2, None))
    for mine, theirs in zip(whole, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6)
    lse = wrap(lambda *x: qkv.attention(*x, return_lse=True, window=(2, None))[1])(q, k, v)
    np.testing.assert_allclose(lse, expected[1], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("bias", [(2, 4, 5, 6), (4, 1, 6), (5, 6), (6,)], ids=str)
def test_gradients_of_everything_that_can_be_learned(bias, compiled):
    given = arrays((2, 4, 5, 3), (2, 2, 6, 3), (2, 2, 6, 2), bias, (4,), ())

    def loss(attend, q, k, v, bias, sinks, factor):
        return (attend(q, k, v, bias, sinks, factor) ** 2).sum()

    def mine(q, k, v, bias, sinks, factor):
        return loss(
            lambda q, k, v, b, s, f: qkv.attention(q, k, v, bias=b, sinks=s, scale=f), q, k, v, bias, sinks, factor
        )

    def theirs(q, k, v, bias, sinks, factor):
        scaled = q * factor * np.sqrt(q.shape[-1])
        return loss(lambda q, k, v, b, s, f: plain(q, k, v, bias=b, sinks=s), scaled, k, v, bias, sinks, factor)

    slopes = jax.grad(mine, argnums=range(6))
    slopes = jax.jit(slopes) if compiled else slopes
    for a, b in zip(slopes(*given), jax.grad(theirs, argnums=range(6))(*given), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


def test_gradients_through_the_lse():
    q, k, v = arrays((5, 3), (6, 3), (6, 2))
    mine = jax.grad(lambda q: qkv.attention(q, k, v, return_lse=True)[1].sum())(q)
    theirs = jax.grad(lambda q: jax.nn.logsumexp(q @ k.T / np.sqrt(3), -1).sum())(q)
    np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-6)


def test_half_precision_has_its_own_gradients():
    q, k, v = arrays(*QKV, dtype="bfloat16")
    slopes = jax.jit(jax.grad(lambda *x: qkv.attention(*x).astype("float32").sum(), argnums=(0, 1, 2)))(q, k, v)
    assert [x.dtype for x in slopes] == ["bfloat16"] * 3


AXES = [(0, 0, 0), (0, None, None), (None, 0, 1), (2, 0, 1)]


@pytest.mark.parametrize("axes", AXES, ids=str)
@pytest.mark.parametrize("lead", [(), (4,), (2, 4)], ids=str)
def test_vmap_and_gradients_below_it(axes, lead):
    shapes = []
    for axis, shape in zip(axes, ((*lead, 5, 3), (*lead, 6, 3), (*lead, 6, 2)), strict=True):
        shapes.append(shape if axis is None else (*shape[:axis], 7, *shape[axis:]))
    if any(axis is not None and axis > len(lead) + 2 for axis in axes):
        pytest.skip("there is no such axis")
    given = arrays(*shapes)

    def slopes(attend):
        return jax.vmap(jax.grad(lambda *x: (attend(*x) ** 2).sum(), argnums=(0, 1, 2)), in_axes=axes)

    np.testing.assert_allclose(
        jax.vmap(qkv.attention, in_axes=axes)(*given), jax.vmap(plain, in_axes=axes)(*given), rtol=1e-5, atol=1e-6
    )
    for mine, theirs in zip(slopes(qkv.attention)(*given), slopes(plain)(*given), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-5)


def test_vmap_over_masks_biases_lengths_and_sinks():
    q, k, v, bias, sinks = arrays((4, 5, 3), (4, 6, 3), (4, 6, 2), (7, 5, 6), (7, 4))
    mask = np.random.default_rng(1).random((7, 6)) < 0.7
    lengths = np.arange(7)

    def mapped(**options):
        return jax.vmap(lambda o: qkv.attention(q, k, v, **o))(options)

    for options in (
        {"bias": bias},
        {"mask": mask},
        {"lengths": lengths},
        {"sinks": sinks},
        {"bias": bias, "mask": mask},
    ):
        expected = [qkv.attention(q, k, v, **{name: x[i] for name, x in options.items()}) for i in range(7)]
        np.testing.assert_allclose(mapped(**options), np.stack(expected), rtol=1e-5, atol=1e-6)


def test_a_layer_that_learns():
    """A few steps of gradient descent under jit, large enough that the kernel uses its threads."""
    x, y = arrays((4, 256, 32), (4, 256, 32))
    w = arrays((32, 32), (32, 32), (32, 32), seed=1)

    def loss(w, attend):
        return ((attend(*(x @ m / 6 for m in w), causal=True) - y) ** 2).mean()

    ends = []
    for attend in (qkv.attention, plain):
        step = jax.jit(lambda w, attend=attend: [m - 3 * d for m, d in zip(w, jax.grad(loss)(w, attend), strict=True)])
        learned = w
        for _ in range(10):
            learned = step(learned)
        ends.append(float(loss(learned, attend)))
    assert ends[0] < float(loss(w, plain)) - 1e-3
    assert ends[0] == pytest.approx(ends[1], rel=1e-4)


def test_out_is_refused():
    (x,) = arrays((4, 4))
    with pytest.raises(ValueRefused, match="leave it out"):
        qkv.attention(x, x, x, out=np.zeros((4, 4)))


def test_mistakes_are_said_inside_jit_too():
    q, k = arrays((4, 5, 3), (4, 6, 4))
    with pytest.raises(ShapeError, match="same last axis"):
        jax.jit(qkv.attention)(q, k, k)


def test_no_other_framework_is_loaded():
    code = "import sys, jax.numpy as jnp, qkv; qkv.attention(*[jnp.eye(2)] * 3); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
