"""transformers: importing this module makes `attn_implementation="qkv"` known to all models that take one by name.

>>> import qkv.transformers
>>> from transformers import LlamaConfig, LlamaModel
>>> sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "vocab_size": 50}
>>> config = LlamaConfig(num_attention_heads=4, num_key_value_heads=2, **sizes)
>>> LlamaModel._from_config(config, attn_implementation="qkv").config._attn_implementation
'qkv'
"""

from __future__ import annotations

from typing import Any

try:
    import torch
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.masking_utils import sdpa_mask
except ImportError as error:
    raise ImportError(
        "qkv.transformers needs transformers; install it with: pip install 'qkv[transformers]'"
    ) from error

from qkv.errors import ValueRefused
from qkv.torch import attention

NAME = "qkv"


def attention_forward(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    position_bias: torch.Tensor | None = None,
    softcap: float | None = None,
    s_aux: torch.Tensor | None = None,
    **others: Any,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """What transformers calls for each layer: (batch, heads, tokens, d) in, (batch, tokens, heads, d) out.

    Keys and values keep their own number of heads. `softcap` (Gemma) and `s_aux` (the sinks of gpt-oss) are computed
    too. Dropout and paged caches are left to transformers' own way over torch.
    """
    if dropout or others.get("cache") is not None:
        if softcap is not None or s_aux is not None:
            raise ValueRefused(
                "qkv has no dropout of attention weights; set attention_dropout=0.0 in the configuration"
            )
        return sdpa_attention_forward(  # type: ignore[no-any-return]
            module, query, key, value, attention_mask, dropout, scaling, is_causal, position_bias, **others
        )
    options: dict[str, Any] = {
        "causal": _causal(module, query, key, attention_mask, is_causal),
        "mask": attention_mask,
        "bias": position_bias,
        "scale": scaling,
        "softcap": softcap,
        "sinks": s_aux,
    }
    if others.get("output_attentions"):
        out, weights = attention(query, key, value, return_weights=True, **options)
        return out.transpose(1, 2).contiguous(), weights
    if torch.is_grad_enabled() or torch.compiler.is_compiling() or query.shape[2] == 1:
        return attention(query, key, value, **options).transpose(1, 2).contiguous(), None
    batch, heads, tokens, _ = query.shape
    out = query.new_empty(batch, tokens, heads, value.shape[3])  # the kernel writes in this order, so nothing is copied
    attention(query, key, value, out=out.transpose(1, 2), **options)
    return out, None


def _causal(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    attention_mask: torch.Tensor | None,
    is_causal: bool | None,
) -> bool | str:
    """As transformers means it: only without a mask, which would say it too, and counted from the first key."""
    wanted = getattr(module, "is_causal", True) if is_causal is None else is_causal
    if not wanted or attention_mask is not None or query.shape[2] == 1:
        return False
    return "upper-left" if query.shape[2] != key.shape[2] else True


AttentionInterface.register(NAME, attention_forward)
AttentionMaskInterface.register(NAME, sdpa_mask)  # True where a key may be used, or no mask where causal says it all
