"""Claims about sizes: (3 × 2)(2 × 3) = (3 × 3), sizes in the margin of a product, X ∈ R^{3×2}.

Only arithmetic of sizes can be wrong; where a size is said of an array, what agrees is right and the rest is left open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from qkv.check.model import CellVerdict, Claim, Verdict
from qkv.expr import nodes as n
from qkv.interpret.fit import Shape, say
from qkv.judging.theory import Places
from qkv.reader.model import Link, Relation, Sheet, Statement
from qkv.reading.equation import Equation, Item, Kind
from qkv.reading.page import Page, Spot
from qkv.reading.values import Values
from qkv.regex import regex

_TIMES = r"(?:\\times|×|x)"
_SIZE = regex(rf"(\d{{1,4}})\s*{_TIMES}\s*(\d{{1,4}})")
_STRUCK = regex(r"\\cancel|[{}]")
_NOISE = regex(rf"{_TIMES}|" r"\\(?:quad|qquad|cdot|left|right|[,;:! ()])|[()\[\]$\s,·*]")
REACH = 5  # lines between a product and the sizes under it


def sizes_in(text: str) -> list[Shape]:
    """The sizes that a text consists of; nothing where it holds anything else.

    >>> sizes_in("(3 × 2)(2 × 3)"), sizes_in("3 x 2 = 6")
    ([(3, 2), (2, 3)], [])
    """
    bare = _STRUCK.sub("", text)
    sizes = [(int(a), int(b)) for a, b in _SIZE.findall(bare)]
    return sizes if sizes and not _NOISE.sub("", _SIZE.sub("", bare)) else []


def size_products(sheet: Sheet) -> tuple[tuple[Statement, bool | None], ...]:
    """Statements that multiply sizes and no numbers, and whether they hold: (3 × 2)(2 × 3) = (3 × 3)."""
    found = []
    for statement in sheet.statements:
        sides = [sizes_in(link.text) for link in statement.links]
        if len(sides) > 1 and all(sides) and len(sides[0]) > 1 and len(sides[-1]) == 1:
            fits = all(a[1] == b[0] for a, b in pairwise(sides[0]))
            holds = fits and sides[-1] == [(sides[0][0][0], sides[0][-1][1])]
            found.append((statement, holds if fits else None))
    return tuple(found)


def owned(sheet: Sheet) -> Places:
    """Where sizes are multiplied: no arithmetic in numbers."""
    return frozenset(
        (link.at.line, link.at.column) for statement, _ in size_products(sheet) for link in statement.links
    )


def judge_shapes(page: Page, values: Values, first: int) -> Iterator[Claim]:
    """Every claim about sizes, numbered from `first`."""
    found = (*_products(page.sheet), *_margins(page, values), *_spaces(page, values))
    for number, (line, column, text, wrong) in enumerate(found, first):
        verdict = Verdict.RIGHT if wrong is None else Verdict.WRONG
        yield Claim(number, line, line, "sizes", "", text, verdict, (wrong,) if wrong else (), column=column)


Found = tuple[int, int, str, CellVerdict | None]  # line, column, text, what is wrong


def _products(sheet: Sheet) -> Iterator[Found]:
    for statement, holds in size_products(sheet):
        sides = [sizes_in(link.text) for link in statement.links]
        if holds is not None:
            shapes = [*sides[0], (sides[0][0][0], sides[0][-1][1])]
            wrong = None if holds else _off(len(shapes), sides[-1][0], shapes)
            yield statement.at.line, statement.at.column, statement.text, wrong


def _off(place: int, said: Shape, shapes: Sequence[Shape]) -> CellVerdict:
    working = " · ".join(map(say, shapes[:-1]))
    return CellVerdict(1, place, say(said), say(shapes[-1]), None, Verdict.WRONG, working)


# — sizes in the margin —


def _margins(page: Page, values: Values) -> Iterator[Found]:
    """Lines that hold nothing but sizes, against what stands above them."""
    on_line: dict[int, list[tuple[Equation, Item]]] = {}
    for equation in page.own:
        for item in () if equation.struck else equation.items:
            on_line.setdefault(item.line, []).append((equation, item))
    for i, line in enumerate(page.sheet.lines, 1):
        sizes = sizes_in(line) if line else []
        above = next((on_line[k] for k in range(i - 1, i - 1 - REACH, -1) if k in on_line), []) if sizes else []
        for shapes, printed in _shapes(above, values):
            if sorted(sizes) == sorted(shapes) or sizes in (shapes[:-1], shapes[-1:]):
                yield i, 1, line.strip(), None
                break
            if printed and len(sizes) == len(shapes) > 1 and sizes[:-1] == shapes[:-1]:
                yield i, 1, line.strip(), _off(len(sizes), sizes[-1], shapes)
                break


def _shapes(above: Sequence[tuple[Equation, Item]], values: Values) -> Iterator[tuple[list[Shape], bool]]:
    """The shapes of the operands and of the result of each side, the last first, and whether they are printed."""
    for equation, item in reversed(above):
        spot = Spot(equation.scope, equation.line)
        parts = n.factors(item.expr) if item.kind in (Kind.WORKING, Kind.FORMULA) else ()
        shapes = [_shape(part, values, spot) for part in (*parts, item.expr)]
        if len(shapes) in (1, 3) and None not in shapes:
            yield [shape for shape in shapes if shape], item.kind is Kind.WORKING


def _shape(expr: n.Expr, values: Values, spot: Spot) -> Shape | None:
    value = values.true(expr, spot)
    return value.shape if value is not None else None


# — X ∈ R^{3×2} —


def _spaces(page: Page, values: Values) -> Iterator[Found]:
    """Names and formulas that are said to be of a size, and are."""
    for statement in page.sheet.statements:
        for before, link in pairwise(statement.links):
            if link.relation is not Relation.IN or statement.struck:
                continue
            spot = _spot(page.equations, statement)
            shape, said = _shape(before.expr, values, spot), _said(link, values, spot)
            if shape is not None and said is not None and said in (shape, _length(shape)):
                yield link.at.line, link.at.column, f"{before.text} ∈ {link.text}", None


def _said(link: Link, values: Values, spot: Spot) -> tuple[int, ...] | None:
    """The size that R^{…} names, in numbers or in letters whose values are known."""
    if (sizes := _SIZE.findall(link.text)) and len(sizes) == 1:
        return int(sizes[0][0]), int(sizes[0][1])
    if not isinstance(link.expr, n.Call) or link.expr.function != "reals" or len(link.expr.args) != 1:
        return None
    known = [values.true(part, spot) for part in n.factors(link.expr.args[0])]
    if len(known) > 2 or any(value is None or value.shape != (1, 1) for value in known):
        return None
    return tuple(int(value.cell) for value in known if value is not None)  # type: ignore[call-overload]


def _length(shape: Shape) -> tuple[int, ...]:
    """A vector's length; nothing of a matrix."""
    return (max(shape),) if 1 in shape else ()


def _spot(equations: Sequence[Equation], statement: Statement) -> Spot:
    scope = next((e.scope for e in reversed(equations) if e.line <= statement.at.line), 0)
    return Spot(scope, statement.at.line)
