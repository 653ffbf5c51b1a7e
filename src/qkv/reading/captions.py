"""What a name is for by what stands around it: the formulas that use it, the caption above it, the numbers under it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.library.roles import role_in_caption
from qkv.library.words import pattern
from qkv.reading.asked import all_asked, said_formulas
from qkv.reading.definitions import Source
from qkv.reading.equation import Kind
from qkv.reading.nameless import is_pattern
from qkv.reading.page import Page, found_once
from qkv.reading.usage import Roles, used_roles

CAPTION = 60  # characters of the words above a name that may say what it is


@found_once
def uses_of(page: Page) -> dict[Symbol, Roles]:
    """What a page's formulas, stated or asked for, use names for."""
    stated = dict(page.stated)
    for symbol in tuple(stated):  # what is stated of a first row says how all rows come about
        for base in (symbol.base[:1].upper() + symbol.base[1:], symbol.base):
            whole = symbol._replace(base=base, indices=symbol.indices[:-1])
            if symbol.indices and symbol.indices[-1].isdecimal() and whole not in stated:
                stated[whole] = stated[symbol]
    written = [item.expr for equation in page.equations for item in equation.of(Kind.FORMULA)]
    return used_roles((*written, *all_asked(page), *said_formulas(page)), stated)


@found_once
def multiplied(page: Page) -> frozenset[Symbol]:
    """The names that are only given, as matrices, and that formulas of the page multiply."""
    written = (item.expr for equation in page.equations for item in equation.of(Kind.FORMULA))
    products = (part for expr in written for part in n.walk(expr) if isinstance(part, n.Product))
    sides = (side.arg if isinstance(side, n.Transpose) else side for p in products for side in (p.left, p.right))
    names = (side.symbol for side in sides if isinstance(side, n.Name))
    return frozenset(name for name in names if _is_given_matrix(page, name))


@found_once
def distributed(page: Page) -> frozenset[Symbol]:
    """The names that formulas of the page take a softmax of."""
    written = (item.expr for equation in page.equations for item in equation.of(Kind.FORMULA))
    inner = (part.arg for expr in written for part in n.walk(expr) if isinstance(part, n.Softmax))
    return frozenset(arg.symbol for arg in inner if isinstance(arg, n.Name))


def _is_given_matrix(page: Page, symbol: Symbol) -> bool:
    given = page.definitions.get(symbol, ())
    return bool(given) and all(d.source is Source.GIVEN and isinstance(d.expr, n.Matrix) for d in given)


def shown_role(page: Page, symbol: Symbol) -> Role | None:
    """Numbers among infinities are masked scores, whatever they are called."""
    for definition in page.definitions.get(symbol, ()):
        cells = [c for row in definition.expr.rows for c in row] if isinstance(definition.expr, n.Matrix) else []
        hidden = [cell for cell in cells if n.holds(cell, n.Infinite)]
        if hidden and any(isinstance(cell, n.Number) and cell.value != 0 for cell in cells):
            return Role.MASKED
    return None


def captioned_role(page: Page, symbol: Symbol) -> Role | None:
    """What the caption above a name that is given in numbers calls it; what is said of h_1 holds for h_2."""
    called = _called(page, symbol._replace(indices=("",) * len(symbol.indices)))
    return next((role for role in called if role is not Role.WEIGHTS or symbol not in _right_factors(page)), None)


@found_once
def _called(page: Page, family: Symbol) -> tuple[Role, ...]:
    return tuple(dict.fromkeys(_captioned(page, family)))


def _captioned(page: Page, symbol: Symbol) -> Iterator[Role]:
    """What the captions above the members of a family call them."""
    alike = page.family(symbol) if symbol.indices else [symbol]
    found = [d for s in alike if len(s.indices) == len(symbol.indices) for d in page.definitions.get(s, ())]
    cells = len(symbol.indices) == 2 and all(d.source is Source.WORKING for d in found)  # a_{1,2} = 2.1 / 6.4
    shown = (n.Matrix, n.Number) if symbol.indices and len(found) > 1 else n.Matrix  # one number may be of any kind
    if not cells and any(d.source is not Source.GIVEN or not isinstance(d.expr, shown) for d in found):
        return
    patterns = all(is_pattern(d.expr) for d in found)
    for equation in (page.equations[definition.equation] for definition in found):
        sheet = page.task.sheet if page.task is not None and equation.index < page.assigned else page.sheet
        title = sheet.parts[equation.part].title
        words = equation.words.removeprefix(title)[-CAPTION:]
        role = role_in_caption(words) if not _is_factor(symbol.base, words) else None
        if role is not None:
            yield Role.MASKED if role is Role.MASK and not patterns else role


def _is_factor(name: str, words: str) -> bool:
    """Whether words have a name in a formula: 'the score s^T W h, where W = …' calls the product a score, and not W;
    'the logits ZU with U = …' likewise."""
    if len(name) > 1:
        return False
    between = re.search(rf"(?:\^\W*\w+|ᵀ|[⊤'}}])\W*\s{re.escape(name)}\s+[a-z](?![a-z])", words)
    last = re.search(
        rf"(?<![^\W\d_])[A-Za-z]\W{{0,2}}{re.escape(name)}(?:\W+[A-Za-z](?!\w))?\W+(?:{pattern('with')})\W*$", words
    )
    return between is not None or last is not None


@found_once
def _right_factors(page: Page) -> frozenset[Symbol]:
    """The names that stand last in a product: the weights W in X W are no attention weights, which stand first."""
    formulas = (item.expr for equation in page.equations for item in equation.of(Kind.FORMULA))
    products = (node for formula in formulas for node in n.walk(formula) if isinstance(node, n.Product))
    return frozenset(node.right.symbol for node in products if isinstance(node.right, n.Name))
