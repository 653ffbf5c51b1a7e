"""The same memory as a tensor and as a NumPy array."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, DTypeLike

from qkv.errors import MissingExtra, ValueRefused
from qkv.kernel.arguments import Array, is_brain


def to_numpy(name: str, tensor: torch.Tensor) -> Array:
    """A tensor's numbers where they are, without its gradient."""
    if tensor.device.type != "cpu" or tensor.layout is not torch.strided:
        kind = f"on {tensor.device}" if tensor.layout is torch.strided else f"laid out as {tensor.layout}"
        raise ValueRefused(f"{name} is {kind}; qkv.attention computes on the CPU: give it a dense tensor, {name}.cpu()")
    if tensor.dtype is torch.bfloat16:
        return tensor.detach().view(torch.int16).numpy().view(brain())  # type: ignore[no-any-return]
    return tensor.numpy(force=True)  # type: ignore[no-any-return]


def to_tensor(array: Array) -> torch.Tensor:
    """A NumPy array of ours as a tensor of the same memory."""
    if is_brain(array.dtype):
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def given(name: str, value: ArrayLike | torch.Tensor | None) -> Any:
    """What the kernel gets for an argument: a tensor's memory, and everything else as it is."""
    return to_numpy(name, value) if isinstance(value, torch.Tensor) else value


@cache
def brain() -> DTypeLike:
    """NumPy's bfloat16, which is a package of its own."""
    try:
        from ml_dtypes import bfloat16
    except ImportError as missing:
        raise MissingExtra("bfloat16 tensors need ml_dtypes; install it with: pip install 'qkv[torch]'") from missing
    return bfloat16  # type: ignore[no-any-return]
