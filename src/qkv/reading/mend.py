"""Damaged equations, mended where the page's own numbers leave one reading: a scanner reads Q as ∅, loses a point,
drops a transposition sign or takes a bracket for a column. What was mended stays on the item, so that it can be said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.expr.show import plain
from qkv.library.roles import places
from qkv.reading.align import aligned, leaf
from qkv.reading.equation import Equation, Item, Kind, wholes
from qkv.reading.repair import product_of, readings, repaired, similar

MAX_TRIED = 500  # ways to read a damaged matrix that are tried
Printed = dict[Symbol, n.Matrix]  # what was last printed for each name


def mended(equations: list[Equation]) -> list[Equation]:
    """The equations of a page, each mended with what was printed above it."""
    named = {symbol for equation in equations if len(equation.items) > 1 for symbol in equation.names}
    stacked = {symbol._replace(indices=symbol.indices[:-1]) for symbol in named if symbol.indices}  # x where x_1 is
    defined = named | stacked | set(wholes(named))
    printed: Printed = {}
    found = []
    for equation in equations:
        made = _mended(equation, printed, defined)
        for symbol in made.names:
            for item in made.of(Kind.VALUE)[-1:]:
                if isinstance(item.expr, n.Matrix) and not item.struck:
                    printed[symbol] = item.expr
        found.append(made)
    return found


def _mended(equation: Equation, printed: Printed, defined: set[Symbol]) -> Equation:
    if equation.struck:
        return equation
    items = [_dotted(item, printed) if item.kind is Kind.WORKING else item for item in equation.items]
    items = list(_factors(items, printed))
    items = list(_ragged(items))
    items = [_formula(item, items, printed, defined) if item.kind is Kind.FORMULA else item for item in items]
    same = all(a is b for a, b in zip(items, equation.items, strict=True))
    return equation if same else replace(equation, items=tuple(items))


# — a point read as a dot —


def _dotted(item: Item, printed: Printed) -> Item:
    """2·1 in a matrix is 2.1 where the whole matrix then is one that was printed before."""

    def change(node: n.Expr) -> n.Expr:
        if not isinstance(node, n.Matrix) or not any(isinstance(c, n.Product) for row in node.rows for c in row):
            return node
        decimal = n.Matrix(tuple(tuple(map(_decimal, row)) for row in node.rows), at=node.at)
        return decimal if any(decimal == known for known in printed.values()) else node

    expr = n.rewrite(item.expr, change)
    if expr is item.expr:
        return item
    return item._replace(
        expr=expr, kind=Kind.VALUE if isinstance(expr, n.Matrix) else item.kind
    )  # a notation, no damage


def _decimal(cell: n.Expr) -> n.Expr:
    parts = n.factors(cell)
    if len(parts) != 2 or not all(isinstance(p, n.Number) and p.text.isdecimal() for p in parts):
        return cell
    return n.number(".".join(p.text for p in parts))  # type: ignore[union-attr]


# — damaged matrices —


def _factors(items: list[Item], printed: Printed) -> Iterator[Item]:
    """[..] [..] = [..] with a right factor that is ragged or too wide: the one reading that gives the product. What was
    printed so above is no damage."""
    shown = next((i.expr for i in items if i.kind is Kind.VALUE and isinstance(i.expr, n.Matrix)), None)
    for item in items:
        pair = _pair(item) if shown is not None else None
        if shown is not None and pair is not None and not pair[0].is_ragged:
            left, right = pair
            made = repaired(left, right, shown)
            if made is not None and right not in printed.values():
                reason = f"damaged matrix read as {plain(made)}: the one repair that gives the printed product"
                fixed = n.Product(left, replace(made, at=right.at), at=item.expr.at)
                item = item._replace(expr=fixed, repair=reason)
        yield item


def _pair(item: Item) -> tuple[n.Matrix, n.Matrix] | None:
    """The two matrices that a working multiplies."""
    parts = n.factors(item.expr) if item.kind is Kind.WORKING else []
    matrices = [part for part in parts if isinstance(part, n.Matrix) and n.is_plain(part)]
    return (matrices[0], matrices[1]) if len(matrices) == len(parts) == 2 else None


def _ragged(items: list[Item]) -> Iterator[Item]:
    """A ragged result of a working: the one reading that is the product, or has its full rows and its digits."""
    product: n.Matrix | None = None
    for item in items:
        pair = _pair(item)
        if (
            pair is not None
            and not pair[0].is_ragged
            and not pair[1].is_ragged
            and pair[0].shape[1] == pair[1].shape[0]
        ):
            product = product_of(*pair)
        elif product is not None and isinstance(item.expr, n.Matrix) and item.expr.is_ragged:
            rows = [_reading(row, true) for row, true in zip(item.expr.rows, product.rows, strict=False)]
            if all(rows) and len(item.expr.rows) == len(product.rows):
                whole = n.Matrix(tuple(row for row in rows if row), at=item.expr.at)
                item = item._replace(kind=Kind.VALUE, expr=whole, repair=f"read as {plain(whole)}")
        yield item


def _reading(row: tuple[n.Expr, ...], true: tuple[n.Expr, ...]) -> tuple[n.Expr, ...] | None:
    """A row as it stands if it is as long as it should be, else the one way to read it that gives what is true."""
    if len(row) == len(true):
        return row
    ways = [way for _, way in zip(range(MAX_TRIED), readings(row, len(true)), strict=False)]
    fitting = {way for way in ways if all(a.value == b.value for a, b in zip(way, true, strict=True))}  # type: ignore[union-attr]
    return fitting.pop() if len(fitting) == 1 else None


# — names that nothing defines —


def _formula(item: Item, items: list[Item], printed: Printed, defined: set[Symbol]) -> Item:
    """A formula with a name that nothing defines, read as the one known name whose numbers stand there."""
    strange = [s for s in n.names_in(item.expr) if not _is_defined(s, defined) and not places(s)]
    if not strange and not _has_mark(item.expr, defined):
        return item
    for expr in (item.expr, _transposed(item.expr, defined)):
        put = _put_in(expr, items, printed, strange)
        if put is not None and all(symbol in put for symbol in strange if symbol in n.names_in(expr)):
            fixed = _renamed(expr, put)
            return item._replace(expr=fixed, repair=f"read as {plain(fixed)}") if fixed != item.expr else item
    return item


def _is_defined(symbol: Symbol, defined: set[Symbol]) -> bool:
    """Whether a name is defined, or is a row of something that is: г_1 where Г is."""
    large = (other for other in defined if symbol.indices and not other.indices and other.labels == symbol.labels)
    return symbol in defined or any(other.base.lower() == symbol.base.lower() for other in large)


def _renamed(expr: n.Expr, put: dict[Symbol, Symbol]) -> n.Expr:
    return n.rewrite(expr, lambda x: n.Name(put[x.symbol], at=x.at) if isinstance(x, n.Name) and x.symbol in put else x)


def _has_mark(expr: n.Expr, defined: set[Symbol]) -> bool:
    return any(_is_mark(part, defined) for part in n.factors(expr)[1:])


def _is_mark(part: n.Expr, defined: set[Symbol]) -> bool:
    return isinstance(part, n.Name) and part.symbol == Symbol("T") and part.symbol not in defined


def _transposed(expr: n.Expr, defined: set[Symbol]) -> n.Expr:
    """Q K T as Q Kᵀ, where nothing is called T."""
    made: list[n.Expr] = []
    for part in n.factors(expr):
        if made and _is_mark(part, defined):
            made[-1] = n.Transpose(made[-1])
        else:
            made.append(part)
    whole = made[0]
    for part in made[1:]:
        whole = n.Product(whole, part, at=expr.at)
    return whole


def _put_in(expr: n.Expr, items: list[Item], printed: Printed, strange: list[Symbol]) -> dict[Symbol, Symbol] | None:
    """What the numbers put in say: a strange name stands where a printed matrix was copied, and known names agree."""
    for working in (item for item in items if item.kind is Kind.WORKING):
        put: dict[Symbol, Symbol] = {}
        pairs = [found for part, numbers in aligned(expr, working.expr) if (found := leaf(part, numbers)) is not None]
        if not pairs or any(name.symbol in printed and not similar(printed[name.symbol], m) for name, m in pairs):
            continue
        for name, matrix in pairs:
            if name.symbol in strange:
                alike = _alike(matrix, printed)
                if alike is not None:
                    put[name.symbol] = alike
        return put
    return None


def _alike(matrix: n.Matrix, printed: Printed) -> Symbol | None:
    """The name whose printed numbers a matrix copies: exactly, or as the only one of which most cells agree."""
    same = [symbol for symbol, known in printed.items() if known == matrix]
    near = [symbol for symbol, known in printed.items() if max(matrix.shape) > 1 and similar(known, matrix)]
    return same[-1] if same else near[0] if len(near) == 1 else None
