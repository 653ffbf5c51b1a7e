"""Sizes written in the margin of a product: 2×3 3×3 2×3 under [..] × [..]."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from qkv.check.model import CellVerdict, Claim, Verdict
from qkv.errors import QkvError
from qkv.expr import nodes as n
from qkv.expr.late import late
from qkv.expr.nodes import factors
from qkv.interpret.fit import Shape, product_shape, say
from qkv.sheet.model import Sheet
from qkv.understand.facts import Fact
from qkv.understand.values import plain_value

NOISE = late(r"\\cancel|[{}]")
BLANK = late(r"\\(?:quad|qquad|[,;:! ])|[$\s,]")
SIZE = late(r"(\d{1,4})\s*(?:\\times|×|x)\s*(\d{1,4})")
SIGNS_OF_SIZES = re.compile(r"(?:[\d×x{}$\s,]|\\(?:times|cancel|quad|qquad|[,;:! ]))++")  # most lines hold others
REACH = 5  # lines between a product and the sizes under it


def judge_shapes(sheet: Sheet, facts: Sequence[Fact], first: int) -> Iterator[Claim]:
    """Lines of the document that hold nothing but sizes, against the product above them."""
    number = first
    lines = sheet.lines
    for i, line in enumerate(lines, 1):
        sizes = _sizes(line) if SIGNS_OF_SIZES.fullmatch(line) else []
        product = _product_above(facts, i) if sizes else None
        if product is None:
            continue
        claim = _judge(number, i, line.strip(), sizes, product)
        if claim is not None:
            number += 1
            yield claim


def _sizes(line: str) -> list[Shape]:
    """The sizes of a line of sizes; nothing if the line holds anything else."""
    bare = NOISE.sub("", line)
    found = [(int(a), int(b)) for a, b in SIZE.findall(bare)]
    return found if found and not BLANK.sub("", SIZE.sub(" ", bare)) else []


def _product_above(facts: Sequence[Fact], line: int) -> list[Shape] | None:
    for fact in reversed(facts):
        working = fact.working
        if working is None or fact.statement.struck or working.at.line >= line:
            continue
        if line - working.at.line > REACH:
            return None
        return _shapes(working.expr)
    return None


def _shapes(expr: n.Expr) -> list[Shape] | None:
    """The shapes of two operands and of their product."""
    operands = [plain_value(factor) for factor in factors(expr)]
    if len(operands) != 2 or any(operand is None or operand.is_ragged for operand in operands):
        return None
    left, right = (operand.shape for operand in operands if operand is not None)
    try:
        return [left, right, product_shape(left, right)]
    except QkvError:
        return None


def _judge(number: int, line: int, text: str, sizes: list[Shape], shapes: list[Shape]) -> Claim | None:
    """Right if they are the operands, the result, or all three in any order; wrong if one of three is off."""
    name = "sizes"
    if sorted(sizes) == sorted(shapes) or sizes in (shapes[:2], shapes[2:]):
        return Claim(number, line, line, name, "", text, Verdict.RIGHT)
    if len(sizes) != 3 or sizes[:2] != shapes[:2]:
        return None
    cell = CellVerdict(1, 3, say(sizes[2]), say(shapes[2]), None, Verdict.WRONG, f"{say(shapes[0])} · {say(shapes[1])}")
    return Claim(number, line, line, name, "", text, Verdict.WRONG, (cell,))
