"""Numbers and matrices as people pass them: nested lists, text, fractions, decimals, arrays. Everything else is refused
with the matrix, the row and the column said."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real

from qkv.errors import LimitError, ShapeError, ValueRefused
from qkv.expr import nodes as n
from qkv.regex import regex

Nested = tuple[tuple[n.Expr, ...], ...]

MAX_EXPONENT = 5_000  # 1e5000 is worked with exactly; a number of a million digits is not what anybody means
_DECIMAL = regex(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE](?P<exponent>[+-]?\d+))?")
_FRACTION = regex(r"[+-]?\d+\s*/\s*\d+")
_MINUS_INFINITY = frozenset({"-inf", "-infinity", "-∞"})


def as_number(name: str, value: object) -> n.Number:
    """A number; what it cannot be read as is refused.

    >>> as_number("scale", 0.1).text, as_number("scale", "1/3").value
    ('0.1', Fraction(1, 3))
    """
    text = _text(value)
    if text is None:
        raise ValueRefused(f"{name} has {value!r}, which is not a number")
    if text.strip("+-").lower() in ("nan", "inf", "infinity", "∞"):
        raise ValueRefused(f"{name} has {text}, which is not a finite number")
    if _FRACTION.fullmatch(text):
        return _fraction(name, text)
    if (hit := _DECIMAL.fullmatch(text)) is None:
        raise ValueRefused(f"{name} has {value!r}, which is not a number")
    if abs(int(hit["exponent"] or 0)) > MAX_EXPONENT or len(text) > MAX_EXPONENT:
        raise LimitError(f"{name} has {text[:20]}, which is over the limit of {MAX_EXPONENT} digits")
    return n.number(text.lstrip("+"))


def _text(value: object) -> str | None:
    """A number as text: floats as the shortest decimal that gives them back, whole ones without a point."""
    if _is_bool(value):
        return None
    if isinstance(value, str):
        return value.strip().replace("−", "-")
    if isinstance(value, (Integral, Decimal)):
        return str(value)
    if isinstance(value, Rational):
        return f"{value.numerator}/{value.denominator}"
    return str(value).removesuffix(".0") if isinstance(value, Real) else None


def _fraction(name: str, text: str) -> n.Number:
    top, bottom = (int(part) for part in text.split("/"))
    if bottom == 0:
        raise ValueRefused(f"{name} has {text}, which divides by zero")
    return n.number(top) if bottom == 1 else n.number(Fraction(top, bottom))


def listed(value: object) -> object:
    """Arrays, tables and other containers as nested lists; numbers as they are."""
    if hasattr(value, "__array__") and not isinstance(value, Real) and not _is_bool(value):
        import numpy as np  # only those who pass arrays pay for it

        value = np.asarray(value)
        return value.item() if value.ndim == 0 else [listed(item) for item in value]
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return value
    return [listed(item) for item in value]


def depth(name: str, value: object) -> int:
    """How deep lists are nested: 0 a number, 1 a vector, 2 a matrix, 3 a list of matrices."""
    levels = 0
    while isinstance(value, list):
        if not value:
            raise ValueRefused(f"{name} is empty")
        levels, value = levels + 1, value[0]
    if levels > 3:
        raise ShapeError(
            f"{name} is nested {levels} deep; a matrix is a list of rows, and heads are a list of matrices"
        )
    return levels


def as_rows(name: str, value: object, *, mask: bool = False) -> Nested:
    """The rows of a matrix; a flat list is one row. A mask may hold −∞, and true or false.

    >>> as_rows("X", [[1, 2], [3]])
    Traceback (most recent call last):
        ...
    qkv.errors.ShapeError: X is ragged: row 1 has 2 numbers and row 2 has 1
    """
    if depth(name, value) == 0:
        raise ShapeError(f"{name} is {value!r}, but it must be a matrix: a list of rows")
    assert isinstance(value, list)
    rows = value if isinstance(value[0], list) else [value]
    out = tuple(_row(name, i, row, mask) for i, row in enumerate(rows, 1))
    for i, row in enumerate(out, 1):
        if len(row) != len(out[0]):
            raise ShapeError(f"{name} is ragged: row 1 has {len(out[0])} numbers and row {i} has {len(row)}")
    return out


def _row(name: str, i: int, row: object, mask: bool) -> tuple[n.Expr, ...]:
    if not isinstance(row, list):
        raise ShapeError(f"{name} is ragged: row {i} is {row!r}, not a list of numbers")
    cells = tuple(_cell(name, i, j, cell, mask) for j, cell in enumerate(row, 1))
    if not cells:
        raise ValueRefused(f"{name} is empty in row {i}")
    return cells


def _cell(name: str, i: int, j: int, value: object, mask: bool) -> n.Expr:
    if isinstance(value, list):
        raise ShapeError(f"{name} is ragged: row {i}, column {j} holds a list, not a number")
    if mask and _is_bool(value):
        return n.number(int(bool(value)))
    if mask and (_text(value) or "").lower() in _MINUS_INFINITY:
        return n.Infinite(-1)
    return as_number(f"{name}, row {i}, column {j},", value)


def _is_bool(value: object) -> bool:
    return type(value).__name__ in ("bool", "bool_")


def is_truth(mask: object) -> bool:
    """Whether a mask says true or false (or 1 and 0) rather than what to add to the scores."""
    cells = list(_leaves(mask))
    return all(_is_bool(cell) for cell in cells) or is_ones(mask)


def is_ones(mask: object) -> bool:
    """Whether a mask is written with the numbers 0 and 1."""
    texts = {_text(cell) for cell in _leaves(mask)}
    return "1" in texts and texts <= {"0", "1"}


def _leaves(value: object) -> list[object]:
    return [leaf for item in value for leaf in _leaves(item)] if isinstance(value, list) else [value]
