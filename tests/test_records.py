"""Our dataclasses behave as those of the standard library do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, fields, replace
from typing import Any

import pytest

from qkv import records


def _define(dataclass: Callable[..., Any]) -> dict[str, Any]:
    """The same classes, by one decorator or the other."""

    @dataclass(frozen=True, slots=True)
    class Base:
        """Has a field that is no part of equality."""

        at: int | None = field(default=None, compare=False, repr=False, kw_only=True)

    @dataclass(frozen=True, slots=True)
    class Pair(Base):
        """Has a default."""

        left: int
        right: str = "r"

    @dataclass(frozen=True, slots=True, order=True)
    class Place:
        """Has an order."""

        line: int
        column: int = 1

    @dataclass(frozen=True)
    class Kept:
        """Has a dict, and a field that nobody gives."""

        value: int
        known: dict[str, int] = field(default_factory=dict, init=False, compare=False)

    @dataclass
    class Open:
        """May change."""

        items: list[int] = field(default_factory=list)
        total: int = 0

        def __post_init__(self) -> None:
            self.total += len(self.items)

    @dataclass(frozen=True, slots=True)
    class Empty:
        """Has no fields."""

    @dataclass(frozen=True, slots=True, eq=False, repr=False)
    class Plain:
        """Is equal to itself only."""

        value: int

    @dataclass(frozen=True, slots=True)
    class Own:
        """Has methods of its own."""

        value: int

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "own"

    return {cls.__name__: cls for cls in (Base, Pair, Place, Kept, Open, Empty, Plain, Own)}


OURS, THEIRS = _define(records.dataclass), _define(dataclasses.dataclass)
MADE: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Base", (), {"at": 3}),
    ("Pair", (1,), {}),
    ("Pair", (1, "s"), {"at": 2}),
    ("Pair", (1, "s"), {"at": 4}),
    ("Place", (2,), {"column": 5}),
    ("Place", (1, 9), {}),
    ("Kept", (7,), {}),
    ("Open", ([1, 2],), {"total": 1}),
    ("Open", (), {}),
    ("Empty", (), {}),
    ("Own", (1,), {}),
    ("Own", (2,), {}),
]


def _objects(classes: dict[str, Any]) -> list[Any]:
    return [classes[name](*arguments, **keywords) for name, arguments, keywords in MADE]


def test_they_look_the_same() -> None:
    assert [repr(made).replace("_define.<locals>.", "") for made in _objects(OURS)] == [
        repr(made).replace("_define.<locals>.", "") for made in _objects(THEIRS)
    ]
    for name in OURS:
        assert [f.name for f in fields(OURS[name])] == [f.name for f in fields(THEIRS[name])]
        assert OURS[name].__match_args__ == THEIRS[name].__match_args__
        ours, theirs = (inspect.signature(classes[name].__init__).parameters for classes in (OURS, THEIRS))
        assert [(p.name, p.kind, p.annotation) for p in ours.values()] == [
            (p.name, p.kind, p.annotation) for p in theirs.values()
        ]


def test_they_are_equal_and_hashed_alike() -> None:
    ours, theirs = _objects(OURS), _objects(THEIRS)
    for i in range(len(MADE)):
        assert [ours[i] == other for other in ours] == [theirs[i] == other for other in theirs]
        if theirs[i].__hash__ is None:
            assert ours[i].__hash__ is None
        else:
            assert hash(ours[i]) == hash(theirs[i])
    assert OURS["Plain"](1) != OURS["Plain"](1)


def test_only_what_has_an_order_is_ordered() -> None:
    first, second = OURS["Place"](1, 9), OURS["Place"](2, 1)
    assert (first < second, first <= second, second > first, second >= first, first > second) == (True,) * 4 + (False,)
    with pytest.raises(TypeError):
        first < OURS["Pair"](1)  # noqa: B015
    with pytest.raises(TypeError):
        OURS["Pair"](1) < OURS["Pair"](2)  # noqa: B015


def test_copies_with_changes_are_the_same() -> None:
    ours, theirs = OURS["Pair"](1, "s", at=2), THEIRS["Pair"](1, "s", at=2)
    for changes in ({}, {"left": 5}, {"right": "t", "at": 7}):
        made, expected = records.replace(ours, **changes), replace(theirs, **changes)
        assert (made.left, made.right, made.at) == (expected.left, expected.right, expected.at)
    with pytest.raises(TypeError):
        records.replace(ours, middle=1)
    kept = OURS["Kept"](7)
    assert records.replace(kept, value=8).known is not kept.known


def test_records_are_filled_and_compared_the_same() -> None:
    quick = _define(records.record)
    assert [repr(made) for made in _objects(quick)] == [repr(made) for made in _objects(OURS)]
    assert [made.__hash__ and hash(made) for made in _objects(quick)] == [
        made.__hash__ and hash(made) for made in _objects(OURS)
    ]


@pytest.mark.parametrize("name", ["Pair", "Kept"])
def test_frozen_objects_do_not_change(name: str) -> None:
    made = OURS[name](1)
    for spoil in (lambda: setattr(made, "value", 2), lambda: setattr(made, "left", 2), lambda: delattr(made, "value")):
        with pytest.raises(FrozenInstanceError):
            spoil()


def test_each_object_has_its_own_containers() -> None:
    one, other = OURS["Open"](), OURS["Open"]()
    one.items.append(1)
    assert not other.items
    assert OURS["Kept"](1).known is not OURS["Kept"](1).known


def test_a_wrong_call_names_the_class() -> None:
    with pytest.raises(TypeError, match=r"Pair\.__init__\(\) missing 1 required positional argument: 'left'"):
        OURS["Pair"]()


@records.dataclass(frozen=True, slots=True)
class Sent:
    """Can be found by its name, as pickle needs."""

    value: int
    more: tuple[int, ...] = ()


def test_copies_and_pickles() -> None:
    made = Sent(1, (2, 3))
    assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == copy.copy(made) == made
    assert replace(made, more=()) == Sent(1)
