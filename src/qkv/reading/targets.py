"""The y of p − y that a page does not write out: 1 for the word that its sentences say is right, 0 for the others."""

from __future__ import annotations

from collections.abc import Iterator

from qkv.expr import nodes as n
from qkv.expr.names import Symbol
from qkv.library.predicted_said import target_said
from qkv.reading.equation import Kind
from qkv.reading.page import Page

TARGETS = frozenset((Symbol("y"), Symbol("t")))


def target(symbol: Symbol, page: Page) -> Iterator[n.Expr]:
    """The row with a single 1 that a name without a definition stands for, as long as what a softmax is taken of."""
    if symbol not in TARGETS or symbol in page.definitions:
        return
    for shape in _shapes(page):
        place = target_said(page.words, (), max(shape))
        if place is not None and 0 <= place < max(shape):
            cells = tuple(n.number(int(k == place)) for k in range(max(shape)))
            yield n.Matrix((cells,) if shape[0] == 1 else tuple((cell,) for cell in cells))


def _shapes(page: Page) -> Iterator[tuple[int, int]]:
    """The shapes of the vectors that the page prints and takes a softmax of."""
    for equation in page.equations:
        for item in equation.of(Kind.FORMULA):
            for node in n.walk(item.expr):
                of = node.arg.symbol if isinstance(node, n.Softmax) and isinstance(node.arg, n.Name) else None
                for definition in page.definitions.get(of, ()) if of is not None else ():
                    shape = definition.expr.shape if isinstance(definition.expr, n.Matrix) else (1, 1)
                    if 1 in shape and shape != (1, 1):
                        yield shape
