"""Who is measured: each peer makes, for a case, a function that computes it once; None where it has no way to."""

from __future__ import annotations

import os

import numpy as np

import qkv.kernel as qkv
from bench_attention_cases import Case
from bench_attention_timing import THREADS, Run

NUMPY_SCORES = 3e8  # more scores than this do not fit a plain formula's memory


def use_qkv(case: Case) -> Run | None:
    q, k, v = case.arrays
    options = {"causal": case.causal}
    if case.window:
        options["window"] = (case.window - 1, 0)
    if case.mask:
        options["mask"] = case.allowed
    if case.backward:
        out, lse = qkv.attention(q, k, v, return_lse=True, **options)
        return lambda: qkv.attention_backward(out, q, k, v, out, lse, **options)
    return lambda: qkv.attention(q, k, v, **options)


def use_torch(case: Case) -> Run | None:
    import torch

    torch.set_num_threads(THREADS)
    sdpa = torch.nn.functional.scaled_dot_product_attention
    q, k, v = map(torch.from_numpy, case.arrays)
    rule = None if case.rule is None else torch.from_numpy(np.ascontiguousarray(case.rule))
    options = {"attn_mask": rule, "is_causal": case.causal and rule is None, "enable_gqa": case.heads != case.kv_heads}
    if case.backward:
        leaves = [x.requires_grad_() for x in (q, k, v)]
        out = sdpa(*leaves, **options)
        dout = out.detach().clone()
        return lambda: torch.autograd.grad(out, leaves, dout, retain_graph=True)

    def run() -> object:
        with torch.inference_mode():
            return sdpa(q, k, v, **options)

    return run


def use_onnxruntime(case: Case) -> Run | None:
    """Microsoft's MultiHeadAttention where it can, the standard's Attention for groups and masks."""
    import onnxruntime as ort
    from onnx import TensorProto, helper

    if case.backward or case.dtype != "float32":
        return None
    q, k, v = case.arrays
    plain = case.rule is None and case.heads == case.kv_heads
    feeds = {"q": q, "k": k, "v": v}
    if plain:
        feeds = {n: x.transpose(0, 2, 1, 3).reshape(1, x.shape[2], -1).copy() for n, x in feeds.items()}
        node = helper.make_node(
            "MultiHeadAttention", ["q", "k", "v"], ["o"], domain="com.microsoft", num_heads=case.heads,
            unidirectional=int(case.causal),
        )  # fmt: skip
    else:
        names = ["q", "k", "v"]
        if case.rule is not None:
            names.append("mask")
            feeds["mask"] = np.ascontiguousarray(np.broadcast_to(case.rule, (case.n_q, case.n_k)))
        node = helper.make_node("Attention", names, ["o"])
    kinds = {name: TensorProto.BOOL if x.dtype == np.bool_ else TensorProto.FLOAT for name, x in feeds.items()}
    inputs = [helper.make_tensor_value_info(name, kinds[name], x.shape) for name, x in feeds.items()]
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("o", TensorProto.FLOAT, None)])
    opsets = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    options = ort.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.log_severity_level = 4
    try:
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        session.run(None, feeds)
    except Exception as error:  # noqa: BLE001  (their own classes; any refusal means: not measured)
        print(f"  onnxruntime cannot do {case.name}: {str(error).splitlines()[0][:100]}")
        return None
    return lambda: session.run(None, feeds)


def use_jax(case: Case) -> Run | None:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax

    jax.config.update("jax_enable_x64", True)
    q, k, v = (jax.device_put(x.transpose(0, 2, 1, 3).copy()) for x in case.arrays)
    rule = None if case.rule is None else jax.device_put(np.broadcast_to(case.rule, (1, 1, case.n_q, case.n_k)))
    causal = case.causal and rule is None

    def forward(q: object, k: object, v: object) -> object:
        return jax.nn.dot_product_attention(q, k, v, mask=rule, is_causal=causal)

    if case.backward:
        out, pull = jax.vjp(forward, q, k, v)
        gradients = jax.jit(pull)
        return lambda: jax.block_until_ready(gradients(out))
    compiled = jax.jit(forward)
    return lambda: jax.block_until_ready(compiled(q, k, v))


def use_numpy(case: Case) -> Run | None:
    if case.backward or case.heads * case.n_q * case.n_k > NUMPY_SCORES:
        return None
    q, k, v = case.arrays
    group = case.heads // case.kv_heads
    q = q.reshape(1, case.kv_heads, group * case.n_q, case.d)
    rule = case.rule
    if case.causal and rule is None:
        rule = np.tri(case.n_q, case.n_k, case.n_k - case.n_q, dtype=bool)
    if rule is not None and len(rule) > 1:
        rule = np.tile(rule, (group, 1))
    scale = q.dtype.type(case.d**-0.5)

    def run() -> object:
        scores = q @ k.swapaxes(-1, -2) * scale
        if rule is not None:
            scores = np.where(rule, scores, -np.inf)
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        return scores @ v

    return run


PEERS = {"qkv": use_qkv, "torch": use_torch, "onnxruntime": use_onnxruntime, "jax": use_jax, "numpy": use_numpy}
