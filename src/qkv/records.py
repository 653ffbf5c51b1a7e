"""Dataclasses that are quick to define.

The standard library writes up to ten methods of every dataclass as text and compiles them one by one. Over all our
classes that was much of what `qkv solve` takes to start. Here `__init__` is written at once, comparing when
it is first needed, and the other methods are the same few functions for every class. To a type checker and to `fields`
nothing is different.

A `record` is the same, but that nobody assigns to a frozen one is left to the type checker: a class that looks at
every assignment takes twice as long to fill. It is for what a sheet has hundreds of, and what nobody outside holds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from functools import partial
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "record", "replace"]

Method = Callable[..., Any]
_EQUAL = {"__eq__": "=="}
_ORDER = {"__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}


def _quick(
    written: Any = None,
    *,
    frozen: bool = False,
    slots: bool = False,
    order: bool = False,
    eq: bool = True,
    repr: bool = True,
    trusting: bool = False,
) -> Any:
    """The decorator, with or without options; what a class defines itself is left as it is."""
    refuses = frozen and not trusting

    def define(written: Any) -> Any:
        written.__doc__ = written.__doc__ or written.__name__  # else the standard library works out a signature for it
        cls: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(written)
        cls._taken = tuple([f.name for f in fields(cls) if f.init])  # see _replaced
        methods: dict[str, Method | None] = {"__init__": _init(cls, refuses, slots)}
        if repr:
            methods |= {"__repr__": _repr}
        if eq:
            methods |= _comparing(cls, frozen, order)
        if refuses:
            methods |= {"__setattr__": _no_assignment, "__delattr__": _no_deletion}
        if frozen and slots:
            methods |= {"__getstate__": _state, "__setstate__": _restore}
        for name, method in methods.items():
            if vars(cls).get(name) is None:  # Python itself puts None for __hash__ where a class defines __eq__
                setattr(cls, name, method)
        return cls

    return define if written is None else define(written)


def _replaced(record: Any, /, **changes: Any) -> Any:
    """A copy with some fields changed, as the standard library makes it in several times as long."""
    for name in record._taken:
        if name not in changes:
            changes[name] = getattr(record, name)
    return record.__class__(**changes)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import dataclass as record
    from dataclasses import replace as replace
else:
    dataclass, record, replace = _quick, partial(_quick, trusting=True), _replaced


def _init(cls: Any, refuses: bool, slots: bool) -> Method:
    """As the standard library writes it, but a frozen slot is filled by its own setter, which takes half the time."""
    known: dict[str, Any] = {"_MISSING": MISSING, "_put": object.__setattr__}
    taken = sorted((f for f in fields(cls) if f.init), key=lambda f: bool(f.kw_only))
    lines = []
    for f in fields(cls):
        value = f.name if f.init else f"_default_{f.name}"
        known[f"_default_{f.name}"] = f.default
        if f.default_factory is not MISSING:
            known[f"_make_{f.name}"] = f.default_factory
            value = f"_make_{f.name}() if {f.name} is _MISSING else {f.name}" if f.init else f"_make_{f.name}()"
        if refuses and slots:
            known[f"_put_{f.name}"] = getattr(cls, f.name).__set__
            lines.append(f" _put_{f.name}(self, {value})")
        else:
            lines.append(f" _put(self, {f.name!r}, {value})" if refuses else f" self.{f.name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    text = f"def __init__({', '.join(_parameters(taken))}):\n" + "\n".join(lines or [" pass"])
    init = _compiled(text, "__init__", known)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {f.name: f.type for f in taken} | {"return": None}
    return init


def _parameters(taken: list[Field[Any]]) -> Iterator[str]:
    """In order; those that go by keyword only come last."""
    yield "self"
    by_keyword = False
    for f in taken:
        if f.kw_only and not by_keyword:
            by_keyword = True
            yield "*"
        needed = f.default is MISSING and f.default_factory is MISSING
        yield f.name if needed else f"{f.name}=_default_{f.name}"


def _comparing(cls: Any, frozen: bool, order: bool) -> dict[str, Method | None]:
    """Objects of one class are compared field by field; what can change has no hash."""
    mine, theirs = ("".join(f"{whose}.{f.name}, " for f in fields(cls) if f.compare) for whose in ("self", "other"))
    methods: dict[str, Method | None] = {}
    for name, sign in (_EQUAL | _ORDER if order else _EQUAL).items():
        compared = f"({mine}) {sign} ({theirs}) if other.__class__ is self.__class__ else NotImplemented"
        methods[name] = _late(cls, f"def {name}(self, other):\n return {compared}", name)
    methods["__hash__"] = _late(cls, f"def __hash__(self):\n return hash(({mine}))", "__hash__") if frozen else None
    return methods


def _late(cls: Any, text: str, name: str) -> Method:
    """A method that is compiled when it is first called: few classes are ever compared."""

    def first(*arguments: Any) -> Any:
        written = _compiled(text, name, {})
        setattr(cls, name, written)
        return written(*arguments)

    return first


def _compiled(text: str, name: str, known: dict[str, Any]) -> Method:
    exec(text, known)
    method: Method = known[name]
    return method


def _repr(self: Any) -> str:
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _no_assignment(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _no_deletion(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[object]:
    return [getattr(self, f.name) for f in fields(self)]


def _restore(self: Any, state: list[object]) -> None:
    for f, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, f.name, value)
