"""Compiling: one decorator for every compiled function, a disk cache that knows when it is stale, the vector unit."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import caching
from numba.core.registry import cpu_target

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class VectorUnit:
    """Bytes per vector register, and the rows of the register tile that its registers can hold."""

    width: int
    tile_rows: int


@cache
def processor() -> str:
    """The family of the processor that Numba compiles for: x86_64, aarch64, …"""
    triple: str = cpu_target.target_context.codegen().magic_tuple()[0]
    family = triple.split("-")[0]
    return "aarch64" if family == "arm64" else family


@cache
def vector_unit() -> VectorUnit:
    """The vector unit of the processor that Numba compiles for, which NUMBA_CPU_FEATURES can narrow."""
    if processor() == "aarch64":
        return VectorUnit(16, 8)
    _, _, features = cpu_target.target_context.codegen().magic_tuple()
    has = set(features.split(","))
    if "+avx512f" in has:
        return VectorUnit(64, 8)
    return VectorUnit(32 if "+avx2" in has else 16, 4)


@cache
def sources_stamp() -> str:
    """A fingerprint of every source file here: compiled code is built from several of them."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _stamped(locator: type) -> type:
    """A cache locator that goes stale when any file of this folder changes, not only the function's own."""

    def get_source_stamp(self: object) -> str:
        return sources_stamp()

    return type(locator.__name__, (locator,), {"get_source_stamp": get_source_stamp})


class _KernelCacheImpl(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = tuple(_stamped(locator) for locator in caching.CacheImpl._locator_classes)


_to_say = ["qkv: compiling attention for this processor, once, up to half a minute; `qkv warmup` does it ahead."]


def say_compiling() -> None:
    """Tell whoever waits at a terminal why, once a process."""
    if sys.stderr is not None and sys.stderr.isatty():
        while _to_say:
            print(_to_say.pop(), file=sys.stderr, flush=True)


def say_nothing() -> None:
    """For those who have told it themselves."""
    _to_say.clear()


class _KernelCache(caching.FunctionCache):  # type: ignore[misc]
    _impl_class = _KernelCacheImpl

    def load_overload(self, signature: Any, target: Any) -> Any:
        found = super().load_overload(signature, target)
        if found is None:
            say_compiling()
        return found


class _NoCache(caching.NullCache):  # type: ignore[misc]
    """Where there is no folder to write to: every process compiles for itself."""

    def load_overload(self, signature: Any, target: Any) -> None:
        say_compiling()


def entry(function: F) -> F:
    """A compiled function that Python calls: it runs without the GIL, and its machine code is kept on disk."""
    dispatcher: Any = numba.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True)(function)
    try:
        dispatcher._cache = _KernelCache(function)
    except (RuntimeError, OSError):
        dispatcher._cache = _NoCache()
    return dispatcher  # type: ignore[no-any-return]


def compiled(function: F) -> F:
    """A function that only compiled code calls; its machine code is part of theirs."""
    dispatcher: F = numba.njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    return dispatcher


def spliced(function: F) -> F:
    """A part of one compiled function, written apart for the reader; it costs less to compile than a callee."""
    dispatcher: F = numba.njit(error_model="numpy", inline="always")(function)
    return dispatcher
