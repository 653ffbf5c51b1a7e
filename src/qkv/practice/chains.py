"""A step of the working as the chains that show it: whole, row by row, or cell by cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.certified import Certified
from qkv.interpret.loop import evaluate
from qkv.interpret.trace import Table
from qkv.practice.hand import Line, Style, texts
from qkv.practice.notation import Chain
from qkv.practice.page import Page
from qkv.program.model import Given, Program, Step

R = Role
# The small letter of one token's vector, and what it is worked out from.
TOKEN_LETTERS: dict[Role, str] = {R.Q: "q", R.K: "k", R.V: "v", R.WEIGHTS: "a", R.OUTPUT: "o"}
SOURCES: dict[Role, tuple[str, Role]] = {R.Q: ("x", R.W_Q), R.K: ("x", R.W_K), R.V: ("x", R.W_V)}


@dataclass(frozen=True, slots=True)
class Shown:
    """A chain and the part of its step that it shows: `row` and `column`, from 0, are where the part begins."""

    chain: Chain
    line: Line
    row: int = 0
    column: int = 0


def shown(line: Line, lines: tuple[Line, ...], program: Program, style: Style, page: Page) -> Iterator[Shown]:
    """The chains of one step."""
    role = line.step.role
    if role in style.by_row and len(line.shown) > 1:
        yield from _rows(line, style, program, page)
    elif role in style.by_cell and page.notation.copies:
        yield from _cells(line, style, page)
    else:
        yield Shown(_whole(line, lines, program, style, page), line)


def _rows(line: Line, style: Style, program: Program, page: Page) -> Iterator[Shown]:
    role = line.step.role
    for i, row in enumerate(line.shown):
        name = page.name(Symbol(TOKEN_LETTERS[role], (), (str(i + 1),)))
        source = SOURCES.get(role)
        parts: tuple[str, ...] = ()
        weight = program.find(source[1]) if source else None
        if style.formulas and source and weight and program.find(R.Y) is None and isinstance(line.step.expr, n.Product):
            parts = (page.show(n.Product(n.Name(Symbol(source[0], (), (str(i + 1),))), n.Name(weight))),)
        yield Shown(Chain(page.words.roles[role], parts, (row,), not _rounded(line), name), line, i)


def _cells(line: Line, style: Style, page: Page) -> Iterator[Shown]:
    """s_{1,2} = q_1 · k_2 = 7"""
    for i, row in enumerate(line.shown):
        for j, text in enumerate(row):
            name = page.name(Symbol("s", (), (str(i + 1), str(j + 1))))
            between = r" \cdot " if page.notation.latex else " · "
            factors = [page.name(Symbol(letter, (), (str(k + 1),))) for letter, k in (("q", i), ("k", j))]
            parts = (between.join(factors),) if style.formulas else ()
            chain = Chain(page.words.roles[R.SCORES], parts, ((text,),), not _rounded(line), name)
            yield Shown(chain, line, i, j)


def _whole(line: Line, lines: tuple[Line, ...], program: Program, style: Style, page: Page) -> Chain:
    step = line.step
    nameless = step.role in style.nameless
    expr = _written(step.expr, style, program)
    has_formula = (style.formulas or nameless) and not any(isinstance(part, n.Mask) for part in n.walk(expr))
    parts = [page.show(expr)] if has_formula else []
    if style.operands and page.notation.copies:
        parts += _operands(step.expr, lines, program, page)
    name = "" if nameless and has_formula else page.name(step.symbol)
    return Chain(page.words.roles[step.role], tuple(parts), line.shown, not _rounded(line), name)


def _rounded(line: Line) -> bool:
    return any("." in text for row in line.shown for text in row) and line.shown != texts(line.value, 12)


def _written(expr: n.Expr, style: Style, program: Program) -> n.Expr:
    """The formula in names that the document has: steps that are left out or nameless are written out."""

    def change(part: n.Expr) -> n.Expr:
        item = program.item(part.symbol) if isinstance(part, n.Name) else None
        if isinstance(item, Step) and item.role in style.left_out | style.nameless:
            return _written(item.expr, style, program)
        return part

    return n.rewrite(expr, change)


def _operands(expr: n.Expr, lines: tuple[Line, ...], program: Program, page: Page) -> list[str]:
    """The numbers put in: [..] [..] for a product, softmax([..]), [..] / √2; where all of them are printed."""
    matrix = page.notation.matrix
    if isinstance(expr, n.Product):
        left, right = (_copied(factor, lines, program) for factor in (expr.left, expr.right))
        if left is None or right is None or min(map(len, (left, left[0], right, right[0]))) < 2:
            return []
        return [matrix(left) + (" " if page.notation.latex else " × ") + matrix(right)]
    table = _copied(expr.arg, lines, program) if isinstance(expr, n.Softmax) else None
    if table is not None:
        return [
            rf"\mathrm{{softmax}}\left({matrix(table)}\right)" if page.notation.latex else f"softmax({matrix(table)})"
        ]
    table = _copied(expr.numerator, lines, program) if isinstance(expr, n.Quotient) else None
    if table is not None and isinstance(expr, n.Quotient):
        below = page.show(n.rewrite(expr.denominator, lambda part: _size(part, program)))
        return [rf"\frac{{1}}{{{below}}} {matrix(table)}" if page.notation.latex else f"{matrix(table)} / {below}"]
    return []


def _size(part: n.Expr, program: Program) -> n.Expr:
    item = program.item(part.symbol) if isinstance(part, n.Name) else None
    return item.expr if isinstance(item, Given) and isinstance(item.expr, n.Number) else part


def _copied(factor: n.Expr, lines: tuple[Line, ...], program: Program) -> Table | None:
    if isinstance(factor, n.Transpose):
        table = _copied(factor.arg, lines, program)
        return tuple(zip(*table, strict=True)) if table else None
    if not isinstance(factor, n.Name):
        return None
    for line in lines:
        if line.step.symbol == factor.symbol:
            return line.shown
    item = program.item(factor.symbol)
    return texts(evaluate(item.expr, {}, Certified()), 6) if isinstance(item, Given) else None
