"""Recording NumPy: arrays of a class of our own see every function that they are handed to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from qkv.compare.record.recording import Contraction, Node, Recording, Tape, arrays, mapped, numbers

_tape: ContextVar[Tape | None] = ContextVar("tape", default=None)


class Recorded(np.ndarray):  # type: ignore[type-arg]
    """An array that takes down what is made of it."""

    def __array_finalize__(self, source: Any) -> None:
        if isinstance(source, Recorded):  # a view or a copy; its numbers are read when they are used
            self._source = source

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        sources = _sources((inputs, kwargs))
        if out is not None:
            kwargs["out"] = tuple(map(_plain, out))
        made = getattr(ufunc, method)(*map(_plain, inputs), **_plain(kwargs))
        op = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        product = Contraction(0, 1, (-1,), (-2,)) if op == "matmul" else None
        if out is not None:
            return _noted(op, out[0] if len(out) == 1 else out, sources, product)
        return _noted(op, made, sources, product)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        sources = _sources((args, kwargs))
        made = func(*_plain(args), **_plain(kwargs))
        return _noted(func.__name__, made, sources, _contraction(func.__name__, args, kwargs))

    def dot(self, other: Any, out: Any = None) -> Any:
        """As np.dot, which is seen."""
        return np.dot(self, other)


def _contraction(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Contraction | None:
    if name == "dot":
        return Contraction(0, 1, (-1,), (-2 if np.ndim(args[1]) > 1 else -1,))
    if name == "inner":
        return Contraction(0, 1, (-1,), (-1,))
    if name == "tensordot":
        axes = args[2] if len(args) > 2 else kwargs.get("axes", 2)
        if isinstance(axes, int):
            return Contraction(0, 1, tuple(range(-axes, 0)), tuple(range(axes)))
        left, right = ((axis,) if isinstance(axis, int) else tuple(axis) for axis in axes)
        return Contraction(0, 1, left, right)
    if name == "einsum" and len(args) == 3 and isinstance(args[0], str):
        return summed_letters(args[0], np.ndim(args[1]), np.ndim(args[2]))
    return None


def summed_letters(spec: str, *ndims: int) -> Contraction | None:
    """The axes that an einsum of two factors sums over: letters of both that the result does not have."""
    before, _, after = spec.replace(" ", "").partition("->")
    left, right = before.split(",")
    if not after or ("..." in left + right and len(left.replace("...", "")) > ndims[0]):
        return None
    shared = [letter for letter in left if letter in right and letter not in after and letter != "."]
    return Contraction(0, 1, *(tuple(_place(side, letter) for letter in shared) for side in (left, right)))


def _place(letters: str, letter: str) -> int:
    """Where a letter stands; counted from the end behind an ellipsis."""
    at = letters.index(letter)
    return at - len(letters) if "..." in letters[:at] else at


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _plain(tree: Any) -> Any:
    return mapped(tree, lambda value: isinstance(value, Recorded), lambda array: array.view(np.ndarray))


def _sources(tree: Any) -> list[int]:
    return [_index(array) for array in arrays(tree, _is_array)]


def _index(array: Any) -> int:
    """The node of an array as it is now. Views are taken down when they are used, and what was written to again."""
    tape = _tape.get()
    assert tape is not None
    at, value = tape.find(array), numbers(_plain(array))
    if at is None:
        source = getattr(array, "_source", None)
        if source is None:
            return tape.add(array, Node("given", value, array.dtype.name, constant=True))
        return tape.note("view", array, value, array.dtype.name, (_index(source),))
    if not np.array_equal(tape.nodes[at].value, value, equal_nan=value.dtype.kind in "fc"):
        return tape.note("mutated", array, value, array.dtype.name, (at,))
    return at


def _noted(op: str, made: Any, sources: Sequence[int], contraction: Contraction | None) -> Any:
    if isinstance(made, (tuple, list)):
        return type(made)(_noted(op, x, sources, contraction) for x in made)
    tape = _tape.get()
    if tape is None or not isinstance(made, np.ndarray):
        return made
    array = made.view(Recorded) if not isinstance(made, Recorded) else made
    tape.note(op, array, numbers(_plain(array)), array.dtype.name, sources, contraction)
    return array


@contextmanager
def _kept_class() -> Iterator[None]:
    """While recording, np.asarray and the functions like it return recorded arrays; they would return plain ones."""

    def keeping(original: Callable[..., Any]) -> Callable[..., Any]:
        def convert(a: Any, *args: Any, **kwargs: Any) -> Any:
            made = original(a, *args, **kwargs)
            if isinstance(a, Recorded) and isinstance(made, np.ndarray):
                return _noted("asarray", made, [_index(a)], None)
            if (
                isinstance(a, (list, tuple))
                and isinstance(made, np.ndarray)
                and any(isinstance(x, Recorded) for x in a)
            ):
                return _noted("array", made, _sources(a), None)
            return made

        return convert

    names = ("asarray", "array", "ascontiguousarray", "asfortranarray")
    originals = {name: getattr(np, name) for name in names}
    try:
        for name, original in originals.items():
            setattr(np, name, keeping(original))
        yield
    finally:
        for name, original in originals.items():
            setattr(np, name, original)


def record(
    mine: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], constants: Mapping[int, str]
) -> Recording:
    """Run `mine` and take down every array that it makes of its inputs."""
    tape = Tape()

    def recorded(given: Any) -> Any:
        if given.dtype.kind not in "fc":
            return given
        array, name = given.view(Recorded), constants.get(id(given))
        tape.add(array, Node("given", numbers(given), given.dtype.name, constant=name is not None, name=name or ""))
        return array

    token = _tape.set(tape)
    try:
        with _kept_class():
            args, kwargs = mapped((tuple(args), dict(kwargs)), _is_array, recorded)
            out = mine(*args, **kwargs)
        made = next(arrays(out, _is_array))
        if isinstance(made, Recorded):
            _index(made)
    finally:
        _tape.reset(token)
    return Recording(tuple(tape.nodes), numbers(_plain(made)), made.dtype.name)
