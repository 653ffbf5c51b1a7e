"""`qkv.work` on a whole block beside torch: encoder layers, norms, loss."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-peers installs it", exc_type=ImportError)

import qkv  # noqa: E402

pytestmark = pytest.mark.peers
F = torch.nn.functional
CLOSE = {"rtol": 1e-9, "atol": 1e-9}


def tensors(*shapes, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64).mul(10).round().div(10) for shape in shapes]


def lists(tensor):
    return tensor.detach().tolist()


def weights_of(layer, width):
    """The weights of an encoder layer under the names of `qkv.work`: there tokens stand left of weights."""
    named = {
        "W_1": layer.linear1.weight.T,
        "b_1": layer.linear1.bias,
        "W_2": layer.linear2.weight.T,
        "b_2": layer.linear2.bias,
    }
    for i, norm in enumerate((layer.norm1, layer.norm2), 1):
        named |= {f"gamma_{i}": norm.weight, f"beta_{i}": norm.bias}
    return attention_of(layer.self_attn, width) | {name: lists(tensor) for name, tensor in named.items()}


def attention_of(attention, width):
    q, k, v = attention.in_proj_weight.split(width)
    b_q, b_k, b_v = attention.in_proj_bias.split(width)
    named = {"W_Q": q.T, "W_K": k.T, "W_V": v.T, "W_O": attention.out_proj.weight.T}
    named |= {"b_Q": b_q, "b_K": b_k, "b_V": b_v, "b_O": attention.out_proj.bias}
    return {name: lists(tensor) for name, tensor in named.items()}


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("heads", [1, 2])
def test_encoder_layer(norm, activation, heads):
    torch.manual_seed(heads)
    layer = torch.nn.TransformerEncoderLayer(
        4, heads, 6, 0.0, activation, batch_first=True, norm_first=norm == "pre", dtype=torch.float64
    )
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randn_like(parameter).mul(10).round().div(10))
    (x,) = tensors((3, 4))
    s = qkv.work(X=lists(x), **weights_of(layer, 4), heads=heads, norm=norm, activation=activation, eps="1e-5")
    out = s["N_2" if norm == "post" else "R_2"].to_numpy()
    np.testing.assert_allclose(out, layer(x[None])[0].detach().numpy(), **CLOSE)


def test_norms():
    x, gamma, beta = tensors((3, 5), (5,), (5,))
    s = qkv.work(X=lists(x), norm="pre", gamma_1=lists(gamma), beta_1=lists(beta), eps="1e-5")
    np.testing.assert_allclose(s["N_1"].to_numpy(), F.layer_norm(x, (5,), gamma, beta).numpy(), **CLOSE)
    s = qkv.work(X=lists(x), norm="pre rms", gamma_1=lists(gamma), eps="1e-5")
    np.testing.assert_allclose(s["N_1"].to_numpy(), F.rms_norm(x, (5,), gamma, 1e-5).numpy(), **CLOSE)


@pytest.mark.parametrize("activation, approximate", [("gelu", "none"), ("gelu_tanh", "tanh")])
def test_gelu(activation, approximate):
    (x,) = tensors((2, 3))
    identity = lists(torch.eye(3, dtype=torch.int64))
    s = qkv.work(X=lists(x), W_1=identity, W_2=identity, activation=activation)
    np.testing.assert_allclose(s["F"].to_numpy(), F.gelu(x, approximate=approximate).numpy(), **CLOSE)


def test_swiglu():
    x, w_1, w_2, w_3 = tensors((2, 3), (3, 4), (4, 3), (3, 4))
    s = qkv.work(X=lists(x), W_1=lists(w_1), W_2=lists(w_2), W_3=lists(w_3))
    np.testing.assert_allclose(s["F"].to_numpy(), ((F.silu(x @ w_1) * (x @ w_3)) @ w_2).numpy(), **CLOSE)


def test_cross_entropy():
    (logits,) = tensors((3, 5))
    targets = [4, 0, 2]
    s = qkv.work(L=lists(logits), targets=targets, predict=True)
    expected = F.cross_entropy(logits, torch.tensor(targets), reduction="none")
    np.testing.assert_allclose(s["ell"].to_numpy()[:, 0], expected.numpy(), **CLOSE)
    np.testing.assert_allclose(s["loss"].to_numpy(), expected.mean().item(), **CLOSE)
    np.testing.assert_array_equal(s["next"].to_numpy()[:, 0], logits.argmax(dim=1).numpy())


def test_embedding():
    (table,) = tensors((5, 3))
    s = qkv.work(tokens=[3, 1, 3], E=lists(table))
    np.testing.assert_array_equal(s["X"].to_numpy(), F.embedding(torch.tensor([3, 1, 3]), table).numpy())


GRADIENTS = (
    "W_Q",
    "W_K",
    "W_V",
    "W_O",
    "b_Q",
    "b_V",
    "b_O",
    "W_1",
    "b_1",
    "W_2",
    "b_2",
    "gamma_1",
    "beta_1",
    "gamma_2",
)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("heads", [1, 2])
def test_gradients_of_an_encoder_layer(norm, activation, heads):
    """Autograd, from the cross-entropy back to every weight."""
    torch.manual_seed(heads)
    layer = torch.nn.TransformerEncoderLayer(
        4, heads, 6, 0.0, activation, batch_first=True, norm_first=norm == "pre", dtype=torch.float64
    )
    x, w_u = tensors((3, 4), (4, 5))
    targets = [4, 0, 2]
    x.requires_grad_(True)
    F.cross_entropy(layer(x[None])[0] @ w_u, torch.tensor(targets)).backward()
    s = qkv.work(
        X=lists(x), **weights_of(layer, 4), W_U=lists(w_u), targets=targets,
        heads=heads, norm=norm, activation=activation, eps="1e-5",
    ).backward()  # fmt: skip
    np.testing.assert_allclose(s["dX"].to_numpy(), x.grad.numpy(), **CLOSE)
    grads = gradients_of(layer, 4)
    for name in GRADIENTS:
        made = s["d" + name].to_numpy()
        np.testing.assert_allclose(made.reshape(np.shape(grads[name])), grads[name], err_msg=name, **CLOSE)


def gradients_of(layer, width):
    """The gradients of an encoder layer under the names of `qkv.work`: the same as its weights, seen as one layer."""
    copy = torch.nn.TransformerEncoderLayer(4, 1, 6, batch_first=True, dtype=torch.float64)
    for mine, theirs in zip(copy.parameters(), layer.parameters(), strict=True):
        mine.data = theirs.grad
    return weights_of(copy, width)


@pytest.mark.parametrize("kind", ["masked", "cross", "swiglu", "rms"])
def test_gradients_of_other_kinds(kind):
    given = dict(zip(("X", "W_Q", "W_K", "W_V"), tensors((3, 4), (4, 2), (4, 2), (4, 4)), strict=True))
    options = {}
    if kind == "cross":
        (given["Y"],) = tensors((2, 4), seed=1)
    if kind in ("swiglu", "rms"):
        given |= dict(zip(("W_1", "W_3", "W_2"), tensors((4, 3), (4, 3), (3, 4), seed=2), strict=True))
        options = {"norm": "post rms" if kind == "rms" else "post"}
    if kind == "masked":
        options = {"mask": "causal"}
    for tensor in given.values():
        tensor.requires_grad_(True)
    s = qkv.work(**{name: lists(x) for name, x in given.items()}, **options)
    of = {"masked": "Output", "cross": "Output", "swiglu": "N_2", "rms": "N_2"}[kind]
    (dout,) = tensors((3, 4), seed=3)
    torch_of(kind, **given).backward(dout)
    back = s.backward(of, gradient=lists(dout))
    for name, tensor in given.items():
        np.testing.assert_allclose(back["d" + name].to_numpy(), tensor.grad.numpy(), err_msg=name, **CLOSE)


def torch_of(kind, X, W_Q, W_K, W_V, Y=None, W_1=None, W_2=None, W_3=None):
    states = X if Y is None else Y
    z = F.scaled_dot_product_attention(X @ W_Q, states @ W_K, states @ W_V, is_causal=kind == "masked")
    if W_1 is None:
        return z
    norm = (lambda x: F.rms_norm(x, (4,), eps=0)) if kind == "rms" else (lambda x: F.layer_norm(x, (4,), eps=0))
    middle = norm(X + z)
    return norm(middle + (F.silu(middle @ W_1) * (middle @ W_3)) @ W_2)


def test_grouped_queries():
    x, w_q, w_k, w_v = tensors((3, 4), (4, 8), (4, 4), (4, 4))
    s = qkv.work(X=lists(x), W_Q=lists(w_q), W_K=lists(w_k), W_V=lists(w_v), heads=4, kv_heads=2)
    q, k, v = ((x @ w).view(3, -1, 2).transpose(0, 1) for w in (w_q, w_k, w_v))
    expected = F.scaled_dot_product_attention(q[None], k[None], v[None], enable_gqa=True)[0]
    np.testing.assert_allclose(s["Concat"].to_numpy(), expected.transpose(0, 1).reshape(3, 8).numpy(), **CLOSE)


def test_rotary_positions_as_transformers_has_them():
    modeling = pytest.importorskip("transformers.models.llama.modeling_llama", reason="transformers is not installed")
    q, k = tensors((3, 4), (3, 4))
    angles = torch.arange(3.0, dtype=torch.float64)[:, None] / 10000 ** (
        torch.tensor([0.0, 2, 0, 2], dtype=torch.float64) / 4
    )
    turned = modeling.apply_rotary_pos_emb(q[None, None], k[None, None], angles.cos()[None], angles.sin()[None])
    s = qkv.work(Q=lists(q), K=lists(k), V=lists(k), rope="halves")
    for name, expected in zip(("Q_rot", "K_rot"), turned, strict=True):
        np.testing.assert_allclose(s[name].to_numpy(), expected[0, 0].numpy(), **CLOSE)


def test_a_bias_is_added_to_the_scores():
    q, k, v, bias = tensors((3, 4), (5, 4), (5, 2), (3, 5))
    s = qkv.work(Q=lists(q), K=lists(k), V=lists(v), bias=lists(bias))
    expected = F.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=bias[None])[0]
    np.testing.assert_allclose(s["Output"].to_numpy(), expected.numpy(), **CLOSE)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("heads", [1, 2])
def test_decoder_layer(norm, heads):
    torch.manual_seed(heads)
    layer = torch.nn.TransformerDecoderLayer(
        4, heads, 6, 0.0, "relu", batch_first=True, norm_first=norm == "pre", dtype=torch.float64
    )
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randn_like(parameter).mul(10).round().div(10))
    x, memory = tensors((3, 4), (2, 4))
    given = weights_of(layer, 4) | {"gamma_3": lists(layer.norm3.weight), "beta_3": lists(layer.norm3.bias)}
    cross = attention_of(layer.multihead_attn, 4)
    s = qkv.work(
        X=lists(x), Y=lists(memory), **given, cross=cross, mask="causal", heads=heads, norm=norm, eps="1e-5"
    )  # fmt: skip
    mask = torch.nn.Transformer.generate_square_subsequent_mask(3, dtype=torch.float64)
    expected = layer(x[None], memory[None], tgt_mask=mask)[0].detach().numpy()
    np.testing.assert_allclose(s["N_3" if norm == "post" else "R_3"].to_numpy(), expected, **CLOSE)


def test_stacked_encoder_layers():
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(4, 2, 6, 0.0, batch_first=True, dtype=torch.float64)
    encoder = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.copy_(torch.randn_like(parameter).mul(10).round().div(10))
    (x,) = tensors((3, 4))
    layers = [weights_of(one, 4) for one in encoder.layers]
    s = qkv.work(X=lists(x), layers=layers, heads=2, norm="post", eps="1e-5")
    np.testing.assert_allclose(s["N_{2,2}^L"].to_numpy(), encoder(x[None])[0].detach().numpy(), **CLOSE)


def test_the_likeliest_words():
    (logits,) = tensors((3, 5))
    s = qkv.work(L=lists(logits), top=2)
    np.testing.assert_array_equal(s["top"].to_numpy(), logits.topk(2).indices.numpy())
    np.testing.assert_allclose(s["P_best"].to_numpy(), logits.topk(2).values.softmax(1).numpy(), **CLOSE)


def test_the_jacobian_of_a_softmax():
    (scores,) = tensors((1, 4))
    s = qkv.work(L=lists(scores)).backward(jacobian=True)
    expected = torch.autograd.functional.jacobian(lambda x: x.softmax(0), scores[0])
    np.testing.assert_allclose(s["J_1^P"].to_numpy(), expected.numpy(), **CLOSE)


def test_cosines():
    q, k, v = tensors((3, 4), (5, 4), (5, 2))
    s = qkv.work(Q=lists(q), K=lists(k), V=lists(v), score="cosine")
    np.testing.assert_allclose(s["S"].to_numpy(), F.cosine_similarity(q[:, None], k[None], dim=2).numpy(), **CLOSE)
