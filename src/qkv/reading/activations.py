"""What a function does that a page calls and never defines, such as σ: the activation that its printed values show."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qkv.check.cells import Grid, Loose, fitted, shape_of
from qkv.check.compare import meets
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.functions import BY_KEY
from qkv.expr.names import Symbol
from qkv.interpret.certified import Value
from qkv.interpret.loop import evaluate
from qkv.library.defined import Defined, defined, is_activation
from qkv.reading.bits import grid_bits
from qkv.reading.equation import Kind
from qkv.reading.evidence import printed_grid
from qkv.reading.page import Page

USUAL = ("sigmoid", "relu", "elu", "tanh", "leakyrelu", "gelu", "silu", "softplus")
ENOUGH = 9.0  # bits, about three digits, that show which one is meant
_X = Symbol("x")


def shown_activations(page: Page) -> Iterator[tuple[str, Defined]]:
    """The activation that each such function is, where its values show it; one that the page names comes first."""
    found: dict[str, list[tuple[n.Expr, Grid]]] = {}
    for function, arg, grid in _applied(page):
        if is_activation(function) or not defined(function):
            found.setdefault(function, []).append((arg, grid))
    named = [key for key in USUAL if re.search(rf"(?<![a-z]){key}(?![a-z])", page.words.lower())]
    for function, places in found.items():
        keys = list(dict.fromkeys((*named, *USUAL)))
        bits = {key: sum(_agreed(key, arg, grid) for arg, grid in places) for key in keys}
        best = max(keys, key=lambda key: bits[key])
        if bits[best] >= ENOUGH:
            yield function, Defined((_X,), n.Call(best, (n.Name(_X),)))


def _applied(page: Page) -> Iterator[tuple[str, n.Expr, Grid]]:
    """Where the page applies a function of a name of its own to numbers, and what it prints for that."""
    for equation in page.equations:
        for item in equation.of(Kind.FORMULA):
            call = item.expr
            if not isinstance(call, n.Call) or call.function in BY_KEY or len(call.args) != 1 or item.struck:
                continue
            if not n.is_literal(call.args[0]):
                continue
            grids = map(printed_grid, equation.of(Kind.VALUE))
            yield from ((call.function, call.args[0], grid) for grid in grids if grid is not None)


def _agreed(key: str, arg: n.Expr, grid: Grid) -> float:
    """The bits of a printed value that an activation of numbers gives back."""
    try:
        made = evaluate(n.Call(key, (arg,)), {}, Loose())
    except (QkvError, ZeroDivisionError, ValueError):
        return 0.0
    value = fitted(made, shape_of(grid))
    return _bits(grid, value) if value is not None else 0.0


def _bits(grid: Grid, value: Value) -> float:
    rows = zip(grid, value.rows, grid_bits(grid), strict=True)
    return sum(b for row in rows for shown, cell, b in zip(*row, strict=True) if meets(shown, cell))
