"""Tasks and arrays of Dask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph
from dask.task_spec import Alias, Task, TaskRef

from qkv.dask.grid import Index

FAN_IN = 4  # parts that are joined at once: more would wait in memory, fewer would make more tasks


def block(array: Any, index: Index) -> Any:
    """A reference to one block of a dask array; the last axis is not cut."""
    return TaskRef((array.name, *index, *(0,) * (array.ndim - len(index))))


class Tasks:
    """Tasks that are being put together, under names that end in one token."""

    def __init__(self, token: str) -> None:
        self.token = token
        self.all: dict[Any, Any] = {}

    def add(self, name: str, index: Sequence[Any], function: Callable[..., Any], *given: Any, **options: Any) -> Any:
        """One more task; a reference to its result."""
        key = (f"{name}-{self.token}", *index)
        self.all[key] = Task(key, function, *given, **options)
        return TaskRef(key)

    def tree(self, name: str, index: Index, parts: list[Any], join: Callable[..., Any]) -> Any:
        """Join neighbouring parts, a few at once, until one is left."""
        level = 0
        while len(parts) > 1:
            groups = [parts[i : i + FAN_IN] for i in range(0, len(parts), FAN_IN)]
            parts = [
                self.add(name, (*index, level, i), join, *group) if len(group) > 1 else group[0]
                for i, group in enumerate(groups)
            ]
            level += 1
        return parts[0]

    def arrays(self, inputs: Sequence[Any], wanted: dict[str, Any]) -> list[Any]:
        """Dask arrays by name, of each a (blocks along each axis, type, {index of a block: its reference})."""
        given = HighLevelGraph.merge(*(x.dask for x in inputs))
        work = f"attention-work-{self.token}"
        layers: dict[str, Any] = {**given.layers, work: self.all}
        needs = {**given.dependencies, work: {name for x in inputs for name in x.__dask_layers__()}}
        arrays = []
        for name, (axes, dtype, made) in wanted.items():
            full = f"{name}-{self.token}"
            own = {(full, *index): Alias((full, *index), reference.key) for index, reference in made.items()}
            graph = HighLevelGraph({**layers, full: own}, {**needs, full: {work}})  # without the others' layers
            arrays.append(da.Array(graph, full, axes, meta=np.empty((0,) * len(axes), dtype)))
        return arrays
