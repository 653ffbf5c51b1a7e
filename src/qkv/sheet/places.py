"""Where in a document a character of a stretch of mathematics stands."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from qkv.errors import Location


class Places:
    """Offsets of a stretch → lines and columns of its document."""

    __slots__ = ("_column", "_line", "_starts")

    def __init__(self, source: str, at: Location) -> None:
        self._starts = [0, *accumulate(len(line) + 1 for line in source.split("\n"))]
        self._line, self._column = at.line, at.column

    def at(self, offset: int) -> Location:
        """Where the character at `offset` stands."""
        if offset < self._starts[1]:
            return tuple.__new__(
                Location, (self._line, self._column + offset)
            )  # half of what its own constructor takes
        row = bisect_right(self._starts, offset) - 1
        return Location(self._line + row, offset - self._starts[row] + 1)
