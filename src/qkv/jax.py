"""JAX arrays: `qkv.attention` takes and gives them, also under `jit`, `vmap` and `grad`.

The kernel runs on the host. Arrays that are there are read where they lie; inside a traced function the kernel is a
`jax.pure_callback`, and its gradient another one.

>>> import jax, qkv
>>> import jax.numpy as jnp
>>> x = jnp.eye(3)
>>> slope = jax.grad(lambda v: qkv.attention(x, x, v, causal=True).sum())(x)
>>> [round(float(number), 3) for number in slope[:, 0]]
[1.624, 0.905, 0.471]
"""

from __future__ import annotations

from functools import partial
from typing import Any, TypeAlias

import numpy as np

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:
    raise ImportError("qkv.jax needs JAX; install it with: pip install 'qkv[jax]'") from error

from qkv import kernel
from qkv.errors import ValueRefused
from qkv.kernel.arguments import problem

Arrays: TypeAlias = dict[str, Any]
Rules: TypeAlias = tuple[tuple[str, Any], ...]  # options that are no arrays, as something that can be compared

LEARNED = ("q", "k", "v", "bias", "sinks")
COUNTED = ("mask", "lengths", "offset")  # arrays without gradients
OWN_AXES = {"q": 3, "k": 3, "v": 3, "bias": 3, "mask": 3, "lengths": 0, "offset": 0}  # behind the batch axes


def attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    mask: Any = None,
    bias: Any = None,
    sinks: Any = None,
    lengths: Any = None,
    offset: Any = None,
    scale: Any = None,
    return_lse: bool = False,
    return_weights: bool = False,
    out: Any = None,
    **rules: Any,
) -> Any:
    """`qkv.attention` for arrays of JAX; see there. One of q, k and v at least is one, and so is the result."""
    if out is not None:
        raise ValueRefused("out asks to write to an array, which JAX forbids; leave it out")
    if isinstance(scale, jax.Array):  # it may be learned
        q, scale = q * scale, 1.0
    given = {"q": q, "k": k, "v": v, "bias": bias, "sinks": sinks, "mask": mask, "lengths": lengths, "offset": offset}
    arrays = {name: jnp.asarray(x) for name, x in given.items() if x is not None}
    rules = {"scale": scale, **rules, "return_lse": return_lse, "return_weights": return_weights}
    if not any(isinstance(x, jax.core.Tracer) for x in arrays.values()):
        found = kernel.attention(**{name: _on_host(name, x) for name, x in arrays.items()}, **rules)
        return tuple(map(jnp.asarray, found)) if isinstance(found, tuple) else jnp.asarray(found)
    return _traced(arrays, rules)


def _on_host(name: str, array: Any) -> Any:
    platforms = {device.platform for device in array.devices()}
    if platforms != {"cpu"}:
        raise ValueRefused(
            f"{name} is on {'/'.join(platforms)}; qkv.attention computes on the CPU: jax.device_get({name})"
        )
    return np.asarray(array)


def _traced(arrays: Arrays, rules: dict[str, Any]) -> Any:
    """Inside a function that JAX traces: every array with all axes, so that `vmap` can add one in front."""
    if isinstance(rules["window"], list):
        rules = rules | {"window": tuple(rules["window"])}
    lse, weights = rules.pop("return_lse"), rules["return_weights"]
    plain = max(arrays[name].ndim for name in "qkv") == 2
    wide = _all_axes(arrays)
    learned = {name: x for name, x in wide.items() if name in LEARNED}
    counted = {name: x for name, x in wide.items() if name in COUNTED}
    found = _attend(tuple(rules.items()), learned, counted)
    results = [x[0] if plain else x for x in found]
    asked = [results[0], *(results[1:2] if lse else ()), *(results[2:] if weights else ())]
    return tuple(asked) if len(asked) > 1 else asked[0]


def _all_axes(arrays: Arrays) -> Arrays:
    """Axes of length 1 in front, so that all arrays have one for each batch axis of the widest."""
    batch = max(0, *(arrays[name].ndim - 3 for name in "qkv"))
    wanted = {name: batch + own for name, own in OWN_AXES.items()}
    return {name: x.reshape((1,) * (wanted.get(name, 1) - x.ndim) + x.shape) for name, x in arrays.items()}


