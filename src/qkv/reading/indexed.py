"""Names with indices: which one is a row of which, and an equation for every index at one of them."""

from __future__ import annotations

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.reading.naming import is_number
from qkv.regex import regex

LETTER = regex(r"[a-z]$")  # an index that runs


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


_WORD = regex(r"[a-z]{2,8}")  # pos, step, row
_STEPS = regex(r"(?P<times>\d*)\*?(?P<letter>[a-z])(?:\+(?P<more>\d+))?")


def matched(pattern: str, index: str) -> dict[str, str] | None:
    """What letters of an index stand for where it is another one; None if it cannot be that.

    >>> matched("i", "3"), matched("2i+1", "5"), matched("2i", "5"), matched("pos", "0")
    ({'i': '3'}, {'i': '2'}, None, {'pos': '0'})
    """
    if pattern == index:
        return {}
    if LETTER.match(pattern):
        return {pattern: index}
    if not is_number(index):
        return None
    if _WORD.fullmatch(pattern):
        return {pattern: index}
    found = _STEPS.fullmatch(pattern)
    if found is None:
        return None
    left, times = int(index) - int(found["more"] or 0), int(found["times"] or 1)
    return {found["letter"]: str(left // times)} if left >= 0 and times and left % times == 0 else None


def put_in(family: Symbol, symbol: Symbol) -> dict[str, str]:
    """What the letters of a family stand for at one of its members; nothing where it is no member. Two digits may be
    two indices: e_12 of e_{ij}."""
    put: dict[str, str] = {}
    indices = symbol.indices
    if len(family.indices) == 2 and len(indices) == 1 and len(indices[0]) == 2 and is_number(indices[0]):
        indices = tuple(indices[0])
    if len(family.indices) != len(indices):
        return {}
    for pattern, index in zip(family.indices, indices, strict=True):
        found = matched(pattern, index)
        if found is None or any(put.get(letter, value) != value for letter, value in found.items()):
            return {}
        put |= found
    return put


def is_stepping(index: str) -> bool:
    """Whether an index runs in steps: 2i, 2i+1."""
    return len(index) > 1 and bool(_STEPS.fullmatch(index))


def is_for_places(family: Symbol, formula: n.Expr) -> bool:
    """Whether a formula gives the code of every position: PE_{pos,2i} = sin(…), or PE_pos = (sin(pos), cos(pos)).

    >>> is_for_places(Symbol("P", (), ("p",)), n.Call("sin", (n.Name(Symbol("p")),)))
    True
    """
    runs = bool(family.indices) and not is_number(family.indices[0]) and matched(family.indices[0], "0") is not None
    waves = any(isinstance(node, n.Call) and node.function in ("sin", "cos") for node in n.walk(formula))
    return runs and waves and (len(family.indices) == 1 or is_stepping(family.indices[1]))


def is_row_of(row: Symbol, whole: Symbol) -> bool:
    """x_2 is a row of X."""
    return (
        len(row.indices) == len(whole.indices) + 1
        and row.indices[:-1] == whole.indices
        and row.labels == whole.labels
        and _is_small(row.base, whole.base)
        and is_number(row.indices[-1])
    )


def is_cell_of(cell: Symbol, whole: Symbol) -> bool:
    """p_2 is a cell of p."""
    return (cell.base, cell.labels, cell.indices[:-1]) == (whole.base, whole.labels, whole.indices) and (
        len(cell.indices) > len(whole.indices) and is_number(cell.indices[-1])
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
