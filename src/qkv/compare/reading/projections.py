"""Which matrices project the tokens to queries, keys and values, and which one the result: by what was made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from qkv.compare.formula import Array
from qkv.compare.reading.names import role_named
from qkv.compare.reading.products import Products, Projection
from qkv.compare.record.recording import Recording


@dataclass(frozen=True, eq=False)
class Layer:
    """The projections of one attention layer as they are meant, by role: q, k, v, o; `fused` ones share one matrix."""

    tokens: Mapping[str, Array]
    weights: Mapping[str, Array]
    biases: Mapping[str, Array]
    fused: bool = False


def layer_of(recording: Recording) -> Layer | None:
    """The layer that an implementation is, or None where nothing is projected."""
    products = Products(recording)
    first, last = _in_and_out(products)
    if not first:
        return None
    width = last.meant.shape[0] if last is not None else recording.output.shape[-1]
    return _with_output(_with_missing(_assigned(first, width), products), last, products)


def _in_and_out(products: Products) -> tuple[list[Projection], Projection | None]:
    """The projections that the first scores and weighted sums are made of, and the first one after those."""
    found = products.projections
    nearest: set[int] = set()
    for core in products.cores:
        if not nearest or not _later(core, nearest, products):
            for source in products.nodes[core].sources:
                nearest |= _nearest(source, products)
    first = [p for p in found if p.node in nearest] or found[:3]
    first = [
        p for p in first if not any(other.node in products.above[p.node] for other in first if other.node != p.node)
    ]
    if len(first) == 2:  # one that nothing was made of may have been forgotten
        first = [
            p
            for p in found
            if p in first or any(p.tokens is q.tokens or np.array_equal(p.tokens, q.tokens) for q in first)
        ]
    if {role_named(p.name) for p in first} > set("qkv"):
        first = [p for p in first if role_named(p.name) in set("qkv")]
    ends = {p.node for p in first}
    behind = [p for p in found if p not in first and (not products.cores or products.above[p.node] & ends)]
    return first, behind[0] if behind else None


def _nearest(node: int, products: Products) -> set[int]:
    """The projections that a node is made of, without those that lie behind others."""
    ends = {p.node for p in products.projections}
    found, open_nodes, seen = set(), [node], set()
    while open_nodes:
        at = open_nodes.pop()
        if at in ends:
            found.add(at)
        elif at not in seen:
            open_nodes.extend(products.nodes[at].sources)
        seen.add(at)
    return found


def _later(core: int, nearest: set[int], products: Products) -> bool:
    """Whether a product belongs to a later layer: it is made of a projection that is made of the first ones."""
    above = products.above
    return any(
        p.node in above[core] and p.node not in nearest and above[p.node] & nearest for p in products.projections
    )


def _assigned(first: list[Projection], width: int) -> Layer:
    """Roles by name where names tell, else in the order q, k, v; matrices of several heads are put side by side."""
    if len(first) == 1:
        return _fused(first[0], width)
    if len(first) == 2 and (
        first[1].meant.shape[1] == 2 * first[0].meant.shape[1] or role_named(first[1].name) is None
    ):
        return _joined({"q": [first[0]], **{role: [half] for role, half in zip("kv", _halves(first[1]), strict=True)}})
    roles = [role_named(p.name) for p in first]
    if None in roles or len(set(roles)) < min(3, len(first)):
        roles = list("qkv" * (len(first) // 3)) if len(first) % 3 == 0 else list("qkv"[: len(first)])
    grouped: dict[str, list[Projection]] = {}
    for role, p in zip(roles, first, strict=False):
        grouped.setdefault(str(role), []).append(p)
    return _joined(grouped)


def _halves(p: Projection) -> list[Projection]:
    biases = [None, None] if p.bias is None else np.split(p.bias, 2)
    return [replace(p, meant=w, bias=b) for w, b in zip(np.split(p.meant, 2, axis=1), biases, strict=True)]


def _joined(grouped: Mapping[str, list[Projection]]) -> Layer:
    weights = {role: np.concatenate([p.meant for p in ps], axis=1) for role, ps in grouped.items()}
    biases = {
        role: np.concatenate([p.bias for p in ps if p.bias is not None])
        for role, ps in grouped.items()
        if all(p.bias is not None for p in ps)
    }
    return Layer({role: ps[0].tokens for role, ps in grouped.items()}, weights, biases)


def _fused(p: Projection, width: int) -> Layer:
    """One matrix for q, k and v; keys and values share what the queries leave."""
    whole = p.meant.shape[1]
    rest = (whole - width) // 2
    cuts = [width, width + rest] if 0 < rest < width and (whole - width) % 2 == 0 else [whole // 3, 2 * (whole // 3)]
    if whole == p.meant.shape[0] and whole % 3:
        cuts = []
    if not cuts or cuts[0] == 0:
        return Layer(
            dict.fromkeys("qkv", p.tokens),
            dict.fromkeys("qkv", p.meant),
            {} if p.bias is None else dict.fromkeys("qkv", p.bias),
        )
    weights = dict(zip("qkv", np.split(p.meant, cuts, axis=1), strict=True))
    biases = {} if p.bias is None else dict(zip("qkv", np.split(p.bias, cuts), strict=True))
    return Layer(dict.fromkeys("qkv", p.tokens), weights, biases, fused=cuts == [whole // 3, 2 * (whole // 3)])


def _with_missing(layer: Layer, products: Products) -> Layer:
    """A projection that was skipped although its matrix is there."""
    for role in "qkv":
        if role not in layer.tokens:
            tokens = next(iter(layer.tokens.values()))
            idle = products.idle(role, tokens.shape[-1])
            weights = {} if idle is None else {role: idle.value.T if idle.transposed else idle.value}
            layer = replace(layer, tokens={**layer.tokens, role: tokens}, weights={**layer.weights, **weights})
    return layer


def _with_output(layer: Layer, last: Projection | None, products: Products) -> Layer:
    if last is None:
        width = layer.weights["v"].shape[1] if "v" in layer.weights else layer.tokens["v"].shape[-1]
        idle = products.idle("o", width)
        if idle is None:
            return layer
        weight = idle.value.T if idle.transposed else idle.value
        bias = products.bias_of(idle, weight.shape[1])
    else:
        weight, bias = last.meant, last.bias
    return replace(
        layer,
        weights={**layer.weights, "o": weight},
        biases=layer.biases if bias is None else {**layer.biases, "o": bias},
    )