def _shapes(rules: Rules, arrays: Arrays) -> list[Any]:
    """What `attention` will give: output, lse, weights if they are wanted. Mistakes are told here, before it runs."""
    options = {name: x for name, x in rules if name not in ("return_weights", "threads")}
    p = problem(**{name: _stand_in(x) for name, x in arrays.items()}, **options)
    rows = (*p.lead, p.q.shape[2])
    shapes = [((*rows, p.v.shape[3]), p.dtype), (rows, p.compute), ((*rows, p.k.shape[2]), p.dtype)]
    return [jax.ShapeDtypeStruct(*shape) for shape in shapes[: 3 if dict(rules)["return_weights"] else 2]]


def _stand_in(array: Any) -> Any:
    """An array of NumPy of the same shape and type that takes no memory."""
    return np.broadcast_to(np.zeros((), array.dtype), array.shape)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _attend(rules: Rules, learned: Arrays, counted: Arrays) -> list[Any]:
    """Output, lse and, if they are wanted, weights."""
    way = "sequential" if "sinks" in learned else "expand_dims"
    call = partial(_forward, rules)
    shapes = _shapes(rules, learned | counted)
    found: list[Any] = jax.pure_callback(call, shapes, learned, counted, vmap_method=way)
    return found


def _forward(rules: Rules, learned: Arrays, counted: Arrays) -> list[Any]:
    """On the host. `vmap` may have given a batch to a mask alone, so the queries are spread as wide as anything is."""
    arrays: Arrays = {name: np.asarray(x) for name, x in (learned | counted).items()}
    batches = (x.shape[: x.ndim - OWN_AXES[name]] for name, x in arrays.items() if name in OWN_AXES)
    arrays["q"] = np.broadcast_to(arrays["q"], (*np.broadcast_shapes(*batches), *arrays["q"].shape[-3:]))
    return list(kernel.attention(**arrays, **dict(rules), return_lse=True))


def _keep(rules: Rules, learned: Arrays, counted: Arrays) -> tuple[list[Any], Any]:
    """Results, and what the way back needs; JAX tells of each input whether its gradient will be asked for."""
    values = [{name: x.value for name, x in group.items()} for group in (learned, counted)]
    wanted = tuple(name for name, x in learned.items() if x.perturbed)
    results = _attend(rules, *values)
    return results, (*values, results[:2], _Static(wanted))


@jax.tree_util.register_static
class _Static(tuple[str, ...]):
    """Names among the things that JAX passes on."""

    __slots__ = ()


def _slopes(rules: Rules, kept: Any, slopes: list[Any]) -> tuple[Arrays, Arrays]:
    learned, counted, results, wanted = kept
    zeros = [jnp.zeros(x.shape, x.dtype) if _is_zero(x) else x for x in slopes[:2]]
    asked = tuple(name for name in LEARNED if name in "qkv" or name in wanted)  # JAX sorts the names of a dict
    shapes = {name: jax.ShapeDtypeStruct(learned[name].shape, learned[name].dtype) for name in asked}
    way = "sequential" if "sinks" in learned else "broadcast_all"
    call = partial(_backward, rules, asked)
    found = jax.pure_callback(call, shapes, learned, counted, results, zeros, vmap_method=way)
    nothing = {name: _no_slope(x) for name, x in (learned | counted).items()}
    return {name: found.get(name, nothing[name]) for name in learned}, {name: nothing[name] for name in counted}


def _is_zero(slope: Any) -> bool:
    return isinstance(slope, jax.custom_derivatives.SymbolicZero)


def _no_slope(array: Any) -> Any:
    floats = jnp.issubdtype(array.dtype, jnp.floating)
    return np.zeros(array.shape, array.dtype if floats else jax.dtypes.float0)


def _backward(
    rules: Rules, asked: tuple[str, ...], learned: Arrays, counted: Arrays, results: list[Any], slopes: list[Any]
) -> Arrays:
    """On the host: the gradients that are asked for, by name."""
    arrays: Arrays = {name: np.asarray(x) for name, x in (learned | counted).items()}
    options = {name: x for name, x in rules if name != "return_weights"}
    rows: Arrays = dict(zip(("dout", "dlse", "out", "lse"), map(np.asarray, (*slopes, *results)), strict=True))
    found = kernel.attention_backward(
        **rows, **arrays, **options, return_dbias="bias" in asked, return_dsinks="sinks" in asked
    )
    named = zip(asked, found, strict=True)
    return {name: np.asarray(x).astype(arrays[name].dtype, copy=False) for name, x in named}


_attend.defvjp(_keep, _slopes, symbolic_zeros=True)
