"""What a known mistake is: a row with a name, a sentence, the line to change, and the steps that it replaces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from qkv.compare.formula import Array, Arrays, Setting, Step


class Way(NamedTuple):
    """One way of making a mistake: the steps that it replaces, and what fills the {} of its sentences."""

    steps: Mapping[str, Step]
    detail: str = ""


Ways = Callable[[Setting], Iterable[Way]]


@dataclass(frozen=True)
class Mistake:
    """One row. `ways` gives nothing where the mistake cannot be made, such as a causal one without a causal mask.
    `shows` gives arrays that betray it: of two mistakes with the same result, one whose arrays were made is meant."""

    key: str
    stage: str
    says: str
    remedy: str
    ways: Ways
    shows: Callable[[Mapping[str, Arrays], Setting], Iterable[Array]] | None = None


def always(**steps: Step) -> Ways:
    """A mistake that can be made in any setting."""
    return lambda s: (Way(steps),)


def given(possible: Callable[[Setting], bool], **steps: Step) -> Ways:
    """A mistake that can be made in some settings."""
    return lambda s: (Way(steps),) if possible(s) else ()


def never(s: Setting) -> tuple[Way, ...]:
    """A mistake that no rewrite gives: it is found in another way."""
    return ()
