"""What an implementation holds and is handed: parameters in attributes and closures; tokens and masks as arguments."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from qkv.compare.formula import Array
from qkv.compare.record.recording import Parameter, numbers
from qkv.regex import regex

DEEPEST = 6  # containers in containers
WEIGHT = regex(r"(w|b)([_A-Z0-9qkvo].*)?|W.*|.*(weight|kernel|bias|params?|variables|theta)s?")
MASK = regex(r".*(mask|bias|lengths?|pad).*")


def framework_of(value: Any) -> str | None:
    """The library that an array comes from; nothing is imported to tell."""
    module = type(value).__module__.partition(".")[0]
    if module in ("jax", "jaxlib") and hasattr(value, "dtype") and hasattr(value, "shape"):
        return "jax"
    if "torch" in sys.modules:
        import torch

        if isinstance(value, torch.Tensor):
            return "torch"
    return "numpy" if isinstance(value, np.ndarray) else None


def is_array(value: Any) -> bool:
    """Whether a value is an array of some framework."""
    return framework_of(value) is not None


def to_numpy(value: Any) -> Array:
    """An array of any framework as NumPy numbers."""
    if framework_of(value) == "torch":
        from qkv.compare.record.torch_tape import to_numpy as from_torch

        return from_torch(value)
    if framework_of(value) == "jax":
        from qkv.compare.record.jax_tape import to_numpy as from_jax

        return from_jax(value)
    return numbers(value)


def parameters(mine: Any) -> tuple[Parameter, ...]:
    """Every array of floats that an implementation holds, by name."""
    return tuple(_held(mine, "", 0, set()))


def _held(value: Any, name: str, depth: int, seen: set[int]) -> Iterator[Parameter]:
    if id(value) in seen or depth > DEEPEST:
        return
    seen.add(id(value))
    if is_array(value):
        array = to_numpy(value)
        if array.dtype.kind == "f" and array.ndim:
            yield Parameter(name, array)
        return
    if "torch" in sys.modules:
        from qkv.compare.record.torch_tape import parameters_of

        if inner := parameters_of(value):
            for p in inner:
                yield Parameter(f"{name}.{p.name}".lstrip("."), p.value, p.transposed)
            return
    for key, inner in _parts(value):
        yield from _held(inner, f"{name}.{key}".lstrip("."), depth + 1, seen)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """What hangs on a value, by name."""
    if isinstance(value, Mapping):
        yield from ((str(key), inner) for key, inner in value.items())
    elif isinstance(value, (tuple, list)):
        yield from ((str(i), inner) for i, inner in enumerate(value))
    elif isinstance(value, partial):
        yield from (("", value.func), *((str(i), inner) for i, inner in enumerate(value.args)), *value.keywords.items())
    elif isinstance(value, MethodType):
        yield "", value.__self__
        yield "", value.__func__
    elif isinstance(value, FunctionType):
        bound = inspect.getclosurevars(value)
        yield from bound.nonlocals.items()
        yield from ((key, inner) for key, inner in bound.globals.items() if not inspect.ismodule(inner))
    elif type(value).__module__.startswith("flax") and getattr(value, "scope", None) is not None:
        yield from _parts(value.variables)  # a bound module of flax.linen
    elif hasattr(value, "__wrapped__"):
        yield "", value.__wrapped__
    elif hasattr(value, "__dict__") and not isinstance(value, type) and not inspect.ismodule(value):
        yield from (
            (key, inner) for key, inner in vars(value).items() if not callable(inner) or hasattr(inner, "__dict__")
        )
        if framework_of(getattr(value, "value", None)) is not None:
            yield "", value.value


@dataclass(frozen=True, eq=False)
class Given:
    """What an implementation was handed: tokens or queries, keys and values; and masks."""

    arrays: tuple[Array, ...]
    masks: tuple[Array, ...] = ()
    drops: bool = False  # whether a mask of this kind of module may mean the keys to be dropped
    base: float | None = None  # of rotary positions, as a configuration states it


@dataclass(frozen=True, eq=False)
class Handed:
    """The arguments of a call, sorted: tokens and masks for the reference; parameters, by the id of the array."""

    given: Given
    constants: Mapping[int, str]


def handed(mine: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Handed:
    """Sort the arguments of a call."""
    names = _names(mine, len(args))
    arrays: list[tuple[str, Any]] = []
    constants: dict[int, str] = {}
    masks: list[Array] = []
    for name, value in (*zip(names, args, strict=False), *kwargs.items()):
        if framework_of(value) is None:
            constants |= {id(leaf): path for path, leaf in _leaves(value, name)}
        elif to_numpy(value).dtype.kind in "biu":
            masks += (
                [to_numpy(value)] if np.isin(to_numpy(value), (0, 1)).all() else []
            )  # else these are tokens' numbers
        elif MASK.fullmatch(name.lower()) and not WEIGHT.fullmatch(name):
            masks.append(to_numpy(value))
        else:
            arrays.append((name, value))
    tokens = _tokens(arrays)
    constants |= {id(value): name for name, value in arrays if not any(value is token for token in tokens)}
    plain = tuple(map(to_numpy, tokens))
    masks += [a for a in plain[1:] if _is_mask(a)]
    return Handed(
        Given(tuple(a for a in plain if not _is_mask(a)), tuple(masks), _drops(mine), _stated_base(mine)), constants
    )


def _is_mask(array: Array) -> bool:
    return bool(((array == 0) | (array < -1e3)).all()) and bool((array < 0).any())


def _names(mine: Any, count: int) -> list[str]:
    called = getattr(mine, "forward", mine)
    try:
        names = [
            p.name
            for p in inspect.signature(called).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):  # builtins do not always say what they take
        names = []
    return names[:count] + [f"argument {i}" for i in range(len(names), count)]


def _leaves(tree: Any, name: str) -> Iterator[tuple[str, Any]]:
    if is_array(tree):
        yield name, tree
    elif isinstance(tree, (Mapping, tuple, list)):
        for key, value in _parts(tree):
            yield from _leaves(value, f"{name}.{key}")


def _tokens(arrays: Sequence[tuple[str, Any]]) -> list[Any]:
    """The arrays that are tokens, queries, keys or values: not those that are named, or fit, as weights."""
    if not arrays:
        return []
    tokens = [(name, a) for name, a in arrays if not WEIGHT.fullmatch(name)] or [arrays[0]]
    first = tokens[0][1]
    if len(tokens) > 3 or any(a.ndim < first.ndim for _, a in tokens):
        tokens = [
            pair for pair in tokens if pair[1].ndim == first.ndim and (first.ndim > 2 or pair[1].shape == first.shape)
        ]
    return [a for _, a in tokens]


def _drops(mine: Any) -> bool:
    """Whether nn.MultiheadAttention is inside: its masks say what to drop."""
    if "torch" not in sys.modules:
        return False
    import torch

    held = [mine, *(inner for _, inner in _parts(mine))] if isinstance(mine, FunctionType) else [mine]
    return any(
        isinstance(inner, torch.nn.MultiheadAttention)
        for value in held
        if isinstance(value, torch.nn.Module)
        for inner in value.modules()
    )


def _stated_base(mine: Any) -> float | None:
    """The base of rotary positions as a transformers configuration states it."""
    config = getattr(mine, "config", None)
    stated = getattr(config, "rope_parameters", None)
    base = stated.get("rope_theta") if isinstance(stated, Mapping) else getattr(config, "rope_theta", None)
    return float(base) if isinstance(base, (int, float)) else None


def accepts(mine: Callable[..., Any], name: str) -> bool:
    """Whether a callable has an argument of that name."""
    try:
        return name in inspect.signature(getattr(mine, "forward", mine)).parameters
    except (TypeError, ValueError):
        return bool(re.search(rf"\b{name}\b\s*=", (getattr(mine, "__doc__", None) or "")[:600]))
