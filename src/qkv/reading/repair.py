"""Damaged matrices, mended only where exactly one repair agrees with the printed product."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from math import lcm, prod
from operator import add, mul, sub

from qkv.expr import nodes as n

MAX_TRIED = 50_000  # ways to read one half of a matrix that are tried before giving up


@dataclass(frozen=True, slots=True)
class Mended:
    """The matrix to go on with (None where it is not recoverable), what was repaired, and the reason either way."""

    matrix: n.Matrix | None
    repair: str = ""
    reason: str = ""


def mend_factor(left: n.Matrix, right: n.Matrix, product: n.Matrix | None) -> Mended:
    """The right factor of left × right = product, mended if it must be."""
    rows, width = len(left.rows[0]), (product.shape[1] if product is not None and not product.is_ragged else None)
    if not right.is_ragged and right.shape[0] == rows and (width is None or right.shape[1] == width):
        return Mended(right)
    if right.shape[0] != rows or product is None or width is None:
        return Mended(right if not right.is_ragged else None, reason=_say_unfit(left, right))
    candidates = _fitting(left, [list(readings(row, width)) for row in right.rows], product)
    if len(candidates) == 1:
        text = " \\\\ ".join(" & ".join(_text(c) for c in row) for row in candidates[0].rows)
        return Mended(
            candidates[0], text, f"damaged matrix read as {text}: the one repair that gives the printed product"
        )
    if not candidates:
        return Mended(None, reason="damaged matrix: no repair gives the printed product")
    return Mended(
        None, reason=f"damaged matrix: {len(candidates)} repairs give the printed product, so it is not repaired"
    )


def _say_unfit(left: n.Matrix, right: n.Matrix) -> str:
    return f"a {left.shape[0]}×{left.shape[1]} and a {right.shape[0]}×{right.shape[1]} matrix do not fit together"


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


Ratio = tuple[int, int]
Reading = tuple[n.Number, ...]
Half = tuple[tuple[Reading, ...], tuple[int, ...]]  # the rows chosen, and what they add to the product


def _fitting(left: n.Matrix, choices: list[list[Reading]], product: n.Matrix) -> list[n.Matrix]:
    """Every choice of one reading per row whose product is the printed one; equal matrices count once.

    What the first rows of the factor add to the product, and what the last rows add, make up the whole: each half is
    worked out for itself, in whole numbers, and the second looked up by what the first leaves.
    """
    columns, printed = [_ratios(column) for column in zip(*left.rows, strict=True)], _ratios(_cells(product))
    options = [[(row, _ratios(row)) for row in ways] for ways in choices]
    scale = _common_denominator(printed, *columns, *(pairs for ways in options for _, pairs in ways))
    wanted = [value * scale for value in _whole(printed, scale)]
    rows = [
        (_whole(column, scale), [(row, _whole(pairs, scale)) for row, pairs in ways])
        for column, ways in zip(columns, options, strict=True)
    ]
    middle = _middle(choices)
    if max(prod(map(len, half)) for half in (choices[:middle], choices[middle:])) > MAX_TRIED:
        return []
    rest: dict[tuple[int, ...], list[tuple[Reading, ...]]] = {}
    for chosen, made in _added(rows[middle:], len(wanted)):
        rest.setdefault(made, []).append(chosen)
    found: dict[tuple[Ratio, ...], n.Matrix] = {}
    for chosen, made in _added(rows[:middle], len(wanted)):
        for others in rest.get(tuple(map(sub, wanted, made)), ()):
            whole = (*chosen, *others)
            found.setdefault(tuple(_ratios(chain.from_iterable(whole))), n.Matrix(whole))
    return list(found.values())


def _middle(choices: list[list[Reading]]) -> int:
    """Where to part the rows, so that the larger half has as few readings as can be."""
    cuts = range(len(choices) + 1)
    return min(cuts, key=lambda cut: max(prod(map(len, choices[:cut])), prod(map(len, choices[cut:]))))


def _added(rows: list[tuple[list[int], list[tuple[Reading, list[int]]]]], size: int) -> list[Half]:
    """Every choice of readings for some rows of the factor, with what they add to the product."""
    made: list[Half] = [((), (0,) * size)]
    for column, options in rows:
        scaled = [(row, [x * cell for x in column for cell in cells]) for row, cells in options]
        made = [((*chosen, row), tuple(map(add, total, more))) for chosen, total in made for row, more in scaled]
    return made


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


def _text(cell: n.Expr) -> str:
    return cell.text if isinstance(cell, n.Number) else "?"
