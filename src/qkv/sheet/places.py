"""Where in a document a character of a stretch of mathematics stands."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from qkv.errors import Location


class Places:
    """Offsets of a stretch → lines and columns of its document. Its first line begins at `line` and `column`, and ends
    at the offset `first_end`: what stands there is told without a search."""

    __slots__ = ("_starts", "column", "first_end", "line")

    def __init__(self, source: str, at: Location) -> None:
        lines = source.split("\n")
        self._starts = [0, *accumulate([len(line) + 1 for line in lines])] if len(lines) > 1 else [0, len(source) + 1]
        self.line, self.column, self.first_end = at.line, at.column, self._starts[1]

    def at(self, offset: int) -> Location:
        """Where the character at `offset` stands."""
        if offset < self.first_end:
            return tuple.__new__(Location, (self.line, self.column + offset))  # its own constructor takes twice as long
        row = bisect_right(self._starts, offset) - 1
        return Location(self.line + row, offset - self._starts[row] + 1)

    def all(self, offsets: list[int]) -> list[Location]:
        """Where the characters at rising offsets stand."""
        if offsets and offsets[-1] < self.first_end:
            line, column, new = self.line, self.column, tuple.__new__
            return [new(Location, (line, column + offset)) for offset in offsets]
        return [self.at(offset) for offset in offsets]
