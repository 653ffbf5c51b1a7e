"""Calling an implementation in its own framework, in float64 where it lets itself be, and recording what it makes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from qkv.compare.formula import Array
from qkv.compare.record.held import Handed, framework_of, handed, is_array, parameters, to_numpy
from qkv.compare.record.recording import Node, Parameter, Recording, arrays, mapped
from qkv.errors import ValueRefused

FRAMEWORKS = ("numpy", "torch", "jax")


@dataclass(frozen=True, eq=False)
class Call:
    """An implementation and what it is called with."""

    mine: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Seen:
    """A recorded call, and its arguments sorted."""

    recording: Recording
    handed: Handed


def arrays_in(tree: Any) -> Iterator[Any]:
    """Every array of any framework in nested containers."""
    return arrays(tree, is_array)


def in_framework(tree: Any, framework: str) -> Any:
    """Nested arrays as arrays of a framework."""
    made: Callable[[Any], Any] = to_numpy
    if framework == "torch":
        import torch

        made = lambda a: torch.from_numpy(np.array(to_numpy(a)))  # noqa: E731
    if framework == "jax":
        import jax.numpy as jnp

        made = lambda a: jnp.asarray(to_numpy(a))  # noqa: E731
    return mapped(tree, is_array, lambda a: a if framework_of(a) == framework else made(a))


@contextmanager
def _wide(framework: str) -> Iterator[None]:
    """JAX rounds to float32 unless it is told not to."""
    if framework != "jax":
        yield
        return
    import jax

    with jax.enable_x64(True):
        yield


def framework_for(call: Call) -> str:
    """The framework that an implementation works in: that of its arguments, else the first whose arrays it takes."""
    kinds = {kind for a in arrays_in((call.args, dict(call.kwargs))) if (kind := framework_of(a))}
    for kind in ("torch", "jax"):
        if kind in kinds:
            return kind
    first: Exception | None = None
    for kind in FRAMEWORKS:
        if kind in sys.modules:
            try:
                with _wide(kind), np.errstate(all="ignore"):
                    out = call.mine(*in_framework(call.args, kind), **in_framework(dict(call.kwargs), kind))
            except Exception as error:  # noqa: BLE001  whatever somebody's code raises for arrays of another framework
                first = first or error
                continue
            made = next(arrays_in(out), None)
            return framework_of(made) or kind if made is not None else kind
    raise ValueRefused(f"it could not be called: {type(first).__name__}: {first}") from first


def seen(call: Call, precise: bool = True) -> Seen:
    """Record a call, in float64 if the implementation allows it."""
    framework = framework_for(call)
    call = _flax(
        Call(call.mine, in_framework(call.args, framework), in_framework(dict(call.kwargs), framework)), framework
    )
    with _wide(framework), np.errstate(all="ignore"):
        for candidate in [_precise(call, framework), call] if precise else [call]:
            if candidate is not None:
                try:
                    return _recorded(candidate, framework)
                except Exception:
                    if candidate is call:
                        raise
    raise AssertionError("the last candidate returns or raises")


def _precise(call: Call, framework: str) -> Call | None:
    if framework == "torch":
        from qkv.compare.record.torch_tape import precise

        try:
            mine, (args, kwargs) = precise(call.mine, (call.args, dict(call.kwargs)))
        except Exception:  # noqa: BLE001  a module that cannot be copied is recorded as it is
            return None
        return Call(mine, args, kwargs)
    double = lambda a: a.astype(np.float64) if a.dtype.kind == "f" or "float" in str(a.dtype) else a  # noqa: E731
    args, kwargs = mapped((call.args, dict(call.kwargs)), is_array, double)
    return replace(call, args=args, kwargs=kwargs)


def _recorded(call: Call, framework: str) -> Seen:
    from importlib import import_module

    sorted_arguments = handed(call.mine, call.args, call.kwargs)
    record = import_module(f"qkv.compare.record.{framework}_tape").record
    try:
        recording = record(call.mine, call.args, call.kwargs, sorted_arguments.constants)
    except Exception:  # noqa: BLE001  what cannot be watched may still be called
        recording = _opaque(call)
    held = (*parameters(call.mine), *_given_parameters(call, sorted_arguments))
    return Seen(replace(recording, parameters=held), sorted_arguments)


def _given_parameters(call: Call, sorted_arguments: Handed) -> Iterator[Parameter]:
    for array in arrays_in((call.args, dict(call.kwargs))):
        if id(array) in sorted_arguments.constants:
            yield Parameter(sorted_arguments.constants[id(array)], to_numpy(array))


def _opaque(call: Call) -> Recording:
    """An implementation that does not let itself be watched: only what goes in and comes out is known."""
    out = next(arrays_in(call.mine(*call.args, **call.kwargs)))
    nodes = [
        Node("given", to_numpy(a), str(a.dtype).removeprefix("torch."))
        for a in arrays_in((call.args, dict(call.kwargs)))
    ]
    return Recording(tuple(nodes), to_numpy(out), str(out.dtype).removeprefix("torch."))


def _flax(call: Call, framework: str) -> Call:
    """A Flax module that has no parameters yet gets some."""
    module: Any = call.mine
    if (
        framework == "jax"
        and hasattr(module, "init")
        and hasattr(module, "apply")
        and getattr(module, "scope", None) is None
    ):
        import jax

        variables = module.init(jax.random.key(0), *call.args, **call.kwargs)
        return replace(call, mine=module.bind(variables))
    return call


def output_of(call: Call) -> Array:
    """The output alone, as it was called for."""
    framework = framework_for(call)
    with np.errstate(all="ignore"):
        out = call.mine(*in_framework(call.args, framework), **in_framework(dict(call.kwargs), framework))
    return to_numpy(next(arrays_in(out)))
