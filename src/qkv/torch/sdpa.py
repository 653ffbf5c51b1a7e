"""torch's own function, name for name, by our kernel."""

from __future__ import annotations

from contextlib import suppress

import torch
from torch.nn.functional import scaled_dot_product_attention as torchs_own  # ours may soon stand in its place

from qkv.errors import ShapeError
from qkv.torch.api import attention

KINDS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
PLAIN = (torch.Tensor, torch.nn.Parameter)  # other subclasses bring their own functions


def scaled_dot_product_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """In place of `torch.nn.functional.scaled_dot_product_attention`: the same arguments, the same result.

    What our kernel does not compute goes on to torch, and so does what torch refuses: dropout, tensors that are not on
    the CPU, nested or of a subclass, mixed types, shapes that do not fit.

    >>> q, k, v = (torch.eye(2)[None, None] for _ in range(3))
    >>> scaled_dot_product_attention(q, k, v, is_causal=True)[0, 0]
    tensor([[1.0000, 0.0000],
            [0.3302, 0.6698]])
    """
    if torch.is_autocast_enabled("cpu"):
        query, key, value, attn_mask = (_autocast(x) for x in (query, key, value, attn_mask))
    both = is_causal and attn_mask is not None
    if dropout_p == 0.0 and not both and _is_ours(query, key, value, attn_mask, enable_gqa):
        causal = "upper-left" if is_causal and query.shape[-2] != key.shape[-2] else is_causal
        with suppress(ShapeError):
            return attention(query, key, value, mask=attn_mask, causal=causal, scale=scale)  # type: ignore[no-any-return]
    return torchs_own(  # type: ignore[no-any-return]
        query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
    )


def _autocast(tensor: torch.Tensor | None) -> torch.Tensor | None:
    """As torch does it for its own function: floats become half as wide, doubles stay."""
    if tensor is None or not tensor.is_floating_point() or tensor.dtype is torch.float64:
        return tensor
    return tensor.to(torch.get_autocast_dtype("cpu"))


def _is_ours(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attn_mask: torch.Tensor | None, enable_gqa: bool
) -> bool:
    """Whether our kernel takes this, and means the same by it as torch."""
    tensors = (query, key, value) if attn_mask is None else (query, key, value, attn_mask)
    if not all(type(x) in PLAIN and x.device.type == "cpu" and x.layout is torch.strided for x in tensors):
        return False
    kind, axes = query.dtype, query.dim()
    if kind not in KINDS or any(x.dtype is not kind or x.dim() != axes for x in (key, value)):
        return False
    if attn_mask is not None and attn_mask.dtype not in (torch.bool, kind):
        return False
    return axes < 3 or enable_gqa or query.shape[-3] == key.shape[-3] == value.shape[-3]
