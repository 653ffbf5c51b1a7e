"""Everything that qkv can refuse, and where in a document it stands.

QkvError
├── ReadError        a document, or a part of it, could not be read
├── WriteError       a result could not be written
├── NameUnknownError a name that nothing defines
├── ArgumentUnknown  an argument that a function does not have, such as another library's name for it
├── ShapeError       two shapes that do not fit
├── ValueRefused     a number that makes no sense here (NaN, a scale of zero, negative mass)
├── MaskedRowError   a row masked everywhere has no softmax
├── LimitError       the input is larger than the stated limit
└── MissingExtra     an optional package is not installed
"""

from __future__ import annotations

from typing import NamedTuple


class Location(NamedTuple):
    """A place in a document; lines and columns count from 1."""

    line: int
    column: int = 1

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


class QkvError(Exception):
    """Base of all errors that qkv raises on purpose; its text is one sentence for the person who can mend it.

    `message` is the sentence, `location` the line and column of a document, or None.

    >>> import qkv
    >>> try:
    ...     qkv.work(Q=[[1, 2]], K=[[1, 2, 3]], V=[[1]])
    ... except qkv.QkvError as error:
    ...     print(type(error).__name__)
    ShapeError
    """

    def __init__(self, message: str, location: Location | None = None) -> None:
        super().__init__(f"{location}: {message}" if location else message)
        self.message = message
        self.location = location


class ReadError(QkvError):
    """A document, or a part of it, could not be read."""


class WriteError(QkvError):
    """A result could not be written where it should go."""


class NameUnknownError(QkvError):
    """A name that nothing defines."""


class ArgumentUnknown(QkvError, TypeError):
    """An argument that a function does not have."""


class ShapeError(QkvError):
    """Two shapes that do not fit."""


class ValueRefused(QkvError):
    """A number that makes no sense where it stands."""


class MaskedRowError(QkvError):
    """A row that is masked everywhere has no softmax."""


class LimitError(QkvError):
    """The input is larger than the stated limit."""


class MissingExtra(QkvError):
    """An optional package is not installed."""
