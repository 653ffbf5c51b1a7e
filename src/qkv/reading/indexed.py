"""Names with indices: which one is a row of which, and an equation for every index at one of them."""

from __future__ import annotations

import re

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.reading.naming import is_number

LETTER = re.compile(r"[a-z]$")  # an index that runs


def at_indices(expr: n.Expr, put: dict[str, str]) -> n.Expr:
    """An expression with index letters replaced by numbers or words."""

    def change(part: n.Expr) -> n.Expr:
        if isinstance(part, n.Name) and put.keys() & set(part.symbol.indices):
            indices = tuple(put.get(i, i) for i in part.symbol.indices)
            return n.Name(part.symbol._replace(indices=indices), part.spelled, at=part.at)
        if (
            isinstance(part, n.Name)
            and not part.symbol.indices
            and str(part.symbol) in put
            and is_number(put[str(part.symbol)])
        ):
            return n.number(int(put[str(part.symbol)]))
        return part

    return n.rewrite(expr, change)


def is_row_of(row: Symbol, whole: Symbol) -> bool:
    """x_2 is a row of X."""
    return (
        len(row.indices) == len(whole.indices) + 1
        and row.indices[:-1] == whole.indices
        and row.labels == whole.labels
        and _is_small(row.base, whole.base)
        and is_number(row.indices[-1])
    )


def _is_small(letter: str, other: str) -> bool:
    """Whether a letter is the small one of another: x of X, lambda of Lambda; 丁 of 丁, which has no small one."""
    if letter.lower() == letter.upper():
        return letter == other
    return letter != other and letter in (other.lower(), other[:1].lower() + other[1:])


def runs_over(family: Symbol, whole: Symbol) -> bool:
    """s_i says what all of s is, a_ij what all of A is."""
    return (
        bool(family.indices)
        and family.base.lower() == whole.base.lower()
        and family.labels == whole.labels
        and all(map(LETTER.match, family.indices))
    )
