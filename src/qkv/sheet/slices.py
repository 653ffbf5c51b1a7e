"""Parts of matrices as programs write them: Q[:, :2] is the first two columns of Q, K[1:3] its second and third row.

They become Call("columns", (Q, 1, 2)) and Call("rows", (K, 2, 3)): counted from 1, both ends within; an end that is not
said is 0.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from qkv.expr.nodes import Call, Expr, number

if TYPE_CHECKING:
    from qkv.sheet.expressions import Reader

_PART = re.compile(r"\[\s*(?:(?P<all>:|\.\.\.)\s*,)?\s*(?P<first>\d{0,6})\s*:\s*(?P<end>\d{0,6})\s*(?:,\s*:\s*)?\]")


def part_of(node: Expr, *, columns: bool, first: int, end: int) -> Call:
    """Rows or columns of a matrix, from Python's bounds."""
    return Call("columns" if columns else "rows", (node, number(first + 1), number(end)), at=node.at)


def is_sliced(reader: Reader) -> bool:
    """Whether brackets with a colon stand right behind what was read."""
    token = reader.tokens[reader.i] if reader.i < reader.hi else None
    if token is None or token.text != "[" or token.gap:
        return False
    return bool(_PART.fullmatch(reader.text(reader.i, reader.partner[reader.i] + 1)))


def sliced(reader: Reader, node: Expr) -> Expr:
    """The part of a node that the brackets at hand cut out."""
    end = reader.partner[reader.i] + 1
    found = _PART.fullmatch(reader.text(reader.i, end))
    reader.i = end
    if found is None:
        return node
    return part_of(node, columns=bool(found["all"]), first=int(found["first"] or 0), end=int(found["end"] or 0))
