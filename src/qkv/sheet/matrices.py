"""Brackets and environments → matrices, vectors, concatenations.

Written for ranges of tokens whose brackets are paired; `Cells` is what the grammar lends for reading one cell.
"""

from __future__ import annotations

import re
from functools import reduce
from typing import Protocol

from qkv.errors import Location
from qkv.expr.nodes import (
    Absolute,
    Call,
    Concat,
    Entry,
    Expr,
    Matrix,
    Name,
    Negate,
    Number,
    Product,
    Softmax,
    Transpose,
    is_literal,
)
from qkv.sheet import notation as table
from qkv.sheet.lexer import KIND, TEXT, Token
from qkv.sheet.numerals import LONE_DIGITS, decimal, value_of
from qkv.sheet.places import Places

_BODY = re.compile(r"\\begin\{[A-Za-z]+\}(?:\{[^{}]*\})?")


class Cells(Protocol):
    """What reading a matrix needs of the grammar."""

    tokens: list[Token]
    partner: list[int]
    decimal_comma: bool

    def at(self, i: int) -> Location:
        """Where token i begins."""

    def expression(self, lo: int, hi: int) -> Expr:
        """The expression that the tokens from lo to hi spell."""


def plain_grid(token: Token, places: Places) -> Matrix:
    """A matrix environment of nothing but numbers, straight from its source: most of what sheets hold."""
    begin = _BODY.match(token.text)
    first = begin.end() if begin else 0
    lines = token.text[first : token.text.rindex("\\end")].split("\\\\")
    return _plain(token, first, lines, "&", places, loose=False)


def plain_list(token: Token, places: Places) -> Matrix:
    """[1, 0, 1], straight from its source."""
    return _plain(token, 1, [token.text[1:-1]], ",", places, loose=True)


def _plain(token: Token, first: int, lines: list[str], mark: str, places: Places, *, loose: bool) -> Matrix:
    """The numbers in lines that begin at an offset of a token, with \\\\ between them; blank cells hold none."""
    at = token.start + first
    texts: list[str] = []
    starts, rows = [token.start], []
    for line in lines:
        before = len(texts)
        for part in line.split(mark):
            if words := part.split():  # the sign may stand apart
                texts.append("".join(words))
                starts.append(at + part.index(words[0]))
            at += len(part) + 1
        at += 1
        if len(texts) > before:
            rows.append((before, len(texts)))
    place, *places_of = places.all(starts)
    cells = tuple([Number(*value_of(text), text, at=at) for text, at in zip(texts, places_of, strict=True)])
    return Matrix(tuple([cells[a:b] for a, b in rows]), loose, at=place)


def own_level(cells: Cells, lo: int, hi: int) -> list[int]:
    """Indices of the tokens of a range that stand in no bracket inside it; a bracket counts by its opener."""
    partner = cells.partner
    found = []
    i = lo
    while i < hi:
        found.append(i)
        other = partner[i]
        i = (other if other > i else i) + 1
    return found


def _split(cells: Cells, lo: int, hi: int, marks: frozenset[str]) -> list[tuple[int, int]]:
    """The ranges between the marks (separators, or kinds such as row) of a range's own level."""
    tokens, partner = cells.tokens, cells.partner
    spans = []
    start = i = lo
    while i < hi:
        token = tokens[i]
        if token.text in marks or token.kind in marks:
            spans.append((start, i))
            start = i + 1
        other = partner[i]
        i = (other if other > i else i) + 1
    spans.append((start, hi))
    return spans


def comma_spans(cells: Cells, lo: int, hi: int) -> list[tuple[int, int]]:
    """The ranges between the commas of a range."""
    if lo < hi and "," not in map(TEXT, cells.tokens[lo:hi]):
        return [(lo, hi)]
    return [span for span in _split(cells, lo, hi, _COMMA) if span[0] < span[1]]


_ROW = frozenset(("row",))
_AMPERSAND, _COMMA, _SEMICOLON = frozenset("&"), frozenset(","), frozenset(";")
_BARS = frozenset("|¦‖")
_WIDE = frozenset(("wide",))
_BLANK = frozenset(("wide", "sep"))
_DIVIDING = _BARS | {"&", "row", ";", ",", "wide"}  # what a bracket may be divided by


