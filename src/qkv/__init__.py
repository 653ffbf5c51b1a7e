"""Attention, worked out, checked, explained and run.

Names are loaded when they are first used, so that importing qkv costs next to nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # typing's own would be most of what importing qkv costs
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from qkv.api import check as check
    from qkv.api import grade as grade
    from qkv.api import read as read
    from qkv.api import solve as solve
    from qkv.compare import assert_attention as assert_attention
    from qkv.compare import compare as compare
    from qkv.compare import trace as trace
    from qkv.errors import QkvError as QkvError
    from qkv.solution import Quantity as Quantity
    from qkv.solution import Solution as Solution
    from qkv.working import work as work

__version__ = "0.1.0"

# Public name → the module that it comes from.
_HOMES = {
    "read": "qkv.api",
    "solve": "qkv.api",
    "check": "qkv.api",
    "grade": "qkv.api",
    "work": "qkv.working",
    "Quantity": "qkv.solution",
    "Solution": "qkv.solution",
    "QkvError": "qkv.errors",
    "attention": "qkv.kernel",
    "merge_attention": "qkv.kernel",
    "trace_attention": "qkv.kernel",
    "attention_backward": "qkv.kernel",
    "compare": "qkv.compare",
    "assert_attention": "qkv.compare",
    "trace": "qkv.compare",
}

# Doors to other libraries, each imported when it is first used. `from qkv import *` opens none of them.
_DOORS = ("dask", "torch", "jax", "transformers")

__all__ = ["__version__", *_HOMES]


class _Package(type(sys)):  # type: ignore[misc]  # ModuleType, which `types` would take a millisecond to name
    """A package whose subpackages cannot hide the public functions of the same name (check, transport)."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, type(sys))):
            super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        """Pickled by name: what cloudpickle does for every module, but only if its type is exactly ModuleType."""
        return import_module, (self.__name__,)


def __getattr__(name: str) -> object:
    if name in _DOORS:
        return import_module(f"qkv.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'qkv' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_DOORS])


sys.modules[__name__].__class__ = _Package
