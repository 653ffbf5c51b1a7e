"""A step of the working as the chains that show it: whole, row by row, or cell by cell, with the numbers put in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from qkv.expr import nodes as n
from qkv.expr.names import Role, Symbol
from qkv.interpret.certified import Certified, Value
from qkv.interpret.fit import Shape
from qkv.interpret.loop import evaluate
from qkv.interpret.trace import Table
from qkv.practice.hand import Line, Style, is_exact, texts
from qkv.practice.notation import Chain
from qkv.practice.pen import Pen
from qkv.program.model import Given, Program, Step

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
    """Writes steps as chains, as one author does with one pen; `words` say what each step is."""

    lines: tuple[Line, ...]
    program: Program
    style: Style
    pen: Pen
    words: Mapping[Role, str]

    def shown(self, line: Line) -> Iterator[Shown]:
        """The chains of one step; its words stand before the first."""
        role = line.step.role
        if role in self.style.by_row and len(line.shown) > 1:
            yield from self._rows(line)
        elif role in self.style.by_cell and self.pen.notation.copies:
            yield from self._cells(line)
        else:
            yield Shown(self._whole(line), line)

    def _words(self, line: Line, first: bool = True) -> str:
        return self.words.get(line.step.role, "") if first else ""

    def _put_in(self, text: str | None) -> tuple[str, ...]:
        """Numbers put in, if this author writes them."""
        return (text,) if text and self.style.operands and self.pen.notation.copies else ()

    @property
    def _operands(self) -> Operands:
        return Operands(self.lines, self.program, self.pen)

    def _rows(self, line: Line) -> Iterator[Shown]:
        """q_1 = x_1 W_Q = [1, 0], and o_1 = 0.3·[1, 0] + 0.7·[0, 2]"""
        step = line.step
        source = SOURCES.get(step.role)
        weight = self.program.find(source[1]) if source else None
        second = self.program.find(R.Y) is not None and step.role in (R.K, R.V)  # keys and values of another sequence
        for i, row in enumerate(line.shown):
            parts: tuple[str, ...] = ()
            if source and weight and self.style.formulas:
                token = n.Name(Symbol("y" if second else source[0], (), (str(i + 1),)))
                made: n.Expr = n.Product(token, n.Name(weight))
                if isinstance(step.expr, n.Sum):
                    made = n.Sum((made, *step.expr.terms[1:]))
                parts = (self.pen.show(made),)
            parts += self._put_in(self._operands.row(step.expr, i))
            name = self.pen.name(Symbol(TOKEN_LETTERS[step.role], (), (str(i + 1),)))
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
                name = self.pen.name(Symbol(letter, (), indices)) if letter else ""
                exact = is_exact(((text,),), Value(((line.value.rows[i][j],),)))
                chain = Chain(self._words(line, i == j == 0), parts, ((text,),), exact, name)
                yield Shown(chain, line, i, j)

    def _dotted(self, i: int, j: int) -> str:
        between = r" \cdot " if self.pen.notation.latex else " · "
        return between.join(self.pen.name(Symbol(letter, (), (str(k + 1),))) for letter, k in (("q", i), ("k", j)))

    def _whole(self, line: Line) -> Chain:
        step = line.step
        nameless = step.role in self.style.nameless
        expr = self._written(step.expr)
        stated = self.style.formulas and step.role not in self.style.unstated
        has_formula = (stated or nameless) and not any(isinstance(part, n.Mask) for part in n.walk(expr))
        put_in = self._put_in(self._operands.whole(step.expr))
        return Chain(
            self._words(line),
            (self.pen.show(expr), *put_in) if has_formula else put_in,
            line.shown,
            is_exact(line.shown, line.value),
            "" if nameless and has_formula else self.pen.name(step.symbol),
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


# ---------------------------------------------------------------- numbers put in


@dataclass(frozen=True)
class Operands:
    """Writes numbers into formulas, as they were shown before: None where not all of them were."""

    lines: tuple[Line, ...]
    program: Program
    pen: Pen

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
        value = self.pen.notation.value
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
        return self._between.join(map(self.pen.notation.value, factors))

    def _softmax(self, expr: n.Softmax) -> str | None:
        table = self._copied(expr.arg)
        if table is None:
            return None
        inner = self.pen.notation.value(table)
        return rf"\mathrm{{softmax}}\left({inner}\right)" if self.pen.notation.latex else f"softmax({inner})"

    def _quotient(self, expr: n.Quotient) -> str | None:
        table = self._copied(expr.numerator)
        if table is None:
            return None
        below, inner = self._size(expr.denominator), self.pen.notation.value(table)
        return rf"\frac{{1}}{{{below}}} {inner}" if self.pen.notation.latex else f"{inner} / {below}"

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
        return None if table is None else self.pen.notation.exponential.format(self.pen.notation.number(table[i][j]))

    def _share(self, expr: n.Quotient, i: int, j: int) -> str | None:
        above, below = self._copied(expr.numerator), self._copied(expr.denominator)
        if above is None or below is None or len(below) != len(above):
            return None
        over, under = (self.pen.notation.number(table[i][k]) for table, k in ((above, j), (below, 0)))
        return rf"\frac{{{over}}}{{{under}}}" if self.pen.notation.latex else f"{over}/{under}"

    # ---------------------------------------------------------------- numbers

    @property
    def _between(self) -> str:
        return " " if self.pen.notation.latex else " × "

    def _number(self, text: str) -> str:
        shown = self.pen.notation.number(text)
        return f"({shown})" if text.startswith("-") else shown

    def _times(self, x: str, y: str) -> str:
        return self._number(x) + (r" \cdot " if self.pen.notation.latex else "·") + y

    def _is_weights(self, factor: n.Expr) -> bool:
        item = self.program.item(factor.symbol) if isinstance(factor, n.Name) else None
        return item is not None and item.role is Role.WEIGHTS

    def _size(self, expr: n.Expr) -> str:
        """√2 for √d_k."""

        def change(part: n.Expr) -> n.Expr:
            item = self.program.item(part.symbol) if isinstance(part, n.Name) else None
            return item.expr if isinstance(item, Given) and isinstance(item.expr, n.Number) else part

        return self.pen.show(n.rewrite(expr, change))

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
