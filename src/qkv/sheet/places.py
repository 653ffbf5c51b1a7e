"""Where in a document a character of a stretch of mathematics stands."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from qkv.errors import Location


class Places:
    """Offsets of a stretch → lines and columns of its document."""

    __slots__ = ("_column", "_known", "_line", "_starts")

    def __init__(self, source: str, at: Location) -> None:
        self._starts = [0, *accumulate(len(line) + 1 for line in source.split("\n"))]
        self._line, self._column = at.line, at.column
        self._known: dict[int, Location] = {}  # a chain, its links and their first nodes all begin at one place

    def at(self, offset: int) -> Location:
        """Where the character at `offset` stands."""
        known = self._known
        if offset not in known:
            known[offset] = self.once(offset)
        return known[offset]

    def once(self, offset: int) -> Location:
        """The same for an offset that will not be asked for again, such as that of a matrix cell."""
        if offset < self._starts[1]:
            return Location(self._line, self._column + offset)
        row = bisect_right(self._starts, offset) - 1
        column = offset - self._starts[row] + (self._column if row == 0 else 1)
        return Location(self._line + row, column)
