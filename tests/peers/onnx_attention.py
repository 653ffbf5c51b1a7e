"""ONNX's Attention operator in terms of `qkv.attention`: the adapter for its backend tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx

from qkv.kernel import attention, trace_attention

STAGES = {0: "scaled", 1: "capped", 2: "masked", 3: "weights"}  # by qk_matmul_output_mode


def split_heads(x: np.ndarray, heads: int) -> np.ndarray:
    """(batch, tokens, heads · d) to (batch, heads, tokens, d)."""
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def padded_mask(mask: np.ndarray, n_k: int) -> np.ndarray:
    """A mask over fewer keys than there are does not allow the others."""
    missing = n_k - mask.shape[-1]
    fill = False if mask.dtype == np.bool_ else -np.inf
    return np.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, missing)], constant_values=fill)


def limits(n_q: int, n_k: int, offset: int, causal: bool, window: tuple[int, int]) -> dict[str, Any]:
    """Our arguments for a query i that sits at key i + offset."""
    ends = None if window == (-1, -1) else window
    if offset == n_k - n_q:
        return {"causal": causal, "window": ends}
    if offset == 0 and causal:
        return {"causal": "upper-left", "window": ends}
    reach = np.arange(n_q)[:, None] + offset - np.arange(n_k)
    allowed = np.ones((n_q, n_k), bool)
    for bound, distance in zip((*window, 0 if causal else -1), (reach, -reach, -reach), strict=True):
        if bound >= 0:
            allowed &= distance <= bound
    return {"bias": np.where(allowed, 0.0, -np.inf)}


def run_node(node: onnx.NodeProto, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """The node's outputs, in its order; '' outputs are left out."""
    given = dict(zip((name for name in node.input if name), inputs, strict=True))
    slots = ("Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen")
    q, k, v, mask, past_k, past_v, lengths = (
        given.get(node.input[i]) if i < len(node.input) else None for i, _ in enumerate(slots)
    )
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    flat = q.ndim == 3
    if flat:
        q, k, v = (
            split_heads(x, attributes[name])
            for x, name in ((q, "q_num_heads"), (k, "kv_num_heads"), (v, "kv_num_heads"))
        )
    offset = 0
    if past_k is not None:
        offset, k, v = past_k.shape[2], np.concatenate([past_k, k], axis=2), np.concatenate([past_v, v], axis=2)
    n_q, n_k = q.shape[2], k.shape[2]
    if lengths is not None:
        offset = n_k - n_q  # ours follow the lengths by themselves
    window = (attributes.get("left_window_size", -1), attributes.get("right_window_size", -1))
    causal = bool(attributes.get("is_causal", 0))
    options = limits(n_q, n_k, offset, causal, window)
    if lengths is not None and causal:
        options["causal"] = "lower-right"  # the last query sits at the last key that counts, even before the first one
    options |= {
        "mask": None if mask is None else padded_mask(mask, n_k),
        "scale": attributes.get("scale"),
        "softcap": attributes.get("softcap") or None,
        "lengths": lengths,
    }
    outputs = {"Y": attention(q, k, v, **options), "present_key": k, "present_value": v}
    if flat:
        outputs["Y"] = outputs["Y"].transpose(0, 2, 1, 3).reshape(q.shape[0], n_q, -1)
    if "qk_matmul_output" in node.output:
        stage = STAGES[attributes.get("qk_matmul_output_mode", 0)]
        outputs["qk_matmul_output"] = getattr(trace_attention(q, k, v, **options), stage).astype(q.dtype)
    return [outputs[name] for name in node.output if name]
