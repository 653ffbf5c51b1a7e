"""How much a rendering shows."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Depth(StrEnum):
    """How far a worked solution goes into detail."""

    BRIEF = "brief"  # the results
    NORMAL = "normal"  # each step, and how one of its cells comes about
    FULL = "full"  # each step, and how each of its cells comes about


class Options(NamedTuple):
    """Depth, significant digits, decimal places (which win over digits), whether only what is wrong is listed, and
    whether the working of each cell is folded away until somebody asks for it."""

    depth: Depth = Depth.NORMAL
    digits: int = 6
    places: int | None = None
    only_wrong: bool = False
    unfolds: bool = False


DEFAULT = Options()
