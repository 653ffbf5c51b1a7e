"""Attention as libraries have it gives no alarm, and is understood; what it is misused for does."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-peers installs it", exc_type=ImportError)
jax = pytest.importorskip("jax", reason="jax is not installed: make test-peers installs it", exc_type=ImportError)
transformers = pytest.importorskip("transformers", reason="transformers is not installed: make test-peers installs it")
flax = pytest.importorskip("flax.linen", reason="flax is not installed: make test-peers installs it")

from torch import nn  # noqa: E402
from transformers.models.bert import modeling_bert as bert  # noqa: E402
from transformers.models.gpt2 import modeling_gpt2 as gpt2  # noqa: E402
from transformers.models.llama import modeling_llama as llama  # noqa: E402

import qkv  # noqa: E402

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]
torch.manual_seed(0)
B, N, D, H = 2, 6, 24, 4
X = torch.randn(B, N, D)
FUTURE = torch.ones(N, N).triu(1).bool()
PADDED = torch.arange(N) >= torch.tensor([4, 6])[:, None]  # True for padding
sdpa = nn.functional.scaled_dot_product_attention


def agrees(result, *words):
    assert result.agrees, result.says
    assert all(word in result.says for word in words), result.says


def departs(result, stage, mistake):
    assert (result.agrees, result.stage, result.mistake) == (False, stage, mistake), result.says


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_multihead_attention(need_weights, bias):
    module = nn.MultiheadAttention(D, H, batch_first=True, bias=bias)
    agrees(qkv.compare(module, X, X, X, need_weights=need_weights), "4 heads")
    agrees(qkv.compare(module, X, X, X, attn_mask=FUTURE, need_weights=need_weights), "masked")
    agrees(qkv.compare(module, X, X, X, key_padding_mask=PADDED, need_weights=need_weights), "masked")
    agrees(qkv.compare(module, X, torch.randn(B, 9, D), torch.randn(B, 9, D), need_weights=need_weights))


def test_multihead_attention_takes_tokens_first_by_default():
    module = nn.MultiheadAttention(D, H)
    tokens_first = torch.randn(7, 3, D)
    agrees(qkv.compare(module, tokens_first, tokens_first, tokens_first))
    departs(qkv.compare(module, X, X, X), "split", "batch_first forgotten")


def test_encoder_layer_goes_on_after_attention():
    agrees(qkv.compare(nn.TransformerEncoderLayer(D, H, batch_first=True), X))


@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
class TestTransformers:
    def config(self, kind, implementation, **sizes):
        config = kind(**sizes)
        config._attn_implementation = implementation
        return config

    @pytest.mark.parametrize("module", [bert.BertSelfAttention, bert.BertAttention])
    def test_bert(self, implementation, module):
        config = self.config(transformers.BertConfig, implementation, hidden_size=D, num_attention_heads=H)
        agrees(qkv.compare(module(config), X), "4 heads", "no mask")

    @pytest.mark.parametrize("kv_heads", [4, 2, 1])
    def test_llama(self, implementation, kv_heads):
        sizes = {"hidden_size": D, "num_attention_heads": H, "num_key_value_heads": kv_heads}
        config = self.config(transformers.LlamaConfig, implementation, **sizes)
        turned = llama.LlamaRotaryEmbedding(config)(X, torch.arange(N)[None])
        module = llama.LlamaAttention(config, 0)
        agrees(qkv.compare(module, X, turned, None), "RoPE on halves")
        causal = torch.where(FUTURE, torch.finfo(torch.float32).min, 0.0)[None, None]
        agrees(qkv.compare(module, X, turned, causal), "RoPE on halves")
        departs(qkv.compare(module, X, turned, causal, rope="pairs"), "position", "RoPE halves for pairs")

    def test_gpt2(self, implementation):
        config = self.config(transformers.GPT2Config, implementation, n_embd=D, n_head=H)
        agrees(qkv.compare(gpt2.GPT2Attention(config, layer_idx=0), X), "4 heads", "fused QKV in blocks")
        departs(
            qkv.compare(gpt2.GPT2Attention(config, layer_idx=0), X, fused="interleaved"),
            "split",
            "fused QKV read in blocks",
        )


@pytest.mark.parametrize("model", ["Bert", "GPT2"])
def test_the_first_layer_of_a_whole_model(model):
    config = getattr(transformers, f"{model}Config")(
        vocab_size=50, hidden_size=D, num_attention_heads=H, num_hidden_layers=2, intermediate_size=32,
        bos_token_id=None, eos_token_id=None,
    )  # fmt: skip
    module = getattr(transformers, f"{model}Model")(config)
    agrees(qkv.compare(module, torch.randint(0, 50, (B, N))), "4 heads", "no mask" if model == "Bert" else "causal")


def test_flax():
    x = np.asarray(X)
    module = flax.MultiHeadDotProductAttention(num_heads=H)
    agrees(qkv.compare(module, jax.numpy.asarray(x)), "4 heads", "no mask")
    variables = module.init(jax.random.key(1), x)
    agrees(qkv.compare(module.bind(variables), jax.numpy.asarray(x)))
    agrees(
        qkv.compare(lambda x: module.apply(variables, x, mask=flax.make_causal_mask(x[..., 0])), jax.numpy.asarray(x)),
        "causal",
    )
    agrees(qkv.compare(module.apply, variables, jax.numpy.asarray(x)))


def test_functions_of_the_libraries():
    agrees(qkv.compare(sdpa))
    agrees(qkv.compare(lambda q, k, v: sdpa(q, k, v, is_causal=True), causal=True), "causal")
    agrees(qkv.compare(jax.nn.dot_product_attention))
    departs(qkv.compare(lambda q, k, v: sdpa(q, k, v, scale=1.0)), "scale", "no scale")
    departs(qkv.compare(lambda q, k, v: sdpa(q, k, v, dropout_p=0.5)), "softmax", "dropout active")
    mistaken = qkv.compare(
        lambda q, k, v: sdpa(q, k, v, attn_mask=torch.ones(q.shape[-2], k.shape[-2]).triu(1).bool()), causal=True
    )
    departs(mistaken, "mask", "mask the wrong way round")


def test_upper_left_corner_with_a_cache():
    q, k, v = torch.randn(B, H, 2, 8), torch.randn(B, H, 5, 8), torch.randn(B, H, 5, 8)
    mine = lambda q, k, v: sdpa(q, k, v, is_causal=True)  # noqa: E731
    departs(qkv.compare(mine, q, k, v, causal=True), "mask", "causal corner")
    agrees(qkv.compare(mine, q, k, v, causal="upper-left"))


def test_minus_a_thousand_million_in_half_precision():
    half = [torch.randn(B, H, N, 8).half() for _ in range(3)]
    mine = lambda q, k, v: (q @ k.mT / 8**0.5).masked_fill(FUTURE, -1e9).softmax(-1) @ v  # noqa: E731
    departs(qkv.compare(mine, *half, causal=True), "mask", "-1e9 in float16")
    agrees(qkv.compare(mine, *(x.float() for x in half), causal=True))


def test_float16_inside_is_precision_and_no_mistake():
    agrees(qkv.compare(lambda q, k, v: sdpa(q.half(), k.half(), v.half()).float()), "precision")


class Karpathy(nn.Module):
    """Heads as modules of their own, a buffer for the mask, no bias but for the output."""

    def __init__(self, scale):
        super().__init__()
        self.heads = nn.ModuleList(Head(scale) for _ in range(H))
        self.proj = nn.Linear(D, D)

    def forward(self, x):
        return self.proj(torch.cat([head(x) for head in self.heads], dim=-1))


class Head(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(D, D // H, bias=False) for _ in range(3))
        self.register_buffer("tril", torch.tril(torch.ones(16, 16)))
        self.scale = scale

    def forward(self, x):
        n = x.shape[1]
        wei = self.query(x) @ self.key(x).transpose(-2, -1) * self.scale
        wei = wei.masked_fill(self.tril[:n, :n] == 0, float("-inf")).softmax(-1)
        return wei @ self.value(x)


def test_heads_as_modules():
    agrees(qkv.compare(Karpathy((D // H) ** -0.5), X), "4 heads", "causal")
    departs(qkv.compare(Karpathy(D**-0.5), X), "scale", "sqrt(d_model) for sqrt(d_k)")


def test_reference():
    ours, theirs = nn.MultiheadAttention(D, H, batch_first=True), nn.MultiheadAttention(D, H, batch_first=True)
    theirs.load_state_dict(ours.state_dict())
    call = lambda module, **options: lambda x: module(x, x, x, **options)[0]  # noqa: E731
    agrees(qkv.compare(call(ours), reference=call(theirs), inputs=X))
    departs(qkv.compare(call(ours), reference=call(theirs, attn_mask=FUTURE), inputs=X), "mask", "mask forgotten")


def test_trace_shows_the_stages_of_a_module():
    module = nn.MultiheadAttention(4, 2, batch_first=True)
    x = torch.randn(1, 3, 4)
    traced = qkv.trace(module, x, x, x)
    with torch.no_grad():
        expected, weights = module(x, x, x, average_attn_weights=False)
    np.testing.assert_allclose(traced["weights"], weights.numpy(), atol=1e-6)
    np.testing.assert_allclose(traced["output"], expected.numpy(), atol=1e-6)
    np.testing.assert_allclose(traced.solution()["Output"].to_numpy(), expected[0].numpy(), atol=1e-6)
    assert "█" in str(traced) or "▒" in str(traced) or "░" in str(traced)
    assert traced._repr_html_().count("<td") == 2 * 3 * 3
