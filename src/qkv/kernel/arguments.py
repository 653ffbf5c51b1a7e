"""What the caller gave, checked and brought to one form: four axes (batch, heads, tokens, d), one compute type."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qkv.errors import ShapeError, ValueRefused
from qkv.kernel.job import UNBOUNDED

Array = NDArray[Any]
Causal = bool | Literal["lower-right", "upper-left"]
Window = tuple[int | None, int | None]

# causal → (no key after the query, whether the last query sits at the last key; None: as the shapes say)
LIMITS: dict[Any, tuple[bool, bool | None]] = {
    False: (False, None),
    True: (True, None),
    "lower-right": (True, True),
    "upper-left": (True, False),
}

FAR = UNBOUNDED // 2  # a query further than this from every key stands just as far as this

FLOATS = {np.dtype(t) for t in (np.float16, np.float32, np.float64)}


@dataclass(frozen=True, slots=True)
class Problem:
    """One call in one form. Masks, bias and lengths are views as wide as the problem, without copies."""

    q: Array  # (batch, heads, n_q, d)
    k: Array  # (batch, kv_heads, n_k, d)
    v: Array  # (batch, kv_heads, n_k, d_v)
    dtype: np.dtype[Any]  # of the result
    compute: np.dtype[Any]  # float32 or float64
    lead: tuple[int, ...]  # the caller's axes before tokens
    left: int
    right: int
    scale: float
    softcap: float | None
    mask: Array | None  # (batch, heads, n_q, n_k), true where a key may be used
    bias: Array | None  # (batch, heads, n_q, n_k), in the compute type
    lengths: NDArray[np.int64] | None  # (batch,)
    offsets: NDArray[np.int64] | None  # (batch,), the position of query 0 among the keys; None: length − n_q
    sinks: Array | None  # (heads,), in the compute type

    @property
    def rows_shape(self) -> tuple[int, int, int]:
        return self.q.shape[0], self.q.shape[1], self.q.shape[2]


def problem(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    causal: Causal = False,
    window: Window | None = None,
    mask: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    lengths: ArrayLike | None = None,
    sinks: ArrayLike | None = None,
    offset: ArrayLike | None = None,
) -> Problem:
    """Check the arguments of `attention` and bring them to one form."""
    arrays = _same_axes([np.asarray(x) for x in (q, k, v)])
    dtype, compute = _types(arrays)
    lead = _lead(arrays)
    q4, k4, v4 = _four_axes(arrays, lead)
    batch, heads, n_q, d = q4.shape
    no_future, corner = _causal(causal)
    lower = n_q != k4.shape[2] if corner is None else corner
    left, right = _window(window)
    counted = _lengths(lengths, lead[:-1], k4.shape[2])
    if counted is not None and no_future and corner is None and offset is None:
        _check_positions(counted, n_q, k4.shape[2])
    full = (*lead, n_q, k4.shape[2])
    allowed, added = _masks(mask, bias, full, (batch, heads), compute)
    return Problem(
        q=q4,
        k=k4,
        v=v4,
        dtype=dtype,
        compute=compute,
        lead=lead,
        left=left,
        right=min(right, 0) if no_future else right,
        scale=_number("scale", scale, 1.0 / math.sqrt(d) if d else 1.0),
        softcap=_softcap(softcap),
        mask=allowed,
        bias=added,
        lengths=counted,
        offsets=_offsets(offset, lead[:-1], batch, lower),
        sinks=_sinks(sinks, heads, compute),
    )


def is_brain(dtype: np.dtype[Any]) -> bool:
    """Whether this is bfloat16 (of ml_dtypes, which need not be installed)."""
    return dtype.kind == "V" and dtype.name == "bfloat16"  # names are slow to make


def _types(arrays: Sequence[Array]) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """The type of the result and the type to compute with: float32, or float64 where any input has more than that.

    Integers and truth values count as float64; float16 with bfloat16 gives float32.
    """
    kinds = []
    for name, array in zip("qkv", arrays, strict=True):
        dtype = array.dtype
        if dtype.kind in "iub":
            dtype = np.dtype(np.float64)
        if dtype not in FLOATS and not is_brain(dtype):
            raise ValueRefused(
                f"{name} has dtype {array.dtype}; expected float16, bfloat16, float32, float64 or integers"
            )
        kinds.append(dtype)
    if len(set(kinds)) == 1:
        result = kinds[0]
    else:
        result = np.dtype(np.float64 if np.float64 in kinds else np.float32)
    return result, np.dtype(np.float64 if result == np.float64 else np.float32)


def _shapes(arrays: Sequence[Array]) -> str:
    return ", ".join(f"{name} {array.shape}" for name, array in zip("qkv", arrays, strict=True))


def _same_axes(arrays: list[Array]) -> list[Array]:
    """Axes of length 1 in front where one array has fewer than another, as NumPy broadcasts; matrices stay alone."""
    most = max(array.ndim for array in arrays)
    if min(array.ndim for array in arrays) < 3:
        return arrays
    return [array[(None,) * (most - array.ndim)] for array in arrays]


def _lead(arrays: Sequence[Array]) -> tuple[int, ...]:
    """The axes before tokens, (…, heads) of q, after checking that everything fits; () for plain matrices."""
    q, k, v = arrays
    if not q.ndim == k.ndim == v.ndim >= 2:
        raise ShapeError(
            f"q, k and v need the same number of axes, (…, heads, tokens, d) or (tokens, d); got {_shapes(arrays)}"
        )
    if q.shape[-1] != k.shape[-1]:
        raise ShapeError(f"queries and keys need the same last axis; got {_shapes(arrays)}")
    if k.shape[-2] != v.shape[-2]:
        raise ShapeError(f"there must be one value per key, as many tokens in v as in k; got {_shapes(arrays)}")
    if q.ndim == 2:
        return ()
    heads, kv_heads = q.shape[-3], k.shape[-3]
    if kv_heads != v.shape[-3] or (heads != kv_heads and (kv_heads == 0 or heads % kv_heads)):
        raise ShapeError(f"the heads of q must be a multiple of the heads of k and v; got {_shapes(arrays)}")
    if q.shape[:-3] == k.shape[:-3] == v.shape[:-3]:
        return q.shape[:-2]
    try:
        return (*np.broadcast_shapes(q.shape[:-3], k.shape[:-3], v.shape[:-3]), heads)
    except ValueError:
        raise ShapeError(f"the axes before the heads do not fit each other; got {_shapes(arrays)}") from None


def _four_axes(arrays: Sequence[Array], lead: tuple[int, ...]) -> list[Array]:
    """Views with exactly (batch, heads, tokens, d); copied only where NumPy cannot merge the leading axes."""
    result = []
    for array in arrays:
        native = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
        if not lead:
            result.append(native[None, None])
            continue
        if native.shape[:-3] != lead[:-1]:
            native = np.broadcast_to(native, (*lead[:-1], *native.shape[-3:]))
        result.append(native if native.ndim == 4 else native.reshape(math.prod(lead[:-1]), *native.shape[-3:]))
    return result


def _causal(causal: Causal) -> tuple[bool, bool | None]:
    if isinstance(causal, np.bool_):
        causal = bool(causal)
    if not isinstance(causal, (bool, str)) or causal not in LIMITS:
        raise ValueRefused(f"causal is {causal!r}; expected True, False, 'lower-right' or 'upper-left'")
    return LIMITS[causal]


def _window(window: Window | None) -> tuple[int, int]:
    if window is None:
        return UNBOUNDED, UNBOUNDED
    sides = list(window) if isinstance(window, (tuple, list)) else []
    if len(sides) != 2 or not all(s is None or (isinstance(s, (int, np.integer)) and s >= -1) for s in sides):
        raise ValueRefused(f"window is {window!r}; expected (left, right), whole numbers, None or -1 for no end")
    left, right = (UNBOUNDED if s is None or s == -1 else min(int(s), UNBOUNDED) for s in sides)
    return left, right


def _number(name: str, value: float | None, default: float) -> float:
    if value is None:
        return default
    if isinstance(value, (bool, str, complex)) or np.ndim(value) or not math.isfinite(value):
        raise ValueRefused(f"{name} is {value!r}; expected one finite number")
    return float(value)


def _softcap(softcap: float | None) -> float | None:
    cap = _number("softcap", softcap, 0.0)
    if softcap is not None and cap <= 0.0:
        raise ValueRefused(f"softcap is {softcap!r}; expected a number above 0, or None for none")
    return cap or None


def _spread(name: str, array: Array, full: tuple[int, ...], batch_heads: tuple[int, int]) -> Array:
    """Broadcast to the problem's (batch, heads, n_q, n_k) without a copy where NumPy can."""
    try:
        wide = array if array.shape == full else np.broadcast_to(array, full)
    except ValueError:
        raise ShapeError(f"{name} has shape {array.shape}, which does not broadcast to the scores' {full}") from None
    return wide if wide.ndim == 4 else wide.reshape(*batch_heads, *full[-2:])


