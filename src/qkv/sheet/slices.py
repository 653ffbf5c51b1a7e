"""Parts of matrices: Q[:, :2] is the first two columns of Q as programs write it, Q(:, 1:2) and Q_{:,1:2} are the same
where columns count from 1, K[1:3] the second and third row of K."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from qkv.expr.late import late
from qkv.expr.nodes import Entry, Expr, Name, Transpose
from qkv.sheet.symbols import Script, symbol_of

if TYPE_CHECKING:
    from qkv.sheet.expressions import Reader

_PART = late(r"(?:(?P<all>:|\.\.\.)\s*,)?\s*(?P<first>\d{0,6})\s*:\s*(?P<end>\d{0,6})\s*(?P<rest>,\s*:\s*)?")


def part_of(node: Expr, *, columns: bool, first: int, end: int | None) -> Expr:
    """Rows or columns of a matrix, counted from 1, both ends within."""
    if columns:
        return Entry(node, columns=(first, end), at=node.at)
    return Transpose(Entry(Transpose(node), columns=(first, end)), at=node.at)


def is_sliced(reader: Reader) -> bool:
    """Whether the bracket right behind what was read holds a colon that cuts."""
    token = reader.tokens[reader.i]
    return token.text.removeprefix("left") in ("[", "(") and not token.gap and _bracketed(reader) is not None


def sliced(reader: Reader, node: Expr) -> Expr:
    """The part of a node that the brackets at hand cut out."""
    found = _bracketed(reader)
    from_one = reader.tokens[reader.i].text.endswith("(")
    reader.i = reader.partner[reader.i] + 1
    return node if found is None else _cut(node, found, from_one=from_one)


def _bracketed(reader: Reader) -> re.Match[str] | None:
    found = _PART.fullmatch(reader.text(reader.i + 1, reader.partner[reader.i]).strip())
    plain = found is None or reader.tokens[reader.i].text.endswith("[") or found["all"] or found["rest"]
    return found if plain else None  # Q(1:2) may be anything


def _cut(node: Expr, found: re.Match[str], *, from_one: bool) -> Expr:
    first, end = int(found["first"] or 0), int(found["end"]) if found["end"] else None
    return part_of(node, columns=bool(found["all"]), first=max(first, 1) if from_one else first + 1, end=end)


def in_script(reader: Reader, base: str, scripts: list[Script], primes: int, start: int) -> Expr | None:
    """Q_{:,1:2}: a name with a script that cuts."""
    if ":" not in reader.text(start, reader.i):
        return None
    for script in scripts:
        others = [other for other in scripts if other is not script]
        symbol, transposed = symbol_of(base, others, primes)
        part = cut_by(reader, script, Name(symbol, at=reader.at(start)))
        if part is not None:
            return Transpose(part, at=part.at) if transposed else part
    return None


def cut_by(reader: Reader, script: Script, node: Expr) -> Expr | None:
    """The part that a script cuts out. It counts from 1 as mathematics does, unless a 0 or an open end shows Python."""
    tokens = script.tokens
    inside = reader.source[tokens[0].start : tokens[-1].end].strip(" []{}")
    found = _PART.fullmatch(inside) if ":" in inside else None
    if found is None or not (found["all"] or found["rest"]):
        return None
    python = found["first"] in ("", "0") or not found["end"]
    return _cut(node, found, from_one=not python)
