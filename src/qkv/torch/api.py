"""`qkv.attention` on tensors: straight to the kernel, or with a node for autograd where somebody wants gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from qkv import kernel
from qkv.errors import ValueRefused
from qkv.torch.autograd import LEARNED, Attention, positional
from qkv.torch.ops import Transformed, attend
from qkv.torch.views import given, to_tensor


def attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    mask: Any = None,
    bias: Any = None,
    scale: Any = None,
    return_lse: bool = False,
    return_weights: bool = False,
    out: torch.Tensor | None = None,
    **others: Any,
) -> Any:
    """`qkv.attention` for tensors; see there. One of q, k and v at least is a tensor, and so is the result."""
    mask, bias = _added(mask, bias)
    if isinstance(scale, torch.Tensor):  # it may be learned
        q, scale = q * scale, 1.0
    chosen = {"q": q, "k": k, "v": v, "mask": mask, "bias": bias, "scale": scale, "out": out, **others}
    options = {name: x for name, x in chosen.items() if x is not None}
    learns = torch.is_grad_enabled() and any(_has_gradient(options[name]) for name in LEARNED if name in options)
    node = _node(learns)
    if node is not None:
        if out is not None:
            raise ValueRefused("out cannot take part in gradients; leave it out, or call under torch.no_grad()")
        return _asked(node(*positional(options, return_weights)), return_lse, return_weights)
    arrays = {name: given(name, x) for name, x in options.items()}
    found = kernel.attention(**arrays, return_lse=return_lse, return_weights=return_weights)
    if not (return_lse or return_weights):
        return to_tensor(found) if out is None else out
    return (to_tensor(found[0]) if out is None else out, *map(to_tensor, found[1:]))


def _node(learns: bool) -> Callable[..., Any] | None:
    """What stands between the caller and the kernel: nothing, unless there are gradients or somebody traces us."""
    if torch.compiler.is_compiling():
        return attend  # type: ignore[no-any-return]
    if torch._C._are_functorch_transforms_active():
        return Transformed.apply  # type: ignore[no-any-return]
    return Attention.apply if learns else None


def _has_gradient(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def _added(mask: Any, bias: Any) -> tuple[Any, Any]:
    """A mask of numbers is a bias, and then it has a gradient."""
    if not (isinstance(mask, torch.Tensor) and mask.is_floating_point()):
        return mask, bias
    if bias is None:
        return None, mask
    return None, mask + (bias if isinstance(bias, torch.Tensor) else torch.as_tensor(np.asarray(bias)))


def _asked(results: tuple[torch.Tensor, ...], return_lse: bool, return_weights: bool) -> Any:
    """Of output, lse and weights what was asked for."""
    out, lse, weights = results
    asked = [out, *([lse] if return_lse else []), *([weights] if return_weights else [])]
    return tuple(asked) if len(asked) > 1 else out
