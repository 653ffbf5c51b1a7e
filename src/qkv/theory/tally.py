"""What the parts of a model come to: parameters, bytes, keys and values kept, operations; each a formula in numbers.

A part that the description is not enough for raises `Lacking`, which says what size is missing. What is assumed where
the page is silent is said beside the count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from qkv.theory.described import Model

SAID = {
    "V": "the vocabulary", "d": "the width", "L": "the number of layers", "h": "the number of heads",
    "h_kv": "the number of KV heads", "d_head": "the width of a head", "d_ff": "the feed-forward width",
    "n": "the context", "bytes": "the bytes of a number",
}  # fmt: skip
UNITS = (("KiB", 2**10), ("MiB", 2**20), ("MB", 10**6), ("GB", 10**9), ("GiB", 2**30), ("TB", 10**12))


@dataclass(frozen=True, slots=True)
class Count:
    """How many of something: a name, the calculation with words behind its numbers, and what it comes to."""

    name: str
    formula: str
    value: Fraction
    assumed: tuple[str, ...] = ()


class Lacking(Exception):
    """A size that the page does not say."""


def shown(value: Fraction) -> str:
    """A number as it stands in a formula."""
    return str(value.numerator) if value.denominator == 1 else str(float(value))


def _sizes(model: Model, *names: str) -> list[Fraction]:
    for name in names:
        if not model.has(name):
            told = "said with several values" if name in model.unsure else "not said"
            raise Lacking(f"{SAID[name]} is {told}")
    return [model[name] for name in names]


# — parameters —


def embedding(model: Model) -> Count:
    """A row for each word."""
    words, d = _sizes(model, "V", "d")
    return Count("embedding", f"{shown(words)} (words) · {shown(d)} (width)", words * d)


def positions(model: Model) -> Count:
    """A row for each position."""
    n, d = _sizes(model, "n", "d")
    return Count("positions", f"{shown(n)} (positions) · {shown(d)} (width)", n * d)


def attention(model: Model, *, biases: bool = True) -> Count:
    """W_Q, W_K, W_V and W_O of a layer, and their biases."""
    (d,) = _sizes(model, "d")
    wide = model["h"] * model["d_head"] if model.has("h", "d_head") else d
    narrow, assumed = wide, []
    if wide != d and not model.has("h_kv"):
        raise Lacking("the heads are not cut from the width, and how many have keys of their own is not said")
    if model.has("h_kv") and model.has("d_head"):
        narrow = model["h_kv"] * model["d_head"]
    elif model.has("h_kv") or "h_kv" in model.unsure:
        _sizes(model, "h_kv", "h", "d_head")
    if wide == narrow == d:
        formula, value = f"4 · {shown(d)}²", 4 * d * d
    else:
        formula = f"2 · {shown(d)} · {shown(wide)} + 2 · {shown(d)} · {shown(narrow)}"
        value = 2 * d * wide + 2 * d * narrow
    has = model.biased.get("attention")
    if has and biases:
        formula += (
            f" + 4 · {shown(d)}" if wide == narrow == d else f" + {shown(wide)} + 2 · {shown(narrow)} + {shown(d)}"
        )
        value += wide + 2 * narrow + d
    elif has is None and biases:
        assumed += _without_biases(model, "attention")
    return Count("attention of a layer", formula, value, tuple(assumed))


def feed_forward(model: Model, *, biases: bool = True) -> Count:
    """Two matrices of a layer, three with a gate, and their biases."""
    d, inner = _sizes(model, "d", "d_ff")
    times, has, assumed = 3 if model.gated else 2, model.biased.get("feed-forward"), []
    formula, value = f"{times} · {shown(d)} · {shown(inner)}", times * d * inner
    if has and biases:
        formula += f" + {times - 1} · {shown(inner)} + {shown(d)}" if model.gated else f" + {shown(inner)} + {shown(d)}"
        value += (times - 1) * inner + d
    elif has is None and biases:
        assumed += _without_biases(model, "the feed-forward layer")
    if model.gated is None:
        assumed.append("a feed-forward layer of two matrices, without a gate")
    return Count("feed-forward of a layer", formula, value, tuple(assumed))


def _without_biases(model: Model, part: str) -> list[str]:
    """What is assumed of a part whose biases a page does not speak of; one that speaks of others leaves it open."""
    if model.biased:
        raise Lacking(f"whether {part} has biases is not said, though it is of other parts")
    return [f"no biases in {part}"]


def norm(model: Model) -> Count:
    """The vectors of one norm."""
    (d,) = _sizes(model, "d")
    return Count("final norm", f"2 · {shown(d)}" if model.shifted else shown(d), d * (1 + model.shifted))


def norms(model: Model) -> Count:
    """The norms of a layer."""
    one, count = norm(model), model.norms or 0
    return Count("norms of a layer", f"{count} · {one.formula}", one.value * count)


def of_layer(model: Model, *, normed: bool = True) -> Iterator[Count]:
    """The parts of a layer, and the layer last."""
    parts = [attention(model), feed_forward(model)]
    silent = ("norms are not spoken of and not counted",) if model.norms is None and normed else ()
    if model.norms and normed:
        parts.append(norms(model))
    yield from parts
    yield _sum("a layer", parts, silent)


def of_model(model: Model) -> Iterator[Count]:
    """The parts of a model, and the model last."""
    parts = [embedding(model)]
    if model.learned:
        parts.append(positions(model))
    yield from parts
    layer = list(of_layer(model))
    yield from layer
    layers = all_layers(model, layer[-1])
    yield layers
    parts.append(layers)
    if model.final_norm:
        yield (last := norm(model))
        parts.append(last)
    silent = []
    if model.tied is False or (model.tied is None and model.output):
        out = Count("output", f"{shown(model['d'])} (width) · {shown(model['V'])} (words)", parts[0].value)
        yield out
        parts.append(out)
    if model.tied is None:
        silent.append("an output matrix of its own" if model.output else "no matrix for the output but the embedding")
    if model.norms and not model.final_norm:
        silent.append("no norm after the last layer")
    yield _sum("whole model", parts, tuple(silent))


def all_layers(model: Model, layer: Count) -> Count:
    """All layers."""
    (count,) = _sizes(model, "L")
    return Count("all layers", f"{shown(count)} (layers) · {shown(layer.value)}", count * layer.value, layer.assumed)


def together(parts: list[Count]) -> Count:
    """Several parts as one."""
    return _sum("together", parts)


def _sum(name: str, parts: list[Count], silent: tuple[str, ...] = ()) -> Count:
    assumed = tuple(dict.fromkeys([each for part in parts for each in part.assumed] + list(silent)))
    formula = " + ".join(f"{shown(part.value)} ({part.name})" for part in parts)
    return Count(name, formula, sum((part.value for part in parts), Fraction(0)), assumed)


# — bytes and operations —


def cache(model: Model, *, whole: bool = False, one_layer: bool = False) -> Count:
    """Keys and values of one token, or of the whole context and batch."""
    heads: tuple[str, ...] = ("h_kv", "d_head") if model.has("h_kv") or "h_kv" in model.unsure else ("h", "d_head")
    if not model.has(*heads) and not model.has("h_kv") and model.has("d"):
        heads = ("d",)
    names = [*([] if one_layer else ["L"]), *heads, *(["n"] if whole else [])]
    factors = list(zip(names, _sizes(model, *names), strict=True))
    if whole and model.has("B") and model["B"] != 1:
        factors.append(("B", model["B"]))
    assumed = () if model.has("bytes") else ("numbers of 16 bits, 2 bytes each",)
    factors.append(("bytes", model.sizes.get("bytes", Fraction(2))))
    value = Fraction(2)
    for _, size in factors:
        value *= size
    formula = "2 · " + " · ".join(f"{shown(size)} ({_FACTORS[name]})" for name, size in factors)
    name = "KV cache" if whole else "KV cache per token"
    return Count(f"{name} per layer" if one_layer else name, formula, value, assumed)


_FACTORS = {
    "L": "layers", "h_kv": "KV heads", "h": "heads", "d": "width", "d_head": "head width", "n": "tokens",
    "B": "sequences", "bytes": "bytes",
}  # fmt: skip


def memory(model: Model, count: Count) -> Count:
    """The bytes of some parameters."""
    (each,) = _sizes(model, "bytes")
    formula = f"{shown(count.value)} (parameters) · {shown(each)} (bytes)"
    return Count(f"bytes of {count.name}", formula, count.value * each, count.assumed)


def training(model: Model, count: Count) -> Count:
    """Weights, gradients and the two moments of Adam, all as wide as the numbers that training keeps."""
    each = model.sizes.get("trained") or _sizes(model, "bytes")[0]
    formula = f"4 · {shown(count.value)} (weights and gradients and two moments) · {shown(each)} (bytes)"
    return Count("memory for training", formula, 4 * count.value * each, count.assumed)


def score_matrices(model: Model, *, one_layer: bool) -> Count:
    """The weights of every query for every key, in all heads."""
    names = ["h", "n", "bytes"] if one_layer else ["h", "n", "bytes", "L"]
    heads, n, each, *layers = _sizes(model, *names)
    batch, count = model.sizes.get("B", Fraction(1)), layers[0] if layers else Fraction(1)
    formula = f"{shown(batch)} (sequences) · {shown(heads)} (heads) · {shown(n)}² · {shown(each)} (bytes)"
    formula = f"{shown(count)} (layers) · {formula}" if layers else formula
    name = "attention matrices of a layer" if one_layer else "attention matrices"
    return Count(name, formula, count * batch * heads * n * n * each)


def operations(model: Model, *, layers: str, output: bool) -> Iterator[Count]:
    """Two operations for each weight that a token meets: of one layer, or of all, perhaps with the output."""
    parts = [attention(model, biases=False), feed_forward(model, biases=False)]
    made = [Count(f"operations, {part.name}", f"2 · ({part.formula})", 2 * part.value, part.assumed) for part in parts]
    yield from made
    layer = _sum("operations per token in a layer", made)
    yield layer
    if layers == "one":
        return
    (count,) = _sizes(model, "L")
    total = Count(
        "operations per token in all layers",
        f"{shown(count)} (layers) · {shown(layer.value)}",
        count * layer.value,
        layer.assumed,
    )
    yield total
    if output:
        words, d = _sizes(model, "V", "d")
        last = Count("operations, output", f"2 · {shown(d)} (width) · {shown(words)} (words)", 2 * d * words)
        yield last
        yield _sum("operations per token", [total, last])


def in_units(count: Count, asked: str) -> Iterator[Count]:
    """A number of bytes in larger units: those that are asked for, and those that suit it."""
    for unit, size in UNITS:
        if unit in asked or (unit in ("GB", "GiB", "MiB") and count.value * 10 >= size):
            yield Count(f"{count.name} in {unit}", f"({count.formula}) / {_POWERS[unit]}", count.value / size)


_POWERS = {"KiB": "2^10", "MiB": "2^20", "MB": "10^6", "GB": "10^9", "GiB": "2^30", "TB": "10^12"}
