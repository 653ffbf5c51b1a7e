"""What the numbers of names count. Tokens may be counted from 0: q_0, k_0 and α_{0,1} are q_1, k_1 and α_{1,2} here,
where counts begin at 1. Where q_0 and k_0 are whole matrices, the numbers count heads."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.records import replace
from qkv.sheet.model import Statement

# Letters whose numbers count tokens; of these, the ones that name a vector a token and the ones that compare two.
COUNTED = frozenset("x q k v h e a alpha s w z o y c u beta scaled scaled_scores".split())  # noqa: SIM905
VECTORS = frozenset({*"xqkv", "scaled", "scaled_scores"})
PAIRS = frozenset({"e", "a", "alpha", "s", "w"})


# What a head's matrices are called where small letters with a number name them, as in code: q0, k0, v0.
OF_HEADS = {
    "q": "Q", "k": "K", "v": "V", "s": "S", "e": "S", "a": "A", "z": "head", "o": "head", "y": "head", "c": "head",
    "h": "head",
}  # fmt: skip


def with_heads(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Statements in which q0 and q1 are whole matrices, with the names that matrices of heads have."""
    shown: dict[str, set[str]] = {}
    for statement in statements:
        first, last = (statement.links[0].expr, statement.links[-1].expr) if statement.links else (None, None)
        if type(first) is not n.Name or first.symbol.base not in VECTORS or len(first.symbol.indices) != 1:
            continue
        if not isinstance(last, n.Matrix) or min(last.shape) < 2:
            return statements
        shown.setdefault(first.symbol.base, set()).add(first.symbol.indices[0])
    if len(shown) < 2 or len(set(map(frozenset, shown.values()))) > 1 or len(next(iter(shown.values()))) < 2:
        return statements
    return _renamed(statements, _of_head)


def _of_head(symbol: Symbol) -> Symbol:
    base = OF_HEADS.get(symbol.base) if len(symbol.indices) == 1 and symbol.indices[0].isdigit() else None
    return symbol if base is None else symbol._replace(base=base)


def counts_from_zero(statements: Iterable[Statement]) -> bool:
    """Whether vectors are called x_0, x_1, … or scores α_{00}, α_{01}, …; h_0 may be where a recurrence begins."""
    numbers: dict[str, set[int]] = {}
    for statement in statements:
        subject = statement.links[0].expr if len(statement.links) > 1 else None
        symbol = subject.symbol if isinstance(subject, n.Name) else None
        if symbol is None or not symbol.indices or not all(map(str.isdigit, symbol.indices)):
            continue
        if symbol.base in PAIRS and len(digits := "".join(symbol.indices)) == 2 and "0" in digits:
            return True
        if symbol.base in VECTORS and len(symbol.indices) == 1:
            numbers.setdefault(symbol.base, set()).add(int(symbol.indices[0]))
    families = [found for found in numbers.values() if len(found) > 1]
    return bool(families) and all(found == set(range(len(found))) for found in families)


def from_one(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Statements that count tokens from 0, counted from 1."""
    return _renamed(statements, _counted_up)


def _renamed(statements: tuple[Statement, ...], rename: Callable[[Symbol], Symbol]) -> tuple[Statement, ...]:
    def change(part: n.Expr) -> n.Expr:
        return replace(part, symbol=rename(part.symbol)) if isinstance(part, n.Name) else part

    return tuple(
        replace(s, links=tuple(replace(link, expr=n.rewrite(link.expr, change)) for link in s.links))
        for s in statements
    )


def _counted_up(symbol: Symbol) -> Symbol:
    if symbol.base not in COUNTED or not symbol.indices:
        return symbol
    indices = symbol.indices
    if symbol.base in PAIRS and len(indices) == 1 and len(indices[0]) == 2:
        indices = tuple(indices[0])  # α_{01} is α_{0,1}
    return symbol._replace(indices=tuple(str(int(x) + 1) if x.isdigit() else x for x in indices))
