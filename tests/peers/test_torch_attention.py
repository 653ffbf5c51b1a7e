"""torch's own samples for scaled_dot_product_attention, and its gradients and errors, against ours."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-peers installs it", exc_type=ImportError)

from qkv.kernel import attention, attention_backward  # noqa: E402

pytestmark = pytest.mark.peers
sdpa = torch.nn.functional.scaled_dot_product_attention
# Their samples go up to ±9, so scores of 200 carry rounding errors of 1e-5.
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-14, torch.float16: 2e-3, torch.bfloat16: 2e-2}


def to_numpy(tensor):
    tensor = tensor.detach()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def samples(dtype):
    from torch.testing._internal.common_methods_invocations import op_db

    (operator,) = [op for op in op_db if op.name == "nn.functional.scaled_dot_product_attention"]
    for sample in operator.sample_inputs("cpu", dtype):
        if not sample.kwargs.get("dropout_p"):
            yield sample


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_operator_samples(dtype):
    count = 0
    for sample in samples(dtype):
        tensors = [sample.input, *sample.args]
        mask = sample.kwargs.get("attn_mask")
        expected = sdpa(*tensors, attn_mask=mask, is_causal=sample.kwargs["is_causal"])
        got = attention(
            *map(to_numpy, tensors),
            mask=None if mask is None else to_numpy(mask),
            causal="upper-left" if sample.kwargs["is_causal"] else False,
        )
        assert got.shape == tuple(expected.shape)
        difference = np.abs(got.astype(np.float64) - expected.double().numpy())
        assert difference.max() <= TOLERANCE[dtype] * max(1.0, float(expected.abs().max()))
        count += 1
    assert count >= 13


@pytest.mark.parametrize("causal", [False, True])
def test_gradients(causal):
    rng = np.random.default_rng(0)
    q, k, v, dout = (rng.standard_normal((2, 4, 50, 24)) for _ in range(4))
    tensors = [torch.from_numpy(x).requires_grad_() for x in (q, k, v)]
    sdpa(*tensors, is_causal=causal).backward(torch.from_numpy(dout))
    out, lse = attention(q, k, v, causal=causal, return_lse=True)
    for mine, theirs in zip(attention_backward(dout, q, k, v, out, lse, causal=causal), tensors, strict=True):
        np.testing.assert_allclose(mine, theirs.grad.numpy(), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("heads,tokens,d", [(2, 64, 64), (12, 128, 64), (8, 512, 64), (2, 1024, 128), (4, 300, 80)])
@pytest.mark.parametrize("causal", [False, True])
def test_errors_are_no_larger_than_torch_has(heads, tokens, d, causal):
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((heads, tokens, d)) for _ in range(3))
    single = [x.astype(np.float32) for x in (q, k, v)]
    exact = attention(*(x.astype(np.float64) for x in single), causal=causal)
    mine = np.abs(attention(*single, causal=causal) - exact).max()
    theirs = np.abs(sdpa(*map(torch.from_numpy, single), is_causal=causal).numpy() - exact).max()
    assert mine <= 1.5 * theirs, f"ours {mine:.2e}, torch {theirs:.2e}"
