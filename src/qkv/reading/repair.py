"""Damaged matrices, mended only where exactly one repair agrees with the printed product."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import chain, product
from math import lcm, prod
from operator import mul

from qkv.expr import nodes as n

MAX_TRIED = 5_000  # ways to read a matrix that are tried before giving up
Ratio = tuple[int, int]


def repaired(left: n.Matrix, right: n.Matrix, shown: n.Matrix) -> n.Matrix | None:
    """The right factor of left × right = shown, where it does not fit and one way to read it gives the product."""
    fits = not right.is_ragged and right.shape == (left.shape[1], shown.shape[1])
    if fits or len(right.rows) != left.shape[1] or shown.is_ragged:
        return None
    ways = [{tuple(_ratios(way)): way for way in readings(row, shown.shape[1])} for row in right.rows]
    if prod(map(len, ways)) > MAX_TRIED:
        return None
    wanted = _ratios(_cells(shown))
    tried = map(n.Matrix, product(*[way.values() for way in ways]))
    found = [made for made in tried if _ratios(_cells(product_of(left, made))) == wanted]
    return found[0] if len(found) == 1 else None


def readings(row: tuple[n.Expr, ...], width: int) -> Iterator[tuple[n.Number, ...]]:
    """All ways to read a row as `width` numbers: as it is, one number deleted, or one number cut in two."""
    cells = tuple(cell for cell in row if isinstance(cell, n.Number))
    if len(cells) != len(row):
        return
    if len(cells) == width:
        yield cells
    elif len(cells) == width + 1:
        for i in range(len(cells)):
            yield cells[:i] + cells[i + 1 :]
    elif len(cells) == width - 1:
        for i, cell in enumerate(cells):
            for parts in split_number(cell):
                yield cells[:i] + parts + cells[i + 1 :]


def split_number(cell: n.Number) -> Iterator[tuple[n.Number, n.Number]]:
    """Two numbers run together: 16 as 1 and 6, 3.15 as 3 and 1.5 (the point may belong to either).

    >>> [(a.text, b.text) for a, b in split_number(n.number("3.15"))]
    [('3', '15'), ('3', '1.5'), ('3.1', '5')]
    """
    sign = "-" if cell.text.startswith("-") else ""
    whole, point, decimals = cell.text.lstrip("-").partition(".")
    if not (whole + decimals).isdigit():
        return
    for cut in range(1, len(whole)):
        yield n.number(sign + whole[:cut]), n.number(whole[cut:] + point + decimals)
    if point and decimals:
        yield n.number(sign + whole), n.number(decimals)
        for cut in range(1, len(decimals)):
            yield n.number(sign + whole), n.number(f"{decimals[:cut]}.{decimals[cut:]}")
            yield n.number(f"{sign}{whole}.{decimals[:cut]}"), n.number(decimals[cut:])


def _cells(matrix: n.Matrix) -> Iterable[n.Expr]:
    return chain.from_iterable(matrix.rows)


def _ratios(cells: Iterable[n.Expr]) -> list[Ratio]:
    """Plain cells as pairs of whole numbers, many times faster to work with than fractions; 0 for what is no number."""
    return [cell.value.as_integer_ratio() if isinstance(cell, n.Number) else (0, 1) for cell in cells]


def _whole(pairs: Iterable[Ratio], scale: int) -> list[int]:
    """Numbers times a multiple of their denominators."""
    return [value * (scale // below) for value, below in pairs]


def _common_denominator(*pairs: list[Ratio]) -> int:
    return lcm(*[below for _, below in chain(*pairs)])


def product_of(left: n.Matrix, right: n.Matrix) -> n.Matrix:
    """The product of two printed matrices that fit."""
    lines, columns = ([_ratios(cells) for cells in x] for x in (left.rows, zip(*right.rows, strict=True)))
    scale = _common_denominator(*lines, *columns)
    rows, across = ([_whole(pairs, scale) for pairs in x] for x in (lines, columns))
    made = [[Fraction(sum(map(mul, row, column)), scale * scale) for column in across] for row in rows]
    return n.Matrix(tuple([tuple(map(n.Number, row)) for row in made]))


def similar(a: n.Matrix, b: n.Matrix) -> bool:
    """Whether two printed matrices are one, perhaps miscopied: same shape and at least half of the cells equal;
    zeros in both say little, so they do not count where there is anything else.

    >>> similar(n.matrix([[1, 2], [3, 4]]), n.matrix([[1, 2], [3, 5]]))
    True
    """
    widths = list(map(len, a.rows))
    if widths != list(map(len, b.rows)) or len(set(widths)) > 1:
        return False
    pairs = list(zip(_ratios(_cells(a)), _ratios(_cells(b)), strict=True))
    telling = [i for i, (x, y) in enumerate(pairs) if x[0] or y[0]] or range(len(pairs))
    met = sum([pairs[i][0] == pairs[i][1] for i in telling])
    return 2 * met >= len(telling)
