"""`qkv.torch.scaled_dot_product_attention` in place of torch's: the same signature, samples, gradients and refusals."""

from __future__ import annotations

import re
from inspect import signature

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-peers installs it", exc_type=ImportError)

from qkv import kernel  # noqa: E402
from qkv.torch import api, scaled_dot_product_attention  # noqa: E402

pytestmark = pytest.mark.peers
torchs = torch.nn.functional.scaled_dot_product_attention
ROUNDINGS = 200  # their samples go up to ±9, so scores reach 200
DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


@pytest.fixture
def calls(monkeypatch):
    """How often our kernel was called."""
    seen = []

    def counted(*given, **options):
        seen.append(options)
        return kernel_attention(*given, **options)

    kernel_attention = kernel.attention
    monkeypatch.setattr(api.kernel, "attention", counted)
    return seen


def test_the_signature_is_that_of_torch():
    said = re.search(r"scaled_dot_product_attention\((.*?)\)\s*->", torchs.__doc__, re.DOTALL)[1]
    names = [part.split(":")[0].split("=")[0].strip() for part in said.split(",")]
    mine = signature(scaled_dot_product_attention)
    assert list(mine.parameters) == names
    defaults = {name: p.default for name, p in mine.parameters.items() if p.default is not p.empty}
    assert defaults == {"attn_mask": None, "dropout_p": 0.0, "is_causal": False, "scale": None, "enable_gqa": False}


def samples(dtype, grad):
    from torch.testing._internal.common_methods_invocations import op_db

    (operator,) = [op for op in op_db if op.name == "nn.functional.scaled_dot_product_attention"]
    yield from operator.sample_inputs("cpu", dtype, requires_grad=grad)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_operator_samples_and_their_gradients(dtype, calls):
    """No further from the result in float64 than torch is, give or take some roundings of the largest number."""
    count = 0
    for sample in samples(dtype, grad=True):
        given, options = [sample.input, *sample.args], sample.kwargs
        dropped = options["dropout_p"] > 0.0
        wide = [x.detach().double().requires_grad_() for x in given]
        mask = options["attn_mask"].double() if options.get("attn_mask") is not None else None
        exact = run(torchs, wide, options | ({} if mask is None else {"attn_mask": mask}))
        mine, theirs = run(scaled_dot_product_attention, given, options), run(torchs, given, options)
        for a, b, c in zip(mine, theirs, exact, strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            if dropped:
                assert torch.equal(a, b)
            else:
                limit = 2 * (b - c).abs().max() + ROUNDINGS * torch.finfo(dtype).eps * max(1.0, c.abs().max())
                assert (a - c).abs().max() <= limit
        count += 1
    assert count >= 20
    assert len(calls) >= count / 3


def run(function, given, options):
    """The output and the gradients of q, k and v."""
    torch.manual_seed(0)  # some samples ask for dropout
    out = function(*given, **options)
    return [x.detach() for x in (out, *torch.autograd.grad(out.sum(), given))]


def made(*shapes, dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=generator).to(dtype) for shape in shapes]


@pytest.mark.parametrize("n_q,n_k", [(7, 7), (3, 9), (9, 3)])
def test_causal_counts_from_the_first_key(n_q, n_k, calls):
    q, k, v = made((2, 4, n_q, 8), (2, 4, n_k, 8), (2, 4, n_k, 8))
    torch.testing.assert_close(scaled_dot_product_attention(q, k, v, is_causal=True), torchs(q, k, v, is_causal=True))
    assert len(calls) == 1


def test_groups_only_where_they_are_enabled(calls):
    q, k, v = made((2, 4, 5, 8), (2, 2, 6, 8), (2, 2, 6, 8))
    mine = scaled_dot_product_attention(q, k, v, enable_gqa=True)
    torch.testing.assert_close(mine, torchs(q, k, v, enable_gqa=True))
    assert len(calls) == 1
    with pytest.raises(RuntimeError):
        scaled_dot_product_attention(q, k, v)


def test_a_row_without_keys_is_zeros_in_both(calls):
    q, k, v = made((1, 2, 4, 8), (1, 2, 5, 8), (1, 2, 5, 8))
    mask = torch.ones(4, 5, dtype=torch.bool)
    mask[2] = False
    torch.testing.assert_close(scaled_dot_product_attention(q, k, v, mask), torchs(q, k, v, mask))
    assert len(calls) == 1


REFUSED = {
    "a mask that does not fit": {"attn_mask": torch.ones(3, 3, dtype=torch.bool)},
    "another type of mask": {"attn_mask": torch.ones(4, 4, dtype=torch.int64)},
    "dropout above 1": {"dropout_p": 1.5},
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_torch_refuses(name):
    q, k, v = made(*[(1, 2, 4, 8)] * 3)
    with pytest.raises((RuntimeError, ValueError)):
        torchs(q, k, v, **REFUSED[name])
    with pytest.raises((RuntimeError, ValueError)):
        scaled_dot_product_attention(q, k, v, **REFUSED[name])


@pytest.mark.parametrize(
    "options", [{"dropout_p": 0.5}, {"attn_mask": torch.ones(4, 4, dtype=torch.bool), "is_causal": True}], ids=str
)
def test_dropout_and_other_devices_are_left_to_torch(options, calls):
    q, k, v = made(*[(1, 2, 4, 8)] * 3)
    torch.manual_seed(1)
    mine = scaled_dot_product_attention(q, k, v, **options)
    torch.manual_seed(1)
    assert torch.equal(mine, torchs(q, k, v, **options))
    assert scaled_dot_product_attention(*(x.to("meta") for x in (q, k, v))).device.type == "meta"
    assert not calls


def test_autocast_halves_as_torch_does(calls):
    q, k, v = made(*[(1, 2, 4, 8)] * 3)
    with torch.autocast("cpu"):
        mine, theirs = scaled_dot_product_attention(q, k, v), torchs(q, k, v)
        doubles = scaled_dot_product_attention(q.double(), k.double(), v.double())
    assert mine.dtype == theirs.dtype == torch.bfloat16
    torch.testing.assert_close(mine, theirs, rtol=0, atol=2e-2)
    assert doubles.dtype == torch.float64
    assert len(calls) == 2


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_modules_of_torch_use_it_unchanged(monkeypatch, dtype, calls):
    torch.manual_seed(0)
    layer = torch.nn.TransformerDecoderLayer(32, 4, 64, dropout=0.0, batch_first=True, dtype=dtype)
    x, memory = (torch.randn(2, n, 32, dtype=dtype) for n in (5, 7))
    padding = torch.tensor([[False] * 5 + [True] * 2, [False] * 7])
    mask = torch.nn.Transformer.generate_square_subsequent_mask(5, dtype=dtype)
    options = {"tgt_mask": mask, "tgt_is_causal": True, "memory_key_padding_mask": padding.float().to(dtype) * -1e4}
    results = []
    for function in (torchs, scaled_dot_product_attention):
        monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", function)
        layer.zero_grad()
        out = layer(x, memory, **options)
        out.sum().backward()
        results.append([out, *(p.grad for p in layer.parameters())])
    assert len(calls) == 2
    for theirs, mine in zip(*results, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-4 if dtype is torch.float32 else 0.3)