def _masks(
    mask: ArrayLike | None,
    bias: ArrayLike | None,
    full: tuple[int, ...],
    batch_heads: tuple[int, int],
    compute: np.dtype[Any],
) -> tuple[Array | None, Array | None]:
    """The true/false mask and what is added to the scores; a key at −inf is masked like any other."""
    allowed: Array | None = None
    added: list[Array] = []
    for name, given in (("mask", mask), ("bias", bias)):
        if given is None:
            continue
        array = np.asarray(given)
        if array.dtype == np.bool_ and name == "mask":
            allowed = _spread(name, array, full, batch_heads)
        elif array.dtype.kind == "f" or is_brain(array.dtype) or (array.dtype.kind in "iu" and name == "bias"):
            added.append(_spread(name, array.astype(compute, copy=False), full, batch_heads))
        else:
            expected = "True/False or floats to add" if name == "mask" else "numbers to add"
            raise ValueRefused(f"{name} has dtype {array.dtype}; expected {expected}")
    if not added:
        return allowed, None
    return allowed, added[0] if len(added) == 1 else added[0] + added[1]


def _per_batch(name: str, meaning: str, given: ArrayLike, lead: tuple[int, ...]) -> NDArray[np.int64]:
    """Whole numbers, one per batch entry."""
    array = np.asarray(given)
    if array.dtype.kind not in "iu":
        raise ValueRefused(f"{name} has dtype {array.dtype}; expected whole numbers, {meaning}")
    try:
        wide = np.broadcast_to(array, lead)
    except ValueError:
        raise ShapeError(f"{name} has shape {array.shape}; expected one per batch entry, {lead}") from None
    return np.ascontiguousarray(wide.reshape(-1), np.int64)