def grid(cells: Cells, lo: int, hi: int, at: Location, *, environment: str) -> Expr:
    """An environment of cells: rows end with \\\\, cells with & (or commas, or blanks where there is no &)."""
    ampersand = "&" in [cells.tokens[i].text for i in own_level(cells, lo, hi)]
    rows = []
    for a, b in _split(cells, lo, hi, _ROW):
        if a < b:
            rows.append(tuple([_cell(cells, *span) for span in _row_cells(cells, a, b, ampersand)]))
    if not rows:
        return Matrix((), at=at)
    rows = _with_digits(rows)
    if "cases" in environment:
        return Call("cases", (Matrix(tuple(rows), at=at),), at=at)
    return _stacked_rows(rows, at)


def _with_digits(rows: list[tuple[Expr, ...]]) -> list[tuple[Expr, ...]]:
    """Numbers with an O or an l among them, as a scanner reads 0 and 1; letters of a formula stand among other ones."""
    lettered = [cell for row in rows for cell in row if isinstance(cell, Name) and cell.spelled in LONE_DIGITS]
    total = sum(map(len, rows))
    if not lettered or 2 * len(lettered) > total or any(isinstance(c, Matrix) for row in rows for c in row):
        return rows
    if sum(is_literal(cell) for row in rows for cell in row) + len(lettered) < total:
        return rows
    return [tuple(_digit(cell) for cell in row) for row in rows]


def _digit(cell: Expr) -> Expr:
    lone = LONE_DIGITS.get(cell.spelled) if isinstance(cell, Name) else None
    return decimal(lone, cell.at) if lone else cell


def _row_cells(cells: Cells, lo: int, hi: int, ampersand: bool) -> list[tuple[int, int]]:
    if ampersand:
        spans = _split(cells, lo, hi, _AMPERSAND)
        drawn = len(spans) == 3 and all(b - a == 1 and cells.tokens[a].text == "-" for a, b in (spans[0], spans[2]))
        return spans[1:2] if drawn else spans  # — & x₁ & — is a row drawn as a line
    parts = comma_spans(cells, lo, hi)
    if len(parts) > 1:
        return parts
    return _blank_cells(cells, lo, hi) or parts or [(lo, hi)]


def _cell(cells: Cells, lo: int, hi: int) -> Expr:
    """One cell; the dashes of a row drawn as a line ( — x₁ᵀ — ) are no signs."""
    tokens = cells.tokens
    if hi - lo > 2 and tokens[lo].text == "-" and tokens[hi - 1].text == "-":
        return cells.expression(lo + 1, hi - 1)
    if lo >= hi or (tokens[lo].kind in _BLANK and all(tokens[i].kind in _BLANK for i in range(lo, hi))):
        return Call("blank", ())
    return cells.expression(lo, hi)


def _stacked_rows(rows: list[tuple[Expr, ...]], at: Location) -> Expr:
    """A matrix; one column of row vectors stacks them, and a lone leading dash before each is half a drawn line."""
    if set(map(len, rows)) != {1}:
        return Matrix(tuple(rows), at=at)
    column: list[Expr] = [row[0] for row in rows]
    if all(isinstance(cell, Negate) and _holds_row(cell.arg) for cell in column):
        column = [cell.arg for cell in column if isinstance(cell, Negate)]
    if all(isinstance(cell, Matrix) and len(cell.rows) == 1 for cell in column):
        return Matrix(tuple(cell.rows[0] for cell in column if isinstance(cell, Matrix)), at=at)
    if all(_holds_row(cell) for cell in column):
        return Concat(tuple(column), axis=0, at=at)
    return Matrix(tuple((cell,) for cell in column), at=at)


def _holds_row(cell: Expr) -> bool:
    """Whether a cell is by its form a row vector: xᵀ, xᵀ W, softmax([…])."""
    if isinstance(cell, Product):
        return _holds_row(cell.left) and not (isinstance(cell.right, Name) and cell.right.symbol.base.islower())
    if isinstance(cell, Softmax):
        return True
    return isinstance(cell, Transpose) or (isinstance(cell, Matrix) and len(cell.rows) == 1 and len(cell.rows[0]) > 1)


