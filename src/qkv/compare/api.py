"""`qkv.compare`: which mistake does an implementation of attention make?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

from qkv.compare.blackbox import stage_asked
from qkv.compare.diagnose import Explained, explain
from qkv.compare.half import overflown
from qkv.compare.mistakes import DROPOUT, Way
from qkv.compare.model import Comparison
from qkv.compare.probe import grouped, probes
from qkv.compare.reading.options import Options
from qkv.compare.reading.pair import meant_by
from qkv.compare.reading.readings import readings
from qkv.compare.record.calls import Call, Seen, seen
from qkv.compare.record.held import accepts
from qkv.compare.record.recording import Recording
from qkv.compare.seek import close, tolerance
from qkv.compare.tell import told
from qkv.errors import QkvError, ValueRefused

# What is said of the reference is passed on to an implementation that has an argument for it.
PASSED = {
    "causal": ("causal", "is_causal"),
    "mask": ("mask", "attn_mask", "attention_mask"),
    "lengths": ("lengths",),
    "scale": ("scale",),
}


Result = tuple[Explained, Recording, Comparison]


def compare(
    mine: Callable[..., Any],
    /,
    *arguments: Any,
    reference: Callable[..., Any] | None = None,
    inputs: Any = None,
    causal: bool | str | None = None,
    mask: Any = None,
    lengths: Any = None,
    scale: float | None = None,
    heads: int | None = None,
    kv_heads: int | None = None,
    rope: str | None = None,
    rope_base: float | None = None,
    fused: str | None = None,
    batch_first: bool | None = None,
    **keywords: Any,
) -> Comparison:
    """Say whether an implementation computes attention; if not, at which stage it departs and which mistake that is.

    `mine` is a function of q, k and v, or a layer: a torch module, a transformers attention, a Flax module, an object
    or a function that holds its weights. Arguments and keywords that are not below go to it as they are; `inputs` is
    another way to give them, as a tuple or a dict. A function of q, k and v needs no inputs.

    reference    another implementation, which is right; mine is held against what it does
    causal       whether queries may see later keys; "upper-left" says that the first query sees the first key only
    mask         True for keys to be used; lengths: of the keys of each sequence
    scale        in place of 1/√d_k
    heads        how many; kv_heads: how many keys and values have
    rope         "halves" or "pairs", if queries and keys are turned; rope_base: 10,000 unless said
    fused        "blocks" or "interleaved": how one matrix for q, k and v is laid out
    batch_first  whether (batch, tokens, features)

    What is not said is found out, and any right way is accepted.

    >>> import numpy as np
    >>> def mine(q, k, v):
    ...     scores = q @ k.swapaxes(-1, -2)
    ...     e = np.exp(scores - scores.max(-1, keepdims=True))
    ...     return e / e.sum(-1, keepdims=True) @ v
    >>> result = compare(mine)
    >>> result.agrees, result.stage, result.mistake
    (False, 'scale', 'no scale')
    """
    options = Options(causal, mask, lengths, scale, heads, kv_heads, rope, rope_base, fused, batch_first).checked()
    args, kwargs = _called_with(arguments, inputs, keywords)
    passed = _passed(mine, options, kwargs)
    if not args and not kwargs:
        return _probed(mine, passed, options, reference)
    return _compared(Call(mine, args, {**passed, **kwargs}), options, reference)[2]


def explained_call(mine: Callable[..., Any], arguments: tuple[Any, ...], options: Mapping[str, Any]) -> Result:
    """A call with inputs, explained; options that are not ours go to the implementation."""
    ours = {field.name for field in fields(Options)}
    said = Options(**{key: value for key, value in options.items() if key in ours}).checked()
    kwargs = {key: value for key, value in options.items() if key not in ours}
    return _compared(Call(mine, arguments, {**_passed(mine, said, kwargs), **kwargs}), said, None)


def _passed(mine: Callable[..., Any], options: Options, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of the reference and an implementation has an argument for."""
    return {
        name: value
        for key, names in PASSED.items()
        if (value := getattr(options, key)) is not None
        for name in names
        if name not in kwargs and accepts(mine, name)
    }


def assert_attention(mine: Callable[..., Any], /, *arguments: Any, **options: Any) -> None:
    """Raise an AssertionError that says which mistake it is, unless `compare` with the same arguments agrees.

    `mine` is a function of q, k and v or a layer, as for `compare`, which explains all other arguments.

    >>> import qkv
    >>> assert_attention(qkv.attention, causal=True)
    """
    result = compare(mine, *arguments, **options)
    assert result.agrees, f"this is not attention.\n{result}"


def _called_with(
    arguments: tuple[Any, ...], inputs: Any, keywords: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(inputs, Mapping):
        return arguments, {**inputs, **keywords}
    if inputs is None:
        return arguments, dict(keywords)
    return (*arguments, *(inputs if isinstance(inputs, (tuple, list)) else (inputs,))), dict(keywords)


def _compared(call: Call, options: Options, reference: Callable[..., Any] | None) -> Result:
    this = seen(call)
    free = options.causal is None and options.mask is None and options.lengths is None
    if reference is None:
        possible = readings(this.recording, this.handed.given, options)
    else:
        possible, free = meant_by(seen(Call(reference, call.args, call.kwargs)), this, options), False
    explained = explain(this.recording, possible, free)
    if explained.stage is None:
        explained = overflown(call, this.recording, explained) or explained
    elif explained.mistake is None:
        explained = _asked_again(call, this, explained)
    return explained, this.recording, told(explained, this.recording)


def _asked_again(call: Call, this: Seen, explained: Explained) -> Explained:
    """What has no name may be a matter of chance; and what cannot be watched can be asked."""
    if not close(seen(call).recording.output, this.recording.output, tolerance(this.recording)):
        return replace(explained, stage=DROPOUT.stage, mistake=DROPOUT, way=Way({}))
    if not any(node.contraction for node in this.recording.made):
        asked = stage_asked(call, explained.right, explained.reading)
        return replace(explained, stage=asked or explained.stage)
    return explained


def _probed(
    mine: Callable[..., Any], passed: Mapping[str, Any], options: Options, reference: Callable[..., Any] | None
) -> Comparison:
    """Call a function of q, k and v with inputs of our own: the first shape that it takes, then grouped heads."""
    first: QkvError | None = None
    for q, k, v in probes(options):
        try:
            result = _compared(Call(mine, (q, k, v), passed), options, reference)[2]
        except QkvError as error:
            first = first or error
            continue
        more = grouped(q, k, v)
        if result.agrees and more is not None and options.kv_heads is None and options.mask is None:
            result = _if_taken(mine, more, passed, options, reference) or result
        return result
    raise first or ValueRefused("it could not be called with q, k and v; give it inputs: qkv.compare(mine, x)")


def _if_taken(
    mine: Callable[..., Any],
    inputs: tuple[Any, ...],
    passed: Mapping[str, Any],
    options: Options,
    reference: Callable[..., Any] | None,
) -> Comparison | None:
    """What comes of further inputs, if an implementation takes them and departs."""
    try:
        result = _compared(Call(mine, inputs, passed), options, reference)[2]
    except Exception:  # noqa: BLE001  whatever somebody's code raises for heads in groups: it does not support them
        return None
    return None if result.agrees else result
