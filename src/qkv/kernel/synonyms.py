"""What other libraries call the arguments of `attention`, and what to write here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, NoReturn

from qkv.errors import ArgumentUnknown

CAUSAL = "write causal=True, or causal='upper-left' if there are more keys than queries and query 0 sits at key 0"
MASK = "write mask: true where a key may be used, or numbers to add"
LENGTHS = "write lengths: how many keys of each batch entry count"
WEIGHTS = "write return_weights=True"
WINDOW = "write window=(left, right)"
GROUPS = "leave it out: query heads are grouped by how many heads q, k and v have"
NO_DROPOUT = "leave it out: the result is exact; qkv.torch.scaled_dot_product_attention takes dropout_p"

REMEDIES = {
    # torch
    "is_causal": CAUSAL,
    "attn_mask": MASK,
    "enable_gqa": GROUPS,
    "dropout_p": NO_DROPOUT,
    "key_padding_mask": "write mask=~key_padding_mask[:, None, None, :]: here true means that a key may be used",
    "need_weights": WEIGHTS,
    "average_attn_weights": "write return_weights=True and take their mean over the heads",
    "score_mod": "write bias: numbers to add to the scores",
    "block_mask": MASK,
    # transformers
    "attention_mask": MASK,
    "scaling": "write scale",
    "dropout": NO_DROPOUT,
    "sliding_window": WINDOW,
    "output_attentions": WEIGHTS,
    "s_aux": "write sinks",
    # JAX
    "query_seq_lengths": "leave it out: rows past the end can be ignored",
    "key_value_seq_lengths": LENGTHS,
    "local_window_size": WINDOW,
    "implementation": "leave it out: there is one implementation",
    # FlashAttention
    "softmax_scale": "write scale",
    "window_size": WINDOW,
    "alibi_slopes": "write bias: the slopes times the distances, broadcast to the scores",
    "deterministic": "leave it out: the result has the same bits for any number of threads",
    "return_attn_probs": WEIGHTS,
    "return_softmax_lse": "write return_lse=True",
    "cache_seqlens": LENGTHS,
    # ONNX
    "nonpad_kv_seqlen": LENGTHS,
    "kv_num_heads": GROUPS,
    "q_num_heads": GROUPS,
}


def refuse(function: Callable[..., Any], given: Mapping[str, object]) -> NoReturn:
    """One sentence about the first argument that `function` does not have."""
    name = next(iter(given))
    known = ", ".join(p.name for p in signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY)
    raise ArgumentUnknown(f"{function.__name__} has no argument {name}; {REMEDIES.get(name, f'there are {known}')}")