def _lengths(lengths: ArrayLike | None, lead: tuple[int, ...], n_k: int) -> NDArray[np.int64] | None:
    if lengths is None:
        return None
    found = _per_batch("lengths", "how many keys there are", lengths, lead)
    if found.size and (found.min() < 0 or found.max() > n_k):
        raise ValueRefused(f"lengths go from {found.min()} to {found.max()}; expected 0 to the {n_k} keys there are")
    return found


def _check_positions(lengths: NDArray[np.int64], n_q: int, n_k: int) -> None:
    """Refuse queries that would sit before the first key; query i of equally many sits at key i, so that is fine."""
    short = lengths[(lengths > 0) & (lengths < min(n_q, n_k))]
    if n_q != n_k and short.size:
        raise ValueRefused(
            f"causal=True puts the last of {n_q} queries at the last key that counts, but lengths go down to "
            f"{short.min()}; write causal='upper-left' if query i sits at key i, or offset for where query 0 sits"
        )


def _offsets(offset: ArrayLike | None, lead: tuple[int, ...], batch: int, lower: bool) -> NDArray[np.int64] | None:
    """Where query 0 stands among the keys: as given, else as the corner says; None for the lower right one."""
    if offset is None:
        return None if lower else np.zeros(batch, np.int64)
    return np.clip(_per_batch("offset", "the position of query 0 among the keys", offset, lead), -FAR, FAR)


def _sinks(sinks: ArrayLike | None, heads: int, compute: np.dtype[Any]) -> Array | None:
    if sinks is None:
        return None
    array = np.asarray(sinks)
    if array.dtype.kind not in "fiu" and not is_brain(array.dtype):
        raise ValueRefused(f"sinks has dtype {array.dtype}; expected numbers")
    try:
        return np.ascontiguousarray(np.broadcast_to(array, (heads,)), compute)
    except ValueError:
        raise ShapeError(f"sinks has shape {array.shape}; expected one per query head, ({heads},)") from None
