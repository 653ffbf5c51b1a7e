"""How much a document may ask of us. Every limit has a default that no worksheet meets and that a user can raise."""

from __future__ import annotations

from typing import NamedTuple

from qkv.errors import LimitError, Location


class Limits(NamedTuple):
    """The largest document that is read: its characters, the cells of one matrix, the length of an expanded macro."""

    characters: int = 20_000_000
    cells: int = 1_000_000
    expansion: int = 200_000


DEFAULT = Limits()


def check_size(text: str, limits: Limits = DEFAULT) -> None:
    """Refuse a document that is longer than the limit.

    >>> check_size("abc", Limits(characters=2))
    Traceback (most recent call last):
        ...
    qkv.errors.LimitError: the document has 3 characters and the limit is 2; raise the limit to read it
    """
    if len(text) > limits.characters:
        found, most = len(text), limits.characters
        raise LimitError(f"the document has {found} characters and the limit is {most}; raise the limit to read it")


def check_cells(rows: int, columns: int, at: Location, limits: Limits = DEFAULT) -> None:
    """Refuse a table or grid with more cells than the limit."""
    if rows * columns > limits.cells:
        raise LimitError(f"a table of {rows} × {columns} cells is over the limit of {limits.cells}", at)
