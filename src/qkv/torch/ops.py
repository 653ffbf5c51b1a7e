"""The operations `qkv::attention` and `qkv::attention_backward`, for those who trace instead of running.

`torch.compile`, `torch.export` and `torch.func` must not look into the kernel: they need to know the shapes of its
results, its gradient, and how to map it. Eager code takes the cheaper way of `autograd.py`.
"""

from __future__ import annotations

from typing import Any

import torch

from qkv.errors import ValueRefused
from qkv.torch.autograd import Tensor, backward, forward, keep, slopes

_OPTIONS = (
    "Tensor q, Tensor k, Tensor v, Tensor? bias, Tensor? sinks, Tensor? mask, Tensor? lengths, Tensor? offset, "
    "str causal, int[]? window, float? scale, float? softcap, int? threads"
)
attend = torch.library.custom_op(
    "qkv::attention", forward, mutates_args=(), schema=f"({_OPTIONS}, bool weights) -> (Tensor, Tensor, Tensor)"
)
attend_backward = torch.library.custom_op(
    "qkv::attention_backward",
    backward,
    mutates_args=(),
    schema=f"(Tensor dout, Tensor dlse, Tensor out, Tensor lse, {_OPTIONS}, bool dbias, bool dsinks) -> Tensor[]",
)


@attend.register_fake  # type: ignore[untyped-decorator]
def _shapes(*arguments: Any) -> tuple[Tensor, Tensor, Tensor]:
    q, k, v = arguments[:3]
    lead = (*torch.broadcast_shapes(*(x.shape[:-3] for x in (q, k, v))), *q.shape[-3:-2])
    kind = torch.promote_types(torch.promote_types(q.dtype, k.dtype), v.dtype)
    kind = kind if kind.is_floating_point else torch.float64
    rows = (*lead, q.shape[-2])
    out = q.new_empty((*rows, v.shape[-1]), dtype=kind)
    lse = q.new_empty(rows, dtype=torch.float64 if kind is torch.float64 else torch.float32)
    return out, lse, out.new_empty((*rows, k.shape[-2]) if arguments[-1] else 0)


@attend_backward.register_fake  # type: ignore[untyped-decorator]
def _slope_shapes(dout: Tensor, dlse: Tensor, out: Tensor, lse: Tensor, *arguments: Any) -> list[Tensor]:
    learned = [*(x.new_empty(x.shape, dtype=out.dtype) for x in arguments[:3])]
    return learned + [x.new_empty(x.shape) for x, want in zip(arguments[3:5], arguments[-2:], strict=True) if want]


def _slopes(ctx: Any, dout: Tensor, dlse: Tensor, _: Any) -> tuple[Tensor | None, ...]:
    return slopes(ctx, attend_backward, dout, dlse)


attend.register_autograd(_slopes, setup_context=keep)


class _WayBack(torch.autograd.Function):  # type: ignore[misc]
    """The gradient as a node of its own, since `torch.func` traces it too."""

    generate_vmap_rule = True

    @staticmethod
    def forward(*arguments: Any) -> tuple[Tensor, ...]:
        return tuple(attend_backward(*arguments))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """There is no way back from here."""

    @staticmethod
    def backward(ctx: Any, *slopes: Any) -> None:
        raise ValueRefused("qkv.attention has no second gradient; use torch's scaled_dot_product_attention for that")


class Transformed(torch.autograd.Function):  # type: ignore[misc]
    """The node for `torch.func`, which differentiates functions of Python, not operations."""

    generate_vmap_rule = True
    forward = staticmethod(attend)
    setup_context = staticmethod(keep)

    @staticmethod
    def backward(ctx: Any, dout: Tensor, dlse: Tensor, _: Any) -> tuple[Tensor | None, ...]:
        return slopes(ctx, _WayBack.apply, dout, dlse)


def _one_by_one(op: Any) -> Any:
    """How `vmap` maps an operation: entry after entry, each of which fills the processors."""

    def rule(info: Any, places: tuple[int | None, ...], *arguments: Any) -> tuple[Any, Any]:
        def entry(i: int) -> Any:
            return op(*(x if at is None else x.select(at, i) for x, at in zip(arguments, places, strict=True)))

        stacked = [torch.stack(parts) for parts in zip(*map(entry, range(info.batch_size)), strict=True)]
        return (tuple(stacked), (0,) * len(stacked)) if op is attend else (stacked, [0] * len(stacked))

    return rule


for _op in (attend, attend_backward):
    _op.register_vmap(_one_by_one(_op))
