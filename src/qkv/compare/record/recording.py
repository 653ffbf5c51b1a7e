"""What an implementation made on its way: every array, what it was made of, and which constants went in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from qkv.compare.formula import Array
from qkv.errors import LimitError

MOST_CELLS = 200_000_000  # of all recorded arrays together, 1.6 GB


class Contraction(NamedTuple):
    """Which axes of the two factors of a product are summed over."""

    left: int  # which of the node's sources
    right: int
    left_axes: tuple[int, ...]
    right_axes: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Node:
    """One array. A constant does not depend on the inputs: it is a parameter or made of parameters."""

    op: str
    value: Array
    dtype: str
    sources: tuple[int, ...] = ()
    constant: bool = False
    contraction: Contraction | None = None
    name: str = ""  # of a parameter or an input


@dataclass(frozen=True, eq=False)
class Parameter:
    """A weight or bias that the implementation holds. `transposed` says that its owner keeps it as (out, in)."""

    name: str
    value: Array
    transposed: bool | None = None


@dataclass(frozen=True, eq=False)
class Recording:
    """Nodes in the order in which they were made; the output; and the parameters that were there to be used."""

    nodes: tuple[Node, ...]
    output: Array
    dtype: str  # of the output
    parameters: tuple[Parameter, ...] = ()

    @property
    def made(self) -> tuple[Node, ...]:
        """What was computed from the inputs."""
        return tuple(node for node in self.nodes if not node.constant)

    @property
    def rounding(self) -> float:
        """The coarsest precision that anything went through, as a relative error."""
        kinds = {node.dtype for node in self.made} | {self.dtype}
        return max(map(precision_of, kinds))


PRECISION = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}


def precision_of(dtype: str) -> float:
    """The relative error of one rounding; what is not a real number is not rounded."""
    return PRECISION.get(dtype, PRECISION["float32"] if dtype == "complex64" else PRECISION["float64"])


class Tape:
    """Takes down nodes while an implementation runs. Arrays are known by identity, so they are kept alive."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._index: dict[int, int] = {}
        self._alive: list[Any] = []
        self._cells = 0

    def find(self, array: Any) -> int | None:
        """The node of an array, if it was taken down."""
        return self._index.get(id(array))

    def add(self, array: Any, node: Node) -> int:
        """Take a node down as what `array` now is."""
        self._cells += node.value.size
        if self._cells > MOST_CELLS:
            raise LimitError(
                "this makes too many numbers to compare; give smaller inputs, such as 2 sequences of 16 tokens"
            )
        self._alive.append(array)
        self._index[id(array)] = len(self.nodes)
        self.nodes.append(node)
        return len(self.nodes) - 1

    def note(
        self,
        op: str,
        array: Any,
        value: Array,
        dtype: str,
        sources: Sequence[int],
        contraction: Contraction | None = None,
    ) -> int:
        """Take down what an operation made of its sources; made of nothing or of constants, it is a constant."""
        constant = all(self.nodes[i].constant for i in sources)
        return self.add(array, Node(op, value, dtype, tuple(sources), constant, contraction))


def arrays(tree: Any, is_array: Callable[[Any], bool]) -> Iterator[Any]:
    """Every array in nested containers."""
    if is_array(tree):
        yield tree
    elif isinstance(tree, Mapping | tuple | list):
        for inner in tree.values() if isinstance(tree, Mapping) else tree:
            yield from arrays(inner, is_array)


def mapped(tree: Any, is_array: Callable[[Any], bool], change: Callable[[Any], Any]) -> Any:
    """Nested containers with every array changed."""
    if is_array(tree):
        return change(tree)
    if isinstance(tree, Mapping):
        return {key: mapped(inner, is_array, change) for key, inner in tree.items()}
    return type(tree)(mapped(inner, is_array, change) for inner in tree) if type(tree) in (tuple, list) else tree


def numbers(value: Any) -> Array:
    """An array as NumPy numbers that do not round: bool, int, float64 or complex128."""
    array = np.array(value)
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    return array if array.dtype.kind in "biu" else array.astype(np.float64)
