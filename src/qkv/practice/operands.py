"""The numbers put in: what an author copies out before a value, whole, for one row, or for one cell."""

from __future__ import annotations

from collections.abc import Callable

from qkv.expr import nodes as n
from qkv.expr.names import Role
from qkv.interpret.certified import Certified
from qkv.interpret.fit import Shape
from qkv.interpret.loop import evaluate
from qkv.interpret.trace import Table
from qkv.practice.hand import Line, texts
from qkv.practice.page import Page
from qkv.program.model import Given, Program
from qkv.records import dataclass


@dataclass(frozen=True)
class Operands:
    """Writes numbers into formulas, as they were shown before: None where not all of them were."""

    lines: tuple[Line, ...]
    program: Program
    page: Page

    def whole(self, expr: n.Expr) -> str | None:
        """[..] [..] for a product, softmax([..]), [..] / √2."""
        write = WHOLE.get(type(expr))
        return write(self, expr) if write else None

    def row(self, expr: n.Expr, i: int) -> str | None:
        """0.3·[1, 0] + 0.7·[0, 2] for a row of A V; [1, 0] [..] for one of X W."""
        factors = self._factors(expr)
        if factors is None or not isinstance(expr, n.Product):
            return None
        left, right = factors
        value = self.page.notation.value
        if self._is_weights(expr.left):
            return " + ".join(self._times(x, value((vector,))) for x, vector in zip(left[i], right, strict=True))
        return value((left[i],)) + self._between + value(right)

    def cell(self, expr: n.Expr, i: int, j: int) -> str | None:
        """1·2 + 0·1, e^{0.5}, or 1.649/4.367: how one cell comes about."""
        write = CELL.get(type(expr))
        return write(self, expr, i, j) if write else None

    def sizes(self, expr: n.Expr) -> tuple[Shape, ...]:
        """The sizes of two matrices that are multiplied."""
        factors = self._factors(expr)
        return tuple((len(table), len(table[0])) for table in factors) if factors and self.whole(expr) else ()

    # ---------------------------------------------------------------- whole

    def _product(self, expr: n.Product) -> str | None:
        factors = self._factors(expr)
        if factors is None or min(len(side) for table in factors for side in (table, table[0])) < 2:
            return None
        return self._between.join(map(self.page.notation.value, factors))

    def _softmax(self, expr: n.Softmax) -> str | None:
        table = self._copied(expr.arg)
        if table is None:
            return None
        inner = self.page.notation.value(table)
        return rf"\mathrm{{softmax}}\left({inner}\right)" if self.page.notation.latex else f"softmax({inner})"

    def _quotient(self, expr: n.Quotient) -> str | None:
        table = self._copied(expr.numerator)
        if table is None:
            return None
        below, inner = self._size(expr.denominator), self.page.notation.value(table)
        return rf"\frac{{1}}{{{below}}} {inner}" if self.page.notation.latex else f"{inner} / {below}"

    # ---------------------------------------------------------------- one cell

    def _dot(self, expr: n.Product, i: int, j: int) -> str | None:
        factors = self._factors(expr)
        if factors is None:
            return None
        left, right = factors
        if isinstance(expr.right, n.Matrix):  # a plain sum: every number once
            return " + ".join(map(self._number, left[i]))
        return " + ".join(self._times(x, self._number(row[j])) for x, row in zip(left[i], right, strict=True))

    def _exponential(self, expr: n.Exp, i: int, j: int) -> str | None:
        table = self._copied(expr.arg)
        return None if table is None else self.page.notation.exponential.format(self.page.notation.number(table[i][j]))

    def _share(self, expr: n.Quotient, i: int, j: int) -> str | None:
        above, below = self._copied(expr.numerator), self._copied(expr.denominator)
        if above is None or below is None or len(below) != len(above):
            return None
        over, under = (self.page.notation.number(table[i][k]) for table, k in ((above, j), (below, 0)))
        return rf"\frac{{{over}}}{{{under}}}" if self.page.notation.latex else f"{over}/{under}"

    # ---------------------------------------------------------------- numbers

    @property
    def _between(self) -> str:
        return " " if self.page.notation.latex else " × "

    def _number(self, text: str) -> str:
        shown = self.page.notation.number(text)
        return f"({shown})" if text.startswith("-") else shown

    def _times(self, x: str, y: str) -> str:
        return self._number(x) + (r" \cdot " if self.page.notation.latex else "·") + y

    def _is_weights(self, factor: n.Expr) -> bool:
        item = self.program.item(factor.symbol) if isinstance(factor, n.Name) else None
        return item is not None and item.role is Role.WEIGHTS

    def _size(self, expr: n.Expr) -> str:
        """√2 for √d_k."""

        def change(part: n.Expr) -> n.Expr:
            item = self.program.item(part.symbol) if isinstance(part, n.Name) else None
            return item.expr if isinstance(item, Given) and isinstance(item.expr, n.Number) else part

        return self.page.show(n.rewrite(expr, change))

    def _factors(self, expr: n.Expr) -> tuple[Table, Table] | None:
        if not isinstance(expr, n.Product):
            return None
        left, right = self._copied(expr.left), self._copied(expr.right)
        fit = left is not None and right is not None and len(left[0]) == len(right)
        return (left, right) if fit and left is not None and right is not None else None

    def _copied(self, factor: n.Expr) -> Table | None:
        """The numbers that were shown for a factor."""
        if isinstance(factor, n.Transpose):
            table = self._copied(factor.arg)
            return tuple(zip(*table, strict=True)) if table else None
        if isinstance(factor, n.Matrix):
            return texts(evaluate(factor, {}, Certified()), 6)
        if not isinstance(factor, n.Name):
            return None
        shown = next((line.copied for line in self.lines if line.step.symbol == factor.symbol), None)
        item = self.program.item(factor.symbol) if shown is None else None
        return given_texts(item) if isinstance(item, Given) else shown


def given_texts(given: Given) -> Table:
    """The numbers of a given, as they are."""
    return texts(evaluate(given.expr, {}, Certified()), 6, fractions=has_fractions(given))


def has_fractions(given: Given) -> bool:
    """Whether a given is stated in fractions."""
    return any(isinstance(part, n.Number) and "/" in part.text for part in n.walk(given.expr))


# How each operation is written with numbers; what is not here is not written out.
WHOLE: dict[type, Callable[..., str | None]] = {
    n.Product: Operands._product,
    n.Softmax: Operands._softmax,
    n.Quotient: Operands._quotient,
}
CELL: dict[type, Callable[..., str | None]] = {
    n.Product: Operands._dot,
    n.Exp: Operands._exponential,
    n.Quotient: Operands._share,
}
