"""`qkv.attention` on tensors: the same memory, torch's gradients, and whatever else torch does with an operation."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-peers installs it", exc_type=ImportError)

import qkv  # noqa: E402
from qkv.errors import MissingExtra, QkvError, ValueRefused  # noqa: E402
from qkv.torch import views  # noqa: E402

pytestmark = pytest.mark.peers
sdpa = torch.nn.functional.scaled_dot_product_attention
TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-14, torch.float16: 2e-3, torch.bfloat16: 2e-2}


def tensors(*shapes, dtype=torch.float64, seed=0, grad=False):
    generator = torch.Generator().manual_seed(seed)
    made = [torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype) for shape in shapes]
    return [x.requires_grad_(grad) for x in made]


QKV = ((2, 4, 9, 8),) * 3


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_same_memory_both_ways(dtype):
    (tensor,) = tensors((2, 3, 4), dtype=dtype)
    for view in (tensor, tensor.transpose(0, 1), tensor[:, ::2], torch.nn.Parameter(tensor)):
        array = views.to_numpy("q", view)
        assert array.__array_interface__["data"][0] == view.data_ptr()
        back = views.to_tensor(array)
        assert (back.data_ptr(), back.dtype, back.stride()) == (view.data_ptr(), dtype, view.stride())


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("causal", [False, True])
def test_takes_and_gives_tensors(dtype, causal):
    q, k, v = tensors((2, 9, 4, 8), (2, 4, 9, 8), (2, 4, 9, 8), dtype=dtype)
    q = q.transpose(1, 2)  # as models have it
    out = qkv.attention(q, k, v, causal=causal)
    assert (type(out), out.dtype) == (torch.Tensor, dtype)
    torch.testing.assert_close(out, sdpa(q, k, v, is_causal=causal), rtol=0, atol=TOLERANCE[dtype] * 5)
    out, lse, weights = qkv.attention(q, k, v, causal=causal, return_lse=True, return_weights=True)
    assert (lse.dtype, weights.dtype) == (torch.float64 if dtype is torch.float64 else torch.float32, dtype)
    torch.testing.assert_close(weights @ v, out, rtol=0, atol=TOLERANCE[dtype] * 5)


def test_tensors_among_arrays():
    q, k, v = tensors(*QKV)
    expected = qkv.attention(q.numpy(), k.numpy(), v.numpy(), lengths=[3, 9], sinks=[0.0, 1.0, 2.0, 3.0])
    out = qkv.attention(q, k.numpy(), v, lengths=torch.tensor([3, 9]), sinks=torch.arange(4.0))
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-14)
    bias = torch.ones(9, 9)
    assert isinstance(qkv.attention(q.numpy(), k.numpy(), v.numpy(), bias=bias), np.ndarray)


OPTIONS = [
    {},
    {"causal": True, "window": (3, None)},
    {"causal": "upper-left", "softcap": 1.5},
    {"mask": torch.arange(30).reshape(5, 6) % 4 != 0, "scale": 0.7},
    {"lengths": [4, 6], "window": (2, 2)},
    {"offset": torch.tensor([0, 1]), "causal": True},
]
BIASES = [(2, 4, 5, 6), (1, 4, 5, 6), (4, 1, 6), (6,)]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "+".join(o) or "plain")
@pytest.mark.parametrize("bias", BIASES, ids=str)
def test_gradients_are_those_of_differences(options, bias):
    learned = tensors((2, 4, 5, 3), (2, 2, 6, 3), (2, 2, 6, 2), bias, (4,), grad=True)

    def attend(q, k, v, bias, sinks):
        return qkv.attention(q, k, v, bias=bias, sinks=sinks, return_lse=True, **options)

    assert torch.autograd.gradcheck(attend, learned, fast_mode=True)


def test_numbers_in_a_mask_have_a_gradient_too():
    q, k, v, mask, bias = tensors((2, 5, 3), (2, 6, 3), (2, 6, 2), (5, 6), (2, 1, 6), grad=True)
    assert torch.autograd.gradcheck(lambda m, b: qkv.attention(q, k, v, mask=m, bias=b), (mask, bias), fast_mode=True)


def test_a_scale_can_be_learned():
    q, k, v, scale = tensors((2, 5, 3), (2, 6, 3), (2, 6, 2), (), grad=True)
    assert torch.autograd.gradcheck(lambda s: qkv.attention(q, k, v, scale=s), scale)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_gradients_are_those_of_torch(dtype):
    mine, theirs = tensors(*QKV, dtype=dtype, grad=True), tensors(*QKV, dtype=dtype, grad=True)
    (slope,) = tensors(QKV[0], dtype=dtype, seed=1)
    qkv.attention(*mine, causal=True).backward(slope)
    sdpa(*theirs, is_causal=True).backward(slope)
    for a, b in zip(mine, theirs, strict=True):
        assert a.grad.dtype == dtype
        torch.testing.assert_close(a.grad, b.grad, rtol=0, atol=TOLERANCE[dtype] * 20)


def test_only_what_is_asked_for_has_a_gradient():
    q, k, v, bias = tensors(*QKV, (9, 9))
    k.requires_grad_()
    out, weights = qkv.attention(q, k, v, bias=bias, return_weights=True)
    assert (out.requires_grad, weights.requires_grad) == (True, False)
    out.sum().backward()
    assert (q.grad, bias.grad) == (None, None)
    with torch.no_grad():
        assert not qkv.attention(q, k, v).requires_grad


def test_out_is_used():
    q, k, v = tensors(*QKV)
    out = torch.empty(2, 9, 4, 8, dtype=torch.float64).transpose(1, 2)
    assert qkv.attention(q, k, v, out=out) is out
    torch.testing.assert_close(out, sdpa(q, k, v))
    with pytest.raises(ValueRefused, match="leave it out"):
        qkv.attention(q.requires_grad_(), k, v, out=out)


def test_a_second_gradient_is_refused():
    q, k, v = tensors((5, 3), (6, 3), (6, 2), grad=True)
    (slope,) = torch.autograd.grad(qkv.attention(q, k, v).pow(2).sum(), q, create_graph=True)
    with pytest.raises(RuntimeError, match="twice"):
        slope.sum().backward()


@pytest.mark.parametrize("place", ["meta", "sparse"])
def test_tensors_that_are_not_in_memory_are_refused(place):
    (x,) = tensors((4, 4))
    other = x.to_sparse() if place == "sparse" else x.to("meta")
    with pytest.raises(QkvError, match=rf"k is .*{place}.*k\.cpu\(\)"):
        qkv.attention(x, other, x)


def test_names_of_torch_are_refused_with_ours():
    (x,) = tensors((4, 4))
    with pytest.raises(TypeError, match="is_causal; write causal=True"):
        qkv.attention(x, x, x, is_causal=True)


def test_bfloat16_says_what_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    views.brain.cache_clear()
    (x,) = tensors((4, 4), dtype=torch.bfloat16)
    with pytest.raises(MissingExtra, match=r"qkv\[torch\]"):
        qkv.attention(x, x, x)


def test_compiled_in_one_graph():
    q, k, v, bias = tensors(*QKV, (9, 9), grad=True)

    def model(q, k, v, bias):
        out, lse = qkv.attention(2 * q, k, v, bias=bias, causal=True, return_lse=True)
        return (out + 1).sum() + lse.sum()

    expected = torch.autograd.grad(model(q, k, v, bias), (q, k, v, bias))
    whole = torch.compile(model, fullgraph=True, backend="aot_eager")
    for mine, theirs in zip(torch.autograd.grad(whole(q, k, v, bias), (q, k, v, bias)), expected, strict=True):
        torch.testing.assert_close(mine, theirs)


def test_the_operation_is_as_torch_wants_it():
    q, k, v, bias, sinks = tensors(*QKV, (9, 9), (4,), grad=True)
    for weights in (False, True):
        arguments = (q, k, v, bias, sinks, None, None, None, "True", [3, -1], None, None, None, weights)
        torch.library.opcheck(torch.ops.qkv.attention, arguments)


def test_transforms_of_functions():
    q, k, v = tensors(*QKV)
    expected = sdpa(q, k, v, is_causal=True)
    torch.testing.assert_close(torch.func.vmap(lambda *x: qkv.attention(*x, causal=True))(q, k, v), expected)

    def loss(attend, q, k, v):
        return attend(q, k, v).pow(2).sum()

    for wrapped in (torch.func.grad, lambda f: torch.func.vmap(torch.func.grad(f))):
        mine = wrapped(lambda *x: loss(qkv.attention, *x))(q, k, v)
        torch.testing.assert_close(mine, wrapped(lambda *x: loss(sdpa, *x))(q, k, v))


USES = {
    "numpy": ("import numpy as np; qkv.attention(np.eye(2), np.eye(2), np.eye(2))", ("torch", "jax")),
    "torch": ("import torch; qkv.attention(torch.eye(2), torch.eye(2), torch.eye(2))", ("jax", "transformers")),
}


@pytest.mark.parametrize("use", USES)
def test_no_framework_is_loaded_that_was_not(use):
    code, unwanted = USES[use]
    script = f"import sys, qkv; {code}; print([m for m in {unwanted} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