def bracket(cells: Cells, lo: int, hi: int, mark: str, place: int) -> Expr:
    """What a pair of brackets, the first of which is token `place`, holds: a grid, a list, a concatenation, or one
    expression."""
    tokens = cells.tokens
    inside = tokens[lo:hi]
    if "[" not in mark and _DIVIDING.isdisjoint(map(TEXT, inside)) and _DIVIDING.isdisjoint(map(KIND, inside)):
        return cells.expression(lo, hi)  # as most do
    at = cells.at(place)
    marks = {t.text if t.kind == "sep" else t.kind for t in map(tokens.__getitem__, own_level(cells, lo, hi))}
    if "&" in marks or "row" in marks:
        return grid(cells, lo, hi, at, environment="")
    if ";" in marks:
        return _semicolons(cells, lo, hi, at)
    if "," in marks and mark == "⟨":
        parts = [cells.expression(*span) for span in comma_spans(cells, lo, hi)]
        if all(is_literal(part) and not isinstance(part, (Matrix, Transpose)) for part in parts):
            return Matrix((tuple(parts),), loose=True, at=at)  # ⟨1, 2⟩ is a vector, ⟨q, k⟩ a product
        return reduce(lambda a, b: Product(a, b, at=at), parts)
    if "," in marks:
        return _listed(cells, comma_spans(cells, lo, hi), mark, at)
    if marks & _BARS and (bars := _bars(cells, lo, hi)):
        if "[" in mark and (rows := _rows_of([_blank_cells(cells, *span) for span in bars])):
            return Matrix(tuple(tuple(cells.expression(*span) for span in row) for row in rows), at=at)
        return Concat(tuple(cells.expression(*span) for span in bars), at=at)
    if "wide" in marks and len(wide := [s for s in _split(cells, lo, hi, _WIDE) if s[0] < s[1]]) > 1:
        return _listed(cells, wide, mark, at)
    if "[" in mark and (blanks := _blank_cells(cells, lo, hi)):
        if rows := _rows_of(_lines_of(cells, blanks)):
            return Matrix(tuple(tuple(cells.expression(*span) for span in row) for row in rows), at=at)
        return _listed(cells, blanks, mark, at)
    return _single(cells, lo, hi, mark, at)


WIDEST = 8  # cells; a longer line of blanks and numbers is a vector that a program broke


def _rows_of(rows: list[list[tuple[int, int]]]) -> list[list[tuple[int, int]]]:
    """The rows of [1 0 | 0 1], or of a bracket around several lines; none where they differ in length."""
    width = len(rows[0])
    return rows if len(rows) > 1 and 1 < width <= WIDEST and all(len(row) == width for row in rows) else []


