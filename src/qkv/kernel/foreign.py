"""Arrays of other frameworks: which of our modules computes with them. None is imported that is not loaded already."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

# A package, its type of arrays, and our module whose `attention` takes them.
ADAPTERS = (("torch", "Tensor", "qkv.torch"), ("jax", "Array", "qkv.jax"))


def adapter_of(*arrays: object) -> ModuleType | None:
    """Our module for the first framework that any of the arrays belongs to; None for NumPy's and for lists."""
    for package, name, ours in ADAPTERS:
        kind = getattr(sys.modules.get(package), name, None)
        if kind is not None and any(isinstance(array, kind) for array in arrays):
            return sys.modules.get(ours) or import_module(ours)  # torch.compile follows a look-up, not an import
    return None
