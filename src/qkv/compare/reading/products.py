"""Products of tokens with constant matrices, found in a recording: with the parameter that each matrix is made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from qkv.compare.formula import Array
from qkv.compare.reading.names import role_named, stem_of
from qkv.compare.record.recording import Contraction, Node, Parameter, Recording
from qkv.compare.seek import Shelf, sorted_values


@dataclass(frozen=True, eq=False)
class Projection:
    """A product of tokens with a constant matrix. Matrices are (features in, features out)."""

    tokens: Array  # (batch, tokens, features)
    weight: Array  # as it was used
    meant: Array  # as its owner means it to be used
    bias: Array | None  # as it is meant
    node: int
    name: str  # of the parameter
    turned: bool | None = None  # whether a matrix that nobody owns was used transposed


class Products:
    """The products of one recording."""

    def __init__(self, recording: Recording) -> None:
        self.recording, self.nodes = recording, recording.nodes
        self.shelf = Shelf(recording)

    @cached_property
    def above(self) -> list[frozenset[int]]:
        """For each node those that it is made of, and itself."""
        made: list[frozenset[int]] = []
        for i, node in enumerate(self.nodes):
            made.append(frozenset({i}).union(*(made[s] for s in node.sources)))
        return made

    def all(self) -> Iterator[tuple[int, Contraction, Node, Node]]:
        """Every product: its place, what it sums over, and its factors."""
        for i, node in enumerate(self.nodes):
            at = node.contraction
            if at is not None and not node.constant:
                yield i, at, self.nodes[node.sources[at.left]], self.nodes[node.sources[at.right]]

    @cached_property
    def cores(self) -> list[int]:
        """Products of two things that both depend on the inputs: scores and weighted sums."""
        return [i for i, _, left, right in self.all() if not left.constant and not right.constant]

    @cached_property
    def projections(self) -> list[Projection]:
        """Products with a constant matrix, in order. How a square one is meant, most of the others show."""
        found = [
            made for i, at, left, right in self.all() if left.constant != right.constant for made in self._read(i, at)
        ]
        votes = [p.turned for p in found if p.turned is not None]
        usual = sum(votes) > len(votes) / 2
        return [
            p if p.turned in (None, usual) or not _square(p.weight) else replace(p, meant=p.weight.T) for p in found
        ]

    def _read(self, i: int, at: Contraction) -> Iterator[Projection]:
        sources = self.nodes[i].sources
        sides = (sources[at.left], at.left_axes), (sources[at.right], at.right_axes)
        (varying, x_axes), (constant, w_axes) = sides if self.nodes[sides[1][0]].constant else sides[::-1]
        x, w = self.nodes[varying].value, self.nodes[constant].value
        w, w_axes = _once(w, w_axes)
        if w.dtype.kind != "f" or w.ndim < 2 or min(_size(w, w_axes), w.size // max(_size(w, w_axes), 1)) < 2:
            return
        weight = _ordered(w, w_axes, first=True).reshape(_size(w, w_axes), -1)
        tokens = _ordered(x, x_axes, first=False)
        tokens = tokens.reshape(*tokens.shape[: x.ndim - len(x_axes)], -1)
        if tokens.size // tokens.shape[-1] * weight.shape[1] == self.nodes[i].value.size:
            yield from self._named(self._as_given(tokens), weight, i)

    def _named(self, tokens: Array, weight: Array, i: int) -> Iterator[Projection]:
        """A projection with its parameter; one for each parameter where several were put side by side."""
        parameter = self._parameter(weight)
        thirds = np.split(weight, 3, axis=1) if parameter is None and weight.shape[1] % 3 == 0 else []
        parts = [self._parameter(third) for third in thirds]
        if thirds and all(part is not None for part in parts):
            for third, part in zip(thirds, parts, strict=True):
                yield self._projection(tokens, third, i, part)
        else:
            yield self._projection(tokens, weight, i, parameter)

    def _projection(self, tokens: Array, weight: Array, i: int, parameter: Parameter | None) -> Projection:
        turned, meant = _orientation(weight, parameter)
        bias = next((b for w in (meant, weight) if (b := self._bias_used(tokens @ w)) is not None), None)
        if bias is None and parameter is not None:
            bias = self.bias_of(parameter, weight.shape[1])
        return Projection(tokens, weight, meant, bias, i, parameter.name if parameter else "", turned)

    def _as_given(self, tokens: Array) -> Array:
        """Tokens as (batch, tokens, features), in the order of the first array that holds the same numbers."""
        wanted = sorted_values(tokens)
        tokens = next(
            (x for x in self._shaped_as(tokens) if np.allclose(sorted_values(x), wanted, rtol=1e-5, atol=1e-8)), tokens
        )
        return tokens.reshape(1 if tokens.ndim == 2 else tokens.shape[0], -1, tokens.shape[-1])

    def _shaped_as(self, tokens: Array) -> Iterator[Array]:
        for node in self.nodes:
            x = node.value
            if not node.constant and x.ndim in (2, 3) and x.size == tokens.size and x.shape[-1] == tokens.shape[-1]:
                yield x

    def _parameter(self, weight: Array) -> Parameter | None:
        """The parameter that holds the numbers of a matrix, in any order."""
        wanted = sorted_values(weight)
        same = [
            p
            for p in self.recording.parameters
            if p.value.ndim > 1
            and p.value.size == weight.size
            and np.allclose(sorted_values(p.value), wanted, rtol=1e-6, atol=1e-9)
        ]
        return same[0] if same else None

    def _bias_used(self, product: Array) -> Array | None:
        """The constant that was added to a product, if any was."""
        width = product.shape[-1]
        constants = [p.value for p in self.recording.parameters] + [node.value for node in self.nodes if node.constant]
        for bias in constants:
            if (
                bias.size == width
                and bias.dtype.kind == "f"
                and bias.any()
                and self.shelf.holds(product + bias.reshape(-1))
            ):
                return bias.reshape(-1)
        return None

    def bias_of(self, parameter: Parameter, width: int) -> Array | None:
        """The bias that goes with a matrix: it has the same name, but for the word that says which is which."""
        stem = stem_of(parameter.name)
        for other in self.recording.parameters:
            if (
                other.value.size == width
                and other is not parameter
                and other.value.any()
                and stem_of(other.name) == stem
            ):
                return other.value.reshape(-1)
        return None

    def idle(self, role: str, rows: int) -> Parameter | None:
        """A matrix for a role that is there, but was never used."""
        roots = [
            sorted_values(node.value)
            for node in self.nodes
            if not node.sources and node.value.ndim > 1 and node.value.dtype.kind == "f"
        ]
        idle = [
            p for p in self.recording.parameters
            if p.value.ndim == 2 and rows in p.value.shape
            and not any(r.size == p.value.size and np.allclose(r, sorted_values(p.value)) for r in roots)
        ]  # fmt: skip
        named = [p for p in idle if role_named(p.name) == role]
        nameless = [p for p in idle if role_named(p.name) is None]
        return named[0] if named else nameless[0] if role == "o" and len(nameless) == len(idle) == 1 else None


def _orientation(weight: Array, parameter: Parameter | None) -> tuple[bool | None, Array]:
    """Whether a matrix that nobody owns was used transposed, and how it is meant: nn.Linear multiplies by the transpose
    of what it keeps; columns stand as they do in the parameter."""
    if parameter is None:
        return None, weight
    held = parameter.value.reshape(weight.shape) if parameter.value.ndim != 2 else parameter.value
    if parameter.transposed and held.T.shape == weight.shape:
        return None, held.T
    for turned, way in ((False, held), (True, held.T)):
        if way.shape == weight.shape and np.allclose(np.sort(way, axis=1), np.sort(weight, axis=1)):
            return turned, way if parameter.value.ndim == 2 else weight
    return None, weight


def _square(weight: Array) -> bool:
    return bool(weight.shape[0] == weight.shape[1])


def _once(weight: Array, axes: Sequence[int]) -> tuple[Array, tuple[int, ...]]:
    """A matrix that was repeated for every sequence, once."""
    axes = tuple(a % weight.ndim for a in axes)
    if weight.ndim == 3 and 0 not in axes and len(weight) > 1 and (weight == weight[:1]).all():
        return weight[0], tuple(a - 1 for a in axes)
    return weight, axes


def _size(array: Array, axes: Sequence[int]) -> int:
    return int(np.prod([array.shape[a] for a in axes]))


def _ordered(array: Array, axes: Sequence[int], first: bool) -> Array:
    """Some axes moved to the front or to the end."""
    places = range(len(axes)) if first else range(array.ndim - len(axes), array.ndim)
    return np.moveaxis(array, [a % array.ndim for a in axes], list(places))