def _lines_of(cells: Cells, spans: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Numbers line by line; lists are rows of their own already."""
    rows: list[list[tuple[int, int]]] = []
    for lo, hi in spans:
        if cells.tokens[lo].kind in ("list", "open"):
            return [spans]
        if not rows or cells.tokens[lo].gap == 2:
            rows.append([])
        rows[-1].append((lo, hi))
    return rows


def _bars(cells: Cells, lo: int, hi: int) -> list[tuple[int, int]]:
    """The parts of [Z₀ | Z₁]; none where the bars are those of |x|."""
    tokens = cells.tokens
    if tokens[lo].text in _BARS or tokens[hi - 1].text in _BARS:
        return []
    parts = _split(cells, lo, hi, _BARS)
    good = all(a < b and tokens[a].kind != "op" and tokens[b - 1].kind != "op" for a, b in parts)
    return parts if good else []


def _semicolons(cells: Cells, lo: int, hi: int, at: Location) -> Expr:
    """[1 2; 3 4] is a matrix, [1; 2; 3] a column, [0,5; 0,3] (decimal commas) a list, [Z₀; Z₁] a concatenation."""
    rows = [s for s in _split(cells, lo, hi, _SEMICOLON) if s[0] < s[1]]
    read = [tuple(cells.expression(*span) for span in _row_cells(cells, a, b, False)) for a, b in rows]
    if all(len(row) == 1 and _is_quantity(row[0]) for row in read):
        return Concat(tuple(row[0] for row in read), at=at)
    if all(len(row) == 1 and isinstance(row[0], Matrix) for row in read):
        return _stacked([_as_row(row[0]) for row in read], at)
    if cells.decimal_comma and all(len(row) == 1 for row in read):
        return Matrix((tuple(row[0] for row in read),), loose=True, at=at)
    return Matrix(tuple(read), at=at)


def _as_row(node: Expr) -> Expr:
    """The [1; 0] of [[1; 0]; [1; 1]] is a row, though alone it would be a column."""
    if isinstance(node, Matrix) and len(node.rows) > 1 and all(len(row) == 1 for row in node.rows):
        return Matrix((tuple(row[0] for row in node.rows),), loose=True, at=node.at)
    return node


def _is_quantity(node: Expr) -> bool:
    """A named matrix or vector, or something made of one."""
    if isinstance(node, (Transpose, Absolute, Entry)):
        return _is_quantity(node.arg)
    if isinstance(node, Product):
        return _is_quantity(node.left) or _is_quantity(node.right)
    return isinstance(node, Name)


def _listed(cells: Cells, spans: list[tuple[int, int]], mark: str, at: Location) -> Expr:
    """A list of cells: of numbers a vector, of lists a matrix, of named matrices in [ ] a concatenation."""
    read = [cells.expression(a, b) for a, b in spans]
    if read and all(isinstance(cell, Matrix) for cell in read):
        return _stacked(read, at)
    if "[" in mark and len(read) > 1 and all(_is_matrix_name(cell) for cell in read):
        return Concat(tuple(read), at=at)
    return Matrix((tuple(read),), loose=True, at=at)


def _is_matrix_name(cell: Expr) -> bool:
    return isinstance(cell, Name) and (cell.symbol.base in table.MATRIX_BASES)


def _stacked(parts: list[Expr], at: Location) -> Expr:
    """Rows under each other; deeper nesting (a list of matrices) is kept as a stack."""
    matrices = [part for part in parts if isinstance(part, Matrix)]
    if all(len(part.rows) == 1 for part in matrices) and any(part.loose for part in matrices):
        return Matrix(tuple(part.rows[0] for part in matrices), at=at)
    return Call("stack", tuple(parts), at=at)


def _single(cells: Cells, lo: int, hi: int, mark: str, at: Location) -> Expr:
    node = cells.expression(lo, hi)
    if "[" not in mark:
        return node
    if len(parts := _factors_of(node)) > 1 and len({part.symbol.base for part in parts}) == 1:
        return Concat(parts, at=at)  # [Z₀ Z₁]
    if isinstance(node, Matrix):
        return Matrix(node.rows, at=at) if _one_list(cells, lo, hi) else node
    return Matrix(((node,),), loose=True, at=at) if is_literal(node) else node


def _factors_of(node: Expr) -> tuple[Name, ...]:
    """The factors of a product of named matrices; none where another factor is in it."""
    names: list[Name] = []
    while isinstance(node, Product) and isinstance(node.right, Name):
        names.append(node.right)
        node = node.left
    if not (isinstance(node, Name) and all(_is_matrix_name(part) for part in (node, *names))):
        return ()
    return (node, *reversed(names))


def _one_list(cells: Cells, lo: int, hi: int) -> bool:
    """Whether a bracket holds just one bracket list: [[1, 2]] is a matrix of one row, not a loose list."""
    first = cells.tokens[lo]
    return first.kind == "list" or (first.kind == "open" and first.text == "[" and cells.partner[lo] == hi - 1)


BEFORE_BLANKS = frozenset(("num", "inf", "op"))  # what such a list begins with
_BLANK_STARTS = BEFORE_BLANKS | {"list", "open"}


def blank_list(cells: Cells, lo: int, hi: int, *, at_least: int) -> Expr | None:
    """Numbers in a row with nothing but blanks between them, outside of brackets: a loose vector."""
    if hi - lo < at_least:
        return None
    spans = _blank_cells(cells, lo, hi)
    signs = any(cells.tokens[a].kind == "op" for a, _ in spans[1:])
    if len(spans) < (3 if signs else at_least):
        return None
    return Matrix((tuple(cells.expression(a, b) for a, b in spans),), loose=True, at=cells.at(lo))


def _is_fraction_bar(token: Token, following: Token | None) -> bool:
    """Whether a stroke stands close before a number: 1/2."""
    close = following is not None and following.kind == "num" and following.gap == token.gap == 0
    return close and token.kind == "op"


def _blank_cells(cells: Cells, lo: int, hi: int) -> list[tuple[int, int]]:
    """Cells that only blanks part, as MATLAB and NumPy print them; none unless all are numbers or lists."""
    tokens = cells.tokens
    if lo >= hi or tokens[lo].kind not in _BLANK_STARTS:
        return []
    starts: list[int] = []
    after_sign = False
    for i in own_level(cells, lo, hi):
        token = tokens[i]
        following = tokens[i + 1] if i + 1 < hi else None
        bar = token.text == "/" and _is_fraction_bar(token, following)
        if bar and starts and tokens[i - 1].kind == "num" and not after_sign:
            after_sign = True  # what follows belongs to the same cell
            continue
        if token.kind == "op" and token.text in "+-" and following is not None and following.gap == 0:
            if not starts or token.gap:
                starts.append(i)
            elif not after_sign:
                return []
            after_sign = True
            continue
        if not (token.kind in ("num", "inf", "list") or (token.kind == "open" and token.text == "[")):
            return []
        if not after_sign:
            if starts and not token.gap and token.kind in ("num", "inf"):
                return []
            starts.append(i)
        after_sign = False
    return list(zip(starts, [*starts[1:], hi], strict=True)) if len(starts) > 1 else []
