"""A step of the working as the chains that show it: whole, row by row, or cell by cell."""

from __future__ import annotations

from collections.abc import Iterator

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.certified import Value
from qkv.practice.hand import Line, Style, is_exact
from qkv.practice.notation import Chain
from qkv.practice.operands import Operands
from qkv.practice.page import Page
from qkv.program.model import Program, Step
from qkv.records import dataclass

R = Role
# The small letter of one token's vector, and what it is worked out from.
TOKEN_LETTERS: dict[Role, str] = {R.Q: "q", R.K: "k", R.V: "v", R.WEIGHTS: "a", R.OUTPUT: "o"}
SOURCES: dict[Role, tuple[str, Role]] = {R.Q: ("x", R.W_Q), R.K: ("x", R.W_K), R.V: ("x", R.W_V)}
# One cell: its letter, and the vectors that meet in it.
CELL_LETTERS: dict[Role, str] = {R.SCORES: "s", R.WEIGHTS: "a"}
# What has a row for each token; and, of that, what has a column for each.
BY_TOKEN = frozenset({R.X, R.Y, R.STATES, R.Q, R.K, R.V, R.HEAD, R.CONCAT, R.OUTPUT})
SQUARE = frozenset({R.SCORES, R.SCALED, R.MASKED, R.WEIGHTS})


@dataclass(frozen=True, slots=True)
class Shown:
    """A chain and the part of its step that it shows: `row` and `column`, from 0, are where the part begins."""

    chain: Chain
    line: Line
    row: int = 0
    column: int = 0


@dataclass(frozen=True)
class Writer:
    """Writes steps as chains, as one author does on one page."""

    lines: tuple[Line, ...]
    program: Program
    style: Style
    page: Page

    def shown(self, line: Line) -> Iterator[Shown]:
        """The chains of one step; its words stand before the first."""
        role = line.step.role
        if role in self.style.by_row and len(line.shown) > 1:
            yield from self._rows(line)
        elif role in self.style.by_cell and self.page.notation.copies:
            yield from self._cells(line)
        else:
            yield Shown(self._whole(line), line)

    def _words(self, line: Line, first: bool = True) -> str:
        return self.page.words.roles[line.step.role] if first else ""

    def _put_in(self, text: str | None) -> tuple[str, ...]:
        """Numbers put in, if this author writes them."""
        return (text,) if text and self.style.operands and self.page.notation.copies else ()

    @property
    def _operands(self) -> Operands:
        return Operands(self.lines, self.program, self.page)

    def _rows(self, line: Line) -> Iterator[Shown]:
        """q_1 = x_1 W_Q = [1, 0], and o_1 = 0.3·[1, 0] + 0.7·[0, 2]"""
        step = line.step
        source = SOURCES.get(step.role)
        weight = self.program.find(source[1]) if source else None
        is_plain = self.style.formulas and self.program.find(R.Y) is None and isinstance(step.expr, n.Product)
        for i, row in enumerate(line.shown):
            parts: tuple[str, ...] = ()
            if source and weight and is_plain:
                parts = (self.page.show(n.Product(n.Name(Symbol(source[0], (), (str(i + 1),))), n.Name(weight))),)
            parts += self._put_in(self._operands.row(step.expr, i))
            name = self.page.name(Symbol(TOKEN_LETTERS[step.role], (), (str(i + 1),)))
            yield Shown(
                Chain(self._words(line, i == 0), parts, (row,), is_exact(line.shown, line.value), name), line, i
            )

    def _cells(self, line: Line) -> Iterator[Shown]:
        """s_{1,2} = q_1 · k_2 = 1·2 + 0·1 = 2; what has no letter is written with its numbers only: e^{0.5} = 1.649"""
        letter = CELL_LETTERS.get(line.step.role)
        for i, row in enumerate(line.shown):
            for j, text in enumerate(row):
                put_in = self._operands.cell(line.step.expr, i, j)
                parts = self._put_in(put_in) if letter else (put_in or "",)
                if line.step.role is R.SCORES and self.style.formulas:
                    parts = (self._dotted(i, j), *parts)
                indices = (str(i + 1), str(j + 1)) if len(line.shown) > 1 else (str(j + 1),)
                name = self.page.name(Symbol(letter, (), indices)) if letter else ""
                exact = is_exact(((text,),), Value(((line.value.rows[i][j],),)))
                chain = Chain(self._words(line, i == j == 0), parts, ((text,),), exact, name)
                yield Shown(chain, line, i, j)

    def _dotted(self, i: int, j: int) -> str:
        between = r" \cdot " if self.page.notation.latex else " · "
        return between.join(self.page.name(Symbol(letter, (), (str(k + 1),))) for letter, k in (("q", i), ("k", j)))

    def _whole(self, line: Line) -> Chain:
        step = line.step
        nameless = step.role in self.style.nameless
        expr = self._written(step.expr)
        has_formula = (self.style.formulas or nameless) and not any(isinstance(part, n.Mask) for part in n.walk(expr))
        put_in = self._put_in(self._operands.whole(step.expr))
        return Chain(
            self._words(line),
            (self.page.show(expr), *put_in) if has_formula else put_in,
            line.shown,
            is_exact(line.shown, line.value),
            "" if nameless and has_formula else self.page.name(step.symbol),
            tokens_of(step.role, self.program),
            self._operands.sizes(step.expr) if self.style.margin and put_in else (),
        )

    def _written(self, expr: n.Expr) -> n.Expr:
        """The formula in names that the document has: steps that are left out or nameless are written out."""

        def change(part: n.Expr) -> n.Expr:
            item = self.program.item(part.symbol) if isinstance(part, n.Name) else None
            if isinstance(item, Step) and item.role in self.style.left_out | self.style.nameless:
                return self._written(item.expr)
            return part

        return n.rewrite(expr, change)


def tokens_of(role: Role, program: Program) -> tuple[bool, bool]:
    """Whether the rows, and the columns, of a quantity are tokens."""
    by_row = role in BY_TOKEN or (role in SQUARE and program.find(R.SOURCE) is None)
    return (role in SQUARE, by_row) if program.columns else (by_row, role in SQUARE)
