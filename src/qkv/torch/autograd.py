"""Attention as a node of autograd: what goes forward, what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from qkv import kernel
from qkv.torch.views import given, to_numpy, to_tensor

Tensor: TypeAlias = torch.Tensor
Maybe: TypeAlias = torch.Tensor | None
LEARNED = ("q", "k", "v", "bias", "sinks")
COUNTED = ("mask", "lengths", "offset")  # tensors without gradients
RULES = ("causal", "window", "scale", "softcap", "threads")
TENSORS = len(LEARNED) + len(COUNTED)


def positional(options: dict[str, Any], weights: bool) -> list[Any]:
    """The arguments of `qkv.attention` as `forward` takes them: tensors first, and only types that operations have."""
    tensors = [_tensor(options.get(name)) for name in (*LEARNED, *COUNTED)]
    causal, window, scale, softcap, threads = map(options.get, RULES)
    sides = [-1 if side is None else side for side in window] if isinstance(window, (tuple, list)) else window
    return [*tensors, str(causal), sides, scale, softcap, threads, weights]


def _tensor(value: Any) -> Maybe:
    return value if value is None or isinstance(value, torch.Tensor) else torch.as_tensor(np.asarray(value))


def _keywords(arguments: Sequence[Any]) -> dict[str, Any]:
    """The way back from `positional`, with arrays for tensors."""
    named = zip((*LEARNED, *COUNTED, *RULES), arguments, strict=True)
    options = {name: given(name, x) for name, x in named if x is not None}
    if isinstance(options.get("window"), list):
        options["window"] = tuple(options["window"])
    return options | {"causal": {"True": True, "False": False}.get(options["causal"], options["causal"])}


def forward(*arguments: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Output, lse and weights; the weights are empty if they are not wanted."""
    *options, weights = arguments
    found = kernel.attention(**_keywords(options), return_lse=True, return_weights=weights)
    out, lse, *more = map(to_tensor, found)
    return out, lse, more[0] if more else out.new_empty(0)


def backward(*arguments: Any) -> list[Tensor]:
    """dq, dk and dv, and the gradients of bias and sinks where they are wanted."""
    dout, dlse, out, lse, *options, dbias, dsinks = arguments
    rows: dict[str, Any] = {"dout": dout, "dlse": dlse, "out": out, "lse": lse}
    asked = {name: to_numpy(name, x) for name, x in rows.items()} | {"return_dbias": dbias, "return_dsinks": dsinks}
    found = kernel.attention_backward(**asked, **_keywords(options))
    return [to_tensor(np.asarray(slope)) for slope in found]


def keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    """What the way back needs. The weights have no gradient."""
    out, lse, weights = output
    ctx.mark_non_differentiable(weights)
    ctx.save_for_backward(out, lse, *inputs[:TENSORS])
    ctx.rules = inputs[TENSORS:-1]


def slopes(ctx: Any, function: Any, dout: Tensor, dlse: Tensor) -> tuple[Maybe, ...]:
    """A gradient or None for each argument of `forward`."""
    wanted = (True, True, True, *ctx.needs_input_grad[3:5])
    found = iter(function(dout, dlse, *ctx.saved_tensors, *ctx.rules, *wanted[3:]))
    learned = [next(found) if want else None for want in wanted]
    return (*learned, *[None] * (len(COUNTED) + len(RULES) + 1))


class Attention(torch.autograd.Function):  # type: ignore[misc]
    """The node that eager code makes."""

    @staticmethod
    def forward(ctx: Any, *arguments: Any) -> tuple[Tensor, Tensor, Tensor]:
        output = forward(*arguments)
        keep(ctx, arguments, output)
        return output

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, dout: Tensor, dlse: Tensor, _: Any) -> tuple[Maybe, ...]:
        return slopes(ctx, backward, dout, dlse)
