"""Brackets and environments → arrays: lists, nested lists, rows of cells; and parts of them: X[1], Q[:, 2:4], A_{12}.

Whether [1, 2, 3] is a row or a column its notation does not say: such a matrix is `loose`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING

from qkv.errors import Location
from qkv.expr.names import Symbol
from qkv.expr.nodes import (
    Absolute,
    Call,
    Concat,
    Entry,
    Expr,
    Infinite,
    Matrix,
    Name,
    Number,
    Product,
    Softmax,
    Transpose,
    holds,
    is_literal,
)
from qkv.reader.maths.brackets import Unreadable
from qkv.reader.maths.names import WORDS
from qkv.reader.maths.numerals import Comma
from qkv.reader.maths.symbols import Script, spelled
from qkv.regex import regex

if TYPE_CHECKING:
    from qkv.reader.maths.terms import Terms

Span = tuple[int, int]

_BLANK_CELLS = frozenset(("num", "inf", "percent"))
_PART = regex(r"(?:(?P<all>:|\.\.\.)\s*,)?\s*(?P<first>\d{0,6})\s*:\s*(?P<end>\d{0,6})\s*(?P<rest>,\s*:\s*)?")
ELLIPSIS = "a matrix with … leaves cells out"


# — brackets —


def bracket(reader: Terms, lo: int, hi: int, mark: str, start: int) -> Expr:
    """What a bracket holds: a list, rows, parts side by side, or one expression."""
    at, (lo, hi) = reader.at(start), _without_hidden(reader, (lo, hi))
    rows = _cut(reader, lo, hi, (";",), rows=True)
    if len(rows) > 1:
        return _rows(reader, rows, at)
    cells = _cut(reader, lo, hi, (",",))
    if len(cells) > 1 and all(t.kind == "num" or t.kind in ("sep", "op") for t in reader.tokens[lo:hi]):
        cells = _cut(reader, lo, hi, (",", "|"))
    elif len(cells) == 1 and any(reader.tokens[i].kind == "wide" for i in reader.own_level(lo, hi)):
        cells = _cut(reader, lo, hi, (" ",))
    if (mark != "⟨" and len(cells) > 1) or (cells and mark == "[" and hi > lo and reader.tokens[hi - 1].text == ","):
        return _listed(reader, cells, at)
    if mark == "⟨":
        return reduce(lambda a, b: Product(a, b, at=at), [reader.expression(*cell) for cell in cells])
    if mark == "[" and (parts := _between_bars(reader, lo, hi)) is not None:
        return _side_by_side(tuple(reader.expression(*part) for part in parts), at)
    if mark in "[(" and (blanks := _blank_cells(reader, lo, hi)):
        if mark == "(" and not all(reader.tokens[a].kind == "num" for a, _ in blanks):
            return reader.expression(lo, hi)
        if (lines := _lines(reader, blanks)) is not None:
            return Matrix(tuple(tuple(_cell(reader, cell) for cell in line) for line in lines), at=at)
        return _listed(reader, blanks, at)
    inner = reader.expression(lo, hi)
    if mark != "[":
        return inner
    if isinstance(inner, Matrix) and inner.loose and len(inner.rows) == 1:
        return Matrix(inner.rows, at=at)  # [[1, 2]]
    scalar = isinstance(inner, Number | Infinite) or (is_literal(inner) and not holds(inner, Matrix))
    return Matrix(((inner,),), loose=True, at=at) if scalar else inner


def _side_by_side(parts: tuple[Expr, ...], at: Location) -> Expr:
    """[Z_0 | Z_1] joins blocks, [a_1 a_2] lists numbers."""
    small = all(isinstance(part, Name) and part.symbol.base.islower() and len(part.symbol.base) == 1 for part in parts)
    return Matrix((parts,), loose=True, at=at) if small else Concat(parts, at=at)


def _cut(reader: Terms, lo: int, hi: int, signs: Sequence[str], *, rows: bool = False) -> list[Span]:
    """The stretches of a range that separators of its own level part; empty ones at the ends are left out."""
    level = reader.own_level(lo, hi)
    cuts = [i for i in level if reader.tokens[i].text in signs or (rows and reader.tokens[i].kind == "row")]
    edges = [lo - 1, *cuts, hi]
    spans = [reader.trimmed(a + 1, b) for a, b in pairwise(edges)]
    return [span for span in spans if span[0] < span[1]]


_SIDE_BY_SIDE = {"name", "letters", "script", "num", "open", "close", "sub", "sup", "wide", "prime"}


def _between_bars(reader: Terms, lo: int, hi: int) -> list[Span] | None:
    """[Z_0 | Z_1], and names that blanks part: [Z_0 Z_1]."""
    bars = [i for i in reader.own_level(lo, hi) if reader.tokens[i].text == "|"]
    if bars and not all(reader.tokens[i].kind == "num" for i in (lo, hi - 1)) and lo not in bars:
        edges = [lo - 1, *bars, hi]
        return [(a + 1, b) for a, b in pairwise(edges) if a + 1 < b]
    starts = [
        i
        for i in reader.own_level(lo, hi)
        if i == lo or (reader.tokens[i].gap and reader.tokens[i].kind in WORDS | {"wide"})
    ]
    kinds = {reader.tokens[i].kind for i in range(lo, hi)}
    if len(starts) > 1 and kinds <= _SIDE_BY_SIDE:
        spans = [reader.trimmed(a, b) for a, b in zip(starts, [*starts[1:], hi], strict=True)]
        return [span for span in spans if span[0] < span[1]]
    return None


def _blank_cells(reader: Terms, lo: int, hi: int) -> list[Span]:
    """Cells that only blanks part: 1 -2 3, 1/2 3, or rows under each other; none where it is one expression."""
    tokens, spans, i = reader.tokens, list[Span](), lo
    while i < hi:
        begin = i
        if tokens[i].text == "-" and i + 1 < hi:
            i += 1
        if i > begin and tokens[i].gap and begin > lo:
            return []  # 1 - 2 is a difference
        opener = tokens[i].kind in ("open", "begin") and tokens[i].text.removeprefix("left") in ("[", "(")
        if not opener and tokens[i].kind not in _BLANK_CELLS and tokens[i].text != "|":
            if tokens[i].kind not in ("line", "note", "wide"):
                return []
            i += 1
            continue
        if spans and not tokens[begin].gap and not opener:
            return []
        i = reader.partner[i] + 1
        while (
            i < hi
            and not tokens[i].gap
            and (
                tokens[i].kind == "percent"
                or tokens[i].text in ("/", "×")
                or tokens[i - 1].text in ("/", "×")
                or tokens[i].kind in ("script", "sup")
                or tokens[i - 1].kind == "script"
            )
        ):
            i = reader.partner[i] + 1
        if tokens[begin].text != "|":
            spans.append((begin, i))
    openers = {tokens[a].kind == "open" for a, _ in spans}
    return spans if len(spans) > 1 and len(openers) == 1 else []


def row_of_numbers(reader: Terms, lo: int, hi: int) -> Expr | None:
    """Numbers that only blanks part, '1 0 -2', are a row: nobody writes a product of numbers without a sign."""
    kinds = {token.kind for token in reader.tokens[lo:hi]}
    spaced = kinds <= {"num", "op"} and "\\" not in reader.text(lo, hi)  # 2\,1 is a product
    if not spaced or not (cells := _blank_cells(reader, lo, hi)):
        return None
    factor = lo > 1 and reader.tokens[lo - 1].text == "(" and reader.tokens[lo - 2].kind in ("num", "close")
    if factor and all(reader.tokens[a].text == "-" for a, _ in cells[1:]):
        return None  # \frac{1}{3}(-1.6 -2.3 -1.4)
    reader.i = hi
    return _listed(reader, cells, reader.at(lo))


def _lines(reader: Terms, spans: Sequence[Span]) -> list[list[Span]] | None:
    """Cells that ends of lines part into rows of one length; None where they are one row."""
    lines = [[spans[0]]]
    for (_, end), span in pairwise(spans):
        if any(t.kind == "line" for t in reader.tokens[end : span[0]]):
            lines.append([])
        lines[-1].append(span)
    return lines if len(lines) > 1 and {len(line) for line in lines} == {len(lines[0])} != {1} else None


def _listed(reader: Terms, spans: Sequence[Span], at: Location) -> Expr:
    """A list of cells; a list of lists has them as rows."""
    cells = [_cell(reader, span) for span in spans]
    if (vectors := _vectors(cells)) is not None:
        return Matrix(vectors, at=at)
    if any(isinstance(cell, Matrix) for cell in cells):
        return Call("list", tuple(cells), at=at)
    names = all(isinstance(cell, Name) for cell in cells)
    return _side_by_side(tuple(cells), at) if names else Matrix((tuple(cells),), loose=True, at=at)


def _vectors(cells: Sequence[Expr]) -> tuple[tuple[Expr, ...], ...] | None:
    """The rows of a list of vectors; None where a cell is none."""
    rows = []
    for cell in cells:
        if not isinstance(cell, Matrix) or (len(cell.rows) > 1 and cell.shape[1] > 1):
            return None
        rows.append(cell.rows[0] if len(cell.rows) == 1 else tuple(row[0] for row in cell.rows))
    return tuple(rows)


def _rows(reader: Terms, spans: Sequence[Span], at: Location) -> Expr:
    """[1 2; 3 4]; where a comma is a decimal mark a semicolon parts the entries of a list."""
    rows = [_row_cells(reader, span) for span in spans]
    if all(len(row) == 1 for row in rows):
        cells = tuple(row[0] for row in rows)
        if (vectors := _vectors(cells)) is not None:
            return Matrix(vectors, at=at)
        if reader.names.comma is Comma.BARE or any("," in reader.text(*span) for span in spans):
            return Matrix((cells,), loose=True, at=at)
        if not all(is_literal(cell) for cell in cells):
            return Concat(cells, 0 if reader.doubt("stacked") else 1, at=at)
    return Matrix(tuple(rows), at=at)


def _row_cells(reader: Terms, span: Span) -> tuple[Expr, ...]:
    spans = [cell for cell in _cut(reader, *_without_hidden(reader, span), (",", "&")) if not _is_hidden(reader, cell)]
    if len(spans) == 1 and (blanks := _blank_cells(reader, *spans[0])):
        spans = blanks
    return tuple(_cell(reader, cell) for cell in spans)


def _is_hidden(reader: Terms, cell: Span) -> bool:
    """Whether a cell holds one sign alone, a dot, a dash, a bar: what a mask hides is left out, and so is a line."""
    return cell[1] - cell[0] == 1 and (reader.tokens[cell[0]].kind == "op" or reader.tokens[cell[0]].text == "|")


def _without_hidden(reader: Terms, span: Span) -> Span:
    """A row such as '1 - -' without the signs at its end."""
    lo, hi = span
    while hi - lo > 1 and reader.tokens[hi - 1].kind == "op":
        hi -= 1
    return lo, hi


def _cell(reader: Terms, span: Span) -> Expr:
    if all(token.kind == "dots" for token in reader.tokens[span[0] : span[1]]):
        raise Unreadable(ELLIPSIS, reader.at(span[0]))
    return reader.expression(*span)


# — environments —


def grid(reader: Terms, lo: int, hi: int, at: Location) -> Expr:
    """The rows of an environment; ragged rows are kept as printed."""
    rows = []
    spans = _cut(reader, lo, hi, (), rows=True)
    drawn = all(reader.tokens[a].text == "-" and reader.tokens[a + 1].kind in WORDS for a, b in spans if b - a > 1)
    for span in spans:
        span = (span[0] + 1, span[1]) if drawn and span[1] - span[0] > 1 else span
        cells = _row_cells(reader, _without_lines(reader, span))
        if cells:
            rows.append(cells)
    if not rows:
        raise Unreadable("a matrix is empty", at)
    singles = [row[0] for row in rows if len(row) == 1]
    if len(singles) == len(rows):
        if (vectors := _vectors(singles)) is not None:
            return Matrix(vectors, at=at)
        if len(rows) > 1 and any(_is_row(cell) for cell in singles):
            return Concat(tuple(singles), 0, at=at)
    return Matrix(tuple(rows), at=at)


def _is_row(cell: Expr) -> bool:
    """Whether one cell of a column stands for a whole row: x_1ᵀ, softmax([…]), A_1."""
    if isinstance(cell, Transpose | Softmax | Concat | Matrix):
        return True
    if isinstance(cell, Product):
        return holds(cell, Transpose)
    return isinstance(cell, Name) and (cell.symbol.base[:1].isupper() or len(cell.symbol.base) > 1)


def _without_lines(reader: Terms, span: Span) -> Span:
    """A row such as '— x_1ᵀ —' without the lines that are drawn around a name."""
    lo, hi = span
    named = any(t.kind in WORDS for t in reader.tokens[lo:hi])
    if named and hi - lo > 2 and reader.tokens[hi - 1].text == "-":
        while lo < hi and reader.tokens[lo].text in ("-", "&"):
            lo += 1
        while lo < hi and reader.tokens[hi - 1].text in ("-", "&"):
            hi -= 1
    return lo, hi


# — parts of arrays —


def part_of(node: Expr, *, columns: bool, first: int, end: int | None) -> Expr:
    """Rows or columns of a matrix, counted from 1, both ends within."""
    if columns:
        return Entry(node, columns=(first, end), at=node.at)
    return Transpose(Entry(Transpose(node), columns=(first, end)), at=node.at)


def sliced(reader: Terms, node: Expr) -> Expr | None:
    """The part that the bracket at hand cuts out: Q[:, 2:4] counts from 0, Q(:, 1:2) from 1."""
    opener = reader.tokens[reader.i]
    inside = reader.text(reader.i + 1, reader.partner[reader.i]).strip()
    found = _PART.fullmatch(inside) if ":" in inside else None
    from_one = opener.text.endswith("(")
    if found is None or (from_one and not (found["all"] or found["rest"])):
        return None
    reader.i = reader.partner[reader.i] + 1
    return _part(node, found, from_one=from_one)


def _part(node: Expr, found: re.Match[str], *, from_one: bool) -> Expr:
    first, end = int(found["first"] or 0), int(found["end"]) if found["end"] else None
    return part_of(node, columns=bool(found["all"]), first=max(first, 1) if from_one else first + 1, end=end)


def indexed(reader: Terms, node: Expr) -> Expr | None:
    """X[1], A[0][0], A[2, 1]: an entry, counted from 0 where the page has a [0]; None where the bracket is a factor."""
    if (part := sliced(reader, node)) is not None:
        return part
    places: list[int] = []
    end = reader.i
    while end < reader.hi and reader.tokens[end].text == "[" and (not reader.tokens[end].gap or end == reader.i):
        inside = [t for t in reader.tokens[end + 1 : reader.partner[end]] if t.text != ","]
        if not inside or not all(t.kind == "num" and t.text.isdigit() and len(t.text) < 6 for t in inside):
            return None
        places += [int(t.text) for t in inside]
        end = reader.partner[end] + 1
    lone = isinstance(node, Name) and (node.symbol.indices or node.symbol.base.islower()) and len(places) > 1
    if not 1 <= len(places) <= 2 or (lone and reader.tokens[reader.i + 2].text == ","):
        return None
    reader.i = end
    from_zero = reader.names.from_zero or 0 in places
    if 0 not in places and reader.doubt("counting"):
        from_zero = not from_zero
    row, column = (*[p + from_zero for p in places], None)[:2]
    return Entry(node, row=row, column=column, at=node.at)


def cut_by_script(reader: Terms, word: str, scripts: Sequence[Script], start: int) -> Expr | None:
    """Q_{:,1:2}: a name with a script that cuts."""
    for script in scripts:
        name = spelled(reader.names, word, [other for other in scripts if other is not script])
        part = _by_script(reader, Name(name.symbol, at=reader.at(start)), script)
        if part is not None:
            return Transpose(part, at=part.at) if name.transposed else part
    return None


def _by_script(reader: Terms, node: Expr, script: Script) -> Expr | None:
    """The part that a script cuts out. It counts from 1, unless a 0 or an open end shows Python."""
    inside = reader.source[script.tokens[0].start : script.tokens[-1].end].strip(" []{}")
    found = _PART.fullmatch(inside) if ":" in inside else None
    if found is None or not (found["all"] or found["rest"]):
        return None
    python = found["first"] in ("", "0") or not found["end"]
    return _part(node, found, from_one=not python)


def entry_by_script(reader: Terms, node: Expr, script: Script) -> Expr:
    """(Q Kᵀ)_{1,2}: an entry; (Q Kᵀ)_{:,1:2}: columns; a script that is neither, such as 'row', says nothing."""
    if (part := _by_script(reader, node, script)) is not None:
        return part
    numbers = [t.text for t in script.tokens if t.kind in ("num", "sub") and t.text.isdigit()]
    others = [t for t in script.tokens if t.kind not in ("num", "open", "close", "sep") and t.text not in numbers]
    if len(others) == 1 and others[0].kind in WORDS and len(others[0].text) == 1 and not numbers:
        return Call("entry", (node, Name(Symbol(others[0].text))), at=node.at)
    if isinstance(node, Entry) and isinstance(node.arg, Name) and len(others) == 1 and others[0].kind in WORDS:
        symbol = node.arg.symbol  # W[1]_new is a cell of W_new
        return replace(node, arg=Name(symbol._replace(labels=tuple(sorted((*symbol.labels, others[0].text))))))
    if others or not 1 <= len(numbers) <= 2 or isinstance(node, Number | Absolute):
        return node
    if len(numbers) == 1 and len(numbers[0]) == 2 and isinstance(node, Product):
        numbers = list(numbers[0])
    from_zero = reader.names.from_zero or "0" in numbers
    row, column = (*[int(number) + from_zero for number in numbers], None)[:2]
    return Entry(node, row=row, column=column, at=node.at)
