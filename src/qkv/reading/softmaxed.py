"""What a page takes a softmax of, in numbers: scores as they are, or scores that were divided by √d_k."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qkv.check.cells import Grid, shown_grid
from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.reading.equation import Kind
from qkv.reading.evidence import agreed_bits, printed_of
from qkv.reading.page import Page, Spot
from qkv.reading.values import Values
from qkv.regex import regex

_SOFTMAX_OF = regex(r"softmax(?:\s+\w+){0,3}\W*$", re.IGNORECASE)  # 'Softmax of', 'apply softmax to the scores'


def softmaxed_scale(values: Values, spot: Spot) -> str:
    """'scaled' or 'unscaled', where the numbers show it that a problem takes a softmax of: a row of the scores, or of
    what dividing leaves."""
    scores, scaled = (values.role(role, None, spot) for role in (Role.SCORES, Role.SCALED))
    if scores is None or scaled is None:
        return ""
    for index, grid in _softmaxed(values.system.page, spot.scope):
        printed = printed_of(values.system.page.equations[index], grid)
        is_raw, is_divided = (agreed_bits(printed, value) >= printed.most for value in (scores, scaled))
        if is_raw != is_divided:
            return "scaled" if is_divided else "unscaled"
    return ""


def _softmaxed(page: Page, scope: int) -> Iterator[tuple[int, Grid]]:
    """The rows of numbers that a problem takes a softmax of, by formulas or by the words before them."""
    for equation in (e for e in page.equations if e.scope == scope and not e.struck):
        parts = [p.arg for item in equation.of(Kind.WORKING) for p in n.walk(item.expr) if isinstance(p, n.Softmax)]
        if len(equation.items) == 1 and _SOFTMAX_OF.search(equation.label):
            parts.append(equation.items[0].expr)
        for part in parts:
            grid = shown_grid(part, False) if isinstance(part, n.Matrix) and min(part.shape) == 1 else None
            if grid is not None:
                yield equation.index, grid
